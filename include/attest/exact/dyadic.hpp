#pragma once

#include <attest/exact/integer.hpp>

#include <bit>
#include <compare>
#include <cstdint>

namespace attest {

/// significand * 2^exponent, exactly: what every finite binary float is. Sums, differences and products of dyadics
/// are dyadics, so no fraction is ever reduced. The significand is odd, or zero with exponent zero.
template <exact_integer Integer>
class basic_dyadic {
 public:
  constexpr basic_dyadic() : basic_dyadic(Integer(0), 0) {}
  constexpr basic_dyadic(int value) : basic_dyadic(Integer(value), 0) {}
  constexpr explicit basic_dyadic(Integer value) : basic_dyadic(value, 0) {}
  constexpr basic_dyadic(Integer significand, long exponent) : significand_(significand), exponent_(exponent) {
    if (significand_.is_zero()) {
      exponent_ = 0;
      return;
    }
    Integer magnitude = significand_.sign() < 0 ? Integer(-significand_) : significand_;
    const auto zeros = static_cast<unsigned>(lsb(magnitude));
    if (zeros == 0) return;
    significand_ = shift_right(significand_, zeros);
    exponent_ += static_cast<long>(zeros);
  }

  constexpr Integer significand() const { return significand_; }
  constexpr long exponent() const { return exponent_; }

  constexpr basic_dyadic operator-() const { return {Integer(-significand()), exponent_}; }

  friend constexpr basic_dyadic operator+(basic_dyadic a, basic_dyadic b) {
    // Zero has no exponent of its own: bringing both to one could overflow.
    if (a.significand_.is_zero()) return b;
    if (b.significand_.is_zero()) return a;
    const long exponent = a.exponent_ < b.exponent_ ? a.exponent_ : b.exponent_;
    const Integer x = a.significand_at(exponent);
    const Integer y = b.significand_at(exponent);
    const Integer sum = x + y;
    return {sum, exponent};
  }
  friend constexpr basic_dyadic operator-(basic_dyadic a, basic_dyadic b) { return a + -b; }
  friend constexpr basic_dyadic operator*(basic_dyadic a, basic_dyadic b) {
    const Integer product = a.significand_ * b.significand_;
    return {product, a.exponent_ + b.exponent_};
  }
  constexpr basic_dyadic& operator+=(basic_dyadic b) { return *this = *this + b; }
  constexpr basic_dyadic& operator-=(basic_dyadic b) { return *this = *this - b; }
  constexpr basic_dyadic& operator*=(basic_dyadic b) { return *this = *this * b; }

  friend constexpr bool operator==(const basic_dyadic& a, const basic_dyadic& b) {
    return a.exponent_ == b.exponent_ && identical(a.significand_, b.significand_);
  }
  constexpr int sign() const { return attest::sign(significand_); }
  /// By sign, then by the leading bit, and only then digit by digit: far exponents are never brought to one.
  friend constexpr std::strong_ordering operator<=>(basic_dyadic a, basic_dyadic b) {
    const int sign = a.significand_.sign();
    if (sign != b.significand_.sign() || sign == 0) return sign <=> b.significand_.sign();
    const long a_top = a.exponent_ + static_cast<long>(bit_length(a.significand()));
    const long b_top = b.exponent_ + static_cast<long>(bit_length(b.significand()));
    if (a_top != b_top) return sign > 0 ? a_top <=> b_top : b_top <=> a_top;
    return (a - b).significand_.sign() <=> 0;
  }

 private:
  constexpr Integer significand_at(long exponent) const {
    return shift_left(significand(), exponent_ - exponent);
  }

  Integer significand_;
  long exponent_;
};

template <exact_integer Integer>
constexpr bool identical(const basic_dyadic<Integer>& a, const basic_dyadic<Integer>& b) {
  return a == b;
}
template <exact_integer Integer>
constexpr int sign(const basic_dyadic<Integer>& x) {
  return x.sign();
}

/// The dyadic of proofs.
using dyadic = basic_dyadic<integer>;

/// The exact value of a binary64. NaN and infinity are error::not_finite().
template <exact_integer Integer = integer>
constexpr basic_dyadic<Integer> exact_value(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto biased = static_cast<int>(bits >> 52 & 0x7ff);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  if (biased == 0x7ff) error::not_finite();
  Integer significand(biased == 0 ? fraction : fraction | std::uint64_t{1} << 52);
  if (bits >> 63 != 0) significand = -significand;
  return {significand, (biased == 0 ? 1 : biased) - 1075};
}

/// The exact value of a binary32. NaN and infinity are error::not_finite().
template <exact_integer Integer = integer>
constexpr basic_dyadic<Integer> exact_value(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto biased = static_cast<int>(bits >> 23 & 0xff);
  const std::uint32_t fraction = bits & 0x7fffffu;
  if (biased == 0xff) error::not_finite();
  Integer significand(biased == 0 ? fraction : fraction | 0x800000u);
  if (bits >> 31 != 0) significand = -significand;
  return {significand, (biased == 0 ? 1 : biased) - 150};
}

}  // namespace attest
