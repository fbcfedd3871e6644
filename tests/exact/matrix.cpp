#include <attest/exact/projections.hpp>
#include <attest/exact/scores.hpp>

#include "catch.hpp"
#include "support/both.hpp"
#include "support/random.hpp"

#include <vector>

// Matrices: products of any extents, fixed and dynamic alike, sums, differences, transposes, row sums, column
// extremes, equality; exact values of mixed kinds; errors of shape and index; the projections and scores of a
// head.

using attest::basic_dyadic;
using attest::basic_rational;
using attest::dynamic;
using attest::matrix;

namespace {

template <class Integer>
constexpr bool products_by_hand() {
  const matrix<Integer, 2, 3> a({{1, 2, 3}, {4, 5, 6}});
  const matrix<Integer, 3, 2> b({{7, 8}, {9, 10}, {11, 12}});
  const matrix<Integer, 2, 2> product({{7 + 18 + 33, 8 + 20 + 36}, {28 + 45 + 66, 32 + 50 + 72}});
  const matrix<Integer, 1, 3> row({{1, -1, 2}});
  const matrix<Integer, 3, 1> column({{5}, {6}, {7}});
  const matrix<Integer, 1, 1> inner({{5 - 6 + 14}});
  const matrix<Integer, 3, 3> outer({{5, -5, 10}, {6, -6, 12}, {7, -7, 14}});
  return a * b == product && row * column == inner && column * row == outer &&
         !(a * b == matrix<Integer, 2, 2>({{58, 64}, {139, 155}}));
}

template <class Integer>
constexpr bool sums_differences_and_transposes() {
  const matrix<Integer, 2, 3> a({{1, 2, 3}, {4, 5, 6}});
  const matrix<Integer, 2, 3> b({{-1, 0, 1}, {2, -2, 10}});
  return a + b == matrix<Integer, 2, 3>({{0, 2, 4}, {6, 3, 16}}) &&
         a - b == matrix<Integer, 2, 3>({{2, 2, 2}, {2, 7, -4}}) &&
         transpose(a) == matrix<Integer, 3, 2>({{1, 4}, {2, 5}, {3, 6}}) && transpose(transpose(a)) == a;
}

template <class Integer>
constexpr bool terms_of_a_dot_product_are_shown_in_order() {
  const matrix<Integer, 2, 3> a({{1, 2, 3}, {4, 5, 6}});
  const matrix<Integer, 3, 2> b({{7, 8}, {9, -10}, {11, 12}});
  return product_terms(a, 1, b, 1) == matrix<Integer, 1, 3>({{32, -50, 72}}) &&
         row_sums(product_terms(a, 1, b, 1))(0, 0) == (a * b)(1, 1);
}

template <class Integer>
constexpr bool row_sums_and_column_extremes() {
  const matrix<Integer, 3, 2> m({{4, -1}, {-5, 8}, {0, 8}});
  return row_sums(m) == matrix<Integer, 3, 1>({{3}, {3}, {8}}) &&
         column_minima(m) == matrix<Integer, 1, 2>({{-5, -1}}) &&
         column_maxima(m) == matrix<Integer, 1, 2>({{4, 8}});
}

template <class Integer>
constexpr bool a_row_repeats() {
  const matrix<Integer, 1, 2> row({{2, -1}});
  return attest::repeat_row<3>(row) == matrix<Integer, 3, 2>({{2, -1}, {2, -1}, {2, -1}}) &&
         attest::repeat_row<1>(row) == row;
}

template <class Integer>
constexpr bool kinds_mix_into_the_wider_one() {
  using dyadic = basic_dyadic<Integer>;
  using rational = basic_rational<Integer>;
  const matrix<Integer, 1, 2> n({{2, 3}});
  const matrix<dyadic, 2, 1> x({{0.5}, {0.25}});
  const matrix<rational, 2, 1> q(
      {{attest::ratio(Integer(1), Integer(3))}, {attest::ratio(Integer(1), Integer(5))}});
  const auto a = n * x;
  const auto b = n * q;
  const auto c = transpose(x) * q;
  const auto sum = x + q;
  static_assert(std::is_same_v<typename std::remove_cvref_t<decltype(a)>::value_type, dyadic>);
  static_assert(std::is_same_v<typename std::remove_cvref_t<decltype(b)>::value_type, rational>);
  static_assert(std::is_same_v<typename std::remove_cvref_t<decltype(c)>::value_type, rational>);
  // 2/2 + 3/4 = 7/4;  2/3 + 3/5 = 19/15;  1/6 + 1/20 = 13/60;  1/2 + 1/3 = 5/6;  1/4 + 1/5 = 9/20
  return a(0, 0) == dyadic(Integer(7), -2) && b(0, 0) == attest::ratio(Integer(19), Integer(15)) &&
         c(0, 0) == attest::ratio(Integer(13), Integer(60)) &&
         sum(0, 0) == attest::ratio(Integer(5), Integer(6)) &&
         sum(1, 0) == attest::ratio(Integer(9), Integer(20)) &&
         // equality across kinds is equality of numbers
         matrix<Integer, 1, 1>({{2}}) == matrix<dyadic, 1, 1>({{2.0}}) &&
         matrix<dyadic, 1, 1>({{0.5}}) == attest::exact_cast<rational>(matrix<dyadic, 1, 1>({{0.5}})) &&
         !(matrix<Integer, 1, 1>({{2}}) == matrix<dyadic, 1, 1>({{2.5}}));
}

/// Changing any one entry makes two matrices unequal: compilers have been seen to compare the first row
/// alone.
template <class Integer>
constexpr bool equality_looks_at_every_entry() {
  const matrix<Integer, 3, 2> a({{1, 2}, {3, 4}, {5, 6}});
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 2; ++j) {
      matrix<Integer, 3, 2> b = a;
      b(i, j) = Integer(9);
      if (a == b || b == a || !(a != b)) return false;
    }
  return a == a;
}

