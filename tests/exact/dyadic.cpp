#include <attest/exact/dyadic.hpp>

#include "catch.hpp"
#include "support/both.hpp"
#include "support/mpfr.hpp"
#include "support/random.hpp"

#include <limits>

// Dyadics: exact from every finite float, in normal form, and exact under +, -, * and comparison, against GMP
// fractions.

using attest::basic_dyadic;
using attest::exact_value;
using attest::unbounded_integer;
using reference::fraction;
using reference::to_fraction;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double smallest = std::numeric_limits<double>::denorm_min();
constexpr double largest = std::numeric_limits<double>::max();

template <class Integer>
constexpr bool equals(const basic_dyadic<Integer>& x, long significand, long exponent) {
  return x.significand() == Integer(significand) && x.exponent() == exponent;
}

template <class Integer>
constexpr bool normal_form_has_an_odd_significand_or_is_zero() {
  using dyadic = basic_dyadic<Integer>;
  return equals(dyadic(Integer(12), 5), 3, 7) && equals(dyadic(Integer(-40), -3), -5, 0) &&
         equals(dyadic(Integer(7), 9), 7, 9) && equals(dyadic(Integer(0), 99), 0, 0) &&
         equals(dyadic(), 0, 0) && equals(dyadic(6), 3, 1) && dyadic(Integer(0), 99) == dyadic(0) &&
         dyadic(Integer(4), -2) == dyadic(1);
}

template <class Integer>
constexpr bool floats_have_exact_values() {
  const auto value = [](auto x) { return exact_value<Integer>(x); };
  return equals(value(0.0), 0, 0) && equals(value(-0.0), 0, 0) && equals(value(1.0), 1, 0) &&
         equals(value(-0.75), -3, -2) &&
         // 0.1 is 0x1.999999999999ap-4 = 3602879701896397 * 2^-55
         equals(value(0.1), 3602879701896397, -55) && equals(value(smallest), 1, -1074) &&
         equals(value(-smallest), -1, -1074) &&
         // the largest subnormal, (2^52 - 1) * 2^-1074, and the smallest normal number
         equals(value(0x0.fffffffffffffp-1022), 4503599627370495, -1074) &&
         equals(value(0x1p-1022), 1, -1022) &&
         // (2^53 - 1) * 2^971
         equals(value(largest), 9007199254740991, 971) && equals(value(0.0f), 0, 0) &&
         equals(value(-0.0f), 0, 0) && equals(value(-1.5f), -3, -1) && equals(value(0x1p-149f), 1, -149) &&
         equals(value(0x0.fffffep-126f), 8388607, -149) && equals(value(0x1p-126f), 1, -126) &&
         equals(value(std::numeric_limits<float>::max()), 16777215, 104);
}

template <class Integer>
constexpr bool arithmetic_is_exact_where_doubles_round() {
  using dyadic = basic_dyadic<Integer>;
  const dyadic tenth = exact_value<Integer>(0.1);
  const dyadic fifth = exact_value<Integer>(0.2);
  const dyadic sum = tenth + fifth;
  const dyadic rounded = exact_value<Integer>(0.30000000000000004);  // what doubles make of it
  const dyadic difference = rounded - sum;
  // 0.1 = 3602879701896397 * 2^-55 and 0.2 = twice that, so the sum is 10808639105689191 * 2^-55; the double
  // is 2^-54 * 5404319552844596.
  return equals(sum, 10808639105689191, -55) && equals(difference, 1, -55) && sum < rounded &&
         !(sum == rounded) && rounded > sum && equals(tenth * dyadic(Integer(10), 0) - dyadic(1), 1, -54);
}

