#include <attest/reference/number_text.hpp>

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace attest {

std::string shortest_text(double value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  // [-]d[.ddd]e±dd: the shortest digits, whose layout the library would choose by length.
  const std::string_view written(buffer, static_cast<std::size_t>(end - buffer));
  const std::size_t e = written.find('e');
  std::string result = written[0] == '-' ? "-" : "";
  std::string digits;
  for (const char c : written.substr(0, e))
    if (c >= '0' && c <= '9') digits += c;
  int exponent = 0;
  const std::size_t sign = e + 1;
  std::from_chars(written.data() + sign + (written[sign] == '+' ? 1 : 0), end, exponent);

  const auto count = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= 16) {
    result += digits[0];
    if (count > 1) result += '.' + digits.substr(1);
    result += exponent < 0 ? "e-" : "e+";
    const std::string magnitude = std::to_string(std::abs(exponent));
    return result + (magnitude.size() < 2 ? "0" : "") + magnitude;
  }
  if (exponent < 0) return result + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  if (count <= exponent + 1)
    return result + digits + std::string(static_cast<std::size_t>(exponent + 1 - count), '0') + ".0";
  const auto point = static_cast<std::size_t>(exponent + 1);
  return result + digits.substr(0, point) + '.' + digits.substr(point);
}

std::string exact_text(const exact_scalar& value) {
  if (const auto* fraction = std::get_if<unbounded_rational>(&value))
    return fraction->numerator().str() + '/' + fraction->denominator().str();
  const auto& exact = std::get<unbounded_dyadic>(value);
  const unbounded_integer significand = exact.significand();
  if (exact.exponent() >= 0) return shift_left(significand, exact.exponent()).str();
  // One hexadecimal digit before the point: the odd significand's bits after the first, padded to whole
  // digits.
  const bool negative = significand.sign() < 0;
  const unbounded_integer magnitude = negative ? unbounded_integer(-significand) : significand;
  const auto top = static_cast<unsigned>(msb(magnitude));
  const unsigned padding = (4 - top % 4) % 4;
  const unbounded_integer padded = magnitude << padding;
  std::string digits = padded.str(0, std::ios_base::hex);
  for (char& c : digits)
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
  std::string result = std::string(negative ? "-" : "") + "0x" + digits.substr(0, 1);
  if (digits.size() > 1) result += '.' + digits.substr(1);
  return result + "p" + std::to_string(exact.exponent() + static_cast<long>(top));
}

}  // namespace attest
