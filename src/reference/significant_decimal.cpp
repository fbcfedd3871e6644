#include "significant_decimal.hpp"

#include <attest/enclosure/printed.hpp>

#include <cstdint>

namespace attest {

namespace {

using boost::multiprecision::pow;

// The working precision for so many digits, log2(10) < 3.322 bits each, and some to spare.
unsigned bits_for(unsigned digits) { return digits * 3322 / 1000 + 96; }

unbounded_integer power_of_ten_at(unsigned long exponent) {
  return pow(unbounded_integer(10), static_cast<unsigned>(exponent));
}

// n / 10^k as it is printed, 10^k being what the number was multiplied with; n has one digit too many where it was
// rounded up to a power of ten.
std::string printed(unbounded_integer n, long k, unsigned digits) {
  const bool negative = n.sign() < 0;
  if (negative) n = -n;
  if (n == power_of_ten_at(digits)) {
    n /= 10;
    --k;
  }
  std::string text;
  print(text, basic_decimal<unbounded_integer>{negative ? unbounded_integer(-n) : n, -k, negative});
  return text;
}

// floor(exponent * log10(2)) or one more, for |exponent| <= 2^41: the constant is log10(2) to 17 decimals.
long decimal_exponent(std::int64_t exponent) {
  __extension__ typedef __int128 wide;
  constexpr wide unit = 100'000'000'000'000'000;
  const wide scaled = wide{exponent} * 30'102'999'566'398'120;
  return static_cast<long>(scaled >= 0 ? scaled / unit : -((-scaled + unit - 1) / unit));
}

// 10^k to a relative width of about 2^-bits: squaring doubles the relative width, so k costs its own bits.
interval<growing> enclosed_power_of_ten(std::int64_t k, unsigned bits) {
  const bool reciprocal = k < 0;
  auto left = static_cast<std::uint64_t>(reciprocal ? -k : k);
  const unsigned working = bits + 70;
  interval<growing> power = interval<growing>::exact(1LL);
  interval<growing> square = interval<growing>::exact(5LL);
  for (; left != 0; left >>= 1) {
    if ((left & 1) != 0) power = multiply(power, square, working);
    if (left > 1) square = multiply(square, square, working);
  }
  power = scale_by_power_of_two(power, reciprocal ? -k : k);
  return reciprocal ? divide(interval<growing>::exact(1LL), power, working) : power;
}

}  // namespace

std::string significant_decimal(const exact_scalar& x, unsigned digits) {
  const auto value = parts(exact_as<unbounded_rational>(x));
  if (value.numerator.is_zero()) return "0";
  const bool negative = value.numerator.sign() < 0;
  const unbounded_integer above = negative ? unbounded_integer(-value.numerator) : value.numerator;
  const std::int64_t top = static_cast<std::int64_t>(bit_length(above)) - static_cast<std::int64_t>(bit_length(value.denominator));
  const unbounded_integer least = power_of_ten_at(digits - 1);
  for (long leading = decimal_exponent(top + 1) + 1;; --leading) {
    const long k = static_cast<long>(digits) - 1 - leading;
    unbounded_integer numerator = k > 0 ? unbounded_integer(above * power_of_ten_at(static_cast<unsigned long>(k))) : above;
    const unbounded_integer denominator =
        k < 0 ? unbounded_integer(value.denominator * power_of_ten_at(static_cast<unsigned long>(-k))) : value.denominator;
    unbounded_integer n;
    unbounded_integer rest;
    divide_qr(numerator, denominator, n, rest);
    if (n < least) continue;  // fewer digits than asked for
    const int half = unbounded_integer(2 * rest).compare(denominator);
    if (half > 0 || (half == 0 && n % 2 != 0)) ++n;
    return printed(negative ? unbounded_integer(-n) : n, k, digits);
  }
}

std::string significant_decimal(const enclosed_number& x, unsigned digits) {
  constexpr std::int64_t no_digits_below = -(std::int64_t{1} << 39);
  constexpr long most_exact_exponent = 100'000;  // beyond, more bits are cheaper than an exact power of ten
  const auto floor_of = [](const interval_end<growing>& end) { return detail::floor_of<unbounded_integer>(end); };
  const unbounded_integer least = power_of_ten_at(digits - 1);
  for (unsigned bits = bits_for(digits);; bits *= 2) {
    const interval<growing> value = x.enclose(bits);
    const auto end = upper(value.negative ? negate(value) : value);
    const std::int64_t top = end.exponent + static_cast<std::int64_t>(bit_length(end.magnitude));  // |x| < 2^top
    if (sign(value) == 0) {
      if (top > no_digits_below) continue;
      const bool negative = x.side_of(unbounded_rational(0)) < 0;
      return std::string(negative ? ">-" : "<") + "1e" + std::to_string(decimal_exponent(top) + 1);
    }
    const bool negative = value.negative;
    const interval<growing> magnitude = negative ? negate(value) : value;
    // From a leading digit that is too high for certain, down to the one for which `scaled` has its digits before the point.
    for (long leading = decimal_exponent(top) + 2;; --leading) {
      const long k = static_cast<long>(digits) - 1 - leading;
      const interval<growing> scaled = multiply(magnitude, enclosed_power_of_ten(k, bits), bits);
      if (floor_of(upper(scaled)) < least) continue;
      if (floor_of(lower(scaled)) < least) {
        // On both sides of a power of ten, which is the answer on either side if it is close enough: below it by less
        // than half a unit of the last digit there, a twentieth of one here.
        const interval<growing> twentyfold = multiply(scaled, interval<growing>::exact(20LL), bits);
        if (floor_of(lower(twentyfold)) < 20 * least - 1 || floor_of(upper(twentyfold)) > 20 * least) break;
        return printed(negative ? unbounded_integer(-least) : least, k, digits);
      }
      const interval<growing> moved = add(scaled, interval<growing>::exact(1LL, -1), bits);
      const unbounded_integer first = floor_of(lower(moved));
      const unbounded_integer last = floor_of(upper(moved));
      unbounded_integer n = last;
      if (first != last) {
        // One boundary, last - 1/2, may be left; an irrational number is on one side of it.
        if (last - first > 1 || k > most_exact_exponent || k < -most_exact_exponent) break;
        const unbounded_integer doubled = 2 * last - 1;
        const unbounded_integer power = power_of_ten_at(static_cast<unsigned long>(k < 0 ? -k : k));
        unbounded_rational boundary = k < 0 ? ratio(unbounded_integer(doubled * power), unbounded_integer(2))
                                            : ratio(doubled, unbounded_integer(2 * power));
        if (negative) boundary = -boundary;
        const int side = x.side_of(boundary);
        if (negative ? side > 0 : side < 0) n = first;
      }
      return printed(negative ? unbounded_integer(-n) : n, k, digits);
    }
  }
}

}  // namespace attest
