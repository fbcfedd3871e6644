#include <attest/symbolic/print.hpp>

#include "catch.hpp"
#include "support/both.hpp"

// One expression in each notation: plain ASCII for files, ASCII and UTF-8 for reading, LaTeX. What differs is listed case by
// case; that plain text is as it always was is tested in print.cpp.

using attest::basic_dyadic;
using attest::basic_rational;
using attest::constant;
using attest::exp;
using attest::matrix;
using attest::root;
using attest::surd;
namespace notations = attest::notations;

namespace {

template <class X>
constexpr bool reads(const attest::notation& style, const X& x, std::string_view expected) {
  attest::fixed_text<200> text;
  print(text, style, x);
  return text.view() == expected;
}

template <class Integer>
constexpr bool rows_of_the_chapter() {
  const matrix<Integer, 3, 3> dots({{1, 0, 1}, {1, 1, 2}, {2, 1, 3}});
  const auto w = softmax(dots / root(2));
  return reads(notations::plain, w.row(2), "[r, 1, r^2]/(r + 1 + r^2)") && reads(notations::ascii, w.row(2), "[r, 1, r^2]/(r + 1 + r^2)") &&
         reads(notations::unicode, w.row(2), "[r, 1, r²]/(r + 1 + r²)") &&
         reads(notations::latex, w.row(2), "\\frac{[r, 1, r^{2}]}{r + 1 + r^{2}}") && reads(notations::latex, w(0, 1), "\\frac{1}{2r + 1}");
}

template <class Integer>
constexpr bool roots() {
  using rational = basic_rational<Integer>;
  const surd<Integer> three(Integer(3) / root(2));
  const surd<Integer> mixed(Integer(1), Integer(-3), 7);
  const surd<rational> half(rational(Integer(0)), attest::ratio(Integer(-1), Integer(2)), 5);
  return reads(notations::unicode, three, "3/√2") && reads(notations::latex, three, "\\frac{3}{\\sqrt{2}}") && reads(notations::ascii, three, "3/sqrt(2)") &&
         reads(notations::unicode, mixed, "1 - 3/√7") && reads(notations::latex, mixed, "1 - \\frac{3}{\\sqrt{7}}") &&
         reads(notations::unicode, half, "(-1/2)/√5") && reads(notations::latex, half, "\\frac{-\\frac{1}{2}}{\\sqrt{5}}") &&
         reads(notations::latex, surd<Integer>(Integer(5) / root(4)), "\\frac{5}{2}");
}

template <class Integer>
constexpr bool powers_and_coefficients() {
  using rational = basic_rational<Integer>;
  const auto e = exp(surd<Integer>(1));
  const auto power = exp(surd<rational>(attest::ratio(Integer(-1), Integer(2)), attest::ratio(Integer(3), Integer(2)), 2));
  const auto tenth = exp(surd<Integer>(Integer(10) / root(2)));
  const auto third = constant(surd<rational>(attest::ratio(Integer(-1), Integer(3)))) * power;
  return reads(notations::plain, 2 * e, "2e^(1)") && reads(notations::ascii, 2 * e, "2e") && reads(notations::unicode, e * e, "e²") && reads(notations::latex, e * e, "e^{2}") &&
         reads(notations::unicode, tenth, "r¹⁰") && reads(notations::latex, tenth, "r^{10}") && reads(notations::unicode, power, "e^(-1/2)r^(3/2)") &&
         reads(notations::latex, power, "e^{-\\frac{1}{2}}r^{\\frac{3}{2}}") && reads(notations::unicode, third, "-(1/3)e^(-1/2)r^(3/2)") &&
         reads(notations::latex, third, "-\\frac{1}{3}e^{-\\frac{1}{2}}r^{\\frac{3}{2}}");
}

/// 3/8 = 3 · 2^-3.
template <class Integer>
constexpr bool dyadic_fractions() {
  const surd<basic_dyadic<Integer>> x(attest::exact_value<Integer>(-0.375));
  return reads(notations::plain, x, "-3/8") && reads(notations::latex, x, "-\\frac{3}{8}");
}

template <class Integer>
constexpr bool different_roots() {
  const auto sum = exp(surd<Integer>(Integer(1) / root(2))) + exp(surd<Integer>(Integer(1) / root(8)));
  return reads(notations::unicode, sum, "e^(1/√2) + e^(1/√8)") && reads(notations::latex, sum, "e^{\\frac{1}{\\sqrt{2}}} + e^{\\frac{1}{\\sqrt{8}}}");
}

/// A denominator that is nothing but 1 is written in files only.
template <class Integer>
constexpr bool denominators_of_one() {
  const auto w = softmax(matrix<Integer, 1, 2>({{2, 5}}) / root(2), matrix<bool, 1, 2>({{true, false}}));
  return reads(notations::plain, w.row(0), "[1, 0]/1") && reads(notations::unicode, w.row(0), "[1, 0]") && reads(notations::latex, w.row(0), "[1, 0]") &&
         reads(notations::latex, log_sum_exp(w, attest::log_base::e)(0, 0), "\\ln(r^{2})") && reads(notations::unicode, log_sum_exp(w, attest::log_base::two)(0, 0), "log₂(r²)");
}

}  // namespace

TEST_CASE("the chapter's rows in every notation") { CHECK_IN_COMPILER_AND_AT_RUN_TIME(rows_of_the_chapter); }
TEST_CASE("roots in every notation") { CHECK_IN_COMPILER_AND_AT_RUN_TIME(roots); }
TEST_CASE("powers and coefficients in every notation") { CHECK_IN_COMPILER_AND_AT_RUN_TIME(powers_and_coefficients); }
TEST_CASE("dyadic fractions in every notation") { CHECK_IN_COMPILER_AND_AT_RUN_TIME(dyadic_fractions); }
TEST_CASE("different roots in every notation") { CHECK_IN_COMPILER_AND_AT_RUN_TIME(different_roots); }
TEST_CASE("a denominator of one is left out where people read") { CHECK_IN_COMPILER_AND_AT_RUN_TIME(denominators_of_one); }
