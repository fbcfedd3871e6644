#include <attest/enclosure/evaluate.hpp>
#include <attest/symbolic/equality.hpp>
#include <attest/symbolic/print.hpp>

#include "catch.hpp"
#include "support/both.hpp"
#include "support/mpfr.hpp"
#include "support/random.hpp"

// Sums of exponentials and their fractions: equal exponents merge, zero coefficients vanish; equality is
// decided, both for equal expressions of different form and for unequal ones that no table of digits tells
// apart.

using attest::basic_rational;
using attest::constant;
using attest::equals;
using attest::exp;
using attest::exp_sum;
using attest::root;
using attest::surd;

namespace {

/// r = e^(1/√2), the chapter's.
template <class Integer>
constexpr exp_sum<Integer, 1> r() {
  return exp(surd<Integer>(Integer(1) / root(2)));
}

template <class Integer>
constexpr bool equal_exponents_merge_in_order_of_appearance() {
  exp_sum<Integer, 3> x;
  x.add(surd<Integer>(2), Integer(1) / root(2));
  x.add(surd<Integer>(5), surd<Integer>(0));
  x.add(surd<Integer>(-3), Integer(2) / root(8));  // 2/√8 = 1/√2
  return x.size() == 2 && x[0].coefficient == surd<Integer>(-1) &&
         x[0].exponent == surd<Integer>(Integer(1) / root(2)) && x[1].coefficient == surd<Integer>(5);
}

template <class Integer>
constexpr bool cancelled_terms_leave_the_sum() {
  exp_sum<Integer, 2> x;
  x.add(surd<Integer>(2), Integer(1) / root(2));
  x.add(surd<Integer>(7), Integer(3) / root(2));
  x.add(surd<Integer>(0), Integer(9) / root(2));  // no room for a third term, and none is needed
  x.add(surd<Integer>(-2), Integer(1) / root(2));
  const bool one_left = x.size() == 1 && x[0].coefficient == surd<Integer>(7);
  x.add(surd<Integer>(-7), Integer(3) / root(2));
  return one_left && is_zero(x) && x.size() == 0 && is_zero(r<Integer>() - r<Integer>()) &&
         !is_zero(r<Integer>() - 2 * r<Integer>());
}

/// (r + 1)² = r² + 2r + 1, (r + 1)(r - 1) = r² - 1, r · e^(-1/√2) = 1.
template <class Integer>
constexpr bool products_multiply_out() {
  const auto one = constant(surd<Integer>(1));
  const auto sum = r<Integer>() + 1;
  const auto square = exp(surd<Integer>(Integer(2) / root(2)));
  const auto inverse = exp(surd<Integer>(Integer(-1) / root(2)));
  return sum * sum == square + 2 * r<Integer>() + 1 && sum * (r<Integer>() - one) == square - one &&
         r<Integer>() * inverse == one && (sum * sum).size() == 3 &&
         (sum * (r<Integer>() - one)).size() == 2 && 1 + r<Integer>() == sum &&
         !(sum * sum == square + r<Integer>() + 1);
}

/// r/(2r + 1) = 1/(2 + 1/r) = r²/(2r² + r); 1/(2r + 1) is another number.
template <class Integer>
constexpr bool equal_fractions_of_different_form_are_equal() {
  const auto one = constant(surd<Integer>(1));
  const auto inverse = exp(surd<Integer>(Integer(-1) / root(2)));
  const auto square = r<Integer>() * r<Integer>();
  const auto x = r<Integer>() / (2 * r<Integer>() + 1);
  const auto y = one / (2 * one + inverse);
  const auto z = square / (2 * square + r<Integer>());
  const auto w = one / (2 * r<Integer>() + 1);
  return x == y && y == z && equals(x, z) && !(x == w) && !equals(w, y) &&
         x + w + x == attest::fraction_of(Integer(1)) && x - y == attest::fraction_of(Integer(0)) &&
         equals(x + x + w, Integer(1)) && equals(Integer(1), x + w + x) && !equals(x + x, Integer(1)) &&
         // the negated form, and one whose numerator vanishes
         (constant(surd<Integer>(-1)) * r<Integer>()) /
                 (constant(surd<Integer>(-1)) * (2 * r<Integer>() + 1)) ==
             x &&
         equals((one - one) / r<Integer>(), Integer(0));
}

/// 1 + 10^-60 (r - 1) agrees with 1 to 59 digits, and is not 1.
template <class Integer>
constexpr bool unequal_expressions_that_agree_to_sixty_digits_are_unequal() {
  using rational = basic_rational<Integer>;
  Integer power(1);
  for (int k = 0; k < 61; ++k) {
    const Integer next = power * Integer(10);
    power = next;
  }
  const rational tiny = attest::ratio(Integer(1), power);
  const auto one = constant(surd<rational>(1));
  const auto s = exp(attest::exact_cast<rational>(surd<Integer>(Integer(1) / root(2))));
  const auto x = one + constant(surd<rational>(tiny)) * (s - one);
  const auto fraction = (s + one) / (s + one + constant(surd<rational>(tiny)));
  // the same with the difference in the exponent: e^(1/√2 + 10^-61)
  const auto t =
      exp(attest::exact_cast<rational>(surd<Integer>(Integer(1) / root(2))) + surd<rational>(tiny));
  return !(x == one) && x - constant(surd<rational>(tiny)) * s == one - constant(surd<rational>(tiny)) &&
         !equals(fraction, Integer(1)) && !(t == s) && !equals(t, s) && !equals(t / s, Integer(1)) &&
         equals(t * one / t, Integer(1));
}

template <class Integer>
constexpr bool exponents_of_different_fields_are_different_exponents() {
  const auto x = r<Integer>() + exp(surd<Integer>(Integer(1) / root(3)));
  return x.size() == 2 && !(r<Integer>() == exp(surd<Integer>(Integer(1) / root(3)))) &&
         x - exp(surd<Integer>(Integer(1) / root(3))) == r<Integer>();
}

template <class Integer>
constexpr bool algebraic_numbers_of_all_kinds_compare() {
  using rational = basic_rational<Integer>;
  using dyadic = attest::basic_dyadic<Integer>;
  return equals(Integer(2), dyadic(2)) &&
         equals(dyadic(Integer(1), -1), attest::ratio(Integer(1), Integer(2))) &&
         equals(surd<Integer>(Integer(2), Integer(0), 7), Integer(2)) &&
         !equals(surd<Integer>(Integer(1) / root(2)), attest::ratio(Integer(7), Integer(10))) &&
         equals(constant(surd<Integer>(3)), Integer(3)) &&
         equals(surd<rational>(attest::ratio(Integer(1), Integer(2))), surd<Integer>(Integer(1) / root(4))) &&
         !equals(r<Integer>(), Integer(2)) &&
         equals(attest::exact_cast<rational>(r<Integer>()), r<Integer>());
}

}  // namespace

