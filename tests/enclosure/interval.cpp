#include "catch.hpp"
#include "enclosure/mpfr_real.hpp"

#include <attest/enclosure/interval.hpp>

#include <algorithm>
#include <climits>
#include <cmath>

// Intervals:
// - in the compiler and at run time, fixed and growing storage: the same interval
// - exact integers and quotients stay exact; others contain the quotient, to the promised width
// - each operation contains its results on random members, the ends among them, of narrow, wide and
//   zero-crossing arguments
// - how much of its radius a result uses: never more than all, and not so little that the bound is idle
// - cancellation of exact midpoints loses nothing
// - ends, sign and width as defined
// - division by an interval that contains zero, precision and exponents out of range: errors

using namespace attest;
using attest::testing::big;
using attest::testing::exact_real;
using attest::testing::generator;
using attest::testing::identical;
using attest::testing::natural_of;
using attest::testing::real;
using attest::testing::relative_width_exponent;
using attest::testing::used_part;

namespace {

// ---- exact values

using fixed = interval<6>;

static_assert(is_exact(fixed::exact(-5)));
static_assert(sign(fixed::exact(-5)) == -1);
static_assert(sign(fixed::exact(0)) == 0);
static_assert(sign(fixed::exact(std::uint64_t{1} << 63)) == 1);
static_assert(width_exponent(fixed::exact(7)) == LONG_MIN);
static_assert(is_exact(fixed::ratio(-5, 8, 10)));
static_assert(identical(subtract(fixed::ratio(-5, 8, 10), fixed::exact(-5, -3), 10), fixed::exact(0)));
static_assert(!is_exact(fixed::ratio(1, 3, 200)));
static_assert(is_exact(fixed::exact(LLONG_MIN)) &&
              lower(fixed::exact(LLONG_MIN)).magnitude.limbs[0] == 1ull << 63);

constexpr integer long_integer() {
  const integer three(3);
  integer n(1);
  for (int i = 0; i < 300; ++i) n *= three;  // 3^300 has 476 bits and fits neither 5 limbs nor 320 bits
  return n;
}
constexpr bool long_integers_are_cut() {
  const integer n = long_integer();
  const integer three(3);
  const fixed third = fixed::ratio(n, integer(n * three), 200);  // 1/3 again, from operands that do not fit
  const fixed difference = subtract(third, fixed::ratio(1, 3, 200), 200);
  return sign(difference) == 0 && width_exponent(difference) <= -190 &&
         is_exact(fixed::exact(integer(integer(5) << 400))) && is_exact(interval<9>::exact(n));
}
static_assert(long_integers_are_cut());

// ---- the same interval in the compiler, at run time and in growing storage

template <std::size_t Capacity>
struct results {
  interval<Capacity> of[9];
};

template <std::size_t Capacity>
constexpr results<Capacity> compute() {
  using number = interval<Capacity>;
  const number a = number::ratio(22, -7, 190);
  const number b = number::ratio(355, 113, 130);
  return {{a, b, add(a, b, 190), subtract(a, b, 190), multiply(a, b, 180), divide(a, b, 150), negate(a),
           hull(a, b, 120), scale_by_power_of_two(b, -77)}};
}

constexpr results<6> in_the_compiler = compute<6>();

// ---- random arguments

struct sample {
  big midpoint;
  bool negative;
  std::uint64_t radius;
  std::int64_t exponent;
};

sample random_sample(generator& random, std::size_t bits) {
  sample s{random.natural_below_bits(bits), random.below(2) != 0, 0,
           static_cast<std::int64_t>(random.below(300)) - 150};
  const std::uint64_t kind = random.below(4);
  if (kind == 1) s.radius = random.below(16);
  if (kind == 2) s.radius = random.word() >> (32 + random.below(32));
  if (kind == 3) s.radius = random.word() >> random.below(64);
  return s;
}

template <std::size_t Capacity>
interval<Capacity> interval_of(const sample& s) {
  interval<Capacity> x;
  x.midpoint = natural_of<Capacity>(s.midpoint);
  x.negative = s.negative && x.midpoint.size != 0;
  x.radius = s.radius;
  x.exponent = s.exponent;
  return x;
}

/// (midpoint + radius * numerator / 16) * 2^exponent, for -16 <= numerator <= 16: exactly.
real member(const sample& s, long numerator) {
  big m(s.midpoint);
  if (s.negative) mpz_neg(m.z, m.z);
  mpz_mul_ui(m.z, m.z, 16);
  big step(s.radius);
  mpz_mul_si(step.z, step.z, numerator);
  mpz_add(m.z, m.z, step.z);
  real r(static_cast<mpfr_prec_t>(std::max<std::size_t>(2, mpz_sizeinbase(m.z, 2))));
  mpfr_set_z_2exp(r.x, m.z, s.exponent - 4, MPFR_RNDN);
  return r;
}

using exact_operation = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

/// The largest part of a radius that results of random members use up. `operation` works on intervals,
/// `exact` on reals.
template <std::size_t Capacity, class Operation>
double worst_use(Operation operation, exact_operation exact, bool divides, std::uint64_t seed, int rounds) {
  generator random(seed);
  double worst = 0;
  for (int round = 0; round < rounds; ++round) {
    const unsigned bits = 1 + static_cast<unsigned>(random.below(320));
    const sample a = random_sample(random, 320);
    const sample b = random_sample(random, 320);
    const interval<Capacity> x = interval_of<Capacity>(a);
    const interval<Capacity> y = interval_of<Capacity>(b);
    if (divides && sign(y) == 0) continue;
    const interval<Capacity> z = operation(x, y, bits);
    CAPTURE(bits, a.midpoint.text(), a.negative, a.radius, a.exponent, b.midpoint.text(), b.negative,
            b.radius, b.exponent);
    REQUIRE(bit_length(z.midpoint) <= bits);
    for (const long i : {-16L, -7L, 0L, 16L}) {
      for (const long j : {-16L, 0L, 3L, 16L}) {
        const real p = member(a, i);
        const real q = member(b, j);
        real low(1500);
        real high(1500);
        exact(low.x, p.x, q.x, MPFR_RNDD);
        exact(high.x, p.x, q.x, MPFR_RNDU);
        const double part = used_part(z, low, high);
        REQUIRE(part <= 1);
        worst = std::max(worst, part);
      }
    }
  }
  return worst;
}

}  // namespace

