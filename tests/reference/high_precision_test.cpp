#include "catch.hpp"
#include "mpfr_attention.hpp"

#include <attest/enclosure/printed.hpp>
#include <attest/io/number.hpp>
#include <attest/reference/exact_head.hpp>
#include <attest/reference/high_precision.hpp>
#include <attest/symbolic/softmax.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <random>
#include <string>
#include <vector>

// The road through Boost's floats, held against the enclosures at every precision, against MPFR as far as its precision goes,
// and against the decimals that attest certifies. That it can find a fault is tested with answers that have one.

using namespace attest;
using attest_testing::mp;
using attest_testing::mpfr_attention;

namespace {

using enclosure = interval<growing>;

exact_scalar number(std::string_view text) { return io::read_exact(text); }

exact_matrix matrix_of(std::size_t rows, std::size_t columns, const std::vector<std::string>& elements) {
  std::vector<exact_scalar> values;
  for (const auto& text : elements) values.push_back(number(text));
  return make_exact_matrix(rows, columns, values);
}

problem chapter() {
  return {projected_inputs{matrix_of(3, 2, {"1", "0", "0", "1", "1", "1"}), {}, matrix_of(2, 2, {"1", "0", "0", "1"}),
                           matrix_of(2, 2, {"1", "1", "0", "1"}), matrix_of(2, 2, {"1", "0", "1", "2"})},
          {},
          {}};
}

// One query whose scores are `scores` over one column of values.
problem one_row(const std::vector<std::string>& scores, const std::vector<std::string>& values) {
  return {head_inputs{matrix_of(1, 1, {"1"}), matrix_of(scores.size(), 1, scores), matrix_of(values.size(), 1, values)}, {}, {}};
}

std::mt19937_64 generator(1503);

// Integers, doubles or fractions, such that scores spread to about `spread`.
problem random_problem(int kind, double spread) {
  const auto element = [&](double magnitude) -> exact_scalar {
    const double x = std::uniform_real_distribution<double>(-magnitude, magnitude)(generator);
    if (kind == 0) return unbounded_dyadic(unbounded_integer(static_cast<long long>(x * 4)));
    if (kind == 1) return exact_value<unbounded_integer>(x);
    return exact_ratio(unbounded_integer(static_cast<long long>(x * 1000)), unbounded_integer(997));
  };
  const auto random_matrix = [&](std::size_t rows, std::size_t columns, double magnitude) {
    std::vector<exact_scalar> elements;
    for (std::size_t n = 0; n < rows * columns; ++n) elements.push_back(element(magnitude));
    return make_exact_matrix(rows, columns, elements);
  };
  return {head_inputs{random_matrix(2, 3, 1), random_matrix(4, 3, spread), random_matrix(4, 2, 3)}, {}, {}};
}

// |printed - value| / magnitude in units of 10^-precision, at most.
double units_apart(const std::string& printed, const enclosure& value, const enclosure& magnitude, unsigned precision) {
  const unsigned bits = precision * 4 + 128;
  const auto numeral = parse_decimal<unbounded_integer>(printed);
  const enclosure apart = subtract(evaluate<growing>(numeral.value(), bits), value, bits);
  if (magnitude.midpoint.size == 0) return is_exact(apart) && apart.midpoint.size == 0 ? 0 : 1e300;
  const enclosure relative = divide(apart, magnitude, bits);
  const enclosure scaled = multiply(relative, evaluate<growing>(power_of_ten<unbounded_integer>(precision), bits), bits);
  const auto end_value = [](const interval_end<growing>& end) {
    double x = 0;
    for (std::size_t k = end.magnitude.size; k > 0; --k) x = x * 0x1p64 + static_cast<double>(end.magnitude.limbs[k - 1]);
    return std::ldexp(x, static_cast<int>(end.exponent));
  };
  return std::max(end_value(lower(scaled)), end_value(upper(scaled)));
}

struct worst {
  double units = 0;    // at most, of 10^-precision
  double per_size = 0;  // of what 8 |x| + 16 allows
};

// Every value of the head against its enclosure.
template <exact_number T>
worst against_enclosures(const problem& p, unsigned precision) {
  const float_attention floats = attention_in_floats(p, precision);
  const exact_head<T> head = exact_head_of<T>(p);
  const auto a = softmax(head.scores, head.visible);
  const auto o = a * head.values;
  const auto sizes = a * map(head.values, [](const T& x) { return absolute(x); });
  const unsigned bits = precision * 4 + 128;
  worst result;
  const auto check = [&](const std::string& printed, const enclosure& value, const enclosure& magnitude, double spread) {
    const double units = units_apart(printed, value, magnitude, precision);
    CAPTURE(printed, precision, spread, units);
    // The guard digits that the header states, and the bound they come from: a unit of the last place is at most 10^-precision
    // relatively, and printing adds half a unit of a digit, 5 of these.
    CHECK(units <= std::pow(10.0, guard_digits(spread)));
    CHECK(units <= 8 * spread + 16 + 5);
    result.units = std::max(result.units, units);
    result.per_size = std::max(result.per_size, units / (8 * spread + 16 + 5));
  };
  for (std::size_t i = 0; i < a.rows(); ++i) {
    const auto row_largest = detail::largest_exponent(a.normaliser(i), a.normaliser(i)[0].exponent);
    double spread = 0;
    for (std::size_t j = 0; j < a.columns(); ++j) {
      if (!a.visible(i, j)) {
        CHECK(floats.weights(i, j) == "0");
        continue;
      }
      const surd<T> gap = row_largest - a.score(i, j);
      const double x = std::stod(to_text(to_decimal(gap, -3)));
      spread = std::max(spread, x);
      const enclosure weight = evaluate<growing>(a(i, j), bits);
      check(floats.weights(i, j), weight, weight, x);
    }
    for (std::size_t c = 0; c < o.columns(); ++c)
      check(floats.output(i, c), evaluate<growing>(o(i, c), bits), evaluate<growing>(sizes(i, c), bits), spread);
    const auto lse = log_sum_exp(a, log_base::e)(i, 0);
    const double largest = std::abs(std::stod(to_text(to_decimal(row_largest, -3))));
    const enclosure one = enclosure::exact(1LL);
    const enclosure size = largest > 1 ? evaluate<growing>(sign(row_largest) < 0 ? -row_largest : row_largest, bits) : one;
    check(floats.log_sum_exp[i], evaluate<growing>(lse, bits), size, 1);
  }
  return result;
}

}  // namespace

