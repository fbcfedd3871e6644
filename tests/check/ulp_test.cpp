// ulp distance:  every binary16 and bfloat16 against its rank among the sorted values; binary64 and binary32
// by walking
//                with nextafter, and by frexp; zero, infinity, NaN
// ulp error:     against MPFR and the definition on the exact number: binary64 at random and at powers of
// two, subnormals,
//                zero; every binary16 and bfloat16; infinity, NaN
#include "catch.hpp"
#include "support/mpfr.hpp"
#include "support/random.hpp"

#include <attest/check/ulp.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace attest;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

double value_of_pattern(std::uint64_t pattern, const format& f) {
  const decoded d = decode(pattern, f);
  if (d.kind == number_kind::not_a_number) return nan_value;
  const double magnitude =
      d.kind == number_kind::infinite ? infinity : std::ldexp(static_cast<double>(d.significand), d.exponent);
  return d.negative ? -magnitude : magnitude;
}

void check_every_distance(const format& f) {
  std::vector<double> values;  // each number once
  for (std::uint64_t p = 0; p < 0x10000; ++p)
    if (const double x = value_of_pattern(p, f); !std::isnan(x)) values.push_back(x);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  const auto rank = [&](double x) {
    return std::lower_bound(values.begin(), values.end(), x) - values.begin();
  };
  std::vector<long> ranks(0x10000, -1);
  for (std::uint64_t p = 0; p < 0x10000; ++p)
    if (const double x = value_of_pattern(p, f); !std::isnan(x)) ranks[p] = rank(x);

  testing::random_source random(1);
  std::size_t wrong = 0;
  for (std::uint64_t a = 0; a < 0x10000; ++a) {
    std::vector<std::uint64_t> others = {
        0, 0x8000, f.infinity, f.largest, f.hidden_bit(), (a + 1) & 0xffff, a, a ^ 0x8000};
    for (int i = 0; i < 24; ++i) others.push_back(random.word() & 0xffff);
    for (const std::uint64_t b : others) {
      const auto distance = ulp_distance(a, b, f);
      const bool right =
          ranks[a] < 0 || ranks[b] < 0
              ? !distance
              : distance && *distance == static_cast<std::uint64_t>(std::labs(ranks[a] - ranks[b]));
      if (!right) ++wrong;
    }
  }
  CHECK(wrong == 0);
}

// How many doubles lie in [0, x), from the exponent and the fraction as frexp gives them.
std::uint64_t doubles_below(double x) {
  if (x == 0) return 0;
  if (std::isinf(x)) return std::uint64_t{2047} << 52;
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);  // [1/2, 1)
  if (exponent < -1021) return static_cast<std::uint64_t>(std::ldexp(fraction, exponent + 1074));
  return (static_cast<std::uint64_t>(exponent + 1022) << 52) +
         (static_cast<std::uint64_t>(std::ldexp(fraction, 53)) - (std::uint64_t{1} << 52));
}

/// |candidate - x| / ulp(x) by the definition, ulp(x) from the exponent of x itself.
double error_by_definition(double candidate, const reference::real& x, const format& f) {
  reference::real c(60);
  mpfr_set_d(c.get(), candidate, MPFR_RNDN);
  // 2^(e - 1) <= |x| < 2^e
  const long exponent =
      x.sign() == 0 ? f.min_exponent : std::max<long>(mpfr_get_exp(x.get()) - 1, f.min_exponent);
  return mpfr_get_d(abs(c - x).times_power_of_two(f.fraction_bits() - exponent).get(), MPFR_RNDN);
}

/// x given as a float and an offset in its ulps, and both measures of it.
void check_error(double candidate, double nearest, double offset, const format& f, double& worst) {
  constexpr long precision = 3000;  // every difference of two doubles is exact
  const double magnitude = std::fabs(nearest);
  const int unit =
      std::max(magnitude == 0 ? f.min_exponent : std::ilogb(magnitude), f.min_exponent) - f.fraction_bits();
  reference::real x(precision);
  reference::real shift(precision);
  mpfr_set_d(x.get(), nearest, MPFR_RNDN);
  mpfr_set_d(shift.get(), offset, MPFR_RNDN);
  x = x + shift.times_power_of_two(unit);
  const double expected = error_by_definition(candidate, x, f);
  const double actual = ulp_error(candidate, nearest, offset, f);
  if (expected == actual) return;
  worst = std::max(worst, expected == 0 || std::isinf(actual) || std::isinf(expected)
                              ? infinity
                              : std::fabs(actual / expected - 1));
}

