#include <attest/rounding/numeral.hpp>

#include "catch.hpp"
#include "support/both.hpp"
#include "support/mpfr.hpp"
#include "support/random.hpp"

#include <charconv>
#include <cstdlib>
#include <string>

// Between numerals and floats: reading against strtod and strtof (round to nearest), halfway cases included;
// the shortest decimal against to_chars; patterns as they are shown.

using attest::numeral_pattern;
using attest::pattern_value;
using attest::shortest_decimal;
using attest::unbounded_integer;
using attest::formats::bfloat16;
using attest::formats::binary16;
using attest::formats::binary32;
using attest::formats::binary64;

namespace {

using big = unbounded_integer;

constexpr std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }
constexpr std::uint64_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }

template <class Integer>
constexpr bool numerals_read_as_literals_do() {
  return numeral_pattern<Integer>("0.1", binary64) == bits(0.1) &&
         numeral_pattern<Integer>("-0.1", binary64) == bits(-0.1) &&
         numeral_pattern<Integer>("0.19777581464042818", binary64) == bits(0.19777581464042818) &&
         numeral_pattern<Integer>("0", binary64) == 0 &&
         numeral_pattern<Integer>("-0.0", binary64) == bits(-0.0) &&
         numeral_pattern<Integer>("0.1", binary32) == bits(0.1f) &&
         numeral_pattern<Integer>("1e23", binary64) == bits(1e23);
}

/// 2^53 + 1 and 2^53 + 3 are ties to even.
template <class Integer>
constexpr bool halfway_integers_read_as_the_even_double() {
  return numeral_pattern<Integer>("9007199254740993", binary64) == bits(9007199254740992.0) &&
         numeral_pattern<Integer>("9007199254740995", binary64) == bits(9007199254740996.0) &&
         numeral_pattern<Integer>("9007199254740993.00001", binary64) == bits(9007199254740994.0);
}

/// binary16: 65519.99 stays, 65520 is the midpoint above the largest number; 2^-25 is half the smallest one.
/// bfloat16 is the top of binary32: 1 + 2^-8 is a tie to 1, 1 + 3·2^-8 one to 1 + 2^-6.
template <class Integer>
constexpr bool narrow_formats_overflow_and_underflow_at_their_midpoints() {
  return numeral_pattern<Integer>("65519.99", binary16) == 0x7bff &&
         numeral_pattern<Integer>("65520", binary16) == 0x7c00 &&
         numeral_pattern<Integer>("-65520", binary16) == 0xfc00 &&
         numeral_pattern<Integer>("0.0000000298023223876953125", binary16) == 0 &&
         numeral_pattern<Integer>("-0.0000000298023223876953125", binary16) == 0x8000 &&
         numeral_pattern<Integer>("0.00000003", binary16) == 1 &&
         numeral_pattern<Integer>("1.00390625", bfloat16) == 0x3f80 &&
         numeral_pattern<Integer>("1.01171875", bfloat16) == 0x3f82;
}

template <class Integer>
constexpr bool shortest(double x, std::string_view expected) {
  attest::fixed_text<40> text;
  print(text, shortest_decimal<Integer>(bits(x), binary64));
  return text.view() == expected;
}

template <class Integer>
constexpr bool short_decimals_are_found() {
  return shortest<Integer>(0.1, "0.1") && shortest<Integer>(-0.0, "-0") && shortest<Integer>(9.6, "9.6") &&
         shortest<Integer>(100, "1e2") && shortest<Integer>(12345, "12345");
}

// One property for each long decimal: the compilers' limits count per constant.
template <class Integer>
constexpr bool a_weight_has_seventeen_digits() {
  return shortest<Integer>(0.19777581464042818, "0.19777581464042818");
}

/// 2^-44 = 5.684341886080801486..e-14: the double below is half as far away as the one above, so of the two
/// 16-digit decimals next to it only the farther reads back.
template <class Integer>
constexpr bool a_power_of_two_takes_the_farther_decimal() {
  return shortest<Integer>(-0x1p-44, "-5.684341886080802e-14");
}