TEST_CASE("the chapter's head in floats of 50 digits") {
  const float_attention floats = attention_in_floats(chapter(), 50);
  CHECK(floats.precision == 50);
  REQUIRE(floats.r.has_value());
  CHECK(floats.r->substr(0, 8) == "2.028114");
  CHECK(floats.r->size() == 51);
  // The published 0.19777581464042817937... of the second weight, and 3/√2 + ln(...) of the third row's log-sum-exp.
  CHECK(floats.weights(0, 1).substr(0, 22) == "0.19777581464042817937");
  CHECK(floats.output(0, 0).substr(0, 14) == "1.401112092679");
  REQUIRE(floats.rows.size() == 3);
  CHECK(floats.rows[0].expression == "[r, 1, r]/(2r + 1)");
  CHECK(floats.rows[0].numerators[0] == *floats.r);
  CHECK(floats.rows[0].numerators[1].substr(0, 4) == "1.00");
  CHECK(floats.rows[0].denominator.substr(0, 7) == "5.05622");  // the chapter's 5.056230, not rounded
  CHECK(floats.rows[1].expression == "[1, 1, r]/(2 + r)");
  CHECK(floats.rows[1].denominator.substr(0, 7) == "4.02811");
}

TEST_CASE("every precision holds what it promises, against enclosures") {
  for (const unsigned precision : float_precisions) {
    const int rounds = precision <= 100 ? 12 : precision == 200 ? 6 : 2;
    worst all;
    for (int round = 0; round < rounds; ++round)
      for (int kind = 0; kind < 3; ++kind)
        for (const double spread : {0.5, 5.0, 500.0}) {
          const problem p = random_problem(kind, spread);
          const worst one = is_dyadic(p) ? against_enclosures<unbounded_dyadic>(p, precision)
                                         : against_enclosures<unbounded_rational>(p, precision);
          all.units = std::max(all.units, one.units);
          all.per_size = std::max(all.per_size, one.per_size);
        }
    INFO("digits " << precision << ": at most " << all.units << " units, " << all.per_size << " of the bound");
    // Were the floats good to the last bit, the bound would say nothing.
    CHECK(all.units > 0.01);
    if (std::getenv("ATTEST_SHOW_MEASURED") != nullptr)
      std::cout << "precision " << precision << ": " << all.units << " units, " << all.per_size << " of the bound\n";
  }
}

