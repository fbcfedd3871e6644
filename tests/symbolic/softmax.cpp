#include <attest/enclosure/evaluate.hpp>
#include <attest/exact/projections.hpp>
#include <attest/exact/scores.hpp>
#include <attest/rounding/rounding_test.hpp>
#include <attest/symbolic/print.hpp>
#include <attest/symbolic/softmax.hpp>

#include "catch.hpp"
#include "support/both.hpp"
#include "support/mpfr.hpp"
#include "support/random.hpp"

#include <map>
#include <vector>

// The head's softmax as expressions: rows sum to one, shift invariance, permuted keys, linearity in V, masks,
// any d, d_v != d_k, self- and cross-attention, over integers, floats and rationals; every 2x2 head over {-1,
// 0, 1}. Identities are decided exactly; values are compared with MPFR, computed from the scores alone.

using attest::basic_dyadic;
using attest::basic_rational;
using attest::dynamic;
using attest::equals;
using attest::matrix;
using attest::root;
using attest::surd;
using attest::unbounded_integer;

namespace {

template <class Integer>
constexpr auto chapter_scores() {
  const matrix<Integer, 3, 2> q({{1, 0}, {0, 1}, {1, 1}});
  const matrix<Integer, 3, 2> k({{1, 1}, {0, 1}, {1, 2}});
  return scores(q, k);
}

template <class Integer>
constexpr bool the_chapter_rows_are_its_symbolic_rows() {
  const auto w = softmax(chapter_scores<Integer>() / root(2));
  const auto r = exp(surd<Integer>(Integer(1) / root(2)));
  const auto one = attest::constant(surd<Integer>(1));
  const auto first = attest::row(r, 1, r) / (2 * r + 1);
  const auto second = attest::row(1, 1, r) / (2 + r);
  const auto third = attest::row(r, one, r * r) / (r + 1 + r * r);
  for (std::size_t j = 0; j < 3; ++j)
    if (!equals(w(0, j), first(0, j)) || !equals(w(1, j), second(0, j)) || !equals(w(2, j), third(0, j)))
      return false;
  return !equals(w(0, 1), second(0, 1)) && !equals(w(2, 0), third(0, 2));
}

template <class Integer>
constexpr bool the_chapter_outputs_are_its_expressions() {
  const matrix<Integer, 3, 2> v({{1, 0}, {1, 2}, {2, 2}});
  const auto o = softmax(chapter_scores<Integer>() / root(2)) * v;
  const auto r = exp(surd<Integer>(Integer(1) / root(2)));
  // Row 1: (r + 1 + 2r) / (2r + 1) and (2 + 2r) / (2r + 1).
  return equals(o(0, 0), (3 * r + 1) / (2 * r + 1)) && equals(o(0, 1), (2 * r + 2) / (2 * r + 1)) &&
         equals(o(1, 0), o(1, 1));
}

template <class Integer>
constexpr bool a_masked_key_counts_for_nothing() {
  const matrix<Integer, 2, 3> d({{5, 1, 2}, {0, 7, 0}});
  const matrix<bool, 2, 3> mask({{true, false, true}, {false, true, false}});
  const matrix<Integer, 3, 2> v({{1, 10}, {1000, 1000}, {3, -4}});
  const auto w = softmax(d / root(3), mask);
  const auto o = w * v;
  const auto a = exp(surd<Integer>(Integer(5) / root(3)));
  const auto b = exp(surd<Integer>(Integer(2) / root(3)));
  return equals(w(0, 0), a / (a + b)) && equals(w(0, 1), Integer(0)) && equals(w(0, 2), b / (a + b)) &&
         equals(o(0, 0), (a + 3 * b) / (a + b)) && equals(o(0, 1), (10 * a + (-4) * b) / (a + b)) &&
         equals(w(1, 1), Integer(1)) && equals(w(1, 0), Integer(0)) && equals(o(1, 0), Integer(1000)) &&
         w.normaliser(0) == a + b &&
         equals(log_sum_exp(w, attest::log_base::e)(1, 0).sum, exp(surd<Integer>(Integer(7) / root(3))));
}

/// The scale is a rational number where d is a perfect square: e^(6/√4) = e^3, and over d = 1 the scores
/// themselves.
template <class Integer>
constexpr bool perfect_squares_scale_rationally() {
  const matrix<Integer, 1, 2> d({{6, 0}});
  const auto e3 = exp(surd<Integer>(3));
  const auto e6 = exp(surd<Integer>(6));
  return equals(softmax(d / root(4))(0, 0), e3 / (e3 + 1)) &&
         equals(softmax(d / root(1))(0, 0), e6 / (e6 + 1)) &&
         equals(softmax(d / root(9))(0, 1), softmax(matrix<Integer, 1, 2>({{4, 0}}) / root(4))(0, 1)) &&
         !equals(softmax(d / root(4))(0, 0), softmax(d / root(1))(0, 0));
}

/// A float scale is that float, exactly: 0.1 is not 1/10.
template <class Integer>
constexpr bool a_scale_of_its_own_is_taken_exactly() {
  using rational = basic_rational<Integer>;
  const matrix<Integer, 1, 2> d({{1, 0}});
  const auto by_float = softmax(d * surd<basic_dyadic<Integer>>(attest::exact_value<Integer>(0.1)));
  const auto by_tenth = softmax(d * surd<rational>(attest::ratio(Integer(1), Integer(10))));
  const auto by_half = softmax(d * surd<basic_dyadic<Integer>>(attest::exact_value<Integer>(0.5)));
  return !equals(by_float(0, 0), by_tenth(0, 0)) && equals(by_half(0, 0), softmax(d / root(4))(0, 0)) &&
         attest::compare(by_float(0, 0), by_tenth(0, 0)) == 1;
}

// --- random heads at run time ------------------------------------------------------------------------------

using rational = basic_rational<unbounded_integer>;

unbounded_integer random_entry(testing::random_source& random, unbounded_integer) {
  return unbounded_integer(random.between(-4, 4));
}
basic_dyadic<unbounded_integer> random_entry(testing::random_source& random,
                                             basic_dyadic<unbounded_integer>) {
  return attest::exact_value<unbounded_integer>(random.double_between(-30, 1));
}
rational random_entry(testing::random_source& random, rational) {
  return attest::ratio(unbounded_integer(random.between(-9, 9)), unbounded_integer(random.between(1, 7)));
}
template <class T>
matrix<T> random_matrix(testing::random_source& random, std::size_t rows, std::size_t columns) {
  matrix<T> m(rows, columns);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) m(i, j) = random_entry(random, T());
  return m;
}