template <class Integer>
constexpr bool a_head_projects_and_scores() {
  const matrix<Integer, 2, 3> x({{1, 0, 2}, {0, 1, -1}});
  const matrix<Integer, 3, 3> y({{1, 1, 0}, {0, 2, 1}, {3, 0, 0}});
  const matrix<Integer, 3, 2> wq({{1, 0}, {0, 1}, {1, 1}});
  const matrix<Integer, 3, 2> wk({{0, 1}, {1, 0}, {1, 2}});
  const matrix<Integer, 3, 4> wv({{1, 0, 0, 1}, {0, 1, 0, 1}, {0, 0, 1, 1}});
  const auto head = projections(x, y, wq, wk, wv);
  const auto self = projections(y, wq, wk, wv);
  // Q rows: [1 + 2, 2] and [-1, 1 - 1];  K rows: [1, 1], [2 + 1, 2], [0, 3].
  const auto dots = scores(head.queries, head.keys);
  return head.queries == matrix<Integer, 2, 2>({{3, 2}, {-1, 0}}) &&
         head.keys == matrix<Integer, 3, 2>({{1, 1}, {3, 2}, {0, 3}}) &&
         head.values == matrix<Integer, 3, 4>({{1, 1, 0, 2}, {0, 2, 1, 3}, {3, 0, 0, 3}}) &&
         self.queries == y * wq && self.keys == head.keys && self.values == head.values &&
         dots == matrix<Integer, 2, 3>({{3 + 2, 9 + 4, 6}, {-1, -3, 0}});
}

matrix<attest::integer> filled(std::size_t rows, std::size_t columns, testing::random_source& random) {
  matrix<attest::integer> m(rows, columns);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j)
      m(i, j) = attest::integer(random.between(-1'000'000, 1'000'000));
  return m;
}

