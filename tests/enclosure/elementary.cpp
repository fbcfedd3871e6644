#include "catch.hpp"
#include "enclosure/mpfr_real.hpp"

#include <attest/enclosure/elementary.hpp>

#include <algorithm>
#include <climits>

// Square roots, ln 2, exp, log and tanh:
// - known constants to 100 digits, in the compiler
// - in the compiler and at run time, fixed and growing storage: the same interval
// - MPFR's value lies inside, for random and extreme arguments at every precision from 1 bit to 10,000
// - the width is at most 2^-(bits - 8) of the value, and the bound is not idle
// - two precisions agree: the wider interval meets the narrower one
// - exp(a) exp(b) = exp(a + b), log(exp(x)) = x, exp(log(x)) = x, log(x y) = log x + log y, sqrt(d)^2 = d
// - arguments with a width; exp beyond its range; log near 1 and of powers of two; errors

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

// ---- constants of the literature

using fixed = interval<8>;

/// The decimal `digits` with one digit before the point, and the next below it: [digits, digits + 1 unit].
constexpr fixed decimal(const char* digits) {
  natural<8> n;
  natural<8> unit = to_natural<8>(1);
  for (const char* c = digits; *c != '\0'; ++c) {
    if (*c == '.') continue;
    n = add(multiply(n, 10), static_cast<std::uint64_t>(*c - '0'));
    if (c != digits) unit = multiply(unit, 10);
  }
  fixed numerator;
  numerator.midpoint = add(shift_left(n, 1), 1);
  numerator.radius = 1;
  fixed denominator;
  denominator.midpoint = shift_left(unit, 1);
  return divide(numerator, denominator, 400);
}

/// Whether x, which is to be known to `bits` bits, has these digits.
constexpr bool agrees(const fixed& x, const char* digits, int bits) {
  const fixed difference = subtract(x, decimal(digits), 400);
  return sign(difference) == 0 && width_exponent(difference) <= -bits;
}

constexpr fixed e = exp(fixed::exact(1), 360);
constexpr fixed ln_2 = ln2<8>(360);
constexpr fixed ln_3 = log(fixed::exact(3), 360);
constexpr fixed root_2 = sqrt<8>(2, 360);
static_assert(agrees(
    e,
    "2.7182818284590452353602874713526624977572470936999595749669676277240766303535475945713821785251664274",
    300));
static_assert(agrees(
    ln_2,
    "0.6931471805599453094172321214581765680755001343602552541206800094933936219696947156058633269964186875",
    300));
static_assert(agrees(
    ln_3,
    "1.0986122886681096913952452369225257046474905578227494517346943336374942932186089668736157548137320887",
    300));
static_assert(agrees(
    root_2,
    "1.4142135623730950488016887242096980785696718753769480731766797379907324784621070388503875343276415727",
    300));
// tanh(1/2) = (e - 1)/(e + 1)
static_assert(agrees(
    tanh(fixed::exact(1, -1), 360),
    "0.4621171572600097585023184836436725487302892803301130385527318158380809061404092787749490641519624905",
    300));
static_assert(!agrees(
    e,
    "2.7182818284590452353602874713526624977572470936999595749669676277240766303535475945713821785251664275",
    300));

// ---- exact cases

static_assert(identical(exp(fixed::exact(0), 100), fixed::exact(1)));
static_assert(identical(log(fixed::exact(1), 100), fixed::exact(0)));
static_assert(identical(tanh(fixed::exact(0), 100), fixed::exact(0)));
static_assert(identical(log(fixed::exact(4, -2), 100), fixed::exact(0)));
static_assert(is_exact(sqrt<8>(144, 100)) && sign(subtract(sqrt<8>(144, 100), fixed::exact(12), 100)) == 0);
static_assert(is_exact(reciprocal_sqrt<8>(64, 100)) &&
              is_exact(subtract(reciprocal_sqrt<8>(64, 100), fixed::exact(1, -3), 100)));
static_assert(identical(sqrt<8>(0, 100), fixed::exact(0)));
static_assert(!is_exact(reciprocal_sqrt<8>(9, 100)));

