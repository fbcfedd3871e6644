#include <attest/rounding/rounding_test.hpp>

#include "catch.hpp"
#include "support/both.hpp"
#include "support/mpfr.hpp"
#include "support/random.hpp"

#include <attest/symbolic/print.hpp>

// Ziv's test ends in the correctly rounded float: of weights, outputs and log-sum-exps, in four formats and
// five directions, against MPFR and GMP; exact values and ties; near ties of far and of close exponents;
// subnormal results, underflow, overflow, signed zeros.

using attest::constant;
using attest::exp;
using attest::exp_logarithm;
using attest::log_base;
using attest::matrix;
using attest::ratio;
using attest::root;
using attest::round_correctly;
using attest::rounding;
using attest::surd;
using attest::unbounded_integer;

namespace {

using big = unbounded_integer;
using dyadic = attest::basic_dyadic<big>;
using attest::formats::bfloat16;
using attest::formats::binary16;
using attest::formats::binary32;
using attest::formats::binary64;

constexpr rounding modes[] = {rounding::nearest_even, rounding::toward_zero, rounding::up, rounding::down,
                              rounding::to_odd};
constexpr attest::format all_formats[] = {binary64, binary32, binary16, bfloat16};

constexpr std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }

/// The five results, in the order of `modes`.
struct expected_patterns {
  std::uint64_t nearest, zero, up, down, odd;
};
template <class X>
constexpr bool rounds(const X& x, const expected_patterns& e) {
  const std::uint64_t expected[] = {e.nearest, e.zero, e.up, e.down, e.odd};
  for (int i = 0; i < 5; ++i)
    if (round_correctly(x, binary64, modes[i]) != expected[i]) return false;
  return true;
}

constexpr std::uint64_t one = bits(1.0);  // an even pattern, so that one + 1 is odd
constexpr std::uint64_t negative = bits(-0.0);

/// The literals are rounded by the compiler's own conversion; 0.1977758146404282 is one ulp above.
template <class Integer>
constexpr bool the_chapter_weights_are_rounded() {
  const auto r = exp(surd<Integer>(Integer(1) / root(2)));
  const auto first = constant(surd<Integer>(1)) / (2 * r + 1);
  const auto second = constant(surd<Integer>(1)) / (2 + r);
  const std::uint64_t result = round_correctly(first, binary64);
  return result == bits(0.19777581464042818) && result + 1 == bits(0.1977758146404282) &&
         round_correctly(second, binary64) == bits(0.24825507825772308) &&
         round_correctly(r / (2 * r + 1), binary32) == std::bit_cast<std::uint32_t>(0.40111209f);
}

/// The mean of 1 and 1 + 2^-52 is a tie; so is that of 1 + 2^-52 and 1 + 2^-51.
template <class Integer>
constexpr bool the_mean_of_adjacent_doubles_is_a_tie() {
  using number = attest::basic_dyadic<Integer>;
  const auto mean = [](double a, double b) {
    const matrix<number, 2, 1> v({{a}, {b}});
    return (softmax(matrix<Integer, 1, 2>({{3, 3}}) / root(2)) * v)(0, 0);
  };
  return rounds(mean(1, 0x1.0000000000001p0), {one, one, one + 1, one, one + 1}) &&
         rounds(mean(0x1.0000000000001p0, 0x1.0000000000002p0),
                {one + 2, one + 1, one + 2, one + 1, one + 1}) &&
         rounds(mean(-1, -0x1.0000000000001p0), {negative | one, negative | one, negative | one,
                                                 negative | (one + 1), negative | (one + 1)}) &&
         // a representable mean is itself in every direction
         rounds(mean(1, 3), {bits(2), bits(2), bits(2), bits(2), bits(2)});
}

