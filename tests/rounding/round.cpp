#include "catch.hpp"
#include "enclosure/mpfr_real.hpp"

#include <attest/rounding/round.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

// Rounding:
// - zeros, signs, ties, subnormals and overflow in every mode, in the compiler
// - binary64, 32, 16 and bfloat16 against MPFR in every mode: random numbers, numbers at and next to ties,
//   subnormals, overflow
// - binary64 and binary32 also against MPFR's own conversions to double and float
// - every binary16 and bfloat16 number and every midpoint between two of them: itself, a little less, a
//   little more
// - enclosures against a list of all boundaries of binary16 and bfloat16: settled, one boundary, several

using namespace attest;
using attest::testing::big;
using attest::testing::generator;
using attest::testing::natural_of;
using attest::testing::real;

namespace {

constexpr rounding modes[] = {rounding::nearest_even, rounding::toward_zero, rounding::up, rounding::down,
                              rounding::to_odd};
constexpr format all_formats[] = {formats::binary64, formats::binary32, formats::binary16, formats::bfloat16};

// ---- in the compiler: five patterns, one for each mode in the order above

constexpr bool rounds_to(bool negative, std::uint64_t m, std::int64_t exponent, bool more, const format& f,
                         std::uint64_t nearest, std::uint64_t zero, std::uint64_t up, std::uint64_t down,
                         std::uint64_t odd) {
  const std::uint64_t expected[] = {nearest, zero, up, down, odd};
  for (std::size_t i = 0; i < 5; ++i)
    if (round_exact(negative, to_natural<3>(m), exponent, more, f, modes[i]) != expected[i]) return false;
  return true;
}

constexpr format h = formats::binary16;
static_assert(rounds_to(false, 0, 0, false, h, 0, 0, 0, 0x8000, 0));  // exact zero: +0, and -0 rounding down
static_assert(rounds_to(true, 0, 0, false, h, 0, 0, 0, 0x8000, 0));
static_assert(rounds_to(false, 0, 0, true, h, 0, 0, 1, 0, 1));  // a little more than zero keeps its sign
static_assert(rounds_to(true, 0, 0, true, h, 0x8000, 0x8000, 0x8000, 0x8001, 0x8001));
static_assert(rounds_to(true, 1, -100000, false, h, 0x8000, 0x8000, 0x8000, 0x8001, 0x8001));
static_assert(rounds_to(false, 1, -25, false, h, 0, 0, 1, 0,
                        1));  // half the smallest subnormal: a tie to zero
static_assert(rounds_to(false, 1, -25, true, h, 1, 0, 1, 0, 1));
static_assert(rounds_to(false, 3, -25, false, h, 2, 1, 2, 1, 1));  // 1.5: a tie to the even 2
static_assert(rounds_to(false, 1, 0, false, h, 0x3C00, 0x3C00, 0x3C00, 0x3C00, 0x3C00));
static_assert(rounds_to(false, 2049, -11, false, h, 0x3C00, 0x3C00, 0x3C01, 0x3C00,
                        0x3C01));  // 1 + half an ulp
static_assert(rounds_to(false, 2049, -11, true, h, 0x3C01, 0x3C00, 0x3C01, 0x3C00, 0x3C01));
static_assert(rounds_to(true, 2051, -11, false, h, 0xBC02, 0xBC01, 0xBC01, 0xBC02, 0xBC01));
static_assert(rounds_to(false, 2047, -25, false, h, 0x0400, 0x03FF, 0x0400, 0x03FF,
                        0x03FF));  // carries into the normals
static_assert(rounds_to(false, 65504, 0, false, h, 0x7BFF, 0x7BFF, 0x7BFF, 0x7BFF, 0x7BFF));
static_assert(rounds_to(false, 65519, 0, false, h, 0x7BFF, 0x7BFF, 0x7C00, 0x7BFF, 0x7BFF));
static_assert(rounds_to(false, 65520, 0, false, h, 0x7C00, 0x7BFF, 0x7C00, 0x7BFF,
                        0x7BFF));  // the overflow threshold
static_assert(rounds_to(true, 65520, 0, false, h, 0xFC00, 0xFBFF, 0xFBFF, 0xFC00, 0xFBFF));
static_assert(rounds_to(true, 1, 1000000, false, h, 0xFC00, 0xFBFF, 0xFBFF, 0xFC00, 0xFBFF));

// A format whose largest number is even and which has NaN in the place of infinity.
constexpr format e4m3{"e4m3", 8, 4, -6, 0x7E, false, 0x7F, 0x7F};
static_assert(rounds_to(false, 464, 0, false, e4m3, 0x7E, 0x7E, 0x7F, 0x7E, 0x7E));
static_assert(rounds_to(false, 464, 0, true, e4m3, 0x7F, 0x7E, 0x7F, 0x7E, 0x7E));

constexpr interval<4> third = interval<4>::ratio(1, 3, 100);
constexpr interval_rounding rounded_third = round_interval(third, formats::binary64, rounding::nearest_even);
static_assert(rounded_third.outcome == rounding_outcome::settled);
static_assert(rounded_third.pattern == 0x3FD5555555555555);
static_assert(round_interval(third, formats::binary64, rounding::up).pattern == 0x3FD5555555555556);

constexpr interval_rounding several =
    round_interval(interval<4>{to_natural<4>(2049), false, 3, -11}, h, rounding::nearest_even);
static_assert(several.outcome == rounding_outcome::narrower);
constexpr interval_rounding one_tie =
    round_interval(interval<4>{to_natural<4>(2049 << 4), false, 1, -15}, h, rounding::nearest_even);
static_assert(one_tie.outcome == rounding_outcome::boundary);
static_assert(one_tie.boundary.significand == 2049 && one_tie.boundary.exponent == -11 &&
              !one_tie.boundary.negative);
static_assert(one_tie.boundary.below == 0x3C00 && one_tie.boundary.at == 0x3C00 &&
              one_tie.boundary.above == 0x3C01);

// ---- the reference: MPFR with the format's exponents

/// Rounds x by MPFR. To odd is toward zero, then the last bit set if that was inexact.
std::uint64_t reference(const real& x, const format& f, rounding mode) {
  const mpfr_exp_t emin = mpfr_get_emin();
  const mpfr_exp_t emax = mpfr_get_emax();
  const mpfr_rnd_t direction = mode == rounding::nearest_even ? MPFR_RNDN
                               : mode == rounding::up         ? MPFR_RNDU
                               : mode == rounding::down       ? MPFR_RNDD
                                                              : MPFR_RNDZ;
  if (mpfr_zero_p(x.x)) return mode == rounding::down ? f.sign_bit() : 0;
  real r(f.precision);
  mpfr_set_emin(f.min_unit() + 1);  // MPFR's exponents are those of a significand in [1/2, 1)
  mpfr_set_emax(f.max_exponent() + 1);
  int inexact = mpfr_set(r.x, x.x, direction);
  inexact = mpfr_check_range(r.x, inexact, direction);
  inexact = mpfr_subnormalize(r.x, inexact, direction);
  mpfr_set_emin(emin);
  mpfr_set_emax(emax);
  const std::uint64_t sign = mpfr_signbit(r.x) != 0 ? f.sign_bit() : 0;
  std::uint64_t magnitude = 0;
  if (mpfr_inf_p(r.x)) {
    magnitude = f.infinity;
  } else if (!mpfr_zero_p(r.x)) {
    const auto exponent = std::max<std::int64_t>(mpfr_get_exp(r.x) - 1, f.min_exponent);
    real significand(64);
    mpfr_mul_2si(significand.x, r.x, f.fraction_bits() - exponent, MPFR_RNDN);
    mpfr_abs(significand.x, significand.x, MPFR_RNDN);
    const std::uint64_t integer = mpfr_get_ui(significand.x, MPFR_RNDN);
    const bool normal = integer >= f.hidden_bit();
    const auto biased = normal ? static_cast<std::uint64_t>(exponent - f.min_exponent + 1) : 0;
    magnitude = biased << f.fraction_bits() | (normal ? integer - f.hidden_bit() : integer);
  }
  if (mode == rounding::to_odd && inexact != 0) magnitude |= 1;
  return sign | magnitude;
}

/// Whether x = (-1)^negative * m * 2^exponent is rounded as by the reference, to every format in every mode.
bool check_rounding(bool negative, const natural<growing>& m, std::int64_t exponent) {
  // x itself, and x with a bit 2^-4000 below its last one: what `more` stands for.
  const real x(negative, m, exponent);
  const real above(negative, add(shift_left(m, 4000), 1), exponent - 4000);
  for (const format& f : all_formats) {
    for (const rounding mode : modes) {
      const std::uint64_t exact = round_exact(negative, m, exponent, false, f, mode);
      const std::uint64_t more = round_exact(negative, m, exponent, true, f, mode);
      const std::uint64_t expected = reference(x, f, mode);
      const std::uint64_t expected_more = reference(above, f, mode);
      if (exact != expected || more != expected_more) {
        CAPTURE(f.name, static_cast<int>(mode), negative, big(m).text(), exponent);
        CHECK(exact == expected);
        CHECK(more == expected_more);
        return false;
      }
    }
  }
  return true;
}

}  // namespace

