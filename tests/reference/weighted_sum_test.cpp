// Sums with enclosed weights: what they contain, from exact arithmetic, and how wide they are.
#include "../../src/reference/certified/weighted_sum.hpp"

#include "catch.hpp"

#include <attest/enclosure/printed.hpp>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace {

using attest::dyadic_of;
using attest::fixed_weight;
using attest::growing;
using attest::input_number;
using attest::interval;
using attest::unbounded_dyadic;
using attest::unbounded_integer;

unbounded_dyadic value_of(const attest::interval_end<growing>& end) {
  const auto n = attest::detail::to_integer<unbounded_integer>(end.magnitude);
  return {end.negative ? unbounded_integer(-n) : n, static_cast<long>(end.exponent)};
}
unbounded_dyadic power_of_two(long e) { return {unbounded_integer(1), e}; }
bool at_most(const unbounded_dyadic& x, const unbounded_dyadic& y) { return sign(y - x) >= 0; }

/// Sums `count` terms and compares both ends with the exact ones.
struct checked_sum {
  std::mt19937_64 random;
  std::size_t fitting = 0;

  interval<growing> weight() {
    interval<growing> w;
    const std::size_t size = 1 + random() % 3;
    w.midpoint.limbs.resize(size);
    for (auto& limb : w.midpoint.limbs) limb = random() % 8 == 0 ? ~std::uint64_t{0} : random();
    w.midpoint.limbs[size - 1] |= 1;
    w.midpoint.size = size;
    w.radius = random() >> (random() % 64);
    // About 1, up to 2, down to numbers that vanish in units of 2^-126.
    const int top = random() % 4 == 0 ? 1 : -static_cast<int>(random() % 200);
    w.exponent = top - 64 * static_cast<std::int64_t>(size) - static_cast<std::int64_t>(random() % 3);
    return w;
  }

  void run(std::size_t count, int unit, unsigned spread) {
    attest::weighted_sum sum(unit);
    unbounded_dyadic least, greatest, most, values;
    for (std::size_t n = 0; n < count; ++n) {
      const interval<growing> w = weight();
      const std::optional<fixed_weight> fixed = attest::fixed_weight_of(w);
      if (!fixed) continue;
      ++fitting;
      unbounded_dyadic low = value_of(lower(w));
      const unbounded_dyadic high = value_of(upper(w));
      if (sign(low) < 0) low = unbounded_dyadic(0);
      input_number v{random() % 2 == 0, random() >> 11, unit + static_cast<int>(random() % (spread + 1))};
      if (random() % 16 == 0) v.magnitude = 0;
      if (const int zeros = static_cast<int>(random() % 32); zeros < 11) {  // the same number, written longer
        v.magnitude <<= zeros;
        v.exponent -= zeros;
      }
      REQUIRE(attest::weighted_sum::fits(v, unit));
      sum.add(v, *fixed);
      const unbounded_dyadic x = dyadic_of(v);
      const unbounded_dyadic magnitude = dyadic_of({false, v.magnitude, v.exponent});
      least = least + x * (v.negative ? high : low);
      greatest = greatest + x * (v.negative ? low : high);
      most = most + magnitude * high;
      values = values + magnitude;
    }
    const interval<growing> result = sum.value(128);
    const unbounded_dyadic low = value_of(lower(result)), high = value_of(upper(result));
    CHECK(at_most(low, least));
    CHECK(at_most(greatest, high));
    // The midpoint is not in the middle, which may double the width; rounding costs 2^-123 of every value in
    // weights, 2^-118 of the sum of the magnitudes at the end.
    CHECK(at_most(high - low, unbounded_dyadic(3) * (greatest - least) + values * power_of_two(-123) +
                                  most * power_of_two(-118)));
  }
};

}  // namespace

TEST_CASE("weighted sums contain what exact arithmetic gives") {
  checked_sum check{std::mt19937_64(21)};
  for (int n = 0; n < 400; ++n) {
    INFO("sum " << n);
    check.run(1 + static_cast<std::size_t>(n) % 40, n % 7 == 0 ? -1074 : -60 - n,
              n % 3 == 0 ? 74 : static_cast<unsigned>(n) % 74);
  }
  CHECK(check.fitting > 3000);
}