/// Two equal top scores over adjacent doubles put the mean on a boundary, and a third key scored far lower
/// decides.
template <class Integer>
constexpr bool a_far_key_decides_a_near_tie() {
  using number = attest::basic_dyadic<Integer>;
  const number tie(Integer((1LL << 53) + 1), -53);
  for (const long long far : {1'000'000LL, 1'000'000'000'000LL}) {
    const auto output = [&](number value) {
      matrix<number, 3, 1> v;
      v(0, 0) = number(1);
      v(1, 0) = attest::exact_value<Integer>(0x1.0000000000001p0);
      v(2, 0) = value;
      matrix<Integer, 1, 3> d;
      d(0, 2) = Integer(-far);
      return (softmax(d / root(2)) * v)(0, 0);
    };
    if (!rounds(output(number(5)), {one + 1, one, one + 1, one, one + 1})) return false;
    if (!rounds(output(number(-5)), {one, one, one + 1, one, one + 1})) return false;
    if (!rounds(output(tie), {one, one, one + 1, one, one + 1})) return false;
  }
  return true;
}

/// A far key that lifts or lowers an output from a representable value: only directed roundings see it.
template <class Integer>
constexpr bool a_far_key_decides_a_directed_rounding() {
  const auto output = [](long value) {
    const matrix<Integer, 2, 1> v({{1L}, {value}});
    return (softmax(matrix<Integer, 1, 2>({{0, -1'000'000}}) / root(2)) * v)(0, 0);
  };
  return rounds(output(5), {one, one, one + 1, one, one + 1}) &&
         rounds(output(-5), {one, one - 1, one, one - 1, one - 1}) &&
         rounds(output(1), {one, one, one, one, one});
}

/// An exact zero is +0, rounding down -0; a nonzero result keeps its sign when it rounds to zero.
template <class Integer>
constexpr bool zeros_and_underflow_have_their_sign() {
  const auto output = [](long near, long far) {
    const matrix<Integer, 2, 1> v({{near}, {far}});
    return (softmax(matrix<Integer, 1, 2>({{0, -2000}}) / root(2)) * v)(0, 0);
  };
  // e^(-2000/√2) is about 2^-2040, below half the smallest subnormal of every format.
  return rounds(output(0, 0), {0, 0, 0, negative, 0}) && rounds(output(0, 1), {0, 0, 1, 0, 1}) &&
         rounds(output(0, -1), {negative, negative, negative, negative | 1, negative | 1});
}

template <class Integer>
constexpr bool logarithms_round_at_exact_values() {
  using number = attest::basic_dyadic<Integer>;
  const number tie(Integer((1LL << 53) + 1), -53);
  const auto logarithm = [](auto sum, log_base base) { return exp_logarithm<number, 2>{sum, base}; };
  const auto single = [](number score) {
    attest::exp_sum<number, 2> sum;
    sum.add(surd<number>(1), surd<number>(score));
    return sum;
  };
  attest::exp_sum<number, 2> above = single(tie);
  above.add(surd<number>(1), surd<number>(-1'000'000));
  attest::exp_sum<number, 2> eight;
  eight.add(surd<number>(8), surd<number>(0));
  attest::exp_sum<number, 2> past_eight = eight;
  past_eight.add(surd<number>(1), surd<number>(-1'000'000));
  return rounds(logarithm(single(tie), log_base::e), {one, one, one + 1, one, one + 1}) &&
         rounds(logarithm(above, log_base::e), {one + 1, one, one + 1, one, one + 1}) &&
         round_correctly(logarithm(single(number(0)), log_base::e), binary64) == 0 &&
         round_correctly(logarithm(single(number(0)), log_base::two), binary64) == 0 &&
         round_correctly(logarithm(eight, log_base::two), binary64) == bits(3) &&
         round_correctly(logarithm(eight, log_base::two), binary64, rounding::up) == bits(3) &&
         round_correctly(logarithm(eight, log_base::two), binary64, rounding::down) == bits(3) &&
         round_correctly(logarithm(past_eight, log_base::two), binary64, rounding::up) ==
             bits(3) + 1 &&
         round_correctly(logarithm(past_eight, log_base::two), binary64, rounding::down) == bits(3) &&
         round_correctly(logarithm(past_eight, log_base::two), binary64) == bits(3);
}