// ---- the same interval in the compiler, at run time and in growing storage

template <std::size_t Capacity>
struct results {
  interval<Capacity> of[17];
};

template <std::size_t Capacity>
constexpr results<Capacity> compute() {
  using number = interval<Capacity>;
  const number a = number::ratio(22, 7, 200);
  return {{exp(a, 200), exp(negate(a), 200), exp(number::ratio(1, 1000, 64), 90), exp(number::exact(700), 53),
           exp(number::exact(-100000), 130), log(a, 200), log(number::exact(1025, -10), 200),
           log(number::exact((1ll << 60) + 1, -60), 150), log(number::exact(3, -5000), 64),
           sqrt<Capacity>(7, 200), reciprocal_sqrt<Capacity>(64 * 3, 200), ln2<Capacity>(200),
           exp(hull(negate(a), a, 100), 100), log(hull(number::exact(1), a, 100), 100), tanh(negate(a), 200),
           tanh(number::ratio(1, 1000000, 90), 120), tanh(number::exact(3, -200), 150)}};
}

constexpr results<6> in_the_compiler = compute<6>();

// ---- MPFR's values, as an interval [low, high]

struct pair {
  explicit pair(mpfr_prec_t precision) : low(precision), high(precision) {}
  real low, high;
};

using unary = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);

pair apply(unary function, const real& x, mpfr_prec_t precision) {
  pair r(precision);
  function(r.low.x, x.x, MPFR_RNDD);
  function(r.high.x, x.x, MPFR_RNDU);
  return r;
}

template <std::size_t Capacity>
real exact_midpoint(const interval<Capacity>& x) {
  return real(x.negative, x.midpoint, x.exponent);
}

/// An exact number of random length whose leading bit has weight 2^top.
template <std::size_t Capacity>
interval<Capacity> random_number(generator& random, std::size_t bits, std::int64_t top, bool negative) {
  interval<Capacity> x;
  x.midpoint = natural_of<Capacity>(random.natural_below_bits(bits));
  if (is_zero(x.midpoint)) x.midpoint = to_natural<Capacity>(1);
  x.exponent = top + 1 - static_cast<std::int64_t>(bit_length(x.midpoint));
  x.negative = negative;
  return x;
}

struct tally {
  double worst = 0;        // part of the radius that the true value uses
  long widest = LONG_MIN;  // bits + log2 of the relative width
};

template <std::size_t Capacity>
void account(tally& t, const interval<Capacity>& y, const pair& truth, unsigned bits) {
  REQUIRE(bit_length(y.midpoint) <= bits);
  const double part = used_part(y, truth.low, truth.high);
  REQUIRE(part <= 1);
  t.worst = std::max(t.worst, part);
  const long excess = relative_width_exponent(y, truth.low) + static_cast<long>(bits);
  t.widest = std::max(t.widest, excess);
  REQUIRE(excess <= 8);
}

template <std::size_t Capacity>
tally check_exp(std::uint64_t seed, int rounds, unsigned least_bits, unsigned most_bits,
                std::int64_t highest_top) {
  generator random(seed);
  tally t;
  REQUIRE(testing::widest_exponents);
  for (int round = 0; round < rounds; ++round) {
    const unsigned bits = least_bits + static_cast<unsigned>(random.below(most_bits - least_bits + 1));
    const auto top = highest_top - static_cast<std::int64_t>(
                                       random.below(static_cast<std::uint64_t>(highest_top) + 1 + 2 * bits));
    const auto x =
        random_number<Capacity>(random, random.below(4) == 0 ? 300 : 64, top, random.below(2) != 0);
    CAPTURE(bits, big(x.midpoint).text(), x.negative, x.exponent);
    account(t, exp(x, bits), apply(mpfr_exp, exact_midpoint(x), bits + 64), bits);
  }
  return t;
}

