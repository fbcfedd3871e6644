#include <attest/symbolic/print.hpp>

#include "catch.hpp"
#include "support/both.hpp"
#include "support/random.hpp"

#include <cstdlib>

// Expressions as a page writes them.

using attest::basic_dyadic;
using attest::basic_rational;
using attest::constant;
using attest::exp;
using attest::matrix;
using attest::root;
using attest::surd;

namespace {

template <class X>
constexpr bool reads(const X& x, std::string_view expected) {
  return attest::to_fixed_text<200>(x).view() == expected;
}

template <class Integer>
constexpr auto r(long n = 1) {
  return exp(surd<Integer>(Integer(n) / root(2)));
}
template <class Integer>
constexpr surd<basic_rational<Integer>> fraction(long n, long d) {
  return surd<basic_rational<Integer>>(attest::ratio(Integer(n), Integer(d)));
}

template <class Integer>
constexpr bool integers_are_decimal() {
  Integer power(1);
  for (int k = 0; k < 36; ++k) {
    const Integer next = power * Integer(10);
    power = next;
  }
  const Integer below = power - Integer(1);
  const Integer above = power + Integer(7);
  return reads(Integer(0), "0") && reads(Integer(-120), "-120") &&
         reads(power, "1000000000000000000000000000000000000") &&
         reads(below, "999999999999999999999999999999999999") &&
         reads(Integer(-above), "-1000000000000000000000000000000000007") &&
         reads(Integer(1'000'000'000'000'000'000LL), "1000000000000000000") &&
         reads(Integer(999'999'999'999'999'999LL), "999999999999999999");
}

template <class Integer>
constexpr bool rationals_are_fractions() {
  return reads(attest::ratio(Integer(-3), Integer(6)), "-1/2") &&
         reads(attest::ratio(Integer(8), Integer(4)), "2") &&
         reads(attest::ratio(Integer(0), Integer(4)), "0");
}

/// 0.1 is 0x1.999999999999ap-4; 5 · 2^-11 = 0x1.4p-9; 2^-1074 = 0x1p-1074; 2^65 = 0x1p65; (2^53 - 1) 2^971 is
/// the largest double.
template <class Integer>
constexpr bool dyadics_are_integers_short_fractions_or_hexadecimal() {
  using dyadic = basic_dyadic<Integer>;
  const auto value = [](double x) { return attest::exact_value<Integer>(x); };
  return reads(value(0.0), "0") && reads(value(-6.0), "-6") && reads(value(0.75), "3/4") &&
         reads(value(-0.0009765625), "-1/1024") && reads(value(0.1), "0x1.999999999999ap-4") &&
         reads(value(-0.1), "-0x1.999999999999ap-4") && reads(dyadic(Integer(5), -11), "0x1.4p-9") &&
         reads(dyadic(Integer(-33), -11), "-0x1.08p-6") && reads(value(0x1p-1074), "0x1p-1074") &&
         reads(dyadic(Integer(1), 64), "18446744073709551616") && reads(dyadic(Integer(1), 65), "0x1p65") &&
         reads(value(0x1.fffffffffffffp1023), "0x1.fffffffffffffp1023");
}

template <class Integer>
constexpr bool surds_are_written_over_their_root() {
  using rational = basic_rational<Integer>;
  const auto half = attest::ratio(Integer(1), Integer(2));
  return reads(surd<Integer>(Integer(3) / root(2)), "3/sqrt(2)") &&
         reads(surd<Integer>(Integer(-3) / root(2)), "-3/sqrt(2)") &&
         reads(surd<Integer>(Integer(1), Integer(-3), 2), "1 - 3/sqrt(2)") &&
         reads(surd<Integer>(Integer(-1), Integer(3), 7), "-1 + 3/sqrt(7)") &&
         reads(surd<Integer>(Integer(0), Integer(0), 7), "0") &&
         reads(surd<Integer>(Integer(5) / root(4)), "5/2") &&
         reads(surd<Integer>(Integer(5) / root(1)), "5") &&
         reads(surd<Integer>(Integer(1), Integer(6), 9), "3") &&
         reads(surd<rational>(half, half, 2), "1/2 + (1/2)/sqrt(2)") &&
         reads(surd<rational>(rational(Integer(0)), rational(-half), 3), "(-1/2)/sqrt(3)") &&
         reads(surd<basic_dyadic<Integer>>(0, attest::exact_value<Integer>(0.75), 2), "(3/4)/sqrt(2)");
}

template <class Integer>
constexpr bool the_chapter_rows_are_divided_through() {
  const matrix<Integer, 3, 3> dots({{1, 0, 1}, {1, 1, 2}, {2, 1, 3}});
  const auto w = softmax(dots / root(2));
  const auto o = w * matrix<Integer, 3, 2>({{1, 0}, {1, 2}, {2, 2}});
  return reads(w.row(0), "[r, 1, r]/(2r + 1)") && reads(w.row(1), "[1, 1, r]/(2 + r)") &&
         reads(w.row(2), "[r, 1, r^2]/(r + 1 + r^2)") && reads(w(0, 1), "1/(2r + 1)") &&
         reads(w(2, 0), "r/(r + 1 + r^2)") && reads(o(0, 0), "(3r + 1)/(2r + 1)") &&
         reads(o(0, 1), "(2 + 2r)/(2r + 1)") &&
         reads(attest::row(r<Integer>(), 1, r<Integer>()) / (2 * r<Integer>() + 1), "[r, 1, r]/(2r + 1)");
}

template <class Integer>
constexpr bool coefficients_and_powers() {
  using rational = basic_rational<Integer>;
  const auto s = attest::exact_cast<rational>(r<Integer>());
  const auto irrational = constant(surd<Integer>(Integer(3) / root(2))) * r<Integer>();
  const auto e = exp(surd<Integer>(1));
  const auto mixed =
      exp(surd<rational>(attest::ratio(Integer(-1), Integer(2)), attest::ratio(Integer(3), Integer(2)), 2));
  return reads(-1 * r<Integer>() + 1, "-r + 1") &&
         reads(constant(surd<Integer>(1)) - 2 * r<Integer>(2), "1 - 2r^2") &&
         reads(-3 * r<Integer>(), "-3r") &&
         reads(constant(fraction<Integer>(1, 2)) * s + constant(fraction<Integer>(-2, 3)), "(1/2)r - 2/3") &&
         reads(r<Integer>(-1), "r^(-1)") && reads(irrational, "(3/sqrt(2))r") && reads(e, "e^(1)") &&
         reads(mixed, "e^(-1/2)r^(3/2)") && reads(2 * (e * r<Integer>()), "2e^(1)r") &&
         reads(r<Integer>() - r<Integer>(), "0") &&
         // half r over dyadics, which are fractions as well, and a coefficient that is one in disguise: 2/√4
         reads(constant(surd<basic_dyadic<Integer>>(attest::exact_value<Integer>(0.5))) *
                   attest::exact_cast<basic_dyadic<Integer>>(r<Integer>()),
               "(1/2)r") &&
         reads(constant(surd<Integer>(Integer(2) / root(4))) * r<Integer>(), "r");
}

/// The smallest power of r is that of the whole fraction: 1/(r + r²) is not r^(-1)/(1 + r).
template <class Integer>
constexpr bool numerators_count_for_the_power_divided_through() {
  const auto below = r<Integer>() + r<Integer>(2);
  const auto one = constant(surd<Integer>(1));
  return reads(one / below, "1/(r + r^2)") &&
         reads(attest::row(r<Integer>(3), 1) / below, "[r^3, 1]/(r + r^2)") &&
         reads(r<Integer>(2) / r<Integer>(5), "1/r^3");
}

/// One r cannot stand for e^(1/√2) and e^(1/√8).
template <class Integer>
constexpr bool different_roots_are_written_out() {
  const auto eighth = exp(surd<Integer>(Integer(1) / root(8)));
  return reads(r<Integer>() + eighth, "e^(1/sqrt(2)) + e^(1/sqrt(8))") && reads(eighth + eighth, "2r");
}

template <class Integer>
constexpr bool masks_and_logarithms() {
  const matrix<Integer, 1, 3> dots({{2, 1, 5}});
  const auto w = softmax(dots / root(2), matrix<bool, 1, 3>({{true, true, false}}));
  return reads(w.row(0), "[r, 1, 0]/(r + 1)") && reads(w(0, 2), "0/(r + 1)") &&
         reads(log_sum_exp(w, attest::log_base::e)(0, 0), "ln(r^2 + r)") &&
         reads(log_sum_exp(w, attest::log_base::two)(0, 0), "log2(r^2 + r)");
}

constexpr bool a_long_text_ends_in_dots() {
  return attest::to_fixed_text<5>(attest::integer(12345)).view() == "12345" &&
         attest::to_fixed_text<5>(attest::integer(123456)).view() == "12...";
}

}  // namespace

TEST_CASE("integers print in decimal, inner zeros kept") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(integers_are_decimal);
}

TEST_CASE("rationals print as fractions") { CHECK_IN_COMPILER_AND_AT_RUN_TIME(rationals_are_fractions); }

TEST_CASE("dyadics print as integers, short fractions or hexadecimal floats") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(dyadics_are_integers_short_fractions_or_hexadecimal);
}

