#include <attest/enclosure/printed.hpp>

#include "catch.hpp"
#include "support/both.hpp"
#include "support/mpfr.hpp"
#include "support/random.hpp"

#include <string>

// Certified decimals: nearest, lower and upper, against MPFR and by hand: ties to even, carries, negatives,
// zeros, the tiny and the huge.

using attest::constant;
using attest::decimal_rounding;
using attest::exp;
using attest::ratio;
using attest::root;
using attest::surd;
using attest::to_decimal;
using attest::to_significant_decimal;
using attest::unbounded_integer;

namespace {

using big = unbounded_integer;
using rational = attest::basic_rational<big>;

template <class Integer>
constexpr bool prints(const attest::basic_decimal<Integer>& x, std::string_view expected) {
  attest::fixed_text<100> text;
  print(text, x);
  return text.view() == expected;
}

template <class Integer>
std::string text_of(const attest::basic_decimal<Integer>& x) {
  std::string text;
  print(text, x);
  return text;
}

template <class Integer>
constexpr attest::basic_rational<Integer> over(long n, long d) {
  return ratio(Integer(n), Integer(d));
}

template <class Integer>
constexpr bool ties_go_to_the_even_neighbour() {
  return prints(to_decimal(over<Integer>(5, 2), 0), "2") && prints(to_decimal(over<Integer>(7, 2), 0), "4") &&
         prints(to_decimal(over<Integer>(-5, 2), 0), "-2") &&
         prints(to_decimal(over<Integer>(-7, 2), 0), "-4") &&
         prints(to_decimal(over<Integer>(1, 2), 0), "0") && prints(to_decimal(over<Integer>(3, 2), 0), "2") &&
         prints(to_decimal(over<Integer>(1, 8), -2), "0.12") &&
         prints(to_decimal(over<Integer>(3, 8), -2), "0.38") &&
         prints(to_decimal(over<Integer>(-1, 8), -2), "-0.12") &&
         prints(to_decimal(over<Integer>(250, 1), 2), "2e2") &&
         prints(to_decimal(over<Integer>(350, 1), 2), "4e2") &&
         // a thousandth beyond the tie
         prints(to_decimal(over<Integer>(2501, 1000), 0), "3") &&
         prints(to_decimal(over<Integer>(3499, 1000), 0), "3") &&
         // a tie in a surd in disguise: 5/√4
         prints(to_decimal(Integer(5) / root(4), 0), "2") && prints(to_decimal(Integer(7) / root(4), 0), "4");
}

template <class Integer>
constexpr bool directed_decimals_enclose() {
  const auto third = over<Integer>(1, 3);
  const auto minus_third = over<Integer>(-1, 3);
  const auto lower = decimal_rounding::lower;
  const auto upper = decimal_rounding::upper;
  return prints(to_decimal(third, -3, lower), "0.333") && prints(to_decimal(third, -3, upper), "0.334") &&
         prints(to_decimal(minus_third, -3, lower), "-0.334") &&
         prints(to_decimal(minus_third, -3, upper), "-0.333") &&
         // a multiple of the unit is itself in every direction
         prints(to_decimal(over<Integer>(1, 4), -2, lower), "0.25") &&
         prints(to_decimal(over<Integer>(1, 4), -2, upper), "0.25") &&
         prints(to_decimal(over<Integer>(-1, 4), -2, lower), "-0.25") &&
         prints(to_decimal(over<Integer>(-1, 4), -2, upper), "-0.25") &&
         prints(to_decimal(Integer(0), -2, upper), "0.00") &&
         prints(to_decimal(Integer(0), -2, lower), "0.00") &&
         prints(to_decimal(over<Integer>(1, 1000), 0, upper), "1") &&
         prints(to_decimal(over<Integer>(1, 1000), 0, lower), "0") &&
         prints(to_decimal(over<Integer>(-1, 1000), 0, lower), "-1") &&
         prints(to_decimal(Integer(9) / root(9), 0, lower), "3") &&
         prints(to_decimal(Integer(9) / root(9), 0, upper), "3");
}

template <class Integer>
constexpr bool carries_lengthen_the_number() {
  return prints(to_decimal(over<Integer>(999, 100), -1), "10.0") &&
         prints(to_decimal(over<Integer>(999, 1000), -2), "1.00") &&
         prints(to_decimal(over<Integer>(-9996, 1000), -2), "-10.00") &&
         prints(to_significant_decimal(over<Integer>(999, 100), 2), "10") &&
         prints(to_significant_decimal(over<Integer>(9996, 1000), 3), "10.0") &&
         prints(to_significant_decimal(over<Integer>(99999, 1), 3), "1.00e5") &&
         prints(to_significant_decimal(over<Integer>(-9996, 10000), 3), "-1.00") &&
         prints(to_significant_decimal(over<Integer>(9991, 1000), 3, decimal_rounding::upper), "10.0") &&
         prints(to_significant_decimal(over<Integer>(9999, 1000), 3, decimal_rounding::lower), "9.99");
}

/// 9.6 to two digits is 9.6, not 10: the position of the first digit is not taken from a rounded number.
template <class Integer>
constexpr bool significant_digits_count_from_the_first() {
  return prints(to_significant_decimal(over<Integer>(48, 5), 2), "9.6") &&
         prints(to_significant_decimal(over<Integer>(96, 1), 2), "96") &&
         prints(to_significant_decimal(over<Integer>(96, 100), 2), "0.96") &&
         prints(to_significant_decimal(over<Integer>(-48, 5), 2), "-9.6") &&
         prints(to_significant_decimal(over<Integer>(1, 1), 4), "1.000") &&
         prints(to_significant_decimal(over<Integer>(1, 10), 3), "0.100") &&
         prints(to_significant_decimal(over<Integer>(10, 1), 2), "10") &&
         prints(to_significant_decimal(over<Integer>(1001, 100), 2), "10") &&
         prints(to_significant_decimal(over<Integer>(10, 1), 1), "1e1") &&
         prints(to_significant_decimal(over<Integer>(995, 100), 1), "1e1") &&
         prints(to_significant_decimal(over<Integer>(2, 3), 5), "0.66667") &&
         prints(to_significant_decimal(over<Integer>(0, 1), 3), "0.00") &&
         prints(to_significant_decimal(over<Integer>(48, 5), 2, decimal_rounding::upper), "9.6") &&
         prints(to_significant_decimal(over<Integer>(961, 100), 2, decimal_rounding::upper), "9.7") &&
         prints(to_significant_decimal(over<Integer>(-961, 100), 2, decimal_rounding::lower), "-9.7") &&
         prints(to_significant_decimal(over<Integer>(-961, 100), 2, decimal_rounding::upper), "-9.6") &&
         prints(to_significant_decimal(over<Integer>(1001, 100), 2, decimal_rounding::upper), "11") &&
         prints(to_significant_decimal(over<Integer>(1001, 100), 2, decimal_rounding::lower), "10");
}

/// The chapter's numbers: 3/√2 = 2.121320, r = e^(1/√2), r/(2r + 1) = 0.401112 and 1/(2r + 1) = 0.197776.
template <class Integer>
constexpr bool the_chapter_decimals() {
  const auto r = exp(surd<Integer>(Integer(1) / root(2)));
  return prints(to_decimal(Integer(3) / root(2), -6), "2.121320") &&
         prints(to_decimal(r / (2 * r + 1), -6), "0.401112") &&
         prints(to_decimal(constant(surd<Integer>(1)) / (2 * r + 1), -6), "0.197776") &&
         prints(to_decimal(constant(surd<Integer>(1)) / (2 * r + 1), -6, decimal_rounding::lower),
                "0.197775") &&
         prints(to_decimal(-1 * r, -2, decimal_rounding::upper), "-2.02");
}

template <class Integer>
constexpr bool decimals_are_written_positionally_or_with_an_exponent() {
  const auto written = [](long n, long exponent, bool negative = false) {
    return attest::basic_decimal<Integer>{Integer(n), exponent, negative};
  };
  return prints(written(0, 0), "0") && prints(written(0, -1, true), "-0.0") &&
         prints(written(0, -3), "0.000") && prints(written(12345, -2), "123.45") &&
         prints(written(-12345, -5, true), "-0.12345") && prints(written(5, -3), "0.005") &&
         prints(written(1, -6), "0.000001") && prints(written(1, -7), "1e-7") &&
         prints(written(12, -8), "1.2e-7") && prints(written(7, 2), "7e2") &&
         prints(written(-75, 2, true), "-7.5e3") && prints(written(100, 0), "100");
}

/// An exact tie is rounded rightly to either neighbour; half a unit and a little is not.
template <class Integer>
constexpr bool a_rounding_is_within_half_a_unit() {
  const auto is = [](const auto& x, std::string_view text) {
    return attest::is_rounding_of(x, attest::evaluate<attest::compiler_limbs>(x, 192),
                                  attest::parse_decimal<Integer>(text));
  };
  const auto r = exp(surd<Integer>(Integer(1) / root(2)));
  const auto weight = constant(surd<Integer>(1)) / (2 * r + 1);  // 0.19777581464042818..
  return is(over<Integer>(1, 8), "0.12") && is(over<Integer>(1, 8), "0.13") &&
         !is(over<Integer>(1, 8), "0.11") && !is(over<Integer>(1, 8), "0.14") &&
         is(over<Integer>(-1, 8), "-0.12") && is(over<Integer>(-1, 8), "-0.13") &&
         is(over<Integer>(1, 8), "0.125") && is(over<Integer>(1, 8), "0.1250") &&
         !is(over<Integer>(1251, 10000), "0.12") && is(over<Integer>(1251, 10000), "0.13") &&
         is(Integer(3) / root(2), "2.121320") && is(Integer(3) / root(2), "2.12132") &&
         !is(Integer(3) / root(2), "2.121321") && !is(Integer(3) / root(2), "2.121319") &&
         is(weight, "0.1977758146404282") && !is(weight, "0.1977758146404283") &&
         !is(weight, "0.1977758146404281") && is(weight, "0.19777581464042818") && is(weight, "0.2") &&
         is(weight, "0") && !is(weight, "1") && is(Integer(0), "0.000") && is(Integer(1250), "12e2") &&
         is(Integer(1250), "13e2") && !is(Integer(1250), "14e2");
}

/// x / 10^exponent to an integer, by MPFR.
std::string rounded_units(const reference::real& x, long exponent, mpfr_rnd_t mode) {
  reference::whole power(1);
  mpz_ui_pow_ui(power.get(), 10, static_cast<unsigned long>(exponent < 0 ? -exponent : exponent));
  reference::real factor(x.precision());
  mpfr_set_z(factor.get(), power.get(), MPFR_RNDN);
  const reference::real scaled = exponent < 0 ? x * factor : x / factor;
  reference::whole n;
  mpfr_get_z(n.get(), scaled.get(), mode);
  return n.text();
}

/// The significant digits of x and the exponent of the last, by MPFR.
struct digits {
  std::string significand;
  long exponent;
};
digits significant(const reference::real& x, unsigned count, mpfr_rnd_t mode) {
  mpfr_exp_t point = 0;
  char* text = mpfr_get_str(nullptr, &point, 10, count, x.get(), mode);  // 0.ddd * 10^point
  digits result{text, static_cast<long>(point) - static_cast<long>(count)};
  mpfr_free_str(text);
  return result;
}

constexpr struct {
  decimal_rounding rounding;
  mpfr_rnd_t mode;
} directions[] = {{decimal_rounding::nearest, MPFR_RNDN},
                  {decimal_rounding::lower, MPFR_RNDD},
                  {decimal_rounding::upper, MPFR_RNDU}};

template <class X>
void check_significant(const X& x, const reference::real& value, unsigned count) {
  for (const auto& direction : directions) {
    const auto decimal = to_significant_decimal(x, count, direction.rounding);
    const digits expected = significant(value, count, direction.mode);
    CAPTURE(count, static_cast<int>(direction.rounding));
    CHECK(decimal.significand.str() == expected.significand);
    CHECK(decimal.exponent == expected.exponent);
    CHECK(decimal.negative == (value.sign() < 0));
  }
}

}  // namespace