template <std::size_t Capacity>
tally check_tanh(std::uint64_t seed, int rounds, unsigned least_bits, unsigned most_bits) {
  generator random(seed);
  tally t;
  for (int round = 0; round < rounds; ++round) {
    const unsigned bits = least_bits + static_cast<unsigned>(random.below(most_bits - least_bits + 1));
    // From 2^11, where tanh is 1 - 2^-5900, to where it is its argument but for what is below the precision.
    const auto top = 11 - static_cast<std::int64_t>(random.below(15 + 2 * bits));
    const auto x =
        random_number<Capacity>(random, random.below(4) == 0 ? 300 : 64, top, random.below(2) != 0);
    CAPTURE(bits, big(x.midpoint).text(), x.negative, x.exponent);
    account(t, tanh(x, bits), apply(mpfr_tanh, exact_midpoint(x), bits + 64), bits);
  }
  return t;
}

template <std::size_t Capacity>
tally check_log(std::uint64_t seed, int rounds, unsigned least_bits, unsigned most_bits) {
  generator random(seed);
  tally t;
  for (int round = 0; round < rounds; ++round) {
    const unsigned bits = least_bits + static_cast<unsigned>(random.below(most_bits - least_bits + 1));
    interval<Capacity> x;
    switch (random.below(4)) {
      case 0:
        x = random_number<Capacity>(random, 300, static_cast<std::int64_t>(random.below(4)) - 2, false);
        break;
      case 1:
        x = random_number<Capacity>(random, 64, static_cast<std::int64_t>(random.word() >> 4) - (1ll << 59),
                                    false);
        break;
      default: {
        // 1 +- a number below 2^-distance: the closer to 1, the more digits cancel
        const std::size_t distance = 1 + random.below(290);
        big n(1);
        mpz_mul_2exp(n.z, n.z, 300);
        const big offset = random.natural_below_bits(300 - distance);
        if (random.below(2) != 0)
          mpz_add(n.z, n.z, offset.z);
        else
          mpz_sub(n.z, n.z, offset.z);
        x.midpoint = natural_of<Capacity>(n);
        x.exponent = -300;
      }
    }
    CAPTURE(bits, big(x.midpoint).text(), x.exponent);
    const pair truth = apply(mpfr_log, exact_midpoint(x), bits + 64);
    const auto y = log(x, bits);
    if (mpfr_zero_p(truth.low.x)) {
      REQUIRE(identical(y, interval<Capacity>{}));
      continue;
    }
    account(t, y, truth, bits);
  }
  return t;
}

/// |x|'s members overlap |y|'s: what two enclosures of one number must do.
template <std::size_t A, std::size_t B>
bool overlap(const interval<A>& x, const interval<B>& y) {
  return mpfr_lessequal_p(exact_real(lower(x)).x, exact_real(upper(y)).x) &&
         mpfr_lessequal_p(exact_real(lower(y)).x, exact_real(upper(x)).x);
}

}  // namespace

TEST_CASE("a function is the same in the compiler, at run time and in growing storage", "[elementary]") {
  const auto fixed_storage = compute<6>();
  const auto larger_storage = compute<11>();
  const auto growing_storage = compute<growing>();
  for (std::size_t i = 0; i < 17; ++i) {
    CAPTURE(i);
    CHECK(identical(in_the_compiler.of[i], fixed_storage.of[i]));
    CHECK(identical(in_the_compiler.of[i], larger_storage.of[i]));
    CHECK(identical(in_the_compiler.of[i], growing_storage.of[i]));
  }
}

TEST_CASE("exp contains MPFR's value and keeps its width", "[elementary]") {
  const tally small = check_exp<8>(1, 6000, 1, 64, 12);
  const tally middle = check_exp<8>(2, 4000, 65, 448, 12);
  const tally huge = check_exp<8>(3, 2000, 1, 448, 38);
  const tally grown = check_exp<growing>(4, 600, 300, 2000, 38);
  const tally long_ones = check_exp<growing>(5, 12, 8000, 10000, 20);
  CHECK(small.worst > 0.9);
  CHECK(middle.worst > 0.9);
  CHECK(huge.worst > 0.9);
  CHECK(grown.worst > 0.9);
  CHECK(long_ones.worst > 0.2);
  CHECK(std::max({small.widest, middle.widest, huge.widest, grown.widest, long_ones.widest}) <= 4);
}

