#include <attest/symbolic/print.hpp>
#include <attest/symbolic/surd.hpp>

#include "catch.hpp"
#include "support/both.hpp"
#include "support/mpfr.hpp"
#include "support/random.hpp"

// Surds a + b/√d: arithmetic, equality and sign, with the radicand any positive integer: squarefree, a
// perfect square, or another radicand of the same field; decided also where a + b/√d is nearly zero.

using attest::basic_dyadic;
using attest::basic_rational;
using attest::root;
using attest::surd;

namespace {

template <class Integer>
constexpr surd<Integer> over_root(long n, unsigned long long d) {
  return Integer(n) / root(d);
}
template <class Integer>
constexpr surd<basic_rational<Integer>> rational_surd(long n, long m, unsigned long long d) {
  return surd<basic_rational<Integer>>(attest::ratio(Integer(n), Integer(1)),
                                       attest::ratio(Integer(m), Integer(1)), d);
}

template <class Integer>
constexpr bool sums_of_one_root_add_their_parts() {
  const surd<Integer> x(Integer(1), Integer(3), 2);
  const surd<Integer> y(Integer(-4), Integer(-1), 2);
  const surd<Integer> sum = x + y;
  const surd<Integer> difference = x - y;
  const surd<Integer> nothing = x - x;
  return sum.rational_part() == Integer(-3) && sum.root_part() == Integer(2) && sum.radicand() == 2 &&
         difference.rational_part() == Integer(5) && difference.root_part() == Integer(4) &&
         nothing.is_rational() && nothing == surd<Integer>(0) && sign(nothing) == 0 &&
         -x == surd<Integer>(Integer(-1), Integer(-3), 2);
}

/// 3/√2 squared is 9/2, (1 + 2/√2)² = 3 + 4/√2, (1 + 1/√2)(1 - 1/√2) = 1/2.
template <class Integer>
constexpr bool products_of_roots_are_over_the_radicand() {
  using rational = basic_rational<Integer>;
  const auto half = attest::ratio(Integer(1), Integer(2));
  const auto x = rational_surd<Integer>(0, 3, 2);
  const auto y = rational_surd<Integer>(1, 2, 2);
  return x * x == surd<rational>(attest::ratio(Integer(9), Integer(2))) && (x * x).is_rational() &&
         y * y == rational_surd<Integer>(3, 4, 2) &&
         rational_surd<Integer>(1, 1, 2) * rational_surd<Integer>(1, -1, 2) == surd<rational>(half) &&
         // 2/√3 · 3/√3 = 2, in integers too
         over_root<Integer>(2, 3) * over_root<Integer>(3, 3) == surd<Integer>(2) &&
         // dyadics hold halves: 3/√2 · 3/√2 = 9/2, and sixths of a multiple of three: 3/√6 · 4/√6 = 2
         surd<basic_dyadic<Integer>>(0, 3, 2) * surd<basic_dyadic<Integer>>(0, 3, 2) ==
             surd<basic_dyadic<Integer>>(basic_dyadic<Integer>(Integer(9), -1)) &&
         surd<basic_dyadic<Integer>>(0, 3, 6) * surd<basic_dyadic<Integer>>(0, 4, 6) ==
             surd<basic_dyadic<Integer>>(2);
}

/// 1/√1 = 1, and it is kept as a rational.
template <class Integer>
constexpr bool the_root_of_one_is_one() {
  const surd<Integer> three = over_root<Integer>(3, 1);
  const surd<Integer> five(Integer(2), Integer(3), 1);
  return three.is_rational() && three == surd<Integer>(3) && three.rational_part() == Integer(3) &&
         five == surd<Integer>(5) && three * three == surd<Integer>(9) &&
         three + over_root<Integer>(1, 2) == surd<Integer>(Integer(3), Integer(1), 2) &&
         sign(over_root<Integer>(-3, 1)) == -1;
}

/// 6/√9 = 2, 1 - 3/√9 = 0, 1/√4 = 2/√16.
template <class Integer>
constexpr bool perfect_squares_are_rational_numbers() {
  return over_root<Integer>(6, 9) == surd<Integer>(2) && surd<Integer>(2) == over_root<Integer>(6, 9) &&
         sign(surd<Integer>(Integer(1), Integer(-3), 9)) == 0 &&
         over_root<Integer>(1, 4) == over_root<Integer>(2, 16) &&
         !(over_root<Integer>(1, 4) == over_root<Integer>(1, 16)) &&
         surd<Integer>(Integer(1), Integer(2), 4) == surd<Integer>(Integer(0), Integer(4), 4) &&
         sign(surd<Integer>(Integer(1), Integer(-2), 9)) == 1 &&
         sign(surd<Integer>(Integer(1), Integer(-4), 9)) == -1 &&
         sign(surd<Integer>(Integer(-1), Integer(4), 9)) == 1 &&
         !(over_root<Integer>(1, 4) == over_root<Integer>(1, 2)) &&
         over_root<Integer>(1, 9) + over_root<Integer>(1, 9) + over_root<Integer>(1, 9) == surd<Integer>(1);
}

/// 1/√2 = 2/√8 = 3/√18, and sums over different radicands of one field.
template <class Integer>
constexpr bool radicands_of_one_field_combine() {
  const auto a = over_root<Integer>(1, 2);
  const auto b = over_root<Integer>(2, 8);
  const auto c = over_root<Integer>(3, 18);
  return a == b && b == c && a == c && !(a == over_root<Integer>(1, 8)) &&
         !(over_root<Integer>(1, 8) == over_root<Integer>(1, 18)) && a + b == over_root<Integer>(2, 2) &&
         sign(a - c) == 0 && sign(a - over_root<Integer>(1, 8)) == 1 &&
         sign(over_root<Integer>(1, 18) - over_root<Integer>(1, 8)) == -1 &&
         // 1/√2 · 1/√8 = 1/4
         rational_surd<Integer>(0, 1, 2) * rational_surd<Integer>(0, 1, 8) ==
             surd<basic_rational<Integer>>(attest::ratio(Integer(1), Integer(4))) &&
         // 1/√8 + 1/√18 = 5/(6√2)
         rational_surd<Integer>(0, 1, 8) + rational_surd<Integer>(0, 1, 18) ==
             surd<basic_rational<Integer>>(attest::ratio(Integer(0), Integer(1)),
                                           attest::ratio(Integer(5), Integer(6)), 2);
}

template <class Integer>
constexpr bool different_fields_are_unequal() {
  return !(over_root<Integer>(1, 2) == over_root<Integer>(1, 3)) &&
         !(over_root<Integer>(2, 2) == over_root<Integer>(3, 3)) &&
         !(over_root<Integer>(5, 6) == over_root<Integer>(5, 10)) &&
         !(over_root<Integer>(1, 2) == surd<Integer>(1)) &&
         !(over_root<Integer>(1, 2) == over_root<Integer>(1, 4));
}

/// The convergents p/q of √2 have p² - 2q² = -1, 1, -1, ...: the sign of p - 2q/√2, though |p - q√2| < 1/q.
template <class Integer>
constexpr bool signs_are_decided_next_to_zero() {
  Integer p(1);
  Integer q(1);
  for (int k = 0; k < 180; ++k) {
    const Integer twice = q + q;
    const int expected = k % 2 == 0 ? -1 : 1;
    if (sign(surd<Integer>(p, Integer(-twice), 2)) != expected ||
        sign(surd<Integer>(Integer(-p), twice, 2)) != -expected)
      return false;
    if (surd<Integer>(p) == surd<Integer>(Integer(0), twice, 2)) return false;
    const Integer next_p = p + twice;
    const Integer next_q = p + q;
    p = next_p;
    q = next_q;
  }
  return true;
}

}  // namespace

