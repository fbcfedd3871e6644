#pragma once

#include <attest/enclosure/printed.hpp>
#include <attest/rounding/rounding_test.hpp>

#include <string_view>

// Between decimal numerals and floats, correctly rounded both ways.
namespace attest {

/// The bit pattern of the float nearest to a decimal numeral (ties to even). Integer must hold the numeral's digits and
/// its power of ten. A text that parse_decimal() does not read is error::not_a_number().
template <exact_integer Integer = integer>
constexpr std::uint64_t numeral_pattern(std::string_view numeral, const format& f) {
  const auto decimal = parse_decimal<Integer>(numeral);
  const std::uint64_t pattern = round_correctly(decimal.value(), f);
  return decimal.negative ? pattern | f.sign_bit() : pattern;  // -0.0 keeps its sign
}

/// The exact value of a finite bit pattern.
template <exact_integer Integer = integer>
constexpr basic_dyadic<Integer> pattern_value(std::uint64_t pattern, const format& f) {
  const decoded d = decode(pattern, f);
  if (d.kind != number_kind::finite) error::not_finite();
  const Integer significand(d.significand);
  return {d.negative ? Integer(-significand) : significand, d.exponent};
}

/// The shortest decimal that reads back as the given finite float; among the shortest the nearest. At a power of two the
/// numbers above are twice as far apart as those below, so that where the nearest decimal lies below and reads back as
/// another float, the next one away from zero may still do.
template <exact_integer Integer = integer>
constexpr basic_decimal<Integer> shortest_decimal(std::uint64_t pattern, const format& f) {
  const auto value = pattern_value<Integer>(pattern, f);
  if (sign(value) == 0) return {Integer(0), 0, (pattern & f.sign_bit()) != 0};
  for (unsigned digits = 1;; ++digits) {
    for (const auto direction : {decimal_rounding::nearest, sign(value) < 0 ? decimal_rounding::lower : decimal_rounding::upper}) {
      const auto candidate = to_significant_decimal(value, digits, direction);
      if (round_correctly(candidate.value(), f) == pattern) return candidate;
    }
  }
}

/// By how many floats the one that a numeral reads back as lies above the correctly rounded float of x (negative: below).
template <class Expression>
constexpr integer_under<Expression> ulp_difference(std::string_view numeral, const Expression& x, const format& f) {
  using Integer = integer_under<Expression>;
  const auto ordinal = [&f](std::uint64_t pattern) {  // patterns ascend with the values of either sign from zero
    const std::uint64_t magnitude = pattern & (f.sign_bit() - 1);
    return pattern == magnitude ? Integer(magnitude) : Integer(-Integer(magnitude));
  };
  const Integer printed = ordinal(numeral_pattern<Integer>(numeral, f));
  const Integer correct = ordinal(round_correctly(x, f));
  return printed - correct;
}

/// A float as "0.19777581464042818 (0x3fc950b7c7e902c5)"; where the decimal would need wide integers, as a hexadecimal
/// float in front.
template <class Out>
constexpr void print_pattern(Out& out, std::uint64_t pattern, const format& f) {
  const decoded d = decode(pattern, f);
  if (d.kind == number_kind::finite) {
    if (d.significand != 0 && (d.exponent > 200 || d.exponent < -300))
      print(out, pattern_value(pattern, f));
    else
      print(out, shortest_decimal(pattern, f));
  } else {
    print(out, d.kind == number_kind::infinite ? (d.negative ? "-infinity" : "infinity") : "NaN");
  }
  print(out, " (0x");
  for (int shift = (f.storage_bits - 1) / 4 * 4; shift >= 0; shift -= 4) out.push_back("0123456789abcdef"[pattern >> shift & 15]);
  out.push_back(')');
}

}  // namespace attest