template <class Integer>
constexpr bool zero_is_neutral_at_any_exponent() {
  using dyadic = basic_dyadic<Integer>;
  const dyadic huge(Integer(1), 100'000);
  const dyadic tiny(Integer(3), -100'000);
  const dyadic zero(0);
  return huge + zero == huge && zero + huge == huge && huge - zero == huge && zero - huge == -huge &&
         zero + tiny == tiny && tiny - tiny == zero && huge - huge == zero && huge * zero == zero &&
         equals(huge * tiny, 3, 0) && huge > zero && tiny > zero && -huge < zero && -tiny < zero;
}

template <class Integer>
constexpr bool order_needs_no_common_exponent() {
  using dyadic = basic_dyadic<Integer>;
  const dyadic huge(Integer(1), 100'000);
  const dyadic tiny(Integer(3), -100'000);
  return tiny < huge && huge > tiny && -huge < tiny && -huge < -tiny && tiny > -huge && !(huge < tiny) &&
         tiny <= huge;
}

}  // namespace

TEST_CASE("a dyadic is kept in one normal form") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(normal_form_has_an_odd_significand_or_is_zero);
}

TEST_CASE("every finite float has its exact value, subnormal numbers and zeros of both signs included") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(floats_have_exact_values);
}

TEST_CASE("sums and products of dyadics are exact where doubles round") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(arithmetic_is_exact_where_doubles_round);
}

TEST_CASE("zero is neutral next to a number of any exponent") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(zero_is_neutral_at_any_exponent);
}

TEST_CASE("dyadics of far exponents compare without being brought to a common one") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(order_needs_no_common_exponent);
}

TEST_CASE("NaN and infinity have no exact value") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(exact_value(infinity), std::domain_error);
  CHECK_THROWS_AS(exact_value(-infinity), std::domain_error);
  CHECK_THROWS_AS(exact_value(nan), std::domain_error);
  CHECK_THROWS_AS(exact_value(std::numeric_limits<float>::infinity()), std::domain_error);
  CHECK_THROWS_AS(exact_value(-std::numeric_limits<float>::infinity()), std::domain_error);
  CHECK_THROWS_AS(exact_value(std::numeric_limits<float>::quiet_NaN()), std::domain_error);
}

TEST_CASE("a sum that needs more bits than the fixed integer has is an error") {
  const attest::dyadic one(1);
  const attest::dyadic far(attest::integer(1), -513);
  CHECK_THROWS_AS(one + far, std::overflow_error);
  CHECK((one + attest::dyadic(attest::integer(1), -500)).exponent() == -500);
}

TEST_CASE("exact values and operations on doubles of every size agree with GMP fractions") {
  testing::random_source random(15'002);
  for (int round = 0; round < 3000; ++round) {
    double a = random.any_double();
    double b = random.any_double();
    if (round % 3 == 0)
      b = std::ldexp(b, -std::ilogb(b) + std::ilogb(a) + static_cast<int>(random.between(-60, 60)));
    if (round % 7 == 0)
      a = std::bit_cast<double>(random.word() & ~(std::uint64_t{0x7ff} << 52));  // subnormal
    if (!std::isfinite(b)) b = 1;
    CAPTURE(a, b);
    const auto x = exact_value<unbounded_integer>(a);
    const auto y = exact_value<unbounded_integer>(b);
    const fraction p(a);
    const fraction q(b);
    CHECK(to_fraction(x) == p);
    CHECK(to_fraction(y) == q);
    CHECK(to_fraction(x + y) == p + q);
    CHECK(to_fraction(x - y) == p - q);
    CHECK(to_fraction(x * y) == p * q);
    CHECK(to_fraction(-x) == fraction(0L) - p);
    CHECK((x <=> y) == (compare(p, q) <=> 0));
    CHECK((x == y) == (p == q));
    CHECK((y <=> x) == (compare(q, p) <=> 0));
    CHECK(x + y - y == x);
  }
}

TEST_CASE("exact values of floats of every size agree with the doubles that they are") {
  testing::random_source random(15'003);
  for (int round = 0; round < 3000; ++round) {
    const float a = random.any_float();
    CAPTURE(a);
    CHECK(exact_value(a) == exact_value(static_cast<double>(a)));
    CHECK(to_fraction(exact_value(a)) == fraction(static_cast<double>(a)));
  }
}
