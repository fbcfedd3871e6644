#include <attest/io/number.hpp>

#include <attest/exact/decimal.hpp>
#include <attest/kernel/float_environment.hpp>
#include <attest/reference/rounded.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>

namespace attest::io {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

int hexadecimal_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string quoted(std::string_view text) {
  constexpr std::size_t longest = 40;
  if (text.size() <= longest) return '"' + std::string(text) + '"';
  return '"' + std::string(text.substr(0, longest)) + "...\"";
}

[[noreturn]] void not_a_number(std::string_view text) {
  throw number_error(quoted(text) +
                     " is no number: write an integer, a rational \"1/3\", a decimal \"0.1\" or a "
                     "hexadecimal float \"0x1.8p-3\"");
}

/// Without leading zeros, which Boost reads as a sign of octal numbers; "0" for none.
unbounded_integer integer_of_digits(std::string_view digits) {
  const std::size_t first = digits.find_first_not_of('0');
  if (first == std::string_view::npos) return unbounded_integer(0);
  return unbounded_integer(std::string(digits.substr(first)));
}

/// significand * base^exponent as it is written, taken apart; the significand's digits without the point.
struct numeral {
  bool negative = false;
  std::string digits;
  long exponent = 0;  // of the last digit for decimals; as written for hexadecimal floats
  bool is_integer = true;
};

struct scanner {
  std::string_view text;
  std::size_t at = 0;

  char peek() const { return at < text.size() ? text[at] : '\0'; }
  bool take(char c) {
    if (peek() != c || at == text.size()) return false;
    ++at;
    return true;
  }
  bool take(char a, char b) { return take(a) || take(b); }

  bool sign() {
    if (take('-')) return true;
    take('+');
    return false;
  }