TEST_CASE("the limb kernel of exp stays within its own bound", "[elementary]") {
  // exp_of_reduced before its result is cut to `bits` bits: the true error against exp_error_units. One limb
  // more than the plan asks for would hide a bound that is broken, so the units themselves are compared.
  generator random(6);
  double worst = 0;
  for (const unsigned bits : {20u, 60u, 100u, 200u, 400u, 900u, 2000u}) {
    const detail::exp_plan plan = detail::plan_exp(bits);
    const auto n = static_cast<std::int64_t>(plan.size);
    for (int round = 0; round < 300; ++round) {
      big t = random.natural_below_bits(64 * plan.size);
      if (round < 100) {
        t = big(1);
        mpz_mul_2exp(t.z, t.z, 64 * plan.size);
        mpz_sub_ui(t.z, t.z, 1 + random.below(1000));
      }
      const auto argument = natural_of<growing>(t);
      const auto value = detail::exp_of_reduced(argument, plan);
      const real truth = apply(mpfr_exp, real(false, argument, -64 * n), 64 * n + 100).low;
      real error(200);
      mpfr_sub(error.x, truth.x, real(false, value, -64 * n).x, MPFR_RNDN);
      mpfr_div(error.x, error.x, truth.x, MPFR_RNDN);
      mpfr_mul_2si(error.x, error.x, 64 * n, MPFR_RNDN);
      mpfr_abs(error.x, error.x, MPFR_RNDN);
      const double part = mpfr_get_d(error.x, MPFR_RNDU) /
                          static_cast<double>(detail::exp_error_units(plan.size, plan.halvings));
      CAPTURE(bits, t.text(), part);
      REQUIRE(part <= 1);
      worst = std::max(worst, part);
    }
  }
  CHECK(worst > 0.01);
}

TEST_CASE("ln 2 and its limbs", "[elementary]") {
  for (std::size_t size = 1; size <= 170; size += size < 20 ? 1 : 7) {
    const auto limbs = detail::ln2_limbs<growing>(size);
    real truth(static_cast<mpfr_prec_t>(64 * size + 100));
    mpfr_const_log2(truth.x, MPFR_RNDN);
    real error(100);
    mpfr_sub(error.x, truth.x, real(false, limbs, -64 * static_cast<std::int64_t>(size)).x, MPFR_RNDN);
    mpfr_mul_2ui(error.x, error.x, 64 * size, MPFR_RNDN);
    CAPTURE(size);
    CHECK(mpfr_cmp_d(error.x, -0.01) > 0);
    CHECK(mpfr_cmp_d(error.x, 1.01) < 0);
  }
  // A longer call first: what is kept must serve a shorter one.
  for (const unsigned bits : {5000u, 1u, 64u, 200u, 3000u, 9000u}) {
    tally t;
    pair truth(bits + 64);
    mpfr_const_log2(truth.low.x, MPFR_RNDD);
    mpfr_const_log2(truth.high.x, MPFR_RNDU);
    account(t, ln2<growing>(bits), truth, bits);
    if (bits <= 448) account(t, ln2<8>(bits), truth, bits);
  }
}

TEST_CASE("log contains MPFR's value and keeps its width", "[elementary]") {
  const tally small = check_log<8>(11, 4000, 1, 64);
  const tally middle = check_log<8>(12, 3000, 65, 448);
  const tally grown = check_log<growing>(13, 400, 300, 2000);
  const tally long_ones = check_log<growing>(14, 8, 8000, 10000);
  CHECK(small.worst > 0.9);
  CHECK(middle.worst > 0.9);
  CHECK(grown.worst > 0.9);
  CHECK(long_ones.worst > 0.2);
  CHECK(std::max({small.widest, middle.widest, grown.widest, long_ones.widest}) <= 4);
}

TEST_CASE("tanh contains MPFR's value and keeps its width", "[elementary]") {
  const tally small = check_tanh<8>(21, 3000, 1, 64);
  const tally middle = check_tanh<8>(22, 2000, 65, 448);
  const tally grown = check_tanh<growing>(23, 300, 300, 2000);
  CHECK(small.worst > 0.8);
  CHECK(middle.worst > 0.8);
  CHECK(grown.worst > 0.5);
  CHECK(std::max({small.widest, middle.widest, grown.widest}) <= 6);
}

