#pragma once

#include <attest/enclosure/evaluate.hpp>
#include <attest/exact/decimal.hpp>
#include <attest/symbolic/print.hpp>

// Certified decimals of an expression: n * 10^exponent with n the rounding of x / 10^exponent, decided.
namespace attest {

/// Which integer multiple of the unit is printed. nearest: a tie goes to the even one.
enum class decimal_rounding { nearest, lower, upper };

namespace detail {

template <exact_integer Integer, std::size_t Capacity>
constexpr Integer to_integer(const natural<Capacity>& m) {
  Integer n(0);
  for (std::size_t i = m.size; i > 0; --i) {
    n <<= 64;
    const Integer part(m.limbs[i - 1]);
    n += part;
  }
  return n;
}

// The greatest integer <= an end.
template <exact_integer Integer, std::size_t Capacity>
constexpr Integer floor_of(const interval_end<Capacity>& end) {
  Integer n = to_integer<Integer>(end.magnitude);
  if (end.exponent >= 0) {
    n = shift_left(n, end.exponent);
    return end.negative ? Integer(-n) : n;
  }
  const auto shift = -end.exponent;
  const Integer whole = shift_right(n, shift);
  if (!end.negative) return whole;
  const bool cut = shift > bit_length(n) ? !n.is_zero() : shift_left(whole, shift) != n;
  const Integer below = whole + Integer(cut ? 1 : 0);
  return -below;
}

template <std::size_t Capacity>
constexpr bool is_integer(const interval_end<Capacity>& end) {
  if (end.exponent >= 0 || end.magnitude.size == 0) return true;
  const auto shift = static_cast<std::uint64_t>(-end.exponent);
  if (shift >= bit_length(end.magnitude)) return false;
  for (std::uint64_t i = 0; i < shift / 64; ++i)
    if (end.magnitude.limbs[i] != 0) return false;
  return shift % 64 == 0 || end.magnitude.limbs[shift / 64] << (64 - shift % 64) == 0;
}

}  // namespace detail

/// n * 10^exponent, 10^exponent being the unit to which x is rounded. Always decided: where an enclosure of x leaves two
/// multiples, the sign of x - boundary does.
template <class Expression>
constexpr basic_decimal<integer_under<Expression>> to_decimal(const Expression& x, long exponent,
                                                              decimal_rounding rounding = decimal_rounding::nearest) {
  using Integer = integer_under<Expression>;
  constexpr std::size_t Capacity = limbs_for<number_under<Expression>>;
  const Integer power = power_of_ten<Integer>(checked_count(exponent));
  const bool nearest = rounding == decimal_rounding::nearest;
  for (unsigned bits = detail::first_working_precision;; bits = detail::next_working_precision<Capacity>(bits)) {
    interval<Capacity> scaled = evaluate<Capacity>(x, bits);
    const interval<Capacity> factor = evaluate<Capacity>(power, bits);
    scaled = exponent < 0 ? multiply(scaled, factor, bits) : divide(scaled, factor, bits);
    if (nearest) scaled = add(scaled, interval<Capacity>::exact(1LL, -1), bits);
    const Integer least = detail::floor_of<Integer>(lower(scaled));
    const Integer greatest = detail::floor_of<Integer>(upper(scaled));
    const Integer gap = greatest - least;
    if (gap > Integer(1)) continue;
    // x / unit [+ 1/2] lies between the integers `below` and below + 1, or on `greatest` itself.
    Integer below = least;
    if (!gap.is_zero() || detail::is_integer(lower(scaled))) {
      const basic_decimal<Integer> whole{greatest, exponent, false};
      const int side = compare(x, nearest ? whole.value() - whole.half_unit() : whole.value());
      if (side == 0) {
        const Integer half = greatest / Integer(2);
        const bool odd = half * Integer(2) != greatest;
        const Integer n = nearest && odd ? Integer(greatest - Integer(1)) : greatest;
        return {n, exponent, n.sign() < 0};
      }
      below = side > 0 ? greatest : Integer(greatest - Integer(1));
    }
    const Integer n = rounding == decimal_rounding::upper ? Integer(below + Integer(1)) : below;
    return {n, exponent, n.sign() < 0};
  }
}

/// Whether `printed` is x rounded at its last digit: |x - printed| <= half a unit of that digit, decided, so that at an
/// exact tie either neighbour is. `value` encloses x; where it is too wide to tell, the sign of x - end does.
template <class Expression, std::size_t Capacity>
constexpr bool is_rounding_of(const Expression& x, const interval<Capacity>& value,
                              const basic_decimal<integer_under<Expression>>& printed) {
  constexpr unsigned bits = 64 * static_cast<unsigned>(Capacity == growing ? 4 : Capacity) - 64;
  const auto side = [&](const basic_rational<integer_under<Expression>>& end) {
    const int apart = sign(subtract(value, evaluate<Capacity>(end, bits), bits));
    return apart != 0 ? apart : compare(x, end);
  };
  return side(printed.value() - printed.half_unit()) >= 0 && side(printed.value() + printed.half_unit()) <= 0;
}

/// x to `digits` significant digits, at least 1. A value below 2^-2^40 or so has no digits that could be counted:
/// error::precision_exhausted().
template <class Expression>
constexpr basic_decimal<integer_under<Expression>> to_significant_decimal(
    const Expression& x, unsigned digits, decimal_rounding rounding = decimal_rounding::nearest) {
  using Integer = integer_under<Expression>;
  constexpr std::size_t Capacity = limbs_for<number_under<Expression>>;
  if (compare(x, Integer(0)) == 0) return {Integer(0), 1 - static_cast<long>(digits), false};
  for (unsigned bits = detail::first_working_precision;; bits = detail::next_working_precision<Capacity>(bits)) {
    const interval<Capacity> value = evaluate<Capacity>(x, bits);
    if (sign(value) == 0) {
      if (value.exponent < -(std::int64_t{1} << 39)) error::precision_exhausted();
      continue;
    }
    // |x| is within a factor of two of 2^binary; 30103 / 100000 is log10(2) to 5 digits, enough to start from.
    const std::int64_t binary = value.exponent + static_cast<std::int64_t>(bit_length(value.midpoint));
    long leading = static_cast<long>(binary * 30103 / 100000);
    const Integer limit = power_of_ten<Integer>(digits);
    for (;;) {
      const long exponent = leading - static_cast<long>(digits) + 1;
      const auto result = to_decimal(x, exponent, rounding);
      const Integer magnitude = result.significand.sign() < 0 ? Integer(-result.significand) : result.significand;
      const Integer tenfold = magnitude * Integer(10);
      if (magnitude > limit) {
        ++leading;
      } else if (magnitude == limit) {
        // 10.00... with one digit too many: a power of ten, or 9.99... rounded up to it. The same number either way.
        const Integer shorter = result.significand / Integer(10);
        return {shorter, exponent + 1, result.negative};
      } else if (tenfold < limit) {
        --leading;
      } else if (tenfold == limit) {
        // 1.00...: a power of ten or just above it, unless 0.996 was rounded up to it, which has digits to spare.
        const auto finer = to_decimal(x, exponent - 1, rounding);
        return absolute(finer.significand) < limit ? finer : result;
      } else {
        return result;
      }
    }
  }
}

/// A decimal as it is written: positional while that is short, otherwise with an exponent (1.2345e-400).
template <class Out, exact_integer Integer>
constexpr void print(Out& out, const basic_decimal<Integer>& x) {
  Integer magnitude = x.significand.sign() < 0 ? Integer(-x.significand) : x.significand;
  if (x.negative) out.push_back('-');
  struct digit_counter {
    long count = 0;
    constexpr void push_back(char) { ++count; }
  } digits;
  print(digits, magnitude);
  const long leading = digits.count + x.exponent;  // digits before the point
  if (x.exponent > 0 || leading < -5) {
    // d.ddd e(leading - 1)
    struct pointed {
      Out& target;
      long count = 0;
      constexpr void push_back(char c) {
        if (count++ == 1) target.push_back('.');
        target.push_back(c);
      }
    } digits_out{out};
    print(digits_out, magnitude);
    out.push_back('e');
    return print(out, Integer(static_cast<long long>(leading - 1)));
  }
  if (leading <= 0) {
    print(out, "0.");
    for (long i = leading; i < 0; ++i) out.push_back('0');
    return print(out, magnitude);
  }
  struct pointed {
    Out& target;
    long before;
    constexpr void push_back(char c) {
      if (before-- == 0) target.push_back('.');
      target.push_back(c);
    }
  } digits_out{out, leading};
  print(digits_out, magnitude);
}

}  // namespace attest