template <class Integer>
constexpr bool pattern_values_are_those_of_the_floats() {
  const auto is = [](double x) {
    return pattern_value<Integer>(bits(x), binary64) == attest::exact_value<Integer>(x);
  };
  return is(0.1) && is(-0.1) && is(0.0) && is(-0.0) && is(5e-324) && is(-1.7976931348623157e308) &&
         pattern_value<Integer>(0x3c01, binary16) == attest::exact_value<Integer>(1.0009765625) &&
         pattern_value<Integer>(0xbf81, bfloat16) == attest::exact_value<Integer>(-1.0078125) &&
         pattern_value<Integer>(bits(0.1f), binary32) == attest::exact_value<Integer>(0.1f);
}

constexpr bool patterns_are_shown_as_decimal_and_hexadecimal() {
  const auto shows = [](std::uint64_t pattern, const attest::format& f, std::string_view expected) {
    attest::fixed_text<80> text;
    print_pattern(text, pattern, f);
    return text.view() == expected;
  };
  return shows(bits(0.19777581464042818), binary64, "0.19777581464042818 (0x3fc950b7c7e902c5)") &&
         shows(bits(-0.0), binary64, "-0 (0x8000000000000000)") &&
         shows(0x7c00, binary16, "infinity (0x7c00)") && shows(0xff80, bfloat16, "-infinity (0xff80)") &&
         shows(0x7fc0, bfloat16, "NaN (0x7fc0)") && shows(bits(0.1f), binary32, "0.1 (0x3dcccccd)") &&
         shows(bits(5e-324), binary64, "0x1p-1074 (0x0000000000000001)");
}

/// The exact decimal of significand * 2^exponent.
std::string exact_decimal(const reference::whole& significand, long exponent) {
  reference::whole n(significand);
  if (exponent >= 0) {
    mpz_mul_2exp(n.get(), n.get(), static_cast<mp_bitcnt_t>(exponent));
    return n.text();
  }
  reference::whole power;  // 2^exponent = 5^-exponent 10^exponent
  mpz_ui_pow_ui(power.get(), 5, static_cast<unsigned long>(-exponent));
  mpz_mul(n.get(), n.get(), power.get());
  return n.text() + "e" + std::to_string(exponent);
}

}  // namespace

TEST_CASE("numerals read as the compiler reads literals") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(numerals_read_as_literals_do);
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(halfway_integers_read_as_the_even_double);
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(narrow_formats_overflow_and_underflow_at_their_midpoints);
}

TEST_CASE("the shortest decimal that reads back, also at a power of two") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(short_decimals_are_found);
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(a_weight_has_seventeen_digits);
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(a_power_of_two_takes_the_farther_decimal);
}

TEST_CASE("the value of a pattern is the float's") {
  static_assert(pattern_value(bits(0.1), binary64) == attest::exact_value(0.1));
  CHECK(testing::at_run_time(&pattern_values_are_those_of_the_floats<unbounded_integer>));
  CHECK_THROWS_AS(pattern_value(binary64.infinity, binary64), std::domain_error);
  CHECK_THROWS_AS(pattern_value(binary16.quiet_nan, binary16), std::domain_error);
}

TEST_CASE("patterns are shown with their decimal") {
  static_assert(patterns_are_shown_as_decimal_and_hexadecimal());
  CHECK(testing::at_run_time(&patterns_are_shown_as_decimal_and_hexadecimal));
}

