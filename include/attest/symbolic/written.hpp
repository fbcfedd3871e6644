#pragma once

#include <attest/exact/decimal.hpp>
#include <attest/symbolic/surd.hpp>

#include <string_view>

namespace attest {

/// Reads a number as a page writes it and as print() does, exactly: "-2", "0.25", "4/3", one of these over a root, a fraction
/// there in brackets or not: "3/sqrt(2)", "1/2/sqrt(5)", "(1/2)/sqrt(5)", or a sum of both: "1 - (1/2)/sqrt(5)". Anything else
/// is error::not_a_number().
template <exact_integer Integer = integer>
constexpr surd<basic_rational<Integer>> parse_exact(std::string_view text) {
  using Rational = basic_rational<Integer>;
  if (const std::size_t at = text.find(" + "); at != std::string_view::npos)
    return parse_exact<Integer>(text.substr(0, at)) + parse_exact<Integer>(text.substr(at + 3));
  if (const std::size_t at = text.find(" - "); at != std::string_view::npos)
    return parse_exact<Integer>(text.substr(0, at)) - parse_exact<Integer>(text.substr(at + 3));
  constexpr std::string_view root = "/sqrt(";
  unsigned long long radicand = 0;
  if (const std::size_t at = text.find(root); at != std::string_view::npos) {
    if (text.back() != ')') error::not_a_number();
    const auto d = parse_decimal<Integer>(text.substr(at + root.size(), text.size() - at - root.size() - 1));
    if (d.exponent != 0 || d.significand.sign() <= 0 || bit_length(d.significand) > 63) error::not_a_number();
    radicand = static_cast<unsigned long long>(d.significand);
    text = text.substr(0, at);
    if (text.size() > 2 && text.front() == '(' && text.back() == ')') text = text.substr(1, text.size() - 2);
  }
  const std::size_t slash = text.find('/');
  Rational value = parse_decimal<Integer>(text.substr(0, slash)).value();
  if (slash != std::string_view::npos) {
    const Rational divisor = parse_decimal<Integer>(text.substr(slash + 1)).value();
    if (divisor.numerator().is_zero()) error::zero_denominator();
    const Rational quotient = value / divisor;
    value = quotient;
  }
  if (radicand == 0) return surd<Rational>(value);
  return surd<Rational>(Rational(Integer(0)), value, radicand);
}

}  // namespace attest
