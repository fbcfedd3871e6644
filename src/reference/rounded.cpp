#include <attest/reference/rounded.hpp>

#include <attest/rounding/round.hpp>

#include <bit>

namespace attest {

namespace {

double nearest(const unbounded_integer& n, long exponent, bool more) {
  const auto exact = interval<growing>::exact(n, exponent);
  return std::bit_cast<double>(round_exact(exact.negative, exact.midpoint, exact.exponent, more, formats::binary64,
                                           rounding::nearest_even));
}

double nearest(const unbounded_dyadic& x) { return nearest(x.significand(), x.exponent(), false); }

double nearest(const unbounded_rational& x) {
  // A quotient of at least 64 bits: its last place lies below the half of any binary64's, so what was cut off is
  // "a bit more".
  constexpr long quotient_bits = 64;
  const bool negative = x.numerator().sign() < 0;
  unbounded_integer numerator = negative ? unbounded_integer(-x.numerator()) : x.numerator();
  unbounded_integer denominator = x.denominator();
  const long shift = quotient_bits - static_cast<long>(bit_length(numerator)) + static_cast<long>(bit_length(denominator));
  if (shift >= 0)
    numerator <<= static_cast<unsigned>(shift);
  else
    denominator <<= static_cast<unsigned>(-shift);
  unbounded_integer quotient;
  unbounded_integer rest;
  divide_qr(numerator, denominator, quotient, rest);
  return nearest(negative ? unbounded_integer(-quotient) : quotient, -shift, !rest.is_zero());
}

}  // namespace

double nearest_binary64(const exact_scalar& x) {
  return std::visit([](const auto& value) { return nearest(value); }, x);
}

}  // namespace attest