/// Every format and direction against a value that MPFR knows to `precision` bits.
template <class X>
void check_all(const X& x, const reference::real& value) {
  for (const auto& f : all_formats)
    for (const rounding mode : modes) {
      CAPTURE(f.name, static_cast<int>(mode), value.text());
      CHECK(round_correctly(x, f, mode) == reference::pattern_of(value, f, mode));
    }
}

dyadic power_of_two(long exponent) { return {big(1), exponent}; }

}  // namespace

TEST_CASE("the chapter's weights are correctly rounded") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(the_chapter_weights_are_rounded);
}

TEST_CASE("the mean of two adjacent doubles is an exact tie and goes to the even one") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(the_mean_of_adjacent_doubles_is_a_tie);
}

TEST_CASE("a key scored a million or a million million lower decides a near tie") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(a_far_key_decides_a_near_tie);
}

TEST_CASE("a far key decides directed roundings at a representable value") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(a_far_key_decides_a_directed_rounding);
}

TEST_CASE("exact zeros and underflow have the sign that IEEE 754 gives them") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(zeros_and_underflow_have_their_sign);
}

TEST_CASE("log-sum-exps round at exact values and ties") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(logarithms_round_at_exact_values);
}

TEST_CASE("scores that differ by 2^-2148 decide a near tie") {
  const dyadic delta = power_of_two(-2148);
  const auto output = [&](const dyadic& at_zero, const dyadic& at_delta) {
    matrix<dyadic> d(1, 2);
    d(0, 1) = delta;
    matrix<dyadic> v(2, 1);
    v(0, 0) = at_zero;
    v(1, 0) = at_delta;
    return (softmax(d / root(1)) * v)(0, 0);
  };
  const dyadic above_one = attest::exact_value<big>(0x1.0000000000001p0);
  // The second weight is a little more than a half: the output is just above, or just below, the tie 1 +
  // 2^-53.
  CHECK(rounds(output(dyadic(1), above_one), {one + 1, one, one + 1, one, one + 1}));
  CHECK(rounds(output(above_one, dyadic(1)), {one, one, one + 1, one, one + 1}));
  // The other side of a representable value: O = 1 ± 2^-2150.
  CHECK(round_correctly(output(dyadic(0), dyadic(2)), binary64, rounding::up) == one + 1);
  CHECK(round_correctly(output(dyadic(0), dyadic(2)), binary64, rounding::down) == one);
  CHECK(round_correctly(output(dyadic(2), dyadic(0)), binary64, rounding::down) == one - 1);
  CHECK(round_correctly(output(dyadic(2), dyadic(0)), binary64, rounding::nearest_even) == one);
}

TEST_CASE("scores 0, δ, 2δ with coefficients in the ratio 1, -2, 1 decide a near tie") {
  const dyadic tie = dyadic(1) + power_of_two(-53);
  for (const long size : {-60L, -300L, -1074L, -2148L}) {
    const dyadic delta = power_of_two(size);
    for (const int side : {1, -1}) {
      // Σ (v_j - tie) e^(jδ) = c (1 - 2e^δ + e^2δ) = c (e^δ - 1)², of the sign of c.
      const dyadic c = dyadic(side) * power_of_two(-53);
      matrix<dyadic> d(1, 3);
      d(0, 1) = delta;
      d(0, 2) = delta + delta;
      matrix<dyadic> v(3, 1);
      v(0, 0) = tie + c;
      v(1, 0) = tie - c - c;
      v(2, 0) = tie + c;
      CAPTURE(size, side);
      const auto output = (softmax(d / root(1)) * v)(0, 0);
      CHECK(rounds(output, {side > 0 ? one + 1 : one, one, one + 1, one, one + 1}));
    }
  }
}

