// Cases: with one matrix for queries and keys the scores are symmetric, whatever X and the matrix; with two they are not.
// A sharing of values and keys makes V equal K.
#include "catch.hpp"

#include <attest/exact.hpp>

#include "support/random.hpp"

namespace {

using namespace attest;

using real = basic_dyadic<unbounded_integer>;

matrix<real> random_matrix(testing::random_source& random, std::size_t rows, std::size_t columns) {
  matrix<real> m(rows, columns);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j)
      m(i, j) = exact_value<unbounded_integer>(random.double_between(-20, 20));
  return m;
}

}  // namespace

TEST_CASE("one projection for queries and keys makes the scores symmetric, exactly") {
  testing::random_source random(1);
  for (int round = 0; round < 50; ++round) {
    const auto T = static_cast<std::size_t>(random.between(1, 9));
    const auto width = static_cast<std::size_t>(random.between(1, 9));
    const auto head_size = static_cast<std::size_t>(random.between(1, 6));
    const matrix<real> X = random_matrix(random, T, width);
    const matrix<real> W = random_matrix(random, width, head_size);
    const matrix<real> W_v = random_matrix(random, width, head_size);
    INFO("round " << round << ": T " << T << ", C " << width << ", hs " << head_size);
    const auto shared = projections(X, W, W, W);
    const auto D = scores(shared.queries, shared.keys);
    CHECK(D.rows() == T);
    CHECK(D == transpose(D));
    CHECK(shared.values == shared.keys);
    const auto apart = projections(X, W, W_v, W);
    const auto E = scores(apart.queries, apart.keys);
    if (T > 1 && head_size > 1 && width > 1) CHECK_FALSE(E == transpose(E));
    CHECK_FALSE(apart.values == apart.keys);
  }
}