TEST_CASE("weighted sums: the largest elements and weights") {
  // 1000 terms of (2^53 - 1) 2^74 units times a weight of nearly 2, of one sign or both.
  const interval<growing> w{
      {{~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0}}, 3}, false, 0, 1 - 192};
  const std::optional<fixed_weight> fixed = attest::fixed_weight_of(w);
  REQUIRE(fixed);
  const std::uint64_t largest = (std::uint64_t{1} << 53) - 1;
  for (const bool both : {false, true}) {
    attest::weighted_sum sum(-1074);
    for (int n = 0; n < 1000; ++n) sum.add({both && n % 2 == 1, largest, -1000}, *fixed);
    const interval<growing> result = sum.value(128);
    const unbounded_dyadic exact =
        both ? unbounded_dyadic(0)
             : unbounded_dyadic(1000) * dyadic_of({false, largest, -1000}) * value_of(lower(w));
    CHECK(at_most(value_of(lower(result)), exact));
    CHECK(at_most(exact, value_of(upper(result))));
    CHECK(
        at_most(value_of(upper(result)) - value_of(lower(result)), power_of_two(-1000 + 53 + 1 + 10 - 118)));
  }
}

TEST_CASE("exact sums: an enclosure in fixed storage contains what the exact value is, or is it") {
  std::mt19937_64 random(22);
  std::size_t cut = 0;
  for (int n = 0; n < 3000; ++n) {
    attest::exact_accumulator sum;
    const int spread = 1 << random() % 12;  // of exponents, up to 2048
    input_number last;
    for (std::size_t terms = 1 + random() % 6; terms > 0; --terms) {
      const input_number x{random() % 2 == 0, random(), static_cast<int>(random() % 2048) % spread - 1074};
      sum.add_product(x, {false, random() >> (random() % 64), -50});
      last = x;
    }
    // Numbers that cancel again, with and without a borrow through all limbs.
    if (random() % 4 == 0) sum.add(last), sum.subtract(last);
    if (random() % 4 == 0) sum.add({false, 1, 900}), sum.subtract({false, 1, 899}), sum.subtract({false, 1, 899});
    if (random() % 4 == 0) sum.add({false, 1, 960}), sum.subtract({false, ~std::uint64_t{0}, 896});
    const interval<5> x = sum.enclosed<5>();
    const interval<growing> wide{attest::resized<growing>(x.midpoint), x.negative, x.radius, x.exponent};
    const unbounded_dyadic exact = sum.value();
    CHECK(at_most(value_of(lower(wide)), exact));
    CHECK(at_most(exact, value_of(upper(wide))));
    CHECK(x.radius <= 1);
    if (x.radius != 0) ++cut;
  }
  CHECK(cut > 100);
  attest::exact_accumulator nothing;
  CHECK(attest::is_zero(nothing.enclosed<5>().midpoint));
  CHECK(nothing.enclosed<5>().radius == 0);
}

TEST_CASE("weighted sums: what does not fit is refused") {
  using attest::weighted_sum;
  CHECK(weighted_sum::fits({false, 1, 126}, 0));
  CHECK(weighted_sum::fits({false, ~std::uint64_t{0}, 63}, 0));
  CHECK_FALSE(weighted_sum::fits({false, ~std::uint64_t{0}, 64}, 0));
  CHECK_FALSE(weighted_sum::fits({false, 1, -1}, 0));
  CHECK(weighted_sum::fits({false, 0, -1}, 0));
  CHECK(weighted_sum::fits({false, 6, -1}, 0));
  CHECK_FALSE(weighted_sum::fits({false, 6, -2}, 0));
  const auto one = [](std::int64_t exponent, std::uint64_t radius) {
    interval<growing> x = interval<growing>::exact(1LL << 40, exponent);
    x.radius = radius;
    return attest::fixed_weight_of(x).has_value();
  };
  CHECK(one(-40, 0));        // 1
  CHECK_FALSE(one(-39, 0));  // 2
  CHECK(one(-126, 1000));
  CHECK(one(-126, std::uint64_t{1} << 60));        // [0, 2^60 + 2^40] units
  CHECK_FALSE(one(-126, std::uint64_t{1} << 62));  // wider than 2^62 units
  CHECK(one(-5000, 7));
}
