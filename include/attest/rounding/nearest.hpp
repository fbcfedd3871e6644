#pragma once

#include <attest/exact/matrix.hpp>
#include <attest/rounding/numeral.hpp>

namespace attest {

/// The number of the format nearest to x (ties to even), as an exact value: what a program in that format stores for x. A
/// number that rounds to infinity is error::not_finite().
template <exact_number T>
constexpr auto nearest(T x, const format& f) {
  return pattern_value<integer_of<T>>(round_correctly(x, f), f);
}

/// ... for every element: nearest(W * exact_value(0.1), formats::binary64) is W * 0.1 as doubles have it.
template <exact_number T, std::size_t R, std::size_t C>
constexpr auto nearest(const matrix<T, R, C>& m, const format& f) {
  return map(m, [&f](T x) { return nearest(x, f); });
}

}  // namespace attest
