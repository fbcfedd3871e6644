#pragma once

#include <attest/reference/exact_values.hpp>

#include <stdexcept>
#include <string>
#include <string_view>

namespace attest::io {

/// Limits on a number in a file, so that a short file cannot ask for unbounded work: digits as written, and
/// the magnitude of what is not zero, 10^-4000 to 10^4000 (for hexadecimal floats 2^-13287 to 2^13287).
/// binary128 spans 10^±4966; what lies outside can be reached by a scale.
inline constexpr std::size_t maximum_digits = 4000;
inline constexpr long maximum_decimal_exponent = 4000;
inline constexpr long maximum_binary_exponent = 13287;

/// What a JSON number with a point or an exponent stands for.
enum class decimals { nearest_binary64, exact };

/// A text that is no number, or one that is refused. what() names the text, the reason and the remedy.
class number_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A number with a point or an exponent that rounds to an infinite binary64.
class binary64_overflow : public number_error {
 public:
  using number_error::number_error;
};

/// The exact value of a JSON number, from the token's text: integers exactly at any size; a number with a
/// point or an exponent is the nearest binary64 (ties to even), or exactly what is written with
/// decimals::exact. An overflow of binary64 is binary64_overflow, a number past the limits number_error.
exact_scalar read_number(std::string_view token, decimals meaning);

/// The exact value of a string: an integer "-7", a rational "1/3", a decimal "0.1" or "2.5e-3", a hexadecimal
/// float "0x1.8p-3". All are exact. Anything else is number_error.
exact_scalar read_exact(std::string_view text);

/// How number_error says that a token is past the limits.
std::string past_the_limits(std::string_view token);

}  // namespace attest::io