template <class T>
std::string text_of(const matrix<T>& m) {
  std::string text;
  for (std::size_t i = 0; i < m.rows(); ++i)
    for (std::size_t j = 0; j < m.columns(); ++j)
      text += attest::to_text(m(i, j)) + (j + 1 == m.columns() ? "; " : ", ");
  return text;
}

/// The sum of a row of weights, which all have the row's normaliser below.
template <class T>
auto row_total(const attest::weights<T, dynamic, dynamic>& w, std::size_t i) {
  attest::exp_fraction<T, dynamic, dynamic> sum{attest::exp_sum<T, dynamic>(), w.normaliser(i)};
  for (std::size_t j = 0; j < w.columns(); ++j) {
    attest::exp_sum<T, dynamic> numerator;
    numerator.add(sum.numerator);
    numerator.add(w(i, j).numerator);
    sum = {numerator, w.normaliser(i)};
  }
  return sum;
}

template <class T>
void check_head(testing::random_source& random, std::size_t tq, std::size_t tk, std::size_t dk,
                std::size_t dv, bool self) {
  const auto q = random_matrix<T>(random, tq, dk);
  const auto k = random_matrix<T>(random, tk, dk);
  const auto v = random_matrix<T>(random, tk, dv);
  CAPTURE(dk, dv, self, text_of(q), text_of(k), text_of(v));
  const auto dots = scores(q, k);
  const auto s = dots / root(dk);
  const auto w = softmax(s);
  const auto o = w * v;
  REQUIRE(o.rows() == tq);
  REQUIRE(o.columns() == dv);

  // Each row sums to one; with exact weights also as fractions over a denominator of their own.
  for (std::size_t i = 0; i < tq; ++i) CHECK(equals(row_total(w, i), T(1)));
  if (tk == 2) CHECK(equals(w(0, 0) + w(0, 1), T(1)));

  // Adding a constant to a row of scores changes nothing.
  matrix<surd<T>> shifted = s;
  for (std::size_t i = 0; i < tq; ++i) {
    const surd<T> shift(random_entry(random, T()), random_entry(random, T()), dk);
    for (std::size_t j = 0; j < tk; ++j) shifted(i, j) = s(i, j) + shift;
  }
  const auto same = softmax(shifted);
  for (std::size_t i = 0; i < tq; ++i) {
    for (std::size_t j = 0; j < tk; ++j) CHECK(equals(same(i, j), w(i, j)));
    CHECK(equals((same * v)(i, 0), o(i, 0)));
  }

  // Permuting the keys with their values permutes the weights and leaves the outputs.
  matrix<T> turned_k(tk, dk);
  matrix<T> turned_v(tk, dv);
  for (std::size_t j = 0; j < tk; ++j) {
    for (std::size_t c = 0; c < dk; ++c) turned_k((j + 1) % tk, c) = k(j, c);
    for (std::size_t c = 0; c < dv; ++c) turned_v((j + 1) % tk, c) = v(j, c);
  }
  const auto turned = softmax(scores(q, turned_k) / root(dk));
  for (std::size_t j = 0; j < tk; ++j) CHECK(equals(turned(tq - 1, (j + 1) % tk), w(tq - 1, j)));
  for (std::size_t c = 0; c < dv; ++c) CHECK(equals((turned * turned_v)(tq - 1, c), o(tq - 1, c)));

  // Outputs are linear in V: A(V + U) = AV + AU, and a row added to every value row is added to every output.
  const auto u = random_matrix<T>(random, tk, dv);
  const auto sum = w * (v + u);
  const auto other = w * u;
  CHECK(equals(sum(0, dv - 1), o(0, dv - 1) + other(0, dv - 1)));
  const T constant = random_entry(random, T());
  matrix<T> everywhere(tk, dv);
  for (std::size_t j = 0; j < tk; ++j)
    for (std::size_t c = 0; c < dv; ++c) everywhere(j, c) = constant;
  CHECK(equals((w * (v + everywhere))(tq - 1, 0), o(tq - 1, 0) + attest::fraction_of(constant)));

  // A masked key is as good as one that is not there.
  if (tk > 1) {
    matrix<bool> mask(tq, tk);
    matrix<T> fewer_k(tk - 1, dk);
    matrix<T> fewer_v(tk - 1, dv);
    const auto hidden = static_cast<std::size_t>(random.between(0, static_cast<long>(tk) - 1));
    for (std::size_t j = 0; j < tk; ++j) {
      for (std::size_t i = 0; i < tq; ++i) mask(i, j) = j != hidden;
      if (j == hidden) continue;
      for (std::size_t c = 0; c < dk; ++c) fewer_k(j < hidden ? j : j - 1, c) = k(j, c);
      for (std::size_t c = 0; c < dv; ++c) fewer_v(j < hidden ? j : j - 1, c) = v(j, c);
    }
    const auto masked = softmax(s, mask);
    const auto fewer = softmax(scores(q, fewer_k) / root(dk));
    for (std::size_t c = 0; c < dv; ++c) CHECK(equals((masked * v)(0, c), (fewer * fewer_v)(0, c)));
    for (std::size_t j = 0; j < tk; ++j)
      if (j == hidden)
        CHECK(equals(masked(0, j), T(0)));
      else
        CHECK(equals(masked(0, j), fewer(0, j < hidden ? j : j - 1)));
    CHECK(equals(log_sum_exp(masked, attest::log_base::two)(0, 0).sum, fewer.normaliser(0)));
  }

  // Values against MPFR, from the scores alone: 600 bits are far beyond the width of the enclosures.
  constexpr mpfr_prec_t precision = 600;
  for (std::size_t i = 0; i < tq; ++i) {
    std::vector<reference::real> exponentials;
    reference::real total(precision);
    for (std::size_t j = 0; j < tk; ++j) {
      exponentials.push_back(exp(reference::over_root(reference::value_of(dots(i, j), precision), dk)));
      total = total + exponentials.back();
    }
    const auto weight_row = attest::evaluate_row<attest::growing>(w, i, 200);
    const auto output_row = attest::evaluate_row<attest::growing>(o, i, 200);
    const auto logs = log_sum_exp(w, attest::log_base::e);
    for (std::size_t j = 0; j < tk; ++j) {
      const reference::real expected = exponentials[j] / total;
      CHECK(contains(weight_row[j], expected));
      CHECK(contains(attest::evaluate<attest::growing>(w(i, j), 200), expected));
      CHECK(relative_width(weight_row[j], expected) <= -180);
    }
    for (std::size_t c = 0; c < dv; ++c) {
      reference::real expected(precision);
      for (std::size_t j = 0; j < tk; ++j)
        expected = expected + exponentials[j] * reference::value_of(v(j, c), precision);
      expected = expected / total;
      CHECK(contains(output_row[c], expected));
      CHECK(contains(attest::evaluate<attest::growing>(o(i, c), 200), expected));
    }
    CHECK(contains(attest::evaluate<attest::growing>(logs(i, 0), 200), log(total)));
  }
}

}  // namespace