TEST_CASE("rounding agrees with MPFR", "[round]") {
  REQUIRE(testing::widest_exponents);
  generator random(1);
  for (int round = 0; round < 4000; ++round) {
    const auto m = natural_of<growing>(random.natural_below_bits(round % 8 == 0 ? 1200 : 130));
    const auto length = static_cast<std::int64_t>(bit_length(m));
    // Leading bits around the ends of every format's range, and in between.
    const std::int64_t anchors[] = {-1074, -1022, -149, -133, -126, -24, -14, 0, 15, 127, 1023};
    const std::int64_t top = anchors[random.below(11)] + static_cast<std::int64_t>(random.below(13)) - 6;
    REQUIRE(check_rounding(random.below(2) != 0, m, top - length + 1));
  }
}

TEST_CASE("rounding of numbers at and next to ties agrees with MPFR", "[round]") {
  generator random(2);
  for (int round = 0; round < 2000; ++round) {
    const format& f = all_formats[random.below(4)];
    const decoded d = decode(random.word() % (f.largest + 1), f);
    // the midpoint above the number, and the number itself, each with one bit far below, above or below
    const std::int64_t far = 2 + static_cast<std::int64_t>(random.below(300));
    for (const std::uint64_t halves : {2 * d.significand, 2 * d.significand + 1}) {
      const auto m = shift_left(to_natural<growing>(halves), static_cast<std::size_t>(far));
      const std::int64_t exponent = d.exponent - 1 - far;
      REQUIRE(check_rounding(d.negative, m, exponent));
      REQUIRE(check_rounding(!d.negative, add(m, 1), exponent));
      if (halves != 0) REQUIRE(check_rounding(d.negative, subtract(m, 1), exponent));
    }
  }
}

