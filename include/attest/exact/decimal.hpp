#pragma once

#include <attest/exact/rational.hpp>

#include <cstddef>
#include <string_view>

namespace attest {

/// 10^exponent. One that does not fit a fixed integer is an error, as any overflow; an unbounded one takes the memory it needs,
/// exponent / 2.4 bytes.
template <exact_integer Integer>
constexpr Integer power_of_ten(unsigned exponent) {
  Integer power(1);
  Integer square(10);
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) {
      const Integer next = power * square;
      power = next;
    }
    if (exponent == 1) break;  // the next square might not fit, and is not needed
    const Integer same = square;
    const Integer next = same * same;
    square = next;
  }
  return power;
}

/// A numeral as it is printed: significand * 10^exponent, where 10^exponent is the unit of the last printed digit, so
/// trailing zeros count ("0.8270" has exponent -4, "0.827" has -3).
template <exact_integer Integer>
struct basic_decimal {
  Integer significand;
  long exponent;
  bool negative;  // tells -0.0 from 0.0

  constexpr basic_rational<Integer> value() const { return scaled(significand); }
  constexpr basic_rational<Integer> unit() const { return scaled(Integer(1)); }
  constexpr basic_rational<Integer> half_unit() const { return unit() * ratio(Integer(1), Integer(2)); }

 private:
  constexpr basic_rational<Integer> scaled(Integer n) const {
    const Integer power = power_of_ten<Integer>(checked_count(exponent));
    if (exponent < 0) return ratio(Integer(n), power);
    const Integer product = n * power;
    return ratio(product, Integer(1));
  }
};

/// Reads "[-+]digits[.digits][(e|E)[-+]digits]", where the digits on one side of the point may be missing ("5.", ".5"). Anything
/// else is error::not_a_number(), an exponent past 10^9 too. value() has all digits of the power of ten: numerals from elsewhere
/// want a limit before it.
template <exact_integer Integer = integer>
constexpr basic_decimal<Integer> parse_decimal(std::string_view text) {
  std::size_t at = 0;
  const auto peek = [&] { return at < text.size() ? text[at] : '\0'; };
  const auto is_digit = [&] { return peek() >= '0' && peek() <= '9'; };
  const auto read_sign = [&] {
    const bool negative = peek() == '-';
    if (negative || peek() == '+') ++at;
    return negative;
  };
  const Integer ten(10);
  basic_decimal<Integer> result{Integer(0), 0, read_sign()};
  bool any = false;
  bool point = false;
  for (; is_digit() || (peek() == '.' && !point); ++at) {
    if (peek() == '.') {
      point = true;
      continue;
    }
    any = true;
    const Integer digit(peek() - '0');
    const Integer shifted = result.significand * ten;
    const Integer next = shifted + digit;
    result.significand = next;
    if (point) --result.exponent;
  }
  if (!any) error::not_a_number();
  if (peek() == 'e' || peek() == 'E') {
    ++at;
    const bool negative = read_sign();
    if (!is_digit()) error::not_a_number();
    long exponent = 0;
    for (; is_digit(); ++at) {
      if (exponent > 100'000'000) error::not_a_number();
      exponent = exponent * 10 + (peek() - '0');
    }
    result.exponent += negative ? -exponent : exponent;
  }
  if (at != text.size()) error::not_a_number();
  if (result.negative) result.significand = -result.significand;
  return result;
}

/// The next numeral of a printed list, or an empty view at its end. Numerals may be separated by anything that cannot
/// be part of one: spaces, commas, semicolons, brackets.
constexpr std::string_view next_numeral(std::string_view text, std::size_t& at) {
  const auto separates = [](char c) {
    return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == ',' || c == ';' || c == '[' || c == ']' || c == '{' ||
           c == '}' || c == '|';
  };
  while (at < text.size() && separates(text[at])) ++at;
  const std::size_t first = at;
  while (at < text.size() && !separates(text[at])) ++at;
  return text.substr(first, at - first);
}

}  // namespace attest