TEST_CASE("weights and outputs of random heads are correctly rounded in every format and direction") {
  testing::random_source random(15'061);
  for (int round = 0; round < 150; ++round) {
    const auto tk = static_cast<std::size_t>(random.between(2, 5));
    const auto d = static_cast<unsigned long long>(random.between(1, 64));
    // Scores from close together to far apart, where the smallest weights underflow in every format. With
    // |score| < 2^11 no weight is below e^-4096 > 2^-5910, so that 7000 bits tell every value from the
    // boundaries next to it.
    const int spread = static_cast<int>(random.between(-20, 10));
    constexpr mpfr_prec_t precision = 7000;
    matrix<dyadic> dots(1, tk);
    matrix<dyadic> v(tk, 1);
    for (std::size_t j = 0; j < tk; ++j) {
      dots(0, j) = attest::exact_value<big>(random.double_between(spread - 4, spread));
      v(j, 0) = attest::exact_value<big>(random.double_between(-20, 17));
    }
    const auto w = softmax(dots / root(d));
    const auto o = w * v;
    CAPTURE(round, d, spread, tk);
    for (std::size_t j = 0; j < tk; ++j) check_all(w(0, j), reference::value_of(w(0, j), precision));
    for (const log_base base : {log_base::e, log_base::two})
      check_all(log_sum_exp(w, base)(0, 0), reference::value_of(log_sum_exp(w, base)(0, 0), precision));
    check_all(o(0, 0), reference::value_of(o(0, 0), precision));
  }
}

TEST_CASE("a single key's weight is exactly one and its output its value") {
  const double value = 0x1.123456789abcdp-3;
  matrix<dyadic> v(1, 1);
  v(0, 0) = attest::exact_value<big>(value);
  matrix<dyadic> d(1, 1);
  d(0, 0) = attest::exact_value<big>(0.7);
  const auto w = softmax(d / root(3));
  for (const rounding mode : modes) {
    CHECK(round_correctly(w(0, 0), binary64, mode) == one);
    CHECK(round_correctly((w * v)(0, 0), binary64, mode) == bits(value));
  }
}

TEST_CASE("subnormal weights are correctly rounded, down to half the smallest and below") {
  // e^-s / (1 + e^-s) around the subnormal numbers of each format: binary64 below e^-708, binary32 and
  // bfloat16 below e^-87, binary16 below e^-9.7.
  const auto weight = [](long n, long d) {
    return exp(surd<attest::basic_rational<big>>(ratio(big(-n), big(d)))) /
           (exp(surd<attest::basic_rational<big>>(ratio(big(-n), big(d)))) + 1);
  };
  for (long n = 700; n <= 750; ++n) check_all(weight(n, 1), reference::value_of(weight(n, 1), 3000));
  for (long n = 260; n <= 315; ++n) check_all(weight(n, 3), reference::value_of(weight(n, 3), 2000));
  for (long n = 60; n <= 125; ++n) check_all(weight(n, 7), reference::value_of(weight(n, 7), 2000));
  // Negative ones: minus the weight.
  for (long n = 700; n <= 750; n += 5)
    check_all(-1 * weight(n, 1).numerator / weight(n, 1).denominator,
              reference::real(0, 3000) - reference::value_of(weight(n, 1), 3000));
}

TEST_CASE("MPFR's own conversions agree with the reference of these tests") {
  testing::random_source random(15'062);
  for (int round = 0; round < 500; ++round) {
    reference::real x = exp(reference::real(random.between(-760, 720), 200)) *
                        reference::real(reference::fraction(random.double_between(-3, 3)), 200);
    CAPTURE(x.text());
    CHECK(reference::pattern_of(x, binary64, rounding::nearest_even) == bits(mpfr_get_d(x.get(), MPFR_RNDN)));
    CHECK(reference::pattern_of(x, binary64, rounding::up) == bits(mpfr_get_d(x.get(), MPFR_RNDU)));
    CHECK(reference::pattern_of(x, binary64, rounding::down) == bits(mpfr_get_d(x.get(), MPFR_RNDD)));
    CHECK(reference::pattern_of(x, binary64, rounding::toward_zero) == bits(mpfr_get_d(x.get(), MPFR_RNDZ)));
    CHECK(reference::pattern_of(x, binary32, rounding::nearest_even) ==
          std::bit_cast<std::uint32_t>(mpfr_get_flt(x.get(), MPFR_RNDN)));
    CHECK(reference::pattern_of(x, binary32, rounding::up) ==
          std::bit_cast<std::uint32_t>(mpfr_get_flt(x.get(), MPFR_RNDU)));
  }
}

TEST_CASE("overflow follows the direction, in every format and of either sign") {
  for (const auto& f : all_formats) {
    const auto infinity = f.infinity;
    const auto largest = f.largest;
    const std::uint64_t minus = f.sign_bit();
    // The midpoint above the largest number, (2^(precision + 1) - 1) 2^(max_exponent - precision), a tie that
    // goes to infinity.
    const dyadic midpoint =
        (power_of_two(f.precision + 1) - dyadic(1)) * power_of_two(f.max_exponent() - f.precision);
    const dyadic less = midpoint - power_of_two(-20);
    const auto output = [](const dyadic& value) {  // two equal values: their mean is exactly that
      matrix<dyadic> v(2, 1);
      v(0, 0) = v(1, 0) = value;
      matrix<big> d(1, 2);
      d(0, 1) = 1;
      return (softmax(d / root(2)) * v)(0, 0);
    };
    CAPTURE(f.name);
    const auto check = [&](const dyadic& value, const expected_patterns& e) {
      const std::uint64_t expected[] = {e.nearest, e.zero, e.up, e.down, e.odd};
      for (int i = 0; i < 5; ++i) CHECK(round_correctly(output(value), f, modes[i]) == expected[i]);
    };
    check(midpoint, {infinity, largest, infinity, largest, largest});
    check(less, {largest, largest, infinity, largest, largest});
    check(power_of_two(20'000), {infinity, largest, infinity, largest, largest});
    check(-midpoint, {minus | infinity, minus | largest, minus | largest, minus | infinity, minus | largest});
    check(-less, {minus | largest, minus | largest, minus | largest, minus | infinity, minus | largest});
    check(-power_of_two(20'000),
          {minus | infinity, minus | largest, minus | largest, minus | infinity, minus | largest});
    // Half the smallest subnormal is a tie with zero, and goes there with its sign.
    const dyadic half = power_of_two(f.min_unit() - 1);
    check(half, {0, 0, 1, 0, 1});
    check(half + power_of_two(-3000), {1, 0, 1, 0, 1});
    check(-half, {minus, minus, minus, minus | 1, minus | 1});
    check(-half - power_of_two(-3000), {minus | 1, minus, minus, minus | 1, minus | 1});
    check(dyadic(0), {0, 0, 0, minus, 0});
  }
}

TEST_CASE("an enclosure that is given is used and narrowed when it is too wide") {
  const auto r = exp(surd<big>(big(1) / root(2)));
  const auto weight = constant(surd<big>(1)) / (2 * r + 1);
  for (const unsigned width : {8u, 20u, 40u, 60u, 200u}) {
    const auto start = attest::evaluate<attest::growing>(weight, width);
    CAPTURE(width);
    CHECK(round_correctly(weight, start, binary64, rounding::nearest_even) ==
          bits(0.19777581464042818));
  }
}

TEST_CASE("random exact rationals are correctly rounded in every format and direction") {
  testing::random_source random(15'063);
  for (int round = 0; round < 500; ++round) {
    // Odd denominators above 1 are never on a boundary, dyadic numbers often are.
    const big n(random.between(-1'000'000'000'000, 1'000'000'000'000));
    if (n.is_zero()) continue;
    const long exponent = random.between(-1120, 1000);
    const dyadic x(n, exponent);
    const auto q = attest::exact_quotient(attest::exact_cast<attest::basic_rational<big>>(x), 3);
    CAPTURE(n.str(), exponent);
    for (const auto& f : all_formats)
      for (const rounding mode : modes) {
        CAPTURE(f.name, static_cast<int>(mode));
        CHECK(round_correctly(x, f, mode) ==
              reference::pattern_of(reference::to_whole(n), exponent, f, mode));
        CHECK(round_correctly(q, f, mode) ==
              reference::pattern_of(reference::value_of(q, 3000), f, mode));
      }
  }
}