TEST_CASE("the chapter's weights are its three symbolic rows") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(the_chapter_rows_are_its_symbolic_rows);
}

TEST_CASE("the chapter's first outputs are its expressions") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(the_chapter_outputs_are_its_expressions);
}

TEST_CASE("a masked key has weight zero and adds nothing to outputs and log-sum-exp") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(a_masked_key_counts_for_nothing);
}

TEST_CASE("a perfect square scales rationally") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(perfect_squares_scale_rationally);
}

TEST_CASE("a float scale is taken exactly") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(a_scale_of_its_own_is_taken_exactly);
}

TEST_CASE("a row that sees no key, and shapes that do not fit, are errors") {
  const matrix<surd<attest::integer>, 2, 2> s = matrix<attest::integer, 2, 2>({{1, 2}, {3, 4}}) / root(2);
  CHECK_THROWS_AS(softmax(s, matrix<bool, 2, 2>({{true, false}, {false, false}})), std::domain_error);
  CHECK_NOTHROW(softmax(s, matrix<bool, 2, 2>({{true, false}, {false, true}})));
  const auto w = softmax(matrix<attest::integer>(2, 3) / root(2));
  CHECK_THROWS_AS(w * matrix<attest::integer>(2, 3), std::domain_error);
  CHECK_THROWS_AS(softmax(matrix<attest::integer>(2, 3) / root(2), matrix<bool>(2, 2)), std::domain_error);
  CHECK_THROWS_AS(w(0, 3), std::out_of_range);
  CHECK_THROWS_AS(w(2, 0), std::out_of_range);
  CHECK_THROWS_AS(log_sum_exp(w, attest::log_base::e)(0, 1), std::out_of_range);
}

