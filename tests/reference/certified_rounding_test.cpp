#include "../../src/reference/certified/rounding_of_doubles.hpp"
#include "../../src/reference/certified/row.hpp"
#include "catch.hpp"
#include "certified_cases.hpp"

#include <attest/rounding/round.hpp>

// The rounding tests in vectors: whatever they decide is what both ends of the interval round to, with no
// half step of the format in it; on half steps themselves they decide nothing.

using namespace certified_cases;
using attest::certified::round_between_steps;
using attest::certified::round_pair;
using attest::certified::round_pair_rows_between_steps;
using attest::certified::round_pairs_between_steps;
using attest::certified::round_rows_between_steps;

namespace {

constexpr dtype narrow[] = {dtype::binary32,      dtype::binary16,    dtype::bfloat16,
                            dtype::float8_e4m3fn, dtype::float8_e5m2, dtype::float8_e4m3fnuz};
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
/// Uniform in [0, 1).
double unit(generator& g) { return std::ldexp(static_cast<double>(g() >> 11), -53); }

constexpr rounding directions[] = {rounding::nearest_even, rounding::toward_zero, rounding::up,
                                   rounding::down};

/// No half step is in [x - error, x + error], so that both ends round alike in every direction and neither is
/// a number of the format; and that of this direction is `got`.
bool rounds_alike(double x, double error, const attest::format& f, rounding direction, std::uint64_t got) {
  oracle::real low(200), high(200);
  mpfr_set_d(low.get(), x, MPFR_RNDN);
  mpfr_set_d(high.get(), x, MPFR_RNDN);
  mpfr_sub_d(low.get(), low.get(), error, MPFR_RNDN);
  mpfr_add_d(high.get(), high.get(), error, MPFR_RNDN);
  for (const rounding any : directions)
    if (oracle::round_to_format(low.get(), f, any) != oracle::round_to_format(high.get(), f, any))
      return false;
  return oracle::round_to_format(low.get(), f, rounding::up) !=
             oracle::round_to_format(low.get(), f, rounding::down) &&
         got == oracle::round_to_format(low.get(), f, direction);
}

}  // namespace

TEST_CASE("Doubles with one bound, to narrow formats") {
  generator g(4);
  std::size_t decided = 0, subnormal = 0, wrong = 0;
  for (const dtype type : narrow)
    for (const rounding direction : directions) {
      const attest::format& f = *attest::format_of(type);
      for (const double error : {0.0, 1e-12, 1e-3, std::ldexp(1.0, f.min_unit() - 7)}) {
        std::vector<double> x(61);
        for (double& y : x) y = std::ldexp(normal(g), static_cast<int>(g() % 30) - 15);
        // Numbers of the format, midpoints, and their neighbours.
        for (std::size_t i = 0; i < x.size(); i += 3) {
          const double number = std::ldexp(
              1 + static_cast<double>(g() % f.hidden_bit()) / static_cast<double>(f.hidden_bit()), 1);
          x[i] = number + (i % 2 == 0 ? 0 : std::ldexp(1.0, 1 - f.precision));
          if (i % 4 == 0) x[i] = -x[i];
          if (i % 9 == 0) x[i] = std::nextafter(x[i], 0.0);
        }
        // The same of subnormal numbers, and what is between them.
        for (std::size_t i = 1; i < x.size(); i += 3) {
          const double steps = std::floor(std::fabs(normal(g)) * static_cast<double>(f.hidden_bit()));
          x[i] = std::ldexp(steps, f.min_unit() - 1);
          if (i % 2 == 0) x[i] = std::nextafter(x[i], i % 4 == 0 ? 0.0 : 1.0);
          if (i % 5 == 0) x[i] += std::ldexp(std::fabs(normal(g)), f.min_unit() - 4);
          if (i % 7 == 0) x[i] = -x[i];
        }
        std::vector<std::uint32_t> out(x.size());
        std::vector<unsigned char> open(x.size());
        const std::size_t left =
            round_between_steps(x.size(), x.data(), error, f, direction, out.data(), open.data());
        CHECK(left == static_cast<std::size_t>(std::count(open.begin(), open.end(), 1)));
        for (std::size_t i = 0; i < x.size(); ++i) {
          if (open[i] != 0) continue;
          ++decided;
          if (std::fabs(x[i]) < std::ldexp(1.0, f.min_exponent)) ++subnormal;
          std::uint64_t got = 0;
          const auto size = static_cast<std::size_t>(f.storage_bits) / 8;
          std::memcpy(&got, reinterpret_cast<const unsigned char*>(out.data()) + i * size, size);
          if (!rounds_alike(x[i], error, f, direction, got)) ++wrong;
        }
      }
    }
  CHECK(wrong == 0);
  CHECK(decided > 1000);
  CHECK(subnormal > 200);
}