TEST_CASE("against MPFR") {
  for (const unsigned precision : {50u, 100u, 200u})
    for (int kind = 0; kind < 3; ++kind) {
      const problem p = random_problem(kind, 3.0);
      const float_attention floats = attention_in_floats(p, precision);
      const mpfr_attention theirs(p);
      const auto check = [&](const std::string& ours, const mp& value) {
        if (value.is_zero()) {
          CHECK(ours == "0");
          return;
        }
        const unsigned digits = precision - guard_digits(10) - 3;
        long exponent = 0;
        const std::string expected = value.digits(precision + 5, exponent);
        std::string significant;
        for (const char c : ours.substr(0, ours.find('e')))
          if (c == '-' || (c >= '0' && c <= '9')) significant += c;
        const std::size_t sign = significant[0] == '-' ? 1 : 0;
        significant.erase(sign, significant.find_first_not_of('0', sign) - sign);
        CAPTURE(ours, expected, precision);
        CHECK(significant.substr(0, digits) == expected.substr(0, digits));
      };
      for (std::size_t i = 0; i < floats.weights.rows(); ++i) {
        for (std::size_t j = 0; j < floats.weights.columns(); ++j) check(floats.weights(i, j), theirs.weights[i][j]);
        check(floats.log_sum_exp[i], theirs.log_sum_exp[i]);
      }
    }
}

TEST_CASE("masks, a given scale and far scores") {
  problem p = one_row({"3", "-1000", "5"}, {"7", "100", "9"});
  p.mask = matrix<bool>(1, 3);
  (*p.mask)(0, 0) = (*p.mask)(0, 2) = true;
  p.scale = number("1/2");
  const float_attention floats = attention_in_floats(p, 50);
  CHECK_FALSE(floats.r.has_value());
  CHECK(floats.weights(0, 1) == "0");
  CHECK(floats.rows[0].numerators[1] == "0");
  CHECK(floats.weights(0, 0).substr(0, 9) == "0.2689414");  // 1/(1 + e)
  against_enclosures<unbounded_dyadic>(p, 100);

  const float_attention far = attention_in_floats(one_row({"0", "-1e10"}, {"1", "2"}), 50);
  CHECK(far.weights(0, 1) == "0");
  CHECK(far.rows[0].denominator == "inf");
  CHECK(far.output(0, 0).substr(0, 4) == "1.00");
}

TEST_CASE("a precision that is not offered is refused") {
  CHECK_THROWS_AS(attention_in_floats(chapter(), 51), std::invalid_argument);
  CHECK_THROWS_AS(attention_in_floats(chapter(), 0), std::invalid_argument);
}

TEST_CASE("three guard digits, and one more with each power of ten") {
  CHECK(guard_digits(0) == 3);
  CHECK(guard_digits(10) == 3);
  CHECK(guard_digits(11) == 4);
  CHECK(guard_digits(700) == 5);
  CHECK(guard_digits(1e12) == 14);
  CHECK(guard_digits(std::numeric_limits<double>::infinity()) > 300);
}

