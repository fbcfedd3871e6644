#include <attest/exact/number.hpp>

#include "catch.hpp"
#include "support/both.hpp"
#include "support/mpfr.hpp"
#include "support/random.hpp"

// Rationals, and what integers, dyadics and rationals have in common: parts, conversions to the wider kind,
// signs, quotients.

using attest::basic_dyadic;
using attest::basic_rational;
using attest::exact_cast;
using attest::exact_from;
using attest::exact_quotient;
using attest::unbounded_integer;

namespace {

template <class Integer>
constexpr basic_rational<Integer> over(long n, long d) {
  return attest::ratio(Integer(n), Integer(d));
}

template <class Integer>
constexpr bool fractions_are_in_lowest_terms() {
  const auto x = over<Integer>(6, -4);
  const auto zero = over<Integer>(0, -7);
  return x.numerator() == Integer(-3) && x.denominator() == Integer(2) && zero.numerator().is_zero() &&
         zero.denominator() == Integer(1) && over<Integer>(-6, -4) == over<Integer>(3, 2) &&
         !(over<Integer>(1, 3) == over<Integer>(1, 4));
}

template <class Integer>
constexpr bool arithmetic_and_order_are_exact() {
  const auto third = over<Integer>(1, 3);
  const auto sixth = over<Integer>(1, 6);
  return third + sixth == over<Integer>(1, 2) && third - sixth == sixth &&
         third * sixth == over<Integer>(1, 18) && third / sixth == over<Integer>(2, 1) && sixth < third &&
         third > sixth &&
         // 333333333/10^9 < 1/3 < 333333334/10^9
         over<Integer>(333'333'333, 1'000'000'000) < third &&
         third < over<Integer>(333'333'334, 1'000'000'000);
}

template <class Integer>
constexpr bool a_wider_kind_holds_the_same_number() {
  using dyadic = basic_dyadic<Integer>;
  using rational = basic_rational<Integer>;
  const dyadic quarter(Integer(-3), -2);
  const dyadic large(Integer(3), 4);
  return exact_cast<rational>(quarter) == over<Integer>(-3, 4) &&
         exact_cast<rational>(large) == over<Integer>(48, 1) &&
         exact_cast<dyadic>(Integer(-12)) == dyadic(-12) &&
         exact_cast<rational>(Integer(5)) == over<Integer>(5, 1) &&
         exact_cast<Integer>(Integer(5)) == Integer(5) &&
         exact_from<rational>(0.375) == over<Integer>(3, 8) &&
         exact_from<rational>(-7) == over<Integer>(-7, 1) &&
         exact_from<dyadic>(0.5f) == dyadic(Integer(1), -1) &&
         exact_from<rational>(quarter) == over<Integer>(-3, 4) &&
         exact_from<Integer>(~0ULL) == Integer(~std::uint64_t{0});
}

template <class Integer>
constexpr bool signs_and_absolute_values() {
  using dyadic = basic_dyadic<Integer>;
  return attest::sign(Integer(-3)) == -1 && attest::sign(Integer(0)) == 0 &&
         attest::sign(dyadic(Integer(1), -9)) == 1 && attest::sign(dyadic(Integer(-1), 9)) == -1 &&
         attest::sign(over<Integer>(-1, 5)) == -1 && attest::sign(over<Integer>(0, 5)) == 0 &&
         attest::absolute(Integer(-3)) == Integer(3) &&
         attest::absolute(over<Integer>(-1, 5)) == over<Integer>(1, 5) &&
         attest::absolute(dyadic(Integer(-1), 9)) == dyadic(512);
}

template <class Integer>
constexpr bool quotients_of_each_kind() {
  using dyadic = basic_dyadic<Integer>;
  return exact_quotient(Integer(-12), 4) == Integer(-3) && exact_quotient(Integer(0), 7).is_zero() &&
         exact_quotient(dyadic(3), 4) == dyadic(Integer(3), -2) &&
         exact_quotient(dyadic(Integer(-9), -5), 3) == dyadic(Integer(-3), -5) &&
         exact_quotient(dyadic(7), 1) == dyadic(7) && exact_quotient(dyadic(12), 6) == dyadic(2) &&
         exact_quotient(over<Integer>(-2, 3), 6) == over<Integer>(-1, 9);
}

}  // namespace

TEST_CASE("rationals are kept in lowest terms with a positive denominator") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(fractions_are_in_lowest_terms);
}

TEST_CASE("rational arithmetic and order are exact") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(arithmetic_and_order_are_exact);
}

TEST_CASE("converting to a wider kind keeps the number") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(a_wider_kind_holds_the_same_number);
}

TEST_CASE("signs and absolute values of all kinds") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(signs_and_absolute_values);
}

TEST_CASE("a quotient is exact in its own kind") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(quotients_of_each_kind);
}

TEST_CASE("a quotient that its kind cannot hold is an error") {
  CHECK_THROWS_AS(exact_quotient(attest::integer(7), 2), std::domain_error);
  CHECK_THROWS_AS(exact_quotient(attest::dyadic(7), 3), std::domain_error);
  CHECK_THROWS_AS(exact_quotient(attest::dyadic(7), 6), std::domain_error);
}

TEST_CASE("a zero denominator is an error") {
  CHECK_THROWS_AS(attest::ratio(1, 0), std::domain_error);
  CHECK_THROWS_AS(attest::ratio(unbounded_integer(1), unbounded_integer(0)), std::domain_error);
}

TEST_CASE("a rational that overflows throws") {
  const attest::integer big = attest::shift_left(attest::integer(1), 300);
  const attest::rational x = attest::ratio(attest::integer(1), attest::integer(big + 1));
  const attest::rational y = attest::ratio(attest::integer(1), attest::integer(big - 1));
  CHECK_THROWS_AS(x * y, std::overflow_error);
}

TEST_CASE("rational arithmetic agrees with GMP") {
  testing::random_source random(15'004);
  for (int round = 0; round < 1000; ++round) {
    const auto one = [&] {
      return attest::ratio(random.between(-1'000'000'000, 1'000'000'000), random.between(1, 1'000'000));
    };
    const attest::rational x = one();
    const attest::rational y = one();
    const auto p = reference::to_fraction(x);
    const auto q = reference::to_fraction(y);
    CAPTURE(x.numerator().str(), x.denominator().str(), y.numerator().str(), y.denominator().str());
    CHECK(reference::to_fraction(attest::rational(x + y)) == p + q);
    CHECK(reference::to_fraction(attest::rational(x - y)) == p - q);
    CHECK(reference::to_fraction(attest::rational(x * y)) == p * q);
    if (attest::sign(y) != 0) CHECK(reference::to_fraction(attest::rational(x / y)) == p / q);
    CHECK((x < y) == (compare(p, q) < 0));
    CHECK(attest::sign(x) == compare(p, reference::fraction(0L)));
  }
}