// Rows of many lengths in which nothing, little or much is open: what they say is what each row says alone.
TEST_CASE("Rows of doubles with one bound are rounded as each of them is") {
  generator g(6);
  std::size_t open_rows = 0, decided_rows = 0, wrong = 0;
  for (const dtype type : narrow)
    for (const rounding direction : directions)
      for (const std::size_t width : {1u, 8u, 24u, 27u, 64u}) {
        const attest::format& f = *attest::format_of(type);
        const auto size = static_cast<std::size_t>(f.storage_bits) / 8;
        const std::size_t rows = 9;
        const double error = 1e-9;
        std::vector<double> x(rows * width);
        for (double& y : x) {
          // Well between two half steps.
          y = std::ldexp(static_cast<double>(f.hidden_bit() + g() % f.hidden_bit()) + 0.2 + 0.2 * unit(g),
                         -f.precision);
          if (g() % 2 == 0) y = -y;
        }
        const double bad[] = {1, 0, 1e30, -1, std::ldexp(1.3, f.min_exponent - 3), infinity, not_a_number};
        for (std::size_t r = 1; r < rows; ++r)
          if (r <= std::size(bad)) x[r * width + g() % width] = bad[r - 1];
        std::vector<unsigned char> together(rows * width * size), alone(width * size), open(rows),
            element(width);
        std::vector<void*> places(rows);
        for (std::size_t r = 0; r < rows; ++r) places[r] = together.data() + r * width * size;
        const std::size_t left =
            round_rows_between_steps(rows, width, x.data(), error, f, direction, places.data(), open.data());
        CHECK(left == static_cast<std::size_t>(std::count(open.begin(), open.end(), 1)));
        for (std::size_t r = 0; r < rows; ++r) {
          const std::size_t here = round_between_steps(width, x.data() + r * width, error, f, direction,
                                                       alone.data(), element.data());
          if ((here != 0) != (open[r] == 1)) ++wrong;
          if (here == 0 && std::memcmp(alone.data(), places[r], alone.size()) != 0) ++wrong;
          ++(here == 0 ? decided_rows : open_rows);
        }
      }
  CHECK(wrong == 0);
  CHECK(decided_rows >= 200);
  CHECK(open_rows > 200);
}

// One number of each row is next to a half step, by a part or a few times the error, of an ulp of binary32 or
// of an ulp of binary64, anywhere from below the smallest normal number to the largest.
TEST_CASE("Rows of doubles with one bound, next to half steps") {
  generator g(8);
  std::size_t decided = 0, close = 0, wrong = 0;
  for (const dtype type : narrow)
    for (const rounding direction : directions)
      for (const int error_exponent : {-60, -40, -33, -26, -20, -12}) {
        const attest::format& f = *attest::format_of(type);
        const auto size = static_cast<std::size_t>(f.storage_bits) / 8;
        const std::size_t width = 32, rows = 200;
        const double error = std::ldexp(1 + unit(g), error_exponent);
        std::vector<double> x(rows * width);
        std::vector<std::size_t> at(rows);
        for (double& y : x)
          y = std::ldexp(static_cast<double>(f.hidden_bit() + g() % f.hidden_bit()) + 0.2 + 0.2 * unit(g),
                         -f.precision);
        for (std::size_t r = 0; r < rows; ++r) {
          // A half step in the binade of 2^e, often of its first ones, and steps away from it.
          const int least = std::max(f.min_exponent, error_exponent) - 2;
          const int e = least + static_cast<int>(g() % 40) % (f.max_exponent() + 2 - least);
          const double half_step =
              std::ldexp(1 + (g() % 4 == 0 ? static_cast<double>(g() % 3)
                                           : static_cast<double>(g() % (2 * f.hidden_bit()))) /
                                 static_cast<double>(2 * f.hidden_bit()),
                         e);
          const double units[] = {error, std::ldexp(1.0, e - 23), std::ldexp(1.0, e - 24),
                                  std::ldexp(1.0, e - 52)};
          double y = half_step + units[g() % 4] * (std::floor(unit(g) * 17) - 8) / 4;
          if (g() % 2 == 0) y += (g() % 2 == 0 ? error : -error);
          at[r] = r * width + g() % width;
          x[at[r]] = g() % 2 == 0 ? -y : y;
        }
        std::vector<unsigned char> together(rows * width * size), open(rows);
        std::vector<void*> places(rows);
        for (std::size_t r = 0; r < rows; ++r) places[r] = together.data() + r * width * size;
        round_rows_between_steps(rows, width, x.data(), error, f, direction, places.data(), open.data());
        for (std::size_t r = 0; r < rows; ++r) {
          if (open[r] != 0) continue;
          ++decided;
          std::uint64_t got = 0;
          std::memcpy(&got, together.data() + at[r] * size, size);
          if (!rounds_alike(x[at[r]], error, f, direction, got)) ++wrong;
          if (std::fabs(x[at[r]]) < 1024 * error) ++close;
        }
      }
  CHECK(wrong == 0);
  CHECK(decided > 2000);
  CHECK(close > 200);
}