TEST_CASE("tanh of an argument with a width, of 2^60 and of what has no sign", "[elementary]") {
  using number = interval<growing>;
  const number third = number::ratio(1, 3, 30);
  const number y = tanh(third, 100);
  CHECK(overlap(y, tanh(number::ratio(1, 3, 200), 100)));
  CHECK(width_exponent(y) <= width_exponent(third) + 1);
  // 1 - 2^-2^60 or so: below 1 by less than the precision.
  const number large = tanh(number::exact(-1, 60), 100);
  CHECK(sign(large) == -1);
  CHECK(sign(add(large, number::exact(1), 100)) == 0);
  number around;
  around.radius = 3;
  around.exponent = -10;
  CHECK(sign(tanh(around, 50)) == 0);
  CHECK(overlap(tanh(around, 50), tanh(number::exact(3, -10), 50)));
  CHECK(overlap(tanh(around, 50), tanh(number::exact(-3, -10), 50)));
}

TEST_CASE("tanh of a large argument is known better than the argument", "[elementary]") {
  // From 8 on the derivative is below 4 e^-2|x|, so that a relative width of 2^-w leaves less than 2^-(w + 16).
  using number = interval<growing>;
  for (const int top : {3, 4, 6, 20, 60, 300}) {
    CAPTURE(top);
    // 1.5 · 2^top, known to 2^-200 of it and an ulp of it.
    number x = number::exact(3, top - 1);
    x = round_to<growing>(add(x, number::exact(1, top - 400), 500), 200);
    REQUIRE(x.radius != 0);
    REQUIRE(width_exponent(x) >= top - 202);
    const number y = tanh(x, 300);
    CHECK(sign(y) == 1);
    CHECK(width_exponent(y) <= -214);
    CHECK(overlap(y, tanh(number::exact(3, top - 1), 300)));
    CHECK(overlap(tanh(negate(x), 300), tanh(number::exact(-3, top - 1), 300)));
  }
}

TEST_CASE("the series of log contains MPFR's inverse hyperbolic tangent and keeps its width",
          "[elementary]") {
  generator random(15);
  tally t;
  for (int round = 0; round < 6000; ++round) {
    const unsigned bits = 10 + static_cast<unsigned>(random.below(430));
    const auto w = random_number<8>(
        random, 60, -2 - static_cast<std::int64_t>(random.below(random.below(80) + 1)), random.below(2) != 0);
    CAPTURE(bits, big(w.midpoint).text(), w.exponent);
    pair truth = apply(mpfr_atanh, exact_midpoint(w), bits + 64);
    mpfr_mul_2ui(truth.low.x, truth.low.x, 1, MPFR_RNDN);
    mpfr_mul_2ui(truth.high.x, truth.high.x, 1, MPFR_RNDN);
    account(t, detail::twice_atanh(w, bits), truth, bits);
  }
  CHECK(t.worst > 0.6);
  CHECK(t.widest <= 6);
}

TEST_CASE("square roots contain MPFR's value and keep their width", "[elementary]") {
  generator random(21);
  tally roots, reciprocals;
  for (int round = 0; round < 4000; ++round) {
    const unsigned bits = 1 + static_cast<unsigned>(random.below(448));
    unsigned long long d = random.word() >> random.below(64);
    if (round < 300) d = static_cast<unsigned long long>(round);
    if (round % 5 == 1) d = (d >> 32) * (d >> 32) + random.below(3) - 1;
    if (round == 301) d = ULLONG_MAX;
    if (d == 0) continue;
    CAPTURE(bits, d);
    pair root(bits + 64), reciprocal(bits + 64);
    real x(64);
    mpfr_set_ui(x.x, d, MPFR_RNDN);
    mpfr_sqrt(root.low.x, x.x, MPFR_RNDD);
    mpfr_sqrt(root.high.x, x.x, MPFR_RNDU);
    mpfr_rec_sqrt(reciprocal.low.x, x.x, MPFR_RNDD);
    mpfr_rec_sqrt(reciprocal.high.x, x.x, MPFR_RNDU);
    account(roots, sqrt<8>(d, bits), root, bits);
    account(reciprocals, reciprocal_sqrt<8>(d, bits), reciprocal, bits);
    CHECK(identical(sqrt<8>(d, bits), sqrt<growing>(d, bits)));
    CHECK(identical(reciprocal_sqrt<8>(d, bits), reciprocal_sqrt<growing>(d, bits)));
    const bool square = mpfr_cmp(root.low.x, root.high.x) == 0;
    CHECK((is_exact(sqrt<8>(d, 448)) == square));
  }
  CHECK(roots.worst > 0.9);
  CHECK(reciprocals.worst > 0.7);
}