TEST_CASE("rounding agrees with MPFR's conversions to double and float", "[round]") {
  generator random(3);
  const mpfr_rnd_t directions[] = {MPFR_RNDN, MPFR_RNDZ, MPFR_RNDU, MPFR_RNDD};
  for (int round = 0; round < 20000; ++round) {
    const auto m = natural_of<growing>(random.natural_below_bits(120));
    if (is_zero(m)) continue;
    const std::int64_t exponent =
        static_cast<std::int64_t>(random.below(round % 2 == 0 ? 2400 : 320)) - (round % 2 == 0 ? 1250 : 230);
    const bool negative = random.below(2) != 0;
    const real x(negative, m, exponent);
    for (std::size_t i = 0; i < 4; ++i) {
      const auto wide = std::bit_cast<std::uint64_t>(mpfr_get_d(x.x, directions[i]));
      const auto narrow = std::bit_cast<std::uint32_t>(mpfr_get_flt(x.x, directions[i]));
      CAPTURE(big(m).text(), exponent, negative, i);
      REQUIRE(round_exact(negative, m, exponent, false, formats::binary64, modes[i]) == wide);
      REQUIRE(round_exact(negative, m, exponent, false, formats::binary32, modes[i]) == narrow);
    }
  }
}

TEST_CASE("every 16-bit number and midpoint rounds as it must", "[round]") {
  std::uint64_t checked = 0;
  for (const format& f : {formats::binary16, formats::bfloat16}) {
    for (std::uint64_t pattern = 0; pattern <= f.largest; ++pattern) {
      const decoded d = decode(pattern, f);
      const auto number = to_natural<2>(d.significand << 8);
      const auto midpoint = to_natural<2>((2 * d.significand + 1) << 8);
      const std::uint64_t next = pattern == f.largest ? f.infinity : pattern + 1;
      const std::uint64_t odd = pattern % 2 == 0 ? pattern + 1 : pattern;
      const int number_unit = d.exponent - 8;
      const int half_unit = d.exponent - 9;
      for (const bool negative : {false, true}) {
        const std::uint64_t s = negative ? f.sign_bit() : 0;
        const auto at = [&](rounding mode) {
          return round_exact(negative, midpoint, half_unit, false, f, mode);
        };
        const auto past = [&](rounding mode) {
          return round_exact(negative, midpoint, half_unit, true, f, mode);
        };
        const auto before = [&](rounding mode) {
          return round_exact(negative, subtract(midpoint, 1), half_unit, true, f, mode);
        };
        const rounding away = negative ? rounding::down : rounding::up;
        const rounding back = negative ? rounding::up : rounding::down;
        bool right = true;
        if (pattern != 0)
          for (const rounding mode : modes)
            right = right && round_exact(negative, number, number_unit, false, f, mode) == (s | pattern);
        right = right && at(rounding::nearest_even) == (s | (pattern % 2 == 0 ? pattern : next));
        right = right && past(rounding::nearest_even) == (s | next);
        right = right && before(rounding::nearest_even) == (s | pattern);
        for (const auto& result : {at(away), past(away), before(away)}) right = right && result == (s | next);
        for (const auto& result : {at(back), past(back), before(back)})
          right = right && result == (s | pattern);
        for (const auto& result : {at(rounding::toward_zero), past(rounding::toward_zero)})
          right = right && result == (s | pattern);
        for (const auto& result : {at(rounding::to_odd), past(rounding::to_odd), before(rounding::to_odd)})
          right = right && result == (s | odd);
        if (!right) {
          CAPTURE(f.name, pattern, negative);
          REQUIRE(right);
        }
        ++checked;
      }
    }
  }
  CHECK(checked == 2 * (0x7C00 + 0x7F80));
}