TEST_CASE("Pairs, to binary64") {
  generator g(5);
  const attest::format& f = attest::formats::binary64;
  std::size_t decided = 0, near = 0, wrong = 0;
  for (const rounding direction : directions)
    for (int trial = 0; trial < 40; ++trial) {
      std::vector<double> high(29), low(29), error(29), out(29);
      for (std::size_t i = 0; i < high.size(); ++i) {
        high[i] = std::ldexp(normal(g), static_cast<int>(g() % 600) - 300);
        low[i] = high[i] * 0x1p-53 * normal(g);
        error[i] = std::fabs(high[i]) * std::ldexp(1.0, -60 - static_cast<int>(g() % 50));
        if (i % 5 == 0) low[i] = high[i] * std::ldexp(1.0, -90);             // within the error, or not
        if (i % 7 == 0) low[i] = std::ldexp(1.0, std::ilogb(high[i]) - 53);  // a midpoint
      }
      std::vector<unsigned char> open(29);
      round_pairs_between_steps(29, high.data(), low.data(), error.data(), direction, out.data(),
                                open.data());
      for (std::size_t i = 0; i < high.size(); ++i) {
        if (open[i] == 1) continue;
        oracle::real a(1200), b(1200);
        mpfr_set_d(a.get(), high[i], MPFR_RNDN);
        mpfr_add_d(a.get(), a.get(), low[i], MPFR_RNDN);
        mpfr_add_d(b.get(), a.get(), error[i], MPFR_RNDN);
        mpfr_sub_d(a.get(), a.get(), error[i], MPFR_RNDN);
        const rounding to = open[i] == 2 ? rounding::nearest_even : direction;
        for (const auto& end : {a, b})
          if (oracle::round_to_format(end.get(), f, to) != std::bit_cast<std::uint64_t>(out[i])) ++wrong;
        const bool holds_number = oracle::round_to_format(a.get(), f, rounding::down) !=
                                  oracle::round_to_format(b.get(), f, rounding::down);
        if (open[i] == 0 && holds_number) ++wrong;
        ++(open[i] == 0 ? decided : near);
      }
    }
  CHECK(wrong == 0);
  CHECK(decided > 2000);
  CHECK(near > 50);
}

TEST_CASE("A pair whose lower end is a half step names the one within, if that is one") {
  // The binary16 n = 1 + 2^-9 and the midpoint below, n - 2^-11, which rounds to it. The interval of n -
  // 2^-13 is moved outward to that midpoint, which is no member; n is.
  const double n = 1 + 0x1p-9, middle = n - 0x1p-13, distance = 3 * 0x1p-13;
  double error = distance;
  while (error + (error * 0x1p-50 + 0x1p-1074) > distance) error = std::nextafter(error, 0.0);
  REQUIRE(error + (error * 0x1p-50 + 0x1p-1074) == distance);
  for (const double sign : {1.0, -1.0}) {
    const auto r = round_pair(sign * middle, 0, error, attest::formats::binary16, rounding::nearest_even);
    CHECK(r.settled);
    CHECK(r.holds_step);
    CHECK(r.step == sign * n);
  }
}