TEST_CASE("terms of equal exponent merge, in order of appearance") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(equal_exponents_merge_in_order_of_appearance);
}

TEST_CASE("terms that cancel leave the sum") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(cancelled_terms_leave_the_sum);
}

TEST_CASE("products of sums multiply out") { CHECK_IN_COMPILER_AND_AT_RUN_TIME(products_multiply_out); }

TEST_CASE("equal fractions of different form are equal, unequal ones are not") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(equal_fractions_of_different_form_are_equal);
}

TEST_CASE("expressions that agree to sixty digits and differ are unequal") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(unequal_expressions_that_agree_to_sixty_digits_are_unequal);
}

TEST_CASE("exponents of different fields stay apart") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(exponents_of_different_fields_are_different_exponents);
}

TEST_CASE("numbers, surds and sums of all kinds compare as numbers") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(algebraic_numbers_of_all_kinds_compare);
}

TEST_CASE("a denominator that vanishes is an error") {
  const auto zero = r<attest::integer>() - r<attest::integer>();
  CHECK_THROWS_AS(r<attest::integer>() / zero, std::domain_error);
  CHECK_THROWS_AS(attest::row(1, 2) / zero, std::domain_error);
}

TEST_CASE("a fixed sum refuses a term for which it has no room") {
  exp_sum<attest::integer, 1> x = r<attest::integer>();
  CHECK_THROWS_AS(x.add(surd<attest::integer>(1), surd<attest::integer>(0)), std::out_of_range);
  CHECK_NOTHROW(x.add(surd<attest::integer>(4), attest::integer(1) / root(2)));
}

TEST_CASE("sums, products and fractions of random exponentials agree with MPFR") {
  testing::random_source random(15'012);
  constexpr mpfr_prec_t precision = 400;
  using sum = exp_sum<attest::rational, attest::dynamic>;
  for (int round = 0; round < 300; ++round) {
    const auto one = [&] {
      sum x;
      for (long terms = random.between(1, 4); terms > 0; --terms)
        x.add(surd<attest::rational>(attest::ratio(random.between(-9, 9), random.between(1, 3)),
                                     attest::ratio(random.between(-2, 2), 1), 2),
              surd<attest::rational>(attest::ratio(random.between(-1, 1), 1),
                                     attest::ratio(random.between(-3, 3), 1), 2));
      return x;
    };
    const sum x = one();
    const sum y = one();
    const sum z = one();
    CAPTURE(attest::to_text(x), attest::to_text(y), attest::to_text(z));
    const auto near = [&](const reference::real& a, const reference::real& b) {
      const reference::real d = a - b;
      return mpfr_zero_p(d.get()) != 0 || mpfr_get_exp(d.get()) < -340;  // values below 2^30, a few roundings
    };
    const auto value = [&](const auto& e) { return reference::value_of(e, precision); };
    CHECK(near(value(x + y), value(x) + value(y)));
    CHECK(near(value(x - y), value(x) - value(y)));
    CHECK(near(value(x * y), value(x) * value(y)));
    CHECK(x * (y + z) == x * y + x * z);
    CHECK((x + y) * (x - y) == x * x - y * y);
    // Numbers this simple do not agree to 300 bits unless they are equal.
    CHECK((x == y) == near(value(x), value(y)));
    if (!is_zero(y) && !is_zero(z)) {
      CHECK(x / y == (x * z) / (y * z));
      CHECK((x / y) + (x / z) == (x * z + x * y) / (y * z));
      CHECK((x / y) - (z / y) == (x - z) / y);
      if (!(x == z)) CHECK(!(x / y == z / y));
    }
  }
}