constexpr double stated_bound = 0x1p-51 + 0x1p-53;  // the bound of the header, and the rounding of `expected`

}  // namespace

// In the compiler as well.
static_assert(ulp_distance(1.0, 1.0) == 0);
static_assert(ulp_distance(1.0, 0x1.fffffffffffffp-1) == 1 && ulp_distance(1.0, 0x1.0000000000001p0) == 1);
static_assert(ulp_distance(0.0, 0x1p-1074) == 1 && ulp_distance(-0x1p-1074, 0x1p-1074) == 2);
static_assert(ulp_distance(0.0, -0.0) == 0 && ulp_distance(-0.0, 0x1p-1074) == 1);
static_assert(ulp_distance(1.0f, 0x1.000002p0f) == 1 && ulp_distance(1.0f, 0x1.fffffep-1f) == 1);
static_assert(ulp_distance(0.1977758146404282, 0.19777581464042818) == 1);

TEST_CASE(
    "ulp distance: every binary16 and every bfloat16 is its rank among the sorted values away from others") {
  check_every_distance(formats::binary16);
  check_every_distance(formats::bfloat16);
}

TEST_CASE("ulp distance: the ends of binary64") {
  constexpr double largest = std::numeric_limits<double>::max();
  CHECK(ulp_distance(largest, infinity) == 1u);
  CHECK(ulp_distance(infinity, infinity) == 0u);
  CHECK(ulp_distance(-infinity, infinity) == 2 * (std::uint64_t{2047} << 52));
  CHECK(ulp_distance(-largest, largest) == 2 * ((std::uint64_t{2047} << 52) - 1));
  CHECK(ulp_distance(0x0.fffffffffffffp-1022, 0x1p-1022) == 1u);
  CHECK_FALSE(ulp_distance(nan_value, 1.0));
  CHECK_FALSE(ulp_distance(1.0, nan_value));
  CHECK_FALSE(ulp_distance(nan_value, nan_value));
  CHECK_FALSE(ulp_distance(-nan_value, infinity));
}