TEST_CASE("two precisions agree", "[elementary]") {
  generator random(31);
  for (int round = 0; round < 300; ++round) {
    const auto x =
        random_number<growing>(random, 64, static_cast<std::int64_t>(random.below(40)) - 20, false);
    const unsigned bits = 1 + static_cast<unsigned>(random.below(500));
    CAPTURE(bits, big(x.midpoint).text(), x.exponent);
    for (const unsigned more : {1u, 17u, 64u, 500u}) {
      CHECK(overlap(exp(x, bits), exp(x, bits + more)));
      CHECK(overlap(exp(negate(x), bits), exp(negate(x), bits + more)));
      CHECK(overlap(log(x, bits), log(x, bits + more)));
    }
  }
}

TEST_CASE("functional identities", "[elementary]") {
  generator random(32);
  for (int round = 0; round < 300; ++round) {
    const unsigned bits = 30 + static_cast<unsigned>(random.below(400));
    const auto top = [&] { return static_cast<std::int64_t>(random.below(24)) - 14; };
    const auto a = random_number<8>(random, 60, top(), random.below(2) != 0);
    const auto b = random_number<8>(random, 60, top(), random.below(2) != 0);
    CAPTURE(bits, big(a.midpoint).text(), a.negative, a.exponent, big(b.midpoint).text(), b.negative,
            b.exponent);
    const auto product = multiply(exp(a, bits), exp(b, bits), bits);
    const auto power = exp(add(a, b, 448), bits);
    CHECK(overlap(product, power));
    CHECK(relative_width_exponent(product, exact_midpoint(power)) <= -static_cast<long>(bits) + 8);
    // log(exp x) is exactly as wide as exp x is relatively: an absolute 2^-(bits - 8)
    const auto x = log(exp(a, bits), bits);
    CHECK(overlap(x, a));
    CHECK(width_exponent(x) <= std::max<std::int64_t>(0, a.exponent + 64) - std::int64_t{bits} + 8);
    const auto c = random_number<8>(random, 60, top(), false);
    const auto d = random_number<8>(random, 60, top(), false);
    CHECK(overlap(exp(log(c, bits), bits), c));
    CHECK(overlap(log(multiply(c, d, 448), bits), add(log(c, bits), log(d, bits), bits)));
    const unsigned long long n = 1 + random.below(1000000);
    const auto root = sqrt<8>(n, bits);
    CHECK(overlap(multiply(root, root, bits), fixed::exact(n)));
    CHECK(overlap(multiply(root, reciprocal_sqrt<8>(n, bits), bits), fixed::exact(1)));
  }
}

TEST_CASE("an argument's width reaches the result, and not much more", "[elementary]") {
  generator random(33);
  double least = 2;
  for (int round = 0; round < 2000; ++round) {
    auto x = random_number<8>(random, 60, static_cast<std::int64_t>(random.below(16)) - 10, false);
    x.radius = random.word() >> random.below(64);
    const unsigned bits = 64 + static_cast<unsigned>(random.below(300));
    CAPTURE(bits, big(x.midpoint).text(), x.radius, x.exponent);
    const real low = exact_real(lower(x));
    const real high = exact_real(upper(x));
    if (mpfr_cmp_ui(high.x, 1u << 20) < 0) {
      const double part = used_part(exp(x, bits), apply(mpfr_exp, low, bits + 200).low,
                                    apply(mpfr_exp, high, bits + 200).high);
      CHECK(part <= 1);
      if (x.radius > 1000 && mpfr_cmp_d(high.x, 100) < 0) least = std::min(least, part);
    }
    if (mpfr_sgn(low.x) > 0) {
      const double part = used_part(log(x, bits), apply(mpfr_log, low, bits + 200).low,
                                    apply(mpfr_log, high, bits + 200).high);
      CHECK(part <= 1);
      if (x.radius > 1000) least = std::min(least, part);
    }
  }
  CHECK(least > 0.5);
}