template <std::size_t R, std::size_t C>
matrix<attest::integer, R, C> fixed(const matrix<attest::integer>& m) {
  matrix<attest::integer, R, C> result;
  for (std::size_t i = 0; i < R; ++i)
    for (std::size_t j = 0; j < C; ++j) result(i, j) = m(i, j);
  return result;
}

template <std::size_t R, std::size_t K, std::size_t C>
void check_products(testing::random_source& random) {
  CAPTURE(R, K, C);
  const auto a = filled(R, K, random);
  const auto b = filled(K, C, random);
  const auto product = a * b;
  const auto fixed_a = fixed<R, K>(a);
  const auto fixed_b = fixed<K, C>(b);
  CHECK(fixed<R, C>(product) == fixed_a * fixed_b);
  for (std::size_t i = 0; i < R; ++i)
    for (std::size_t j = 0; j < C; ++j) {
      long long expected = 0;  // at most 8 * 10^12
      for (std::size_t k = 0; k < K; ++k)
        expected += static_cast<long long>(a(i, k)) * static_cast<long long>(b(k, j));
      CHECK(product(i, j) == attest::integer(expected));
      CHECK(row_sums(product_terms(a, i, b, j))(0, 0) == attest::integer(expected));
    }
  CHECK(transpose(product) == transpose(b) * transpose(a));
  CHECK(fixed<C, 1>(row_sums(transpose(product))) == row_sums(transpose(fixed_a * fixed_b)));
  CHECK(fixed<1, C>(column_minima(product)) == column_minima(fixed_a * fixed_b));
  CHECK(fixed<1, C>(column_maxima(product)) == column_maxima(fixed_a * fixed_b));
  CHECK(fixed<R, K>(a + a) == fixed_a + fixed_a);
  CHECK(fixed<R, K>(a - filled(R, K, random)) != fixed_a);
}

}  // namespace

TEST_CASE("matrix products are those worked by hand") { CHECK_IN_COMPILER_AND_AT_RUN_TIME(products_by_hand); }

TEST_CASE("sums, differences and transposes are entry by entry") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(sums_differences_and_transposes);
}

TEST_CASE("the terms of one dot product are shown in order and sum to the entry") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(terms_of_a_dot_product_are_shown_in_order);
}

TEST_CASE("row sums, column minima and maxima") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(row_sums_and_column_extremes);
}

TEST_CASE("a row is repeated") { CHECK_IN_COMPILER_AND_AT_RUN_TIME(a_row_repeats); }

TEST_CASE("matrices of different kinds combine into the wider kind") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(kinds_mix_into_the_wider_one);
}

TEST_CASE("equality looks at every entry") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(equality_looks_at_every_entry);
}

TEST_CASE("a head's projections and scores are those worked by hand") {
  CHECK_IN_COMPILER_AND_AT_RUN_TIME(a_head_projects_and_scores);
}

TEST_CASE("literals are taken exactly: integers, floats, rationals, masks") {
  constexpr matrix integers({{1, -2}});
  constexpr matrix floats({{0.1, -0.0}});
  constexpr matrix singles({{0.1f}});
  constexpr matrix rationals({{attest::ratio(1, 3)}, {attest::ratio(2, 3)}});
  constexpr matrix mask({{true, false, true}});
  static_assert(std::is_same_v<decltype(integers), const matrix<attest::integer, 1, 2>>);
  static_assert(std::is_same_v<decltype(floats), const matrix<attest::dyadic, 1, 2>>);
  static_assert(std::is_same_v<decltype(singles), const matrix<attest::dyadic, 1, 1>>);
  static_assert(std::is_same_v<decltype(rationals), const matrix<attest::rational, 2, 1>>);
  static_assert(std::is_same_v<decltype(mask), const matrix<bool, 1, 3>>);
  static_assert(integers(0, 1) == attest::integer(-2));
  static_assert(floats(0, 0) == attest::exact_value(0.1) && floats(0, 1) == attest::dyadic(0));
  static_assert(singles(0, 0) == attest::exact_value(0.1f) && !(singles(0, 0) == attest::exact_value(0.1)));
  static_assert(rationals(1, 0) == attest::ratio(2, 3));
  static_assert(mask(0, 0) && !mask(0, 1) && mask(0, 2));
  CHECK(mask(0, 2));
}

