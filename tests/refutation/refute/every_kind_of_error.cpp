// Each way in which compilers word and place an error; all are rejections of the marked line, so nothing is reported.
#include <attest/proof/twin.hpp>

#include <limits>

struct error {
  [[noreturn]] static void zero_denominator() { throw 1; }
};
constexpr int inverse(int x) {
  if (x == 0) error::zero_denominator();
  return 10 / x;
}
constexpr int inverse_and_one(int x) {
  return inverse(x) + 1;
}

// A function that is not constexpr, called inside others, in an initialiser and in an assertion.
constexpr int from_function = inverse_and_one(TWIN(1, 0));
static_assert(inverse_and_one(TWIN(1, 0)) == 11);

// Overflow.
constexpr int overflow = std::numeric_limits<int>::max() + TWIN(0, 1);
static_assert(std::numeric_limits<int>::max() + TWIN(0, 1) != 0);

// Inside templates: the error stands in the template, the claim where it is instantiated.
template <int N>
struct more_than_two {
  static_assert(N > 2);
  static constexpr int value = N;
};
template <int N>
struct nested {
  more_than_two<N> member;
};
static_assert(sizeof(nested<TWIN(4, 1)>) > 0);
static_assert(more_than_two<TWIN(3, 2)>::value > 0);
template <int N>
constexpr int inverse_of = inverse(N);
static_assert(inverse_of<TWIN(1, 0)> == 10);

// Concepts, alone and as a constraint of a function.
template <int N>
concept positive = N > 0;
template <int N>
  requires positive<N>
constexpr int need() {
  return N;
}
static_assert(positive<TWIN(1, -1)>);
static_assert(need<TWIN(1, -1)>() != 0);
template <const auto& X>
concept is_five = X == 5;
constexpr int five = 5;
constexpr int six = 6;
static_assert(is_five<TWIN(five, six)>);

// Shapes: a deleted function, no function.
template <int Rows, int Columns>
struct shape {};
template <int R, int K, int C>
constexpr shape<R, C> operator*(shape<R, K>, shape<K, C>) {
  return {};
}
template <int R, int K, int J, int C>
  requires(K != J)
constexpr void operator*(shape<R, K>, shape<J, C>) = delete;
constexpr auto product = shape<2, 3>{} * shape<TWIN(3, 2), 3>{};
template <int R, int C>
constexpr shape<R, C> operator+(shape<R, C>, shape<R, C>) {
  return {};
}
constexpr auto sum = shape<2, 3>{} + shape<TWIN(2, 3), 3>{};

// Immediate functions, and reads outside of an array.
consteval int immediate(int x) {
  return inverse(x);
}
constexpr int from_immediate = immediate(TWIN(1, 0));
static_assert(immediate(TWIN(1, 0)) == 10);
constexpr int two[2] = {1, 2};
static_assert(two[TWIN(1, 2)] == 2);

// A statement over several lines, with a message, in a namespace, after another on the line.
static_assert(
    six ==
        TWIN(6,
             5),
    "message; with // everything");
namespace inner {
static_assert(!is_five<TWIN(six, five)>);
constexpr int table[2][2] = {
    {1, 2},
    {3, 4},
};
static_assert(table[1][0] == TWIN(3, 4));
}  // namespace inner