TEST_CASE("exp beyond its range", "[elementary]") {
  const std::int64_t limit = std::int64_t{1} << 40;
  const auto below_two = [&](const interval<8>& y) {
    return sign(y) == 0 && is_zero(lower(y).magnitude) && bit_length(upper(y).magnitude) == 2 &&
           upper(y).exponent == -limit - 1;
  };
  const auto boundary = multiply(ln2<8>(400), interval<8>::exact(limit), 400);  // 2^40 ln 2
  interval<8> just_below = boundary;
  just_below.radius = 0;
  just_below = add(just_below, interval<8>::exact(1, -10), 400);
  interval<8> just_above = boundary;
  just_above.radius = 0;
  just_above = subtract(just_above, interval<8>::exact(1, -10), 400);

  CHECK(below_two(exp(negate(just_below), 100)));
  CHECK(below_two(exp(interval<8>::exact(-1, 41), 100)));
  CHECK(below_two(exp(interval<8>::exact(-1, 100000), 100)));
  CHECK(below_two(exp(hull(interval<8>::exact(-1, 43), interval<8>::exact(-1, 42), 100), 100)));
  tally t;
  account(t, exp(negate(just_above), 200), apply(mpfr_exp, exact_midpoint(negate(just_above)), 300), 200);
  account(t, exp(just_above, 200), apply(mpfr_exp, exact_midpoint(just_above), 300), 200);
  CHECK_THROWS_AS(exp(add(just_below, interval<8>::exact(1), 400), 100), std::overflow_error);
  CHECK_THROWS_AS(exp(interval<8>::exact(1, 42), 100), std::overflow_error);
  CHECK_THROWS_AS(exp(interval<8>::exact(1, 100000), 100), std::overflow_error);

  // A wide argument whose lower end leaves the range: [0, something].
  interval<8> up_to_three = interval<8>::exact(3 - (std::int64_t{1} << 49));
  up_to_three.radius = std::uint64_t{1} << 49;
  const auto wide = exp(up_to_three, 100);
  CHECK(is_zero(lower(wide).magnitude));
  CHECK(mpfr_cmp_d(exact_real(upper(wide)).x, 20.09) > 0);
  CHECK(mpfr_cmp_d(exact_real(upper(wide)).x, 41) < 0);

  // Arguments far below the precision: 1 and a little.
  const auto near_one = exp(interval<8>::exact(-1, -100000), 100);
  CHECK(sign(near_one) == 1);
  CHECK(width_exponent(near_one) <= -92);
  CHECK(mpfr_cmp_ui(exact_real(lower(near_one)).x, 1) < 0);
  CHECK(mpfr_cmp_ui(exact_real(upper(near_one)).x, 1) >= 0);
}

TEST_CASE("errors of functions", "[elementary]") {
  CHECK_THROWS_AS(log(fixed::exact(0), 100), std::domain_error);
  CHECK_THROWS_AS(log(fixed::exact(-1), 100), std::domain_error);
  CHECK_THROWS_AS(log(hull(fixed::exact(0), fixed::exact(1), 100), 100), std::domain_error);
  CHECK_THROWS_AS(reciprocal_sqrt<8>(0, 100), std::domain_error);
  CHECK_THROWS_AS(exp(fixed::exact(1), 0), std::overflow_error);
  CHECK_THROWS_AS(exp(fixed::exact(1), 449), std::overflow_error);
  CHECK_NOTHROW(exp(fixed::exact(1), 448));
  CHECK_NOTHROW(log(fixed::exact(3), 448));
}