TEST_CASE("surds over one root add and subtract by parts") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(sums_of_one_root_add_their_parts);
}

TEST_CASE("two roots multiply to a quotient by the radicand") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(products_of_roots_are_over_the_radicand);
}

TEST_CASE("the root of one is one") { CHECK_IN_COMPILER_AND_AT_RUN_TIME(the_root_of_one_is_one); }

TEST_CASE("perfect squares as radicands are equal to the rationals that they are") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(perfect_squares_are_rational_numbers);
}

TEST_CASE("different radicands of one field combine and compare") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(radicands_of_one_field_combine);
}

TEST_CASE("roots of different fields are unequal") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(different_fields_are_unequal);
}

TEST_CASE("the sign is decided next to zero, at the convergents of the square root of two") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(signs_are_decided_next_to_zero);
}

TEST_CASE("a namespace-scope surd over the root of one is a constant") {
  static constexpr surd<attest::integer> three = 3 / root(1);
  static constexpr surd<attest::rational> third(attest::ratio(1, 3), attest::ratio(1, 6), 1);
  static_assert(three == surd<attest::integer>(3));
  static_assert(third.rational_part() == attest::ratio(1, 2));
  CHECK(third.is_rational());
}

TEST_CASE("what cannot be combined or held is an error") {
  using Integer = attest::integer;
  const auto a = over_root<Integer>(1, 2);
  const auto b = over_root<Integer>(1, 3);
  CHECK_THROWS_AS(a + b, std::domain_error);
  CHECK_THROWS_AS(a - b, std::domain_error);
  CHECK_THROWS_AS(a * b, std::domain_error);
  CHECK_THROWS_AS(a * a, std::domain_error);  // 1/2 is no integer
  CHECK_THROWS_AS(root(0), std::domain_error);
  CHECK_THROWS_AS((surd<Integer>(Integer(1), Integer(1), 0)), std::domain_error);
  // √(2^64) and √(65537² ) lie in one field, Q; their common radicand 2^32 · 65537² needs 65 bits.
  const auto c = over_root<Integer>(1, 65536ULL * 65536ULL);
  const auto d = over_root<Integer>(1, 65537ULL * 65537ULL);
  CHECK_THROWS_AS(c + d, std::overflow_error);
}