TEST_CASE("Rows of pairs are rounded as each of them is") {
  generator g(7);
  std::size_t open_rows = 0, decided_rows = 0, wrong = 0;
  for (const rounding direction : directions)
    for (const std::size_t width : {8u, 24u, 64u}) {
      const std::size_t rows = 12, stride = 3 * width + 5;
      std::vector<double> x(rows * stride), together(rows * width), alone(width);
      for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t c = 0; c < width; ++c) {
          double* high = x.data() + r * stride + c;
          *high = normal(g);
          high[width] = *high * 0x1p-53 * (0.1 + 0.3 * unit(g)) * (g() % 2 == 0 ? 1 : -1);
          high[2 * width] = std::fabs(*high) * 0x1p-80;
        }
      // A number of the format, a midpoint, no bound, a huge number, NaN.
      x[1 * stride + width] = 0;
      x[2 * stride + width] = std::ldexp(1.0, std::ilogb(x[2 * stride]) - 53);
      x[3 * stride + 2 * width] = infinity;
      x[4 * stride] = 0x1p1023;
      x[5 * stride] = not_a_number;
      std::vector<void*> places(rows);
      for (std::size_t r = 0; r < rows; ++r) places[r] = together.data() + r * width;
      std::vector<unsigned char> open(rows), element(width);
      const std::size_t left =
          round_pair_rows_between_steps(rows, width, x.data(), stride, direction, places.data(), open.data());
      CHECK(left == static_cast<std::size_t>(std::count(open.begin(), open.end(), 1)));
      for (std::size_t r = 0; r < rows; ++r) {
        const double* high = x.data() + r * stride;
        const std::size_t here = round_pairs_between_steps(width, high, high + width, high + 2 * width,
                                                           direction, alone.data(), element.data());
        if ((here != 0) != (open[r] == 1)) ++wrong;
        if (here == 0 && std::memcmp(alone.data(), places[r], width * sizeof(double)) != 0) ++wrong;
        ++(here == 0 ? decided_rows : open_rows);
      }
    }
  CHECK(wrong == 0);
  CHECK(decided_rows >= 84);
  CHECK(open_rows >= 60);
}

TEST_CASE("The pattern of a number that the format has, and of no other") {
  using attest::certified::exact_pattern;
  for (const dtype type : {dtype::binary64, dtype::binary32, dtype::binary16, dtype::bfloat16,
                           dtype::float8_e4m3fn, dtype::float8_e5m2, dtype::float8_e4m3fnuz}) {
    const attest::format& f = *attest::format_of(type);
    const auto double_of = [&](std::uint64_t pattern) {
      const attest::decoded d = attest::decode(pattern, f);
      return std::ldexp(static_cast<double>(d.significand), static_cast<int>(d.exponent)) *
             (d.negative ? -1 : 1);
    };
    std::size_t wrong = 0;
    const std::uint64_t smallest_normal = f.hidden_bit();
    const std::uint64_t step = std::max<std::uint64_t>((f.largest - smallest_normal) / 5000, 1);
    for (std::uint64_t pattern = smallest_normal; pattern <= f.largest - step; pattern += step)
      for (const std::uint64_t p : {pattern, pattern | f.sign_bit()}) {
        const double x = double_of(p);
        wrong += exact_pattern(x, f) == p ? 0 : 1;
        if (type != dtype::binary64) wrong += exact_pattern(std::nextafter(x, infinity), f) ? 1 : 0;
      }
    CHECK(wrong == 0);
    CHECK(exact_pattern(double_of(f.largest), f) == f.largest);
    // One last place beyond the largest number, the largest subnormal number and zero.
    if (type != dtype::binary64)
      CHECK_FALSE(exact_pattern(2 * double_of(f.largest) - double_of(f.largest - 1), f));
    CHECK_FALSE(exact_pattern(double_of(smallest_normal - 1), f));
    CHECK_FALSE(exact_pattern(0.0, f));
  }
}