TEST_CASE("surds print over their root, perfect squares as what they are") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(surds_are_written_over_their_root);
}

TEST_CASE("the chapter's rows print as it writes them") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(the_chapter_rows_are_divided_through);
}

TEST_CASE("a fraction is divided through by the smallest power in it") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(numerators_count_for_the_power_divided_through);
}

TEST_CASE("coefficients and powers print without ambiguity") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(coefficients_and_powers);
}

TEST_CASE("exponents over different roots are written out") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(different_roots_are_written_out);
}

TEST_CASE("masked weights and logarithms print") { CHECK_IN_COMPILER_AND_AT_RUN_TIME(masks_and_logarithms); }

TEST_CASE("a text too long for its array ends in dots") {
  static_assert(a_long_text_ends_in_dots());
  CHECK(testing::at_run_time(&a_long_text_ends_in_dots));
}

TEST_CASE("integers print as Boost prints them") {
  testing::random_source random(15'031);
  for (int round = 0; round < 500; ++round) {
    attest::unbounded_integer n(random.word());
    for (long limbs = random.between(0, 6); limbs > 0; --limbs)
      n = attest::shift_left(n, 64) + attest::unbounded_integer(random.word());
    n = attest::shift_right(n, static_cast<unsigned>(random.between(0, 63)));
    if (random.between(0, 1) == 0) n = -n;
    CHECK(attest::to_text(n) == n.str());
  }
}

TEST_CASE("a printed dyadic reads back as the same double") {
  testing::random_source random(15'032);
  for (int round = 0; round < 1000; ++round) {
    const double x = random.any_double();
    const std::string text = attest::to_text(attest::exact_value<attest::unbounded_integer>(x));
    CAPTURE(x, text);
    // An integer, a hexadecimal float, or one of them over a power of two.
    const std::size_t slash = text.find('/');
    const double divisor = slash == std::string::npos ? 1 : std::strtod(text.c_str() + slash + 1, nullptr);
    CHECK(std::strtod(text.c_str(), nullptr) / divisor == x);
  }
}