TEST_CASE("ulp distance: steps of nextafter, and any two doubles by their exponents and fractions") {
  testing::random_source random(2);
  std::size_t wrong = 0;
  std::vector<double> starts = {0, -0.0, 1, -1, 0x1p-1022, -0x1p-1022, 0x1p-1074, 0x1p1023, 4};
  for (int i = 0; i < 200; ++i) starts.push_back(random.any_double());
  for (const double start : starts) {
    double x = start;
    for (std::uint64_t steps = 0; steps < 40; ++steps) {
      if (ulp_distance(start, x) != steps || ulp_distance(x, start) != steps) ++wrong;
      x = std::nextafter(x, infinity);
    }
  }
  for (int i = 0; i < 100'000; ++i) {
    const double a = random.any_double();
    const double b = random.any_double();
    const std::uint64_t from_zero_a = doubles_below(std::fabs(a));
    const std::uint64_t from_zero_b = doubles_below(std::fabs(b));
    const std::uint64_t expected = std::signbit(a) != std::signbit(b) ? from_zero_a + from_zero_b
                                   : from_zero_a > from_zero_b        ? from_zero_a - from_zero_b
                                                                      : from_zero_b - from_zero_a;
    if (ulp_distance(a, b) != expected) ++wrong;
  }
  for (int i = 0; i < 1000; ++i) {
    const float x = random.any_float();
    const float next = std::nextafter(x, std::numeric_limits<float>::infinity());
    if (ulp_distance(x, next) != 1u) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("ulp error: powers of two, subnormals, zero, infinity, NaN") {
  // The ulp is the greater one at a power of two, and the smaller one just below it.
  CHECK(ulp_error(0x1.0000000000001p0, 1) == 1);
  CHECK(ulp_error(0x1.fffffffffffffp-1, 1) == 0.5);
  CHECK(ulp_error(0x1.fffffffffffffp-1, 1, 0.25) == 0.75);
  CHECK(ulp_error(0x1.fffffffffffffp-1, 1, -0.125) == 0.75);  // x = 1 - 2^-55: ulp(x) = 2^-53
  CHECK(ulp_error(1, 1, -0.25) == 0.5);                       // the tie below 1
  CHECK(ulp_error(1, 1, 0.5) == 0.5);                         // the tie above it
  CHECK(ulp_error(-1, -1, 0.25) == 0.5);
  CHECK(ulp_error(-1, -1, -0.25) == 0.25);
  // Below the smallest normal number nothing becomes finer.
  CHECK(ulp_error(0x1p-1022, 0x1p-1022, -0.25) == 0.25);
  CHECK(ulp_error(0x1p-1022 - 0x1p-1074, 0x1p-1022, -0.25) == 0.75);
  CHECK(ulp_error(0x1p-1021, 0x1p-1021, -0.25) == 0.5);
  CHECK(ulp_error(0x1p-1074, 0x1p-1074, -0.5) == 0.5);
  CHECK(ulp_error(0, 0x1p-1074, 0.25) == 1.25);
  CHECK(ulp_error(0, 0) == 0);
  CHECK(ulp_error(-0.0, 0) == 0);
  CHECK(ulp_error(0x1p-1074, 0) == 1);
  CHECK(ulp_error(0, 0, 0.5) == 0.5);
  CHECK(ulp_error(-0x1p-1074, 0, 0.25) == 1.25);
  CHECK(ulp_error(1, 0) == infinity);  // 2^1074 is no double
  CHECK(ulp_error(0, 1) == 0x1p52);

  CHECK(ulp_error(infinity, infinity) == 0);
  CHECK(ulp_error(-infinity, infinity) == infinity);
  CHECK(ulp_error(1, infinity) == infinity);
  CHECK(ulp_error(infinity, 1) == infinity);
  CHECK(ulp_error(-std::numeric_limits<double>::max(), std::numeric_limits<double>::max()) == 0x1p54 - 2);
  CHECK(std::isnan(ulp_error(nan_value, 1)));
  CHECK(std::isnan(ulp_error(1, nan_value)));
  CHECK(std::isnan(ulp_error(nan_value, nan_value)));
  CHECK(std::isnan(ulp_error(nan_value, infinity)));
}

TEST_CASE("ulp error: against MPFR and the definition, within the stated bound") {
  testing::random_source random(3);
  double worst = 0;
  for (int i = 0; i < 30'000; ++i) {
    const double nearest = i % 3 == 0   ? random.any_double()
                           : i % 3 == 1 ? std::ldexp(1.0, static_cast<int>(random.between(-1074, 1023)))
                                        : static_cast<double>(random.between(-100, 100)) * 0x1p-1074;
    const bool down = random.word() % 2 == 0;
    double candidate = nearest;
    for (long steps = random.between(0, 3); steps > 0; --steps)
      candidate = std::nextafter(candidate, down ? -infinity : infinity);
    if (i % 10 == 0) candidate = random.any_double();
    if (std::isinf(candidate)) continue;
    const double offset = std::ldexp(static_cast<double>(random.between(-1000, 1000)),
                                     static_cast<int>(-random.between(11, 60)));
    check_error(candidate, nearest, offset, formats::binary64, worst);
  }
  INFO(worst);
  CHECK(worst <= stated_bound);
}

TEST_CASE("ulp error: every binary16 and bfloat16, with its neighbours, zero and others") {
  for (const format& f : {formats::binary16, formats::bfloat16}) {
    testing::random_source random(4);
    double worst = 0;
    for (std::uint64_t p = 0; p < 0x10000; ++p) {
      const double nearest = value_of_pattern(p, f);
      if (!std::isfinite(nearest)) continue;
      for (const std::uint64_t q : {p, p + 1, p - 1, std::uint64_t{0}, random.word()}) {
        const double candidate = value_of_pattern(q & 0xffff, f);
        if (!std::isfinite(candidate)) continue;
        const double offset = static_cast<double>(random.between(-512, 512)) * 0x1p-10;
        check_error(candidate, nearest, offset, f, worst);
      }
    }
    INFO(f.name << ' ' << worst);
    CHECK(worst <= stated_bound);
  }
}