TEST_CASE("fixed and dynamic products of many extents agree with 64-bit arithmetic") {
  testing::random_source random(15'005);
  check_products<1, 1, 1>(random);
  check_products<1, 7, 1>(random);
  check_products<7, 1, 7>(random);
  check_products<1, 5, 3>(random);
  check_products<3, 5, 1>(random);
  check_products<2, 3, 4>(random);
  check_products<8, 8, 8>(random);
  check_products<4, 1, 1>(random);
  check_products<1, 1, 6>(random);
}

TEST_CASE("shapes that do not fit are errors at run time") {
  const matrix<attest::integer> a(2, 3);
  const matrix<attest::integer> b(2, 3);
  CHECK_THROWS_AS(a * b, std::domain_error);
  CHECK_THROWS_AS(a + matrix<attest::integer>(3, 2), std::domain_error);
  CHECK_THROWS_AS(a - matrix<attest::integer>(2, 2), std::domain_error);
  CHECK_THROWS_AS(product_terms(a, 0, b, 0), std::domain_error);
  CHECK_THROWS_AS((matrix<attest::integer, 2, 2>(2, 3)), std::domain_error);
  CHECK_NOTHROW(a * transpose(b));
  CHECK_FALSE(a == matrix<attest::integer>(3, 2));
  CHECK_FALSE(a == matrix<attest::integer>(2, 4));
  CHECK(a == b);
}

TEST_CASE("an index outside the matrix or list is an error, also where flat storage has an element") {
  const matrix<attest::integer, 2, 2> m({{1, 2}, {3, 4}});
  CHECK_THROWS_AS(m(0, 2), std::out_of_range);  // flat index 2 exists
  CHECK_THROWS_AS(m(2, 0), std::out_of_range);
  const matrix<attest::integer> grown(2, 2);
  CHECK_THROWS_AS(grown(0, 2), std::out_of_range);
  CHECK_THROWS_AS(grown(2, 0), std::out_of_range);
  CHECK_THROWS_AS(matrix<attest::integer>()(0, 0), std::out_of_range);
}

TEST_CASE("lists, fixed and growing, keep their order when an element is erased") {
  const auto check = [](auto elements) {
    for (int i = 0; i < 4; ++i) elements.push_back(10 * i);
    elements.erase(1);
    REQUIRE(elements.size() == 3);
    CHECK(elements[0] == 0);
    CHECK(elements[1] == 20);
    CHECK(elements[2] == 30);
    CHECK_THROWS_AS(elements[3], std::out_of_range);
    elements.erase(2);
    elements.erase(0);
    REQUIRE(elements.size() == 1);
    CHECK(elements[0] == 20);
  };
  check(attest::list<int, 4>());
  check(attest::list<int, dynamic>());
  attest::list<int, 1> one;
  one.push_back(5);
  CHECK_THROWS_AS(one.push_back(6), std::out_of_range);
}

TEST_CASE("run-time masks hold and compare booleans") {
  matrix<bool> mask(2, 2);
  CHECK_FALSE(mask(1, 1));
  mask(1, 1) = true;
  CHECK(mask(1, 1));
  matrix<bool> other(2, 2);
  CHECK_FALSE(mask == other);
  other(1, 1) = true;
  CHECK(mask == other);
}

TEST_CASE("a shape whose number of elements overflows is an error") {
  CHECK_THROWS_AS((attest::matrix<attest::dyadic>(std::size_t{1} << 63, 2)), std::domain_error);
}