namespace {

/// All boundaries of a 16-bit format as doubles, in ascending order, by their definition. (Numbers and
/// midpoints of both formats are doubles.)
std::vector<double> boundaries(const format& f, rounding mode) {
  std::vector<double> list;
  for (std::uint64_t pattern = 0; pattern <= f.largest; ++pattern) {
    const decoded d = decode(pattern, f);
    const double value = std::ldexp(static_cast<double>(d.significand), d.exponent);
    if (mode == rounding::nearest_even)
      list.push_back(value + std::ldexp(0.5, d.exponent));
    else if (mode == rounding::to_odd ? pattern % 2 == 0 && pattern != 0 : pattern != 0)
      list.push_back(value);
  }
  const std::size_t positive = list.size();
  for (std::size_t i = 0; i < positive; ++i) list.push_back(-list[i]);
  list.push_back(0);
  std::sort(list.begin(), list.end());
  return list;
}

/// A double as midpoint units of 2^exponent; the value must be a multiple.
std::int64_t units(double x, int exponent) { return static_cast<std::int64_t>(std::ldexp(x, -exponent)); }

std::uint64_t round_double(double x, const format& f, rounding mode) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  const decoded d = decode(bits, formats::binary64);
  return round_exact(d.negative, to_natural<2>(d.significand), d.exponent, false, f, mode);
}

}  // namespace

