// Cases: each operation acts on each example alone; claims read a batch by rows; examples of other shapes are
// refused; a whole head in a batch is the head of each example, and depends on that example alone.
#include "catch.hpp"

#include <attest/proof.hpp>

namespace {

using namespace attest;

constexpr matrix first({{1, 0}, {0, 1}, {1, 1}});
constexpr matrix second({{2, -1}, {0, 3}, {1, 0}});
constexpr matrix WQ({{1, 0}, {0, 1}});
constexpr matrix WK({{1, 1}, {0, 1}});
constexpr matrix WV({{1, 0}, {1, 2}});

constexpr batch X({first, second});
constexpr batch swapped({second, first});

// ---- Arithmetic, example by example
constexpr auto Q = X * WQ;
constexpr auto K = X * WK;
constexpr auto D = Q * transpose(K);
constexpr auto sum = X + X;
constexpr auto difference = X - swapped;
constexpr auto sums = row_sums(X);
static_assert(shape<X, 2, 3, 2>);
static_assert(!shape<X, 6, 2>);
static_assert(!shape<X, 3, 2, 2>);
static_assert(shape<D, 2, 3, 3>);
static_assert(exactly<K, "[[[1, 1], [0, 1], [1, 2]], [[2, 1], [0, 3], [1, 1]]]">);
static_assert(exactly<D, "[[[1, 0, 1], [1, 1, 2], [2, 1, 3]], [[3, -3, 1], [3, 9, 3], [2, 0, 1]]]">);
static_assert(exactly<sum, "[[[2, 0], [0, 2], [2, 2]], [[4, -2], [0, 6], [2, 0]]]">);
static_assert(exactly<difference, "[[[-1, 1], [0, -2], [0, 1]], [[1, -1], [0, 2], [0, -1]]]">);
static_assert(exactly<sums, "[[1], [1], [2], [1], [3], [1]]">);
static_assert(Q == X);
static_assert(!(X == swapped));

// ---- Each example of a head is what it is alone
constexpr auto A = softmax(D / root(2));
constexpr auto O = A * (X * WV);
constexpr auto of_first = A[0];
constexpr auto O_of_second = O[1];
constexpr auto A_alone = softmax(first * WQ * transpose(first * WK) / root(2));
constexpr auto second_alone = softmax(second * WQ * transpose(second * WK) / root(2)) * (second * WV);
static_assert(shape<A, 2, 3, 3>);
static_assert(shape<O, 2, 3, 2>);
static_assert(equal<of_first, A_alone>);
static_assert(equal<O_of_second, second_alone>);
static_assert(!equal<A, A_alone>);  // another shape
static_assert(
    decimal<
        A,
        "[0.401112, 0.197776, 0.401112], [0.248255, 0.248255, 0.503490], [0.283995, 0.140029, 0.575975]"
        "[0.795237, 0.011427, 0.193335], [0.013968, 0.972064, 0.013968], [0.575975, 0.140029, 0.283995]">);
constexpr auto weight_sums = row_sums(A);
static_assert(exactly<weight_sums, "1 1 1 1 1 1">);

// ---- One mask for all
constexpr matrix causal({{true, false, false}, {true, true, false}, {true, true, true}});
constexpr auto masked = softmax(D / root(2), causal);
constexpr auto masked_sums = row_sums(masked);
constexpr auto masked_top = masked(3, 0);
static_assert(exactly<masked_sums, "1 1 1 1 1 1">);
static_assert(exactly<masked_top, "1">);

// ---- Projections take a batch as they take a matrix
constexpr auto head_of_batch = projections(X, WQ, WK, WV);
static_assert(head_of_batch.keys == K);

}  // namespace

TEST_CASE("examples of a batch with run-time shapes must agree") {
  const matrix<unbounded_integer> a(2, 3);
  const matrix<unbounded_integer> b(3, 2);
  CHECK_THROWS_AS(batch({a, b}), std::domain_error);
  CHECK(batch({a, a}).rows() == 4);
  CHECK_THROWS_AS(batch({a, a})[2], std::out_of_range);
  CHECK_THROWS_AS(batch({a, a})(4, 0), std::out_of_range);
}

TEST_CASE("a batch in the compiler and at run time") {
  const auto at_run_time = batch({first, second}) * WK;
  CHECK(at_run_time == K);
  for (std::size_t i = 0; i < K.rows(); ++i)
    for (std::size_t j = 0; j < K.columns(); ++j) CHECK(K(i, j) == K[i / 3](i % 3, j));
}
