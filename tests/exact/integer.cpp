#include <attest/exact/integer.hpp>

#include "catch.hpp"
#include "support/both.hpp"
#include "support/mpfr.hpp"
#include "support/random.hpp"

// Integers: overflow is an error at either end, never a wrap; shifts, bit lengths and limbs against GMP.

using attest::fixed_integer;
using attest::unbounded_integer;

namespace {

template <class Integer>
constexpr bool shifts_act_on_the_magnitude() {
  const Integer minus_five(-5);
  const Integer left = attest::shift_left(minus_five, 3);
  const Integer right = attest::shift_right(minus_five, 1);  // floor(5 / 2), with the sign of -5
  return left == Integer(-40) && right == Integer(-2) && attest::shift_left(Integer(0), 100).is_zero() &&
         attest::shift_right(Integer(-1), 1).is_zero();
}

template <class Integer>
constexpr bool bit_lengths_are_those_of_the_magnitude() {
  return attest::bit_length(Integer(0)) == 0 && attest::bit_length(Integer(1)) == 1 &&
         attest::bit_length(Integer(-1)) == 1 && attest::bit_length(Integer(255)) == 8 &&
         attest::bit_length(Integer(-256)) == 9 &&
         attest::bit_length(attest::shift_left(Integer(1), 200)) == 201;
}

template <class Integer>
constexpr bool limbs_are_those_of_the_magnitude() {
  const Integer high = attest::shift_left(Integer(7), 64);
  const Integer n = high + Integer(9);
  return attest::limb(n, 0) == 9 && attest::limb(n, 1) == 7 && attest::limb(n, 2) == 0 &&
         attest::limb(Integer(-n), 1) == 7 && attest::limb(Integer(-n), 0) == 9 &&
         attest::limb(Integer(~std::uint64_t{0}), 0) == ~std::uint64_t{0};
}

/// 2^bits - 1, the largest value of a fixed integer.
template <std::size_t Bits>
fixed_integer<Bits> largest() {
  const fixed_integer<Bits> half = attest::shift_left(fixed_integer<Bits>(1), Bits - 1);
  return half - 1 + half;
}

}  // namespace

TEST_CASE("shifts, bit lengths and limbs act on the magnitude and keep the sign") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(shifts_act_on_the_magnitude);
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(bit_lengths_are_those_of_the_magnitude);
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(limbs_are_those_of_the_magnitude);
}

TEMPLATE_TEST_CASE_SIG("a fixed integer that overflows throws and never wraps", "",
                       ((std::size_t Bits), Bits), 64, 128, 512) {
  using Integer = fixed_integer<Bits>;
  const Integer top = largest<Bits>();
  const Integer one(1);
  const Integer two(2);
  CHECK(attest::bit_length(top) == Bits);
  CHECK_THROWS_AS(top + one, std::overflow_error);
  CHECK_THROWS_AS(-top - one, std::overflow_error);
  CHECK_THROWS_AS(top * two, std::overflow_error);
  CHECK_THROWS_AS(top * -top, std::overflow_error);
  CHECK_THROWS_AS(attest::shift_left(top, 1), std::overflow_error);
  CHECK_THROWS_AS(attest::shift_left(one, Bits), std::overflow_error);
  CHECK_THROWS_AS(attest::shift_left(Integer(-1), Bits), std::overflow_error);
  CHECK(attest::shift_left(one, Bits - 1) == top / two + one);  // the largest shift of 1 that fits
  CHECK(top - top == Integer(0));
  CHECK(-top + one < Integer(0));
}

TEST_CASE("an integer built from a longer one throws, and is the same value if it fits") {
  const unbounded_integer wide = attest::shift_left(unbounded_integer(1), 512);
  CHECK_THROWS_AS(attest::integer(wide), std::overflow_error);
  CHECK(attest::integer(unbounded_integer(wide - 1)) == largest<512>());
}

TEST_CASE("fixed and unbounded integers and GMP agree on sums, products, quotients and shifts") {
  testing::random_source random(15'001);
  for (int round = 0; round < 2000; ++round) {
    // Operands of up to 200 bits, so that no product overflows.
    const auto operand = [&] {
      attest::integer n(random.word());
      for (long limbs = random.between(0, 2); limbs > 0; --limbs)
        n = attest::shift_left(n, 64) + attest::integer(random.word());
      n = attest::shift_right(n, static_cast<unsigned>(random.between(0, 60)));
      return random.between(0, 1) == 0 ? n : attest::integer(-n);
    };
    const attest::integer a = operand();
    const attest::integer b = operand();
    const auto shift = static_cast<unsigned>(random.between(0, 250));
    CAPTURE(a.str(), b.str(), shift);
    const unbounded_integer u(a);
    const unbounded_integer v(b);
    const reference::whole x = reference::to_whole(a);
    const reference::whole y = reference::to_whole(b);
    reference::whole expected;
    const auto check = [&](const attest::integer& fixed, const unbounded_integer& grown) {
      CHECK(fixed.str() == expected.text());
      CHECK(grown.str() == expected.text());
    };
    mpz_add(expected.get(), x.get(), y.get());
    check(a + b, u + v);
    mpz_sub(expected.get(), x.get(), y.get());
    check(a - b, u - v);
    mpz_mul(expected.get(), x.get(), y.get());
    check(a * b, u * v);
    mpz_mul_2exp(expected.get(), x.get(), shift);
    check(attest::shift_left(a, shift), attest::shift_left(u, shift));
    mpz_tdiv_q_2exp(expected.get(), x.get(), shift);
    check(attest::shift_right(a, shift), attest::shift_right(u, shift));
    if (!b.is_zero()) {
      mpz_tdiv_q(expected.get(), x.get(), y.get());
      check(a / b, u / v);
    }
    if (!a.is_zero()) {
      CHECK(attest::bit_length(a) == mpz_sizeinbase(x.get(), 2));
      CHECK(attest::bit_length(u) == mpz_sizeinbase(x.get(), 2));
    }
    for (unsigned i = 0; i < 4; ++i) {
      CHECK(attest::limb(a, i) == mpz_getlimbn(x.get(), static_cast<mp_size_t>(i)));
      CHECK(attest::limb(u, i) == mpz_getlimbn(x.get(), static_cast<mp_size_t>(i)));
    }
  }
}

TEST_CASE("a shift count that no integer reaches is an error, not its lowest bits") {
  using attest::unbounded_integer;
  const unbounded_integer one(1);
  for (const long long far : {1LL << 31, 1LL << 32, (1LL << 32) + 1, -1LL}) {
    CHECK_THROWS_AS(attest::shift_left(one, far), std::overflow_error);
    CHECK_THROWS_AS(attest::shift_left(attest::integer(1), far), std::overflow_error);
  }
  CHECK(attest::shift_right(one, 1LL << 32) == 0);
  CHECK_THROWS_AS(attest::shift_right(one, -1), std::overflow_error);
  CHECK(attest::shift_left(one, 100) == attest::shift_left(unbounded_integer(4), 98));
}