TEST_CASE("enclosures are settled, at one boundary or too wide, as a list of all boundaries says",
          "[round]") {
  generator random(4);
  std::size_t seen[3] = {0, 0, 0};
  for (const format& f : {formats::binary16, formats::bfloat16}) {
    for (const rounding mode : modes) {
      const std::vector<double> list = boundaries(f, mode);
      for (int round = 0; round < 20000; ++round) {
        // An interval of a few eighths of a unit around a random boundary, around zero, or at the end of the
        // range.
        const std::uint64_t where = random.below(8);
        const std::size_t index = where == 0   ? list.size() / 2
                                  : where == 1 ? random.below(6)
                                  : where == 2 ? list.size() - 1 - random.below(6)
                                               : random.below(list.size());
        const double b = list[index];
        const decoded near = decode(round_double(b, f, rounding::toward_zero), f);
        const int unit = near.exponent - 4;
        const std::int64_t middle = units(b, unit) + static_cast<std::int64_t>(random.below(33)) - 16;
        const std::uint64_t radius = random.below(4) == 0 ? 0 : random.below(24);
        interval<2> x;
        x.midpoint = to_natural<2>(static_cast<std::uint64_t>(std::abs(middle)));
        x.negative = middle < 0;
        x.radius = radius;
        x.exponent = unit;
        const double low = std::ldexp(static_cast<double>(middle - static_cast<std::int64_t>(radius)), unit);
        const double high = std::ldexp(static_cast<double>(middle + static_cast<std::int64_t>(radius)), unit);

        const interval_rounding r = round_interval(x, f, mode);
        const std::uint64_t low_pattern = round_double(low, f, mode);
        const std::uint64_t high_pattern = round_double(high, f, mode);
        const auto first = std::lower_bound(list.begin(), list.end(), low);
        const auto last = std::upper_bound(list.begin(), list.end(), high);
        CAPTURE(f.name, static_cast<int>(mode), low, high);
        if (low_pattern == high_pattern) {
          REQUIRE(r.outcome == rounding_outcome::settled);
          REQUIRE(r.pattern == low_pattern);
          ++seen[0];
        } else if (last - first == 1) {
          REQUIRE(r.outcome == rounding_outcome::boundary);
          const double found = std::ldexp(static_cast<double>(r.boundary.significand), r.boundary.exponent);
          REQUIRE((r.boundary.negative ? -found : found) == *first);
          REQUIRE(r.boundary.at == round_double(*first, f, mode));
          REQUIRE(r.boundary.below == round_double(std::nextafter(*first, -HUGE_VAL), f, mode));
          REQUIRE(r.boundary.above == round_double(std::nextafter(*first, HUGE_VAL), f, mode));
          ++seen[1];
        } else {
          REQUIRE(last - first > 1);
          REQUIRE(r.outcome == rounding_outcome::narrower);
          ++seen[2];
        }
      }
    }
  }
  CHECK(std::min({seen[0], seen[1], seen[2]}) > 10000);
}

TEST_CASE("rounding of enclosures to binary64 and binary32 at their extremes", "[round]") {
  for (const format& f : {formats::binary64, formats::binary32}) {
    for (const std::uint64_t pattern : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2},
                                        f.hidden_bit() - 1, f.hidden_bit(), f.largest - 1, f.largest}) {
      const decoded d = decode(pattern, f);
      interval<3> x;  // the midpoint above the pattern, and 2^-40 of an ulp on both sides
      x.midpoint = shift_left(to_natural<3>(2 * d.significand + 1), 40);
      x.radius = 1;
      x.exponent = d.exponent - 41;
      const interval_rounding r = round_interval(x, f, rounding::nearest_even);
      CAPTURE(f.name, pattern);
      CHECK(r.outcome == rounding_outcome::boundary);
      CHECK(r.boundary.significand == 2 * d.significand + 1);
      CHECK(r.boundary.exponent == d.exponent - 1);
      CHECK(r.boundary.below == pattern);
      CHECK(r.boundary.above == pattern + 1);  // past the largest, this is infinity
      CHECK(r.boundary.at == pattern + pattern % 2);
      CHECK(round_interval(x, f, rounding::toward_zero).pattern == pattern);
      CHECK(round_interval(x, f, rounding::up).pattern == pattern + 1);
      CHECK(round_interval(negate(x), f, rounding::up).pattern == (pattern | f.sign_bit()));
    }
  }
}