TEST_CASE("integer heads of every d from 1 to 20 keep the identities and MPFR's values") {
  testing::random_source random(15'021);
  for (std::size_t d = 1; d <= 20; ++d) {
    check_head<unbounded_integer>(random, 2, 3, d, 1 + d % 3, false);
    check_head<unbounded_integer>(random, 1, 1 + d % 5, d, 2, false);
    check_head<unbounded_integer>(random, 3, 2, d, d, true);
  }
}

TEST_CASE("float heads of every d from 1 to 20 keep the identities and MPFR's values") {
  testing::random_source random(15'022);
  for (std::size_t d = 1; d <= 20; ++d)
    check_head<basic_dyadic<unbounded_integer>>(random, 1 + d % 2, 2 + d % 2, d, 1 + d % 2, false);
}

TEST_CASE("rational heads of every d from 1 to 20 keep the identities and MPFR's values") {
  testing::random_source random(15'023);
  for (std::size_t d = 1; d <= 20; ++d)
    check_head<rational>(random, 1 + d % 2, 2 + d % 2, d, 1 + d % 2, false);
}

TEST_CASE("self-attention is cross-attention of a sequence with itself") {
  testing::random_source random(15'024);
  const auto x = random_matrix<unbounded_integer>(random, 3, 4);
  const auto wq = random_matrix<unbounded_integer>(random, 4, 2);
  const auto wk = random_matrix<unbounded_integer>(random, 4, 2);
  const auto wv = random_matrix<unbounded_integer>(random, 4, 5);
  const auto self = projections(x, wq, wk, wv);
  const auto cross = projections(x, x, wq, wk, wv);
  const auto a = softmax(scores(self.queries, self.keys) / root(2)) * self.values;
  const auto b = softmax(scores(cross.queries, cross.keys) / root(2)) * cross.values;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t c = 0; c < 5; ++c) CHECK(equals(a(i, c), b(i, c)));
}

TEST_CASE("every row of every 2x2 head over -1, 0 and 1") {
  // A row of a head depends on its own query alone: 9 queries, 81 pairs of keys, 81 pairs of values are all
  // heads.
  using integer = attest::integer;
  const auto digit = [](long n, int place) {
    for (; place > 0; --place) n /= 3;
    return n % 3 - 1;
  };
  // The weights depend on the difference of the two dot products, -4 to 4, alone: w = 1/(1 + e^(-δ/√2)).
  std::map<long, std::uint64_t> expected;
  for (long delta = -4; delta <= 4; ++delta) {
    const reference::real one(1, 400);
    const reference::real weight = one / (one + exp(reference::over_root(reference::real(-delta, 400), 2)));
    expected[delta] = std::bit_cast<std::uint64_t>(mpfr_get_d(weight.get(), MPFR_RNDN));
  }
  const auto one = attest::constant(surd<integer>(1));
  long failures = 0;
  long rows = 0;
  for (long query = 0; query < 9; ++query)
    for (long keys = 0; keys < 81; ++keys) {
      const matrix<integer, 1, 2> q({{digit(query, 0), digit(query, 1)}});
      const matrix<integer, 2, 2> k({{digit(keys, 0), digit(keys, 1)}, {digit(keys, 2), digit(keys, 3)}});
      const long first = digit(query, 0) * digit(keys, 0) + digit(query, 1) * digit(keys, 1);
      const long second = digit(query, 0) * digit(keys, 2) + digit(query, 1) * digit(keys, 3);
      const auto w = softmax(scores(q, k) / root(2));
      const auto ratio = exp(surd<integer>(integer(second - first) / root(2)));  // e^(S_2 - S_1)
      const auto w0 = w(0, 0);
      const auto w1 = w(0, 1);
      CAPTURE(query, keys);
      CHECK(attest::compare(w0, w1) == (first > second) - (first < second));
      CHECK(equals(w0, w1) == (first == second));
      CHECK(equals(w0, one / (one + ratio)));
      CHECK(equals(w0 + w1, integer(1)));
      CHECK(attest::round_correctly(w0, attest::formats::binary64) == expected[first - second]);
      CHECK(attest::round_correctly(w1, attest::formats::binary64) == expected[second - first]);
      for (long values = 0; values < 81; ++values) {
        ++rows;
        const matrix<integer, 2, 2> v(
            {{digit(values, 0), digit(values, 1)}, {digit(values, 2), digit(values, 3)}});
        const auto o = w * v;
        for (int c = 0; c < 2; ++c) {
          const long a = digit(values, c);
          const long b = digit(values, 2 + c);
          const auto output = o(0, static_cast<std::size_t>(c));
          // O = (a + b e^(S_2 - S_1)) / (1 + e^(S_2 - S_1)), between a and b, and at an end only where they
          // are equal.
          const bool identity = equals(
              output, (constant(surd<integer>(integer(a))) + constant(surd<integer>(integer(b))) * ratio) /
                          (one + ratio));
          const bool ends = attest::compare(output, integer(a)) == (b > a) - (b < a) &&
                            attest::compare(output, integer(b)) == (a > b) - (a < b);
          // A weight and its complement: O = a where a = b, and half way exactly where the scores are equal.
          const auto middle = attest::ratio(a + b, 2);
          const bool half = (attest::compare(output, middle) == 0) == (first == second || a == b);
          if (!(identity && ends && half)) {
            ++failures;
            CAPTURE(values, c);
            CHECK(identity);
            CHECK(ends);
            CHECK(half);
          }
        }
      }
    }
  CHECK(failures == 0);
  CHECK(rows == 59'049);
}

TEST_CASE("scores without a scale are weighted as they are") {
  constexpr attest::matrix scores({{0, 1}, {1, 0}});
  constexpr auto plain = attest::softmax(scores);
  constexpr auto scaled_by_one = attest::softmax(scores / attest::root(1));
  CHECK(attest::equals(plain(0, 1), scaled_by_one(0, 1)));
  CHECK(attest::equals(plain(1, 1), scaled_by_one(1, 1)));
  CHECK_FALSE(attest::equals(plain(0, 1), attest::softmax(scores / attest::root(2))(0, 1)));
  constexpr auto masked = attest::softmax(scores, attest::matrix({{true, false}, {true, true}}));
  CHECK(attest::equals(masked(0, 0), attest::ratio(1, 1)));
  CHECK(attest::equals(masked(1, 0), plain(1, 0)));
}