TEST_CASE("a tie goes to the even neighbour") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(ties_go_to_the_even_neighbour);
}

TEST_CASE("lower and upper decimals enclose, and are equal at a multiple of the unit") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(directed_decimals_enclose);
}

TEST_CASE("a carry lengthens the number") { CHECK_IN_COMPILER_AND_AT_RUN_TIME(carries_lengthen_the_number); }

TEST_CASE("significant digits count from the first digit of the number itself") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(significant_digits_count_from_the_first);
}

TEST_CASE("the chapter's decimals") { CHECK_IN_COMPILER_AND_AT_RUN_TIME(the_chapter_decimals); }

TEST_CASE("decimals are written positionally or with an exponent") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(decimals_are_written_positionally_or_with_an_exponent);
}

TEST_CASE("a rounding is within half a unit of its last digit") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(a_rounding_is_within_half_a_unit);
}

TEST_CASE("decimals of random weights, surds and rationals agree with MPFR in every direction") {
  testing::random_source random(15'051);
  constexpr mpfr_prec_t precision = 1200;  // 361 digits, against at most 60 + 30
  for (int round = 0; round < 300; ++round) {
    const long exponent = random.between(-60, 3);
    const auto check = [&](const auto& x) {
      const reference::real value = reference::value_of(x, precision);
      CAPTURE(attest::to_text(x), exponent);
      for (const auto& direction : directions) {
        const auto decimal = to_decimal(x, exponent, direction.rounding);
        CHECK(decimal.significand.str() == rounded_units(value, exponent, direction.mode));
        CHECK(decimal.exponent == exponent);
      }
      if (value.sign() != 0) check_significant(x, value, static_cast<unsigned>(random.between(1, 45)));
    };
    const auto d = static_cast<unsigned long long>(random.between(2, 3));
    attest::exp_sum<big, 3> below;
    attest::exp_sum<big, 3> above;
    for (int k = 0; k < 3; ++k) {
      const surd<big> score = big(random.between(-20, 20)) / root(d);
      below.add(surd<big>(1), score);
      above.add(surd<big>(big(random.between(-1000, 1000))), score);
    }
    check(above / below);
    check(surd<big>(big(random.between(-100'000, 100'000)), big(random.between(-100'000, 100'000)), d));
    check(attest::exp_logarithm<big, 3>{below, attest::log_base::two});
    // Decimal fractions are exact ties or multiples of the unit half of the time; MPFR, at 1200 bits, holds
    // none of them exactly, so they are compared as integers.
    const long n = random.between(-2'000'000, 2'000'000);
    CAPTURE(n);
    for (long unit = 1, places = 3; unit <= 1000; unit *= 10, --places) {
      // n / 1000 in units of 10^-places = unit / 1000
      const long floor = (n >= 0 ? n : n - unit + 1) / unit;
      const long rest = n - floor * unit;
      const long nearest = 2 * rest > unit || (2 * rest == unit && floor % 2 != 0) ? floor + 1 : floor;
      const auto x = ratio(big(n), big(1000));
      CHECK(to_decimal(x, -places).significand == big(nearest));
      CHECK(to_decimal(x, -places, decimal_rounding::lower).significand == big(floor));
      CHECK(to_decimal(x, -places, decimal_rounding::upper).significand ==
            big(rest == 0 ? floor : floor + 1));
    }
  }
}

TEST_CASE("tiny and huge exponentials have their digits") {
  // e^(±10^6) is about 10^(±434294).
  for (const long n : {1'000'000L, -1'000'000L, 12'345L, -12'345L}) {
    const auto x = exp(surd<big>(big(n) / root(5)));
    CAPTURE(n);
    check_significant(x, reference::value_of(x, 400), 30);
  }
  std::string text = text_of(to_significant_decimal(exp(surd<big>(-1'000'000)), 10));
  CHECK(text == "3.296831478e-434295");  // e^-10^6 = 3.29683147808855857..e-434295
  CHECK(text_of(to_decimal(exp(surd<big>(-1'000'000)), -5, decimal_rounding::upper)) == "0.00001");
  CHECK(text_of(to_decimal(exp(surd<big>(-1'000'000)), -5, decimal_rounding::lower)) == "0.00000");
  CHECK(text_of(to_decimal(exp(surd<big>(-1'000'000)), -5)) == "0.00000");
  // e^-10^14 is below 2^-2^46: its sign is known and its digits are not.
  const auto vanishing = exp(surd<big>(big(-100'000'000'000'000L)));
  CHECK(text_of(to_decimal(vanishing, -3, decimal_rounding::upper)) == "0.001");
  CHECK(text_of(to_decimal(-1 * vanishing, -3, decimal_rounding::lower)) == "-0.001");
  CHECK(text_of(to_decimal(vanishing, -3, decimal_rounding::lower)) == "0.000");
  CHECK(text_of(to_decimal(vanishing, -3)) == "0.000");
  CHECK_THROWS_AS(to_significant_decimal(vanishing, 5), std::overflow_error);
}

TEST_CASE("a decimal next to a tie is decided by the far term") {
  // (1 + 2 + e^-1000·7) / (1 + 1 + e^-1000) is 3/2 and about 5.5 e^-1000 / 2, 2^-1442 away from the tie.
  const auto far = exp(surd<big>(-1000));
  const auto above = (constant(surd<big>(3)) + 7 * far) / (constant(surd<big>(2)) + far);
  const auto below = (constant(surd<big>(5)) + 1 * far) / (constant(surd<big>(2)) + far);
  CHECK(to_decimal(above, 0).significand == big(2));
  CHECK(to_decimal(below, 0).significand == big(2));
  CHECK(to_decimal((constant(surd<big>(1)) + far) / (constant(surd<big>(2)) + far), 0).significand == big(1));
  CHECK(to_decimal(constant(surd<big>(1)) / (constant(surd<big>(2)) + far), 0).significand == big(0));
  CHECK(to_decimal(constant(surd<big>(1)) / (constant(surd<big>(1)) + far), -30, decimal_rounding::lower)
            .significand.str() == std::string(30, '9'));
  CHECK(to_decimal(constant(surd<big>(1)) / (constant(surd<big>(1)) + far), -30, decimal_rounding::nearest)
            .significand.str() == "1" + std::string(30, '0'));
}