TEST_CASE("surd arithmetic, signs and equality agree with MPFR") {
  testing::random_source random(15'011);
  constexpr mpfr_prec_t precision = 400;
  constexpr unsigned long long squarefree[] = {1, 2, 3, 5, 6, 7, 10, 64'007};
  const auto is_zero = [](const reference::real& x) {
    return mpfr_zero_p(x.get()) != 0 || mpfr_get_exp(x.get()) < -300;
  };
  for (int round = 0; round < 3000; ++round) {
    const unsigned long long f = squarefree[random.between(0, 7)];
    const auto one = [&] {
      const auto k = static_cast<unsigned long long>(random.between(1, 6));
      const long range = random.between(0, 1) == 0 ? 3 : 1'000'000'000;
      return surd<attest::rational>(attest::ratio(random.between(-range, range), random.between(1, 4)),
                                    attest::ratio(random.between(-range, range), random.between(1, 4)),
                                    f * k * k);
    };
    const auto x = one();
    const auto y = one();
    CAPTURE(attest::to_text(x), x.radicand(), attest::to_text(y), y.radicand());
    const reference::real p = reference::value_of(x, precision);
    const reference::real q = reference::value_of(y, precision);
    const auto agrees = [&](const surd<attest::rational>& exact, const reference::real& expected) {
      return is_zero(reference::value_of(exact, precision) - expected);
    };
    // Two such numbers that differ do so by more than 2^-300: a nonzero a + b/√f with numerators and
    // denominators below 2^70.
    CHECK(agrees(x + y, p + q));
    CHECK(agrees(x - y, p - q));
    CHECK(agrees(x * y, p * q));
    const reference::real difference = p - q;
    CHECK(sign(x - y) == (is_zero(difference) ? 0 : difference.sign()));
    CHECK((x == y) == is_zero(difference));
    CHECK(sign(x) == (is_zero(p) ? 0 : p.sign()));
    CHECK(x + y - y == x);
  }
}