TEST_CASE("an interval is the same in the compiler, at run time and in growing storage", "[interval]") {
  const auto fixed_storage = compute<6>();
  const auto larger_storage = compute<11>();
  const auto growing_storage = compute<growing>();
  for (std::size_t i = 0; i < 9; ++i) {
    CAPTURE(i);
    CHECK(identical(in_the_compiler.of[i], fixed_storage.of[i]));
    CHECK(identical(in_the_compiler.of[i], larger_storage.of[i]));
    CHECK(identical(in_the_compiler.of[i], growing_storage.of[i]));
  }
}

TEST_CASE("operations contain their results, and radii are used", "[interval]") {
  const auto plus = [](const auto& x, const auto& y, unsigned bits) { return add(x, y, bits); };
  const auto minus = [](const auto& x, const auto& y, unsigned bits) { return subtract(x, y, bits); };
  const auto times = [](const auto& x, const auto& y, unsigned bits) { return multiply(x, y, bits); };
  const auto over = [](const auto& x, const auto& y, unsigned bits) { return divide(x, y, bits); };
  const int rounds = 1500;
  CHECK(worst_use<6>(plus, mpfr_add, false, 1, rounds) > 0.99);
  CHECK(worst_use<6>(minus, mpfr_sub, false, 2, rounds) > 0.99);
  CHECK(worst_use<6>(times, mpfr_mul, false, 3, rounds) > 0.99);
  CHECK(worst_use<6>(over, mpfr_div, true, 4, rounds) > 0.99);
  CHECK(worst_use<growing>(plus, mpfr_add, false, 5, rounds) > 0.99);
  CHECK(worst_use<growing>(minus, mpfr_sub, false, 6, rounds) > 0.99);
  CHECK(worst_use<growing>(times, mpfr_mul, false, 7, rounds) > 0.99);
  CHECK(worst_use<growing>(over, mpfr_div, true, 8, rounds) > 0.99);
}

TEST_CASE("quotients of integers have the promised width and are exact where they can be", "[interval]") {
  generator random(9);
  for (int round = 0; round < 3000; ++round) {
    const unsigned bits = 1 + static_cast<unsigned>(random.below(320));
    const auto n = static_cast<long long>(random.word() >> (1 + random.below(63)));
    const auto d = static_cast<long long>(random.word() >> (1 + random.below(63)));
    if (n == 0 || d == 0) continue;
    CAPTURE(bits, n, d);
    const fixed x = fixed::ratio(-n, d, bits);
    real low(500), high(500);
    mpfr_set_si(low.x, -n, MPFR_RNDN);
    mpfr_set(high.x, low.x, MPFR_RNDN);
    mpfr_div_si(low.x, low.x, d, MPFR_RNDD);
    mpfr_div_si(high.x, high.x, d, MPFR_RNDU);
    CHECK(used_part(x, low, high) <= 1);
    CHECK(relative_width_exponent(x, low) <= -static_cast<long>(bits) + 6);
    CHECK(identical(x, interval<growing>::ratio(unbounded_integer(-n), unbounded_integer(d), bits)));
    CHECK(identical(x, fixed::ratio(integer(-n), integer(d), bits)));
    integer power(1);
    for (std::uint64_t i = random.below(500); i > 0; --i) power = power + power;
    CHECK(is_exact(fixed::ratio(integer(n), power, 64)));
  }
}