TEST_CASE("a reference agrees with the floats to nearly all of its digits") {
  for (const unsigned digits : {1u, 7u, 50u, 60u, 200u, 1500u}) {
    const attention_reference answer = attention(chapter(), {digits});
    const cross_check_report report = cross_check(chapter(), answer);
    CAPTURE(digits);
    CHECK(report.compared == 9 + 6 + 3 + 1);
    CHECK(report.beyond == 0);
    CHECK(report.disagreements.empty());
    CHECK(report.digits == std::min(digits, 1000u));
    CHECK(report.precision == (digits <= 50 ? 50u : digits == 60 ? 100u : digits == 200 ? 200u : 1000u));
    CHECK(report.agreeing <= report.digits);
    CHECK(report.agreeing + 2 >= report.digits);
  }
  for (int kind = 0; kind < 3; ++kind) {
    const problem p = random_problem(kind, 500.0);
    const cross_check_report report = cross_check(p, attention(p, {50}));
    CHECK(report.disagreements.empty());
    CHECK(report.agreeing >= 50 - guard_digits(3000));
  }
}

TEST_CASE("a wrong digit in a reference is found wherever the floats are good for it") {
  const attention_reference right = attention(chapter(), {50});
  const auto report_with = [&](auto change) {
    attention_reference wrong = right;
    change(wrong);
    return cross_check(chapter(), wrong);
  };
  const auto next_digit = [](std::string& text, std::size_t at) { text[at] = text[at] == '9' ? '0' : static_cast<char>(text[at] + 1); };
  // "0." and 50 digits: the digit 46 places after the first one is beyond the guard, the last one is not.
  for (const std::size_t at : {2u, 10u, 30u, 47u}) {
    const auto report = report_with([&](attention_reference& x) { next_digit(x.weights(0, 1).decimal, at); });
    CAPTURE(at);
    REQUIRE(report.disagreements.size() == 1);
    CHECK(report.disagreements[0].place == "weights [0, 1]");
    CHECK(report.disagreements[0].digits <= at);
    CHECK(report.agreeing == report.disagreements[0].digits);
  }
  CHECK(report_with([&](attention_reference& x) { next_digit(x.weights(0, 1).decimal, 51); }).disagreements.empty());
  CHECK(report_with([&](attention_reference& x) { x.output(2, 1).decimal = "1.5"; }).disagreements[0].place == "output [2, 1]");
  CHECK(report_with([&](attention_reference& x) { x.log_sum_exp[1].decimal = "0"; }).disagreements[0].place == "log_sum_exp [1]");
  CHECK(report_with([&](attention_reference& x) { x.r_decimal = "2.0281"; }).disagreements[0].place == "r");
  CHECK(report_with([&](attention_reference& x) { x.weights(0, 0).decimal = "-" + x.weights(0, 0).decimal; }).disagreements.size() == 1);
  CHECK(report_with([&](attention_reference& x) { x.weights(0, 0).decimal = "0"; }).disagreements.size() == 1);
  // With one digit alone as well.
  attention_reference coarse = attention(chapter(), {1});
  coarse.weights(0, 1).decimal = "0.3";
  CHECK(cross_check(chapter(), coarse).disagreements.size() == 1);
}

TEST_CASE("what is too close to zero for the floats is said not to be compared") {
  const problem p = one_row({"0", "-1e13"}, {"0", "-1"});
  const cross_check_report report = cross_check(p, attention(p, {20}));
  CHECK(report.beyond == 3);  // the weight, the output and the log-sum-exp
  CHECK(report.compared == 2);
  CHECK(report.disagreements.empty());
  const problem closer = one_row({"0", "-1e8"}, {"0", "-1"});
  const cross_check_report compared = cross_check(closer, attention(closer, {50}));
  CHECK(compared.beyond == 0);
  CHECK(compared.disagreements.empty());
  CHECK(compared.agreeing >= 50 - guard_digits(1e8));
}