TEST_CASE("random numerals read as strtod and strtof read them") {
  testing::random_source random(15'071);
  for (int round = 0; round < 3000; ++round) {
    std::string text = random.between(0, 1) == 0 ? "-" : "";
    for (long digits = random.between(1, 30); digits > 0; --digits)
      text += static_cast<char>('0' + random.between(0, 9));
    if (random.between(0, 2) == 0) text += ".5";
    const bool narrow = random.between(0, 1) == 0;
    text += "e" + std::to_string(narrow ? random.between(-60, 30) : random.between(-350, 300));
    CAPTURE(text);
    CHECK(numeral_pattern<big>(text, binary64) == bits(std::strtod(text.c_str(), nullptr)));
    CHECK(numeral_pattern<big>(text, binary32) == bits(std::strtof(text.c_str(), nullptr)));
  }
}

TEST_CASE("halfway numerals, and those a digit away, read as strtod and strtof read them") {
  testing::random_source random(15'072);
  for (int round = 0; round < 600; ++round) {
    const bool wide = round % 2 == 0;
    const auto& f = wide ? binary64 : binary32;
    // The midpoint above a random finite number: 2 significand + 1 halves of its unit.
    const auto d =
        wide ? attest::decode(
                   bits(round % 6 == 0 ? std::bit_cast<double>(random.word() >> 12) : random.any_double()), f)
             : attest::decode(
                   bits(round % 5 == 0 ? std::bit_cast<float>(static_cast<std::uint32_t>(random.word() >> 41))
                                       : random.any_float()),
                   f);
    const reference::whole halves(static_cast<long>(2 * d.significand + 1));
    const std::string text = exact_decimal(halves, d.exponent - 1);
    const std::size_t e = text.find('e');
    const std::string digits = text.substr(0, e);
    const std::string tail = e == std::string::npos ? "" : text.substr(e);
    for (const std::string& numeral :
         {digits + tail, digits + ".0000000001" + tail, digits + ".000" + tail}) {
      CAPTURE(numeral);
      if (wide)
        CHECK(numeral_pattern<big>(numeral, f) == bits(std::strtod(numeral.c_str(), nullptr)));
      else
        CHECK(numeral_pattern<big>(numeral, f) == bits(std::strtof(numeral.c_str(), nullptr)));
    }
    // One unit of the last digit less.
    reference::whole less(digits);
    mpz_sub_ui(less.get(), less.get(), 1);
    const std::string numeral = less.text() + tail;
    CAPTURE(numeral);
    if (wide)
      CHECK(numeral_pattern<big>(numeral, f) == bits(std::strtod(numeral.c_str(), nullptr)));
    else
      CHECK(numeral_pattern<big>(numeral, f) == bits(std::strtof(numeral.c_str(), nullptr)));
  }
}

TEST_CASE("the shortest decimal is the one of to_chars") {
  testing::random_source random(15'073);
  const auto check = [](auto x, const attest::format& f) {
    char buffer[64];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, x, std::chars_format::scientific).ptr;
    const auto expected =
        attest::parse_decimal<big>(std::string_view(buffer, static_cast<std::size_t>(end - buffer)));
    const auto actual = shortest_decimal<big>(bits(x), f);
    CAPTURE(x, std::string(buffer, end));
    CHECK(actual.significand == expected.significand);
    CHECK((actual.exponent == expected.exponent || expected.significand.is_zero()));
    CHECK(actual.negative == expected.negative);
  };
  for (int round = 0; round < 150; ++round) {
    check(random.any_double(), binary64);
    check(random.double_between(-30, 60), binary64);
    check(static_cast<double>(random.between(-100'000, 100'000)) / 1000, binary64);
    check(random.any_float(), binary32);
  }
  for (int k = -1074; k <= 1023; k += 37) check(std::ldexp(1.0, k), binary64);
  for (int k = -64; k <= 64; ++k) check(-std::ldexp(1.0, k), binary64);
  for (int k = -149; k <= 127; ++k) check(std::ldexp(1.0f, k), binary32);
  for (const double x :
       {0.0, -0.0, 5e-324, 1e-323, 2.2250738585072014e-308, 2.225073858507201e-308, 1.7976931348623157e308,
        9.5, 9.6, 99.5, 1e22, 1e23, 9007199254740993.0, 0.1, 0.3, 2.0 / 3})
    check(x, binary64);
}

TEST_CASE(
    "the shortest decimal of every positive binary16 and bfloat16 number reads back, and no shorter one "
    "does") {
  for (const auto* f : {&binary16, &bfloat16}) {
    for (std::uint64_t pattern = 1; pattern <= f->largest; pattern += f == &binary16 ? 13 : 29) {
      const auto decimal = shortest_decimal<big>(pattern, *f);
      CAPTURE(f->name, pattern);
      CHECK(attest::round_correctly(decimal.value(), *f) == pattern);
      const std::string digits = decimal.significand.str();
      // Both neighbours with a digit less read back as something else.
      if (digits.size() == 1) continue;
      CHECK(digits.back() != '0');
      for (const auto direction : {attest::decimal_rounding::lower, attest::decimal_rounding::upper}) {
        const auto shorter =
            attest::to_decimal(pattern_value<big>(pattern, *f), decimal.exponent + 1, direction);
        CHECK(attest::round_correctly(shorter.value(), *f) != pattern);
      }
    }
  }
}
