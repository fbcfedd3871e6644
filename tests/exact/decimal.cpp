#include <attest/exact/decimal.hpp>

#include "catch.hpp"
#include "support/both.hpp"

#include <string>
#include <vector>

// Printed decimals: the value, the unit of the last digit, what is malformed; and splitting a printed list.

using attest::parse_decimal;

namespace {

template <class Integer>
constexpr bool reads(std::string_view text, long significand, long exponent, bool negative = false) {
  const auto d = parse_decimal<Integer>(text);
  return d.significand == Integer(significand) && d.exponent == exponent && d.negative == negative;
}

template <class Integer>
constexpr bool trailing_zeros_set_the_unit() {
  return reads<Integer>("0.827", 827, -3) && reads<Integer>("0.8270", 8270, -4) &&
         reads<Integer>("12", 12, 0) && reads<Integer>("12.0", 120, -1) && reads<Integer>("0.00", 0, -2) &&
         reads<Integer>("100", 100, 0);
}

template <class Integer>
constexpr bool signs_and_exponents_are_read() {
  return reads<Integer>("-1.25", -125, -2, true) && reads<Integer>("+1.25", 125, -2) &&
         reads<Integer>("1e3", 1, 3) && reads<Integer>("1E+3", 1, 3) && reads<Integer>("1.50e-3", 150, -5) &&
         reads<Integer>("-2.5e10", -25, 9, true) && reads<Integer>("-0.0", 0, -1, true) &&
         reads<Integer>("7e0", 7, 0) && reads<Integer>("1e007", 1, 7) && reads<Integer>(".5", 5, -1) &&
         reads<Integer>("5.", 5, 0);
}

template <class Integer>
constexpr bool value_unit_and_half_unit() {
  const auto d = parse_decimal<Integer>("-0.8270");
  const auto large = parse_decimal<Integer>("12e3");
  return d.value() == attest::ratio(Integer(-827), Integer(1000)) &&
         d.unit() == attest::ratio(Integer(1), Integer(10'000)) &&
         d.half_unit() == attest::ratio(Integer(1), Integer(20'000)) &&
         large.value() == attest::ratio(Integer(12'000), Integer(1)) &&
         large.unit() == attest::ratio(Integer(1000), Integer(1)) &&
         large.half_unit() == attest::ratio(Integer(500), Integer(1));
}

template <class Integer>
constexpr bool powers_of_ten() {
  Integer expected(1);
  for (unsigned k = 0; k <= 100; ++k) {
    if (!(attest::power_of_ten<Integer>(k) == expected)) return false;
    const Integer next = expected * Integer(10);
    expected = next;
  }
  return true;
}

constexpr bool lists_split_at_brackets_commas_and_blanks() {
  constexpr std::string_view list = "[[1, -2.5;3e4],\n\t{0.10}|\r5 ]";
  constexpr std::string_view expected[] = {"1", "-2.5", "3e4", "0.10", "5"};
  std::size_t at = 0;
  for (const std::string_view numeral : expected)
    if (attest::next_numeral(list, at) != numeral) return false;
  return attest::next_numeral(list, at).empty() && attest::next_numeral(list, at).empty();
}

}  // namespace

TEST_CASE("trailing zeros of a numeral set the unit of its last digit") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(trailing_zeros_set_the_unit);
}

TEST_CASE("signs, points and exponents of a numeral are read") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(signs_and_exponents_are_read);
}

TEST_CASE("a numeral has an exact value, unit and half unit") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(value_unit_and_half_unit);
}

TEST_CASE("powers of ten are repeated products") { CHECK_IN_COMPILER_AND_AT_RUN_TIME(powers_of_ten); }

TEST_CASE("the largest power of ten that fits is reached and the next overflows") {
  // log10(2^512) = 154.1..
  CHECK(attest::power_of_ten<attest::integer>(154).str() == "1" + std::string(154, '0'));
  CHECK_THROWS_AS(attest::power_of_ten<attest::integer>(155), std::overflow_error);
}

TEST_CASE("malformed text is no number") {
  const std::vector<std::string> malformed = {"",
                                              "-",
                                              "+",
                                              ".",
                                              "-.",
                                              "e5",
                                              "1e",
                                              "1e+",
                                              "1e-",
                                              "1.2.3",
                                              "1..2",
                                              "--1",
                                              "+-1",
                                              "1-",
                                              "1 2",
                                              " 1",
                                              "1 ",
                                              "0x10",
                                              "1,5",
                                              "1e5.0",
                                              "1e5e5",
                                              "nan",
                                              "inf",
                                              "1/3",
                                              "1_000",
                                              "one",
                                              "-e1",
                                              "1e1234567890123456789",
                                              std::string("1\0", 2),
                                              std::string("\0", 1),
                                              std::string("1\0002", 3)};
  for (const std::string& text : malformed) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_decimal(text), std::domain_error);
    CHECK_THROWS_AS(parse_decimal<attest::unbounded_integer>(text), std::domain_error);
  }
}

TEST_CASE("more digits than the fixed integer holds are an error, and read by an unbounded one") {
  const std::string digits(160, '7');
  CHECK_THROWS_AS(parse_decimal(digits), std::overflow_error);
  CHECK(parse_decimal<attest::unbounded_integer>(digits).significand.str() == digits);
}

TEST_CASE("a printed list is split at brackets, commas and blanks") {
  static_assert(lists_split_at_brackets_commas_and_blanks());
  CHECK(testing::at_run_time(&lists_split_at_brackets_commas_and_blanks));
  for (const std::string empty : {"", " ", "[]", "[[ , ], ]\n"}) {
    std::size_t at = 0;
    CHECK(attest::next_numeral(empty, at).empty());
  }
}