TEST_CASE("sums whose midpoints cancel are exact", "[interval]") {
  generator random(10);
  for (int round = 0; round < 2000; ++round) {
    const big n = random.natural_below_bits(320);
    fixed x;
    x.midpoint = natural_of<6>(n);
    x.exponent = static_cast<std::int64_t>(random.below(100)) - 50;
    fixed y = x;
    // y differs in its last bits, or has another unit for the same size.
    if (x.midpoint.size < 5 && random.below(2) != 0) {
      y.midpoint = add(shift_left(y.midpoint, 20), random.below(1 << 20));
      y.exponent -= 20;
    } else {
      y.midpoint = subtract(y.midpoint,
                            std::min(random.below(1 << 20), y.midpoint.size == 0 ? 0 : y.midpoint.limbs[0]));
    }
    const fixed difference = subtract(x, y, 32);
    CAPTURE(n.text(), x.exponent, y.exponent);
    CHECK(is_exact(difference));
    real exact(400);
    REQUIRE(mpfr_sub(exact.x, real(false, x.midpoint, x.exponent).x, real(false, y.midpoint, y.exponent).x,
                     MPFR_RNDN) == 0);
    CHECK(used_part(difference, exact) == 0);
  }
}

TEST_CASE("operands of very different size cost neither memory nor width", "[interval]") {
  const auto one = interval<growing>::exact(1);
  const auto tiny = interval<growing>::exact(-1, -(std::int64_t{1} << 40));
  const auto sum = add(one, tiny, 100);
  CHECK(sign(sum) == 1);
  CHECK(width_exponent(sum) <= -96);
  CHECK(compare(lower(sum).magnitude,
                shift_left(to_natural<growing>(1), static_cast<std::size_t>(-sum.exponent))) < 0);
  CHECK(is_exact(add(interval<growing>::exact(0), tiny, 100)));
}

TEST_CASE("ends, sign and width", "[interval]") {
  generator random(11);
  for (int round = 0; round < 3000; ++round) {
    const sample s = random_sample(random, 100);
    const fixed x = interval_of<6>(s);
    CAPTURE(s.midpoint.text(), s.negative, s.radius, s.exponent);
    const real low = exact_real(lower(x));
    const real high = exact_real(upper(x));
    CHECK(mpfr_equal_p(low.x, member(s, -16).x));
    CHECK(mpfr_equal_p(high.x, member(s, 16).x));
    const int certain = mpfr_sgn(low.x) > 0 ? 1 : mpfr_sgn(high.x) < 0 ? -1 : 0;
    CHECK(sign(x) == certain);
    if (s.radius != 0) {
      real width(200), power(2);
      mpfr_sub(width.x, high.x, low.x, MPFR_RNDN);
      mpfr_set_ui_2exp(power.x, 1, width_exponent(x), MPFR_RNDN);
      CHECK(mpfr_lessequal_p(width.x, power.x));
      mpfr_div_2ui(power.x, power.x, 1, MPFR_RNDN);
      CHECK(mpfr_greater_p(width.x, power.x));
    }
  }
}

TEST_CASE("a hull contains both and is no wider than rounding makes it", "[interval]") {
  generator random(12);
  for (int round = 0; round < 2000; ++round) {
    const fixed x = interval_of<6>(random_sample(random, 300));
    const fixed y = interval_of<6>(random_sample(random, 300));
    const bool ordered = mpfr_lessequal_p(exact_real(lower(x)).x, exact_real(lower(y)).x) &&
                         mpfr_lessequal_p(exact_real(upper(x)).x, exact_real(upper(y)).x);
    if (!ordered) continue;
    const fixed both = hull(x, y, 200);
    CHECK(used_part(both, exact_real(lower(x)), exact_real(upper(y))) <= 1);
    if (!mpfr_equal_p(exact_real(lower(x)).x, exact_real(upper(y)).x))
      CHECK(used_part(both, exact_real(lower(x)), exact_real(upper(y))) > 0.4);
  }
}

TEST_CASE("errors of intervals", "[interval]") {
  const fixed around_zero = subtract(fixed::ratio(1, 3, 100), fixed::ratio(1, 3, 50), 50);
  REQUIRE(sign(around_zero) == 0);
  CHECK_THROWS_AS(divide(fixed::exact(1), around_zero, 100), std::domain_error);
  CHECK_THROWS_AS(divide(fixed::exact(1), fixed::exact(0), 100), std::domain_error);
  CHECK_THROWS_AS(fixed::ratio(1, 0, 100), std::domain_error);
  CHECK_THROWS_AS(add(fixed::exact(1), fixed::exact(1), 0), std::overflow_error);
  CHECK_NOTHROW(add(fixed::exact(1), fixed::exact(1), 320));
  CHECK_THROWS_AS(add(fixed::exact(1), fixed::exact(1), 321), std::overflow_error);
  CHECK_THROWS_AS(fixed::exact(long_integer()), std::overflow_error);
  CHECK_THROWS_AS(scale_by_power_of_two(fixed::exact(1), std::int64_t{1} << 62), std::overflow_error);
}
