#pragma once

#include <attest/enclosure/evaluate.hpp>
#include <attest/rounding/round.hpp>

namespace attest {

/// The pattern of the correctly rounded float of an expression: Ziv's test, starting from an enclosure `value` of x.
///
/// While the enclosure holds several rounding boundaries it is narrowed. Once it holds one boundary b alone, the sign of
/// x - b is decided symbolically instead: exactly zero is a tie or a representable value, and near ties between far
/// exponents (a key scored 10^6 below two others) would take over a million bits to be told apart by the value itself.
/// It always ends; in the compiler's fixed storage possibly with error::precision_exhausted().
template <class Expression, std::size_t Capacity>
constexpr std::uint64_t round_correctly(const Expression& x, interval<Capacity> value, const format& f, rounding mode) {
  using Integer = integer_under<Expression>;
  for (unsigned bits = detail::first_working_precision;; value = evaluate<Capacity>(x, bits)) {
    const interval_rounding attempt = round_interval(value, f, mode);
    if (attempt.outcome == rounding_outcome::settled)
      return attempt.pattern;
    if (attempt.outcome == rounding_outcome::boundary) {
      const rounding_boundary& b = attempt.boundary;
      const Integer significand(b.significand);
      const int side = compare(x, basic_dyadic<Integer>(b.negative ? Integer(-significand) : significand, b.exponent));
      return side < 0 ? b.below : side > 0 ? b.above : b.at;
    }
    bits = detail::next_working_precision<Capacity>(bits);
  }
}
template <class Expression>
constexpr std::uint64_t round_correctly(const Expression& x, const format& f, rounding mode = rounding::nearest_even) {
  constexpr std::size_t Capacity = limbs_for<number_under<Expression>>;
  return round_correctly(x, evaluate<Capacity>(x, detail::first_working_precision), f, mode);
}

}  // namespace attest
