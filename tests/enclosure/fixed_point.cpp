#include "catch.hpp"
#include "enclosure/mpfr_real.hpp"

#include <attest/enclosure/fixed_point.hpp>

// Natural numbers:
// - in the compiler and at run time, fixed and growing storage: the same limbs
// - every operation against GMP on random numbers with long runs of ones and zeros
// - division where a quotient limb is guessed too large, and the step that adds back
// - square roots of squares, and of their neighbours
// - what does not fit is an error

using namespace attest;
using attest::testing::big;
using attest::testing::generator;
using attest::testing::natural_of;

namespace {

// ---- the compiler's arithmetic, by identities that hold whatever the numbers are

template <std::size_t Capacity>
constexpr bool equal(const natural<Capacity>& a, const natural<Capacity>& b) {
  return compare(a, b) == 0;
}

/// (2^61 - 1)^count: an odd number without structure in its limbs.
template <std::size_t Capacity>
constexpr natural<Capacity> power(std::uint64_t base, unsigned count) {
  natural<Capacity> r = to_natural<Capacity>(1);
  for (unsigned i = 0; i < count; ++i) r = multiply(r, base);
  return r;
}

constexpr std::uint64_t mersenne = (std::uint64_t{1} << 61) - 1;

template <std::size_t Capacity>
constexpr bool square_of_a_sum() {
  const auto a = power<Capacity>(mersenne, 5);
  const auto b = power<Capacity>(10000000000000061u, 4);
  const auto sum = add(a, b);
  const auto expanded = add(add(multiply(a, a), multiply(b, b)), shift_left(multiply(a, b), 1));
  return equal(multiply(sum, sum), expanded) && equal(subtract(sum, b), a);
}
static_assert(square_of_a_sum<12>());

template <std::size_t Capacity>
constexpr bool division_undoes_multiplication() {
  const auto a = power<Capacity>(mersenne, 6);
  const auto b = power<Capacity>(10000000000000061u, 4);
  const auto left = power<Capacity>(7, 60);
  const auto d = divide(add(multiply(a, b), left), b);
  const auto e = divide(multiply(a, b), b);
  return equal(d.quotient, a) && equal(d.remainder, left) && !d.exact() && equal(e.quotient, a) && e.exact();
}
static_assert(division_undoes_multiplication<12>());

template <std::size_t Capacity>
constexpr bool root_undoes_squaring() {
  const auto a = power<Capacity>(mersenne, 5);
  const auto square = multiply(a, a);
  const auto exact = floor_square_root(square);
  const auto above = floor_square_root(add(square, 1));
  const auto below = floor_square_root(subtract(square, 1));
  return exact.exact && equal(exact.floor, a) && !above.exact && equal(above.floor, a) && !below.exact &&
         equal(below.floor, subtract(a, 1));
}
static_assert(root_undoes_squaring<12>());

template <std::size_t Capacity>
constexpr bool shifts_are_powers_of_two() {
  const auto a = power<Capacity>(mersenne, 4);
  for (unsigned shift : {0u, 1u, 63u, 64u, 65u, 128u, 200u}) {
    const auto left = shift_left(a, shift);
    if (!equal(shift_right(left, shift), a) || bit_length(left) != bit_length(a) + shift) return false;
    if (trailing_zeros(left) != shift || any_bit_below(left, shift) || !any_bit_below(left, shift + 1))
      return false;
    if (!bit(left, shift) || (shift != 0 && bit(left, shift - 1))) return false;
  }
  return is_zero(shift_right(a, 1000)) && any_bit_below(a, 1000) && is_zero(shift_right(a, bit_length(a)));
}
static_assert(shifts_are_powers_of_two<12>());

template <exact_integer Integer>
constexpr bool integers_convert() {
  Integer n(12345678901234567u);
  n *= n;
  const auto a = to_natural<12>(Integer(-n));
  const auto b = multiply(to_natural<12>(12345678901234567u), to_natural<12>(12345678901234567u));
  return equal(a, b) && is_zero(to_natural<12>(Integer(0))) && detail::length_of(n) == bit_length(b);
}
static_assert(integers_convert<integer>());
static_assert(integers_convert<fixed_integer<128>>());

// ---- against GMP

template <std::size_t Capacity>
void check_against_gmp(std::size_t bits, int rounds, std::uint64_t seed) {
  generator random(seed);
  for (int round = 0; round < rounds; ++round) {
    const big x = random.natural_below_bits(bits);
    const big y = random.natural_below_bits(bits);
    const std::uint64_t word = random.word() >> random.below(64);
    const std::size_t shift = random.below(bits);
    const auto a = natural_of<Capacity>(x);
    const auto b = natural_of<Capacity>(y);
    CAPTURE(x.text(), y.text(), word, shift);
    big expected, remainder;

    REQUIRE(compare(a, b) == (mpz_cmp(x.z, y.z) > 0) - (mpz_cmp(x.z, y.z) < 0));
    REQUIRE(bit_length(a) == (mpz_sgn(x.z) == 0 ? 0 : mpz_sizeinbase(x.z, 2)));
    mpz_add(expected.z, x.z, y.z);
    REQUIRE(big(add(a, b)) == expected);
    mpz_sub(expected.z, x.z, y.z);
    mpz_abs(expected.z, expected.z);
    REQUIRE(big(compare(a, b) >= 0 ? subtract(a, b) : subtract(b, a)) == expected);
    mpz_mul(expected.z, x.z, y.z);
    REQUIRE(big(multiply_wide(a, b)) == expected);
    mpz_mul_ui(expected.z, x.z, word);
    REQUIRE(big(multiply(a, word)) == expected);
    mpz_mul_2exp(expected.z, x.z, shift);
    REQUIRE(big(shifted<extended<Capacity, 20>>(a, static_cast<std::int64_t>(shift))) == expected);
    mpz_fdiv_q_2exp(expected.z, x.z, shift);
    REQUIRE(big(shift_right(a, shift)) == expected);
    mpz_fdiv_r_2exp(expected.z, x.z, shift);
    REQUIRE(any_bit_below(a, shift) == (mpz_sgn(expected.z) != 0));
    REQUIRE(bit(a, shift) == (mpz_tstbit(x.z, shift) != 0));
    if (word != 0) {
      const std::uint64_t left = mpz_fdiv_q_ui(expected.z, x.z, word);
      const auto d = divide(a, word);
      REQUIRE(big(d.quotient) == expected);
      REQUIRE(d.remainder == left);
    }
    if (mpz_sgn(y.z) != 0) {
      mpz_fdiv_qr(expected.z, remainder.z, x.z, y.z);
      const auto d = divide(a, b);
      REQUIRE(big(d.quotient) == expected);
      REQUIRE(big(d.remainder) == remainder);
      const auto wide = divide(multiply_wide(a, a), b);
      mpz_mul(expected.z, x.z, x.z);
      mpz_fdiv_qr(expected.z, remainder.z, expected.z, y.z);
      REQUIRE(big(wide.quotient) == expected);
      REQUIRE(big(wide.remainder) == remainder);
    }
    mpz_sqrtrem(expected.z, remainder.z, x.z);
    const auto r = floor_square_root(a);
    REQUIRE(big(r.floor) == expected);
    REQUIRE(r.exact == (mpz_sgn(remainder.z) == 0));
  }
}

}  // namespace

