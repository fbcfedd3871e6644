#pragma once

constexpr int inverse(int x) {
  if (x == 0) throw "division by zero";
  return 10 / x;
}
template <int N>
inline constexpr int inverse_of = inverse(N);
template <bool Holds>
concept holds = Holds;
template <int N>
concept inverse_is_positive = holds<(inverse_of<N> > 0)>;

template <int N>
struct more_than_two {
  static_assert(N > 2);
  static constexpr int value = N;
};