  // The exponent's own digits; what does not fit a long by far is past any limit.
  std::optional<long> exponent() {
    const bool negative = sign();
    if (!is_digit(peek())) return std::nullopt;
    long value = 0;
    for (; is_digit(peek()); ++at) value = std::min(value * 10 + (peek() - '0'), 1'000'000'000L);
    return negative ? -value : value;
  }
};

std::optional<numeral> scan_decimal(std::string_view text) {
  scanner s{text};
  numeral n;
  n.negative = s.sign();
  while (is_digit(s.peek())) n.digits += s.text[s.at++];
  if (n.digits.empty()) return std::nullopt;
  if (s.take('.')) {
    n.is_integer = false;
    if (!is_digit(s.peek())) return std::nullopt;
    for (; is_digit(s.peek()); --n.exponent) n.digits += s.text[s.at++];
  }
  if (s.take('e', 'E')) {
    n.is_integer = false;
    const auto exponent = s.exponent();
    if (!exponent) return std::nullopt;
    n.exponent += *exponent;
  }
  if (s.at != text.size()) return std::nullopt;
  return n;
}

/// digits.size() digits, the last one of unit 10^exponent, within the limits; zero is, whatever its exponent.
bool within_limits(const numeral& n) {
  if (n.digits.size() > maximum_digits) return false;
  const std::size_t first = n.digits.find_first_not_of('0');
  if (first == std::string::npos) return true;
  const long leading = n.exponent + static_cast<long>(n.digits.size() - first) - 1;
  return leading >= -maximum_decimal_exponent && leading < maximum_decimal_exponent;
}

unbounded_integer power(unsigned base, unsigned long exponent) {
  return boost::multiprecision::pow(unbounded_integer(base), static_cast<unsigned>(exponent));
}

exact_scalar exact_decimal(const numeral& n) {
  unbounded_integer significand = integer_of_digits(n.digits);
  if (significand.is_zero()) return unbounded_dyadic(0);
  if (n.negative) significand = -significand;
  if (n.exponent >= 0)
    return unbounded_dyadic(unbounded_integer(significand * power(5, static_cast<unsigned long>(n.exponent))),
                            n.exponent);
  const auto places = static_cast<unsigned long>(-n.exponent);
  return exact_ratio(significand, power(10, places));
}

// A decimal that std::from_chars finds outside the range of binary64: at most half the smallest subnormal, or
// too large.
double out_of_range(std::string_view token, const numeral& n) {
  const double value = nearest_binary64(exact_decimal(n));
  if (std::isinf(value))
    throw binary64_overflow(quoted(token) +
                            " overflows binary64: write it as a string, or read it with --decimal");
  return value;
}

double nearest_decimal(std::string_view token, const numeral& n) {
  const kernel::float_environment nearest;  // std::from_chars calculates in the caller's rounding mode
  double value = 0;
  const auto result = std::from_chars(token.data(), token.data() + token.size(), value);
  if (result.ec == std::errc::result_out_of_range || std::isinf(value)) return out_of_range(token, n);
  if (result.ec != std::errc() || result.ptr != token.data() + token.size()) not_a_number(token);
  return value;
}

exact_scalar hexadecimal(std::string_view text) {
  scanner s{text};
  const bool negative = s.sign();
  s.at += 2;  // 0x
  unbounded_integer significand(0);
  long exponent = 0;
  std::size_t digits = 0;
  std::size_t leading = 0;
  const auto read_digits = [&](bool fraction) {
    for (int digit = hexadecimal_digit(s.peek()); digit >= 0; digit = hexadecimal_digit(s.peek())) {
      ++s.at;
      if (++digits > maximum_digits) throw number_error(past_the_limits(text));
      significand = (significand << 4) + digit;
      if (fraction) exponent -= 4;
    }
  };
  read_digits(false);
  leading = digits;
  if (s.take('.')) {
    read_digits(true);
    if (digits == leading) not_a_number(text);
  }
  if (leading == 0) not_a_number(text);
  if (s.take('p', 'P')) {
    const auto written = s.exponent();
    if (!written) not_a_number(text);
    exponent += *written;
  }
  if (s.at != text.size()) not_a_number(text);
  if (significand.is_zero()) return unbounded_dyadic(0);
  const long top = exponent + static_cast<long>(msb(significand));
  if (top < -maximum_binary_exponent || top >= maximum_binary_exponent)
    throw number_error(past_the_limits(text));
  if (negative) significand = -significand;
  return unbounded_dyadic(significand, exponent);
}

exact_scalar quotient(std::string_view text, std::size_t slash) {
  const auto numerator = scan_decimal(text.substr(0, slash));
  const auto denominator = scan_decimal(text.substr(slash + 1));
  const bool signed_denominator = slash + 1 < text.size() && !is_digit(text[slash + 1]);
  if (!numerator || !denominator || signed_denominator || !numerator->is_integer || !denominator->is_integer)
    not_a_number(text);
  if (!within_limits(*numerator) || !within_limits(*denominator)) throw number_error(past_the_limits(text));
  const unbounded_integer below = integer_of_digits(denominator->digits);
  if (below.is_zero()) throw number_error(quoted(text) + " has a zero denominator: give another one");
  const unbounded_integer above = integer_of_digits(numerator->digits);
  return exact_ratio(numerator->negative ? unbounded_integer(-above) : above, below);
}

}  // namespace

std::string past_the_limits(std::string_view token) {
  return quoted(token) + " is past the limits of a number: at most " + std::to_string(maximum_digits) +
         " digits, and a magnitude from 10^-" + std::to_string(maximum_decimal_exponent) + " to 10^" +
         std::to_string(maximum_decimal_exponent);
}

exact_scalar read_number(std::string_view token, decimals meaning) {
  const auto n = scan_decimal(token);
  if (!n) not_a_number(token);
  if (!within_limits(*n)) throw number_error(past_the_limits(token));
  if (n->is_integer || meaning == decimals::exact) return exact_decimal(*n);
  return exact_value<unbounded_integer>(nearest_decimal(token, *n));
}

exact_scalar read_exact(std::string_view text) {
  const std::size_t unsigned_part = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  const std::string_view prefix = text.substr(std::min(unsigned_part, text.size()), 2);
  if (prefix == "0x" || prefix == "0X") return hexadecimal(text);
  const std::size_t slash = text.find('/');
  if (slash != std::string_view::npos) return quotient(text, slash);
  const auto n = scan_decimal(text);
  if (!n) not_a_number(text);
  if (!within_limits(*n)) throw number_error(past_the_limits(text));
  return exact_decimal(*n);
}

}  // namespace attest::io