TEST_CASE("the identities proved in the compiler hold at run time", "[fixed_point]") {
  CHECK(square_of_a_sum<12>());
  CHECK(square_of_a_sum<growing>());
  CHECK(division_undoes_multiplication<12>());
  CHECK(division_undoes_multiplication<growing>());
  CHECK(root_undoes_squaring<12>());
  CHECK(root_undoes_squaring<growing>());
  CHECK(shifts_are_powers_of_two<12>());
  CHECK(shifts_are_powers_of_two<growing>());
  CHECK(integers_convert<integer>());
  CHECK(integers_convert<fixed_integer<128>>());
  CHECK(integers_convert<unbounded_integer>());
}

TEST_CASE("natural numbers agree with GMP", "[fixed_point]") {
  check_against_gmp<14>(64 * 12, 6000, 1);
  check_against_gmp<growing>(64 * 12, 3000, 2);
  check_against_gmp<growing>(64 * 80, 600, 3);
}

TEST_CASE("division corrects a guessed quotient limb", "[fixed_point]") {
  // All operands of four limbs over the limbs 0, 1, 2^63, 2^64 - 1 and one more: the guess is at its worst
  // here, and the rare step that adds the divisor back is taken.
  const std::uint64_t words[] = {0, 1, std::uint64_t{1} << 63, ~std::uint64_t{0},
                                 (std::uint64_t{1} << 63) - 1};
  unsigned checked = 0;
  for (unsigned code = 0; code < 5 * 5 * 5 * 5 * 5 * 5 * 5; ++code) {
    natural<5> a;
    natural<5> b;
    unsigned left = code;
    for (std::size_t i = 0; i < 4; ++i, left /= 5) a.limbs[i] = words[left % 5];
    for (std::size_t i = 0; i < 3; ++i, left /= 5) b.limbs[i] = words[left % 5];
    detail::trim(a, 4);
    detail::trim(b, 3);
    if (is_zero(b)) continue;
    const auto d = divide(a, b);
    const bool below = compare(d.remainder, b) < 0;
    const bool same =
        compare(resized<10>(a), add(multiply_wide(d.quotient, b), resized<10>(d.remainder))) == 0;
    if (!below || !same) {
      CAPTURE(code);
      REQUIRE(below);
      REQUIRE(same);
    }
    ++checked;
  }
  CHECK(checked == 5 * 5 * 5 * 5 * (5 * 5 * 5 - 1));
}

TEST_CASE("roots of squares and of their neighbours", "[fixed_point]") {
  generator random(4);
  for (int round = 0; round < 500; ++round) {
    const big x = random.natural_below_bits(64 * 6);
    if (mpz_cmp_ui(x.z, 1) <= 0) continue;
    const auto a = natural_of<14>(x);
    const auto square = multiply(a, a);
    CAPTURE(x.text());
    CHECK(floor_square_root(square).exact);
    CHECK(equal(floor_square_root(square).floor, a));
    CHECK(equal(floor_square_root(add(square, 1)).floor, a));
    CHECK(equal(floor_square_root(subtract(square, 1)).floor, subtract(a, 1)));
    CHECK_FALSE(floor_square_root(subtract(square, 1)).exact);
  }
}

TEST_CASE("what does not fit is an error", "[fixed_point]") {
  const auto a = power<4>(mersenne, 4);
  CHECK_THROWS_AS(multiply(a, a), std::overflow_error);
  CHECK_THROWS_AS(shift_left(a, 20), std::overflow_error);
  CHECK_THROWS_AS(subtract(to_natural<4>(1), to_natural<4>(2)), std::overflow_error);
  CHECK_THROWS_AS(divide(a, 0), std::domain_error);
  CHECK_THROWS_AS(divide(a, natural<4>{}), std::domain_error);
  natural<2> full;
  full.limbs[0] = full.limbs[1] = ~std::uint64_t{0};
  full.size = 2;
  CHECK_THROWS_AS(add(full, 1), std::overflow_error);
  CHECK_NOTHROW(add(full, 0));
}
