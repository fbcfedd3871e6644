#include "trace_number.hpp"

#include "reference/significant_decimal.hpp"

namespace attest {

namespace {

constexpr std::size_t longest_integer = 12;
constexpr std::size_t longest_fraction = 12;  // numerator and denominator
constexpr std::size_t longest_decimal = 10;
constexpr unsigned bits_of_longest = 40;      // 10^12 has 40

trace_number split(std::string text) {
  trace_number n;
  if (text[0] == '-') {
    n.sign = "-";
    text.erase(0, 1);
  }
  const std::size_t e = text.find('e');
  n.magnitude = text.substr(0, e);
  if (e != std::string::npos) n.exponent = text.substr(e + 1);
  return n;
}

trace_number rounded(const exact_scalar& x, unsigned digits) {
  trace_number n = split(significant_decimal(x, digits));
  n.rounded = true;
  return n;
}

}  // namespace

trace_number to_trace_number(const exact_scalar& x, unsigned digits) {
  if (const auto* fraction = std::get_if<unbounded_rational>(&x)) {
    trace_number n = split(fraction->numerator().str());
    n.denominator = fraction->denominator().str();
    return n.magnitude.size() + n.denominator.size() > longest_fraction ? rounded(x, digits) : n;
  }
  const auto& value = std::get<unbounded_dyadic>(x);
  const unbounded_integer significand = value.significand();
  const long length = static_cast<long>(bit_length(significand)) + value.exponent();
  if (value.exponent() >= 0) {
    if (length > static_cast<long>(bits_of_longest)) return rounded(x, digits);
    const trace_number n = split(shift_left(significand, value.exponent()).str());
    return n.magnitude.size() > longest_integer ? rounded(x, digits) : n;
  }
  // m / 2^k = m 5^k / 10^k has exactly k decimals.
  const auto decimals = static_cast<std::size_t>(-value.exponent());
  if (decimals + 2 > longest_decimal || length > static_cast<long>(bits_of_longest))
    return rounded(x, digits);
  trace_number n = split(
      unbounded_integer(significand * pow(unbounded_integer(5), static_cast<unsigned>(decimals))).str());
  if (n.magnitude.size() <= decimals) n.magnitude.insert(0, decimals + 1 - n.magnitude.size(), '0');
  n.magnitude.insert(n.magnitude.size() - decimals, ".");
  return n.magnitude.size() > longest_decimal ? rounded(x, digits) : n;
}

}  // namespace attest
