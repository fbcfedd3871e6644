#pragma once

#include <attest/exact/decimal.hpp>
#include <attest/symbolic/surd.hpp>

#include <cstddef>
#include <string_view>

namespace attest {

namespace detail {

/// Where `part` first occurs in `text`, or npos. (Under g++'s -fsanitize=undefined, std::string_view::find of
/// a template argument's characters is no constant expression.)
constexpr std::size_t find_in(std::string_view text, std::string_view part) {
  for (std::size_t at = 0; at + part.size() <= text.size(); ++at) {
    std::size_t same = 0;
    while (same < part.size() && text[at + same] == part[same]) ++same;
    if (same == part.size()) return at;
  }
  return std::string_view::npos;
}

// One term of a number: a rational, or one over a root.
template <exact_integer Integer>
constexpr surd<basic_rational<Integer>> parse_part(std::string_view text) {
  using Rational = basic_rational<Integer>;
  constexpr std::string_view root = "/sqrt(";
  unsigned long long radicand = 0;
  if (const std::size_t at = detail::find_in(text, root); at != std::string_view::npos) {
    if (text.back() != ')') error::not_a_number();
    const auto d = parse_decimal<Integer>(text.substr(at + root.size(), text.size() - at - root.size() - 1));
    if (d.exponent != 0 || d.significand.sign() <= 0 || bit_length(d.significand) > 63) error::not_a_number();
    radicand = static_cast<unsigned long long>(d.significand);
    text = text.substr(0, at);
    if (text.size() > 2 && text.front() == '(' && text.back() == ')') text = text.substr(1, text.size() - 2);
  }
  const std::size_t slash = detail::find_in(text, "/");
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

}  // namespace detail

/// Reads a number as a page writes it and as print() does, exactly: "-2", "0.25", "4/3", one of these over a
/// root, a fraction there in brackets or not: "3/sqrt(2)", "1/2/sqrt(5)", "(1/2)/sqrt(5)", or a sum of both:
/// "1 - (1/2)/sqrt(5)". Anything else is error::not_a_number().
template <exact_integer Integer = integer>
constexpr surd<basic_rational<Integer>> parse_exact(std::string_view text) {
  for (const std::string_view sign : {std::string_view(" + "), std::string_view(" - ")}) {
    const std::size_t at = detail::find_in(text, sign);
    if (at == std::string_view::npos) continue;
    const auto rational_part = detail::parse_part<Integer>(text.substr(0, at));
    const auto root_part = detail::parse_part<Integer>(text.substr(at + sign.size()));
    return sign == " + " ? rational_part + root_part : rational_part - root_part;
  }
  return detail::parse_part<Integer>(text);
}

}  // namespace attest
