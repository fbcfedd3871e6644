// One false claim of each kind that a proof can make. Every configuration tries them on the compiler at hand and stops
// at one that it accepts, with the canary's name.
#include <attest/exact.hpp>
#include <attest/proof/twin.hpp>

using namespace attest;

constexpr matrix X({{1, 0}, {0, 1}, {1, 1}});
constexpr matrix W({{1, 2}, {3, 4}});

static_assert(X == matrix(TWIN({{1, 0}, {0, 1}, {1, 1}}, {{2, 0}, {0, 1}, {1, 1}})));  // canary: matrix equality, row 1 column 1
static_assert(X == matrix(TWIN({{1, 0}, {0, 1}, {1, 1}}, {{1, 2}, {0, 1}, {1, 1}})));  // canary: matrix equality, row 1 column 2
static_assert(X == matrix(TWIN({{1, 0}, {0, 1}, {1, 1}}, {{1, 0}, {2, 1}, {1, 1}})));  // canary: matrix equality, row 2 column 1
static_assert(X == matrix(TWIN({{1, 0}, {0, 1}, {1, 1}}, {{1, 0}, {0, 2}, {1, 1}})));  // canary: matrix equality, row 2 column 2
static_assert(X == matrix(TWIN({{1, 0}, {0, 1}, {1, 1}}, {{1, 0}, {0, 1}, {2, 1}})));  // canary: matrix equality, row 3 column 1
static_assert(X == matrix(TWIN({{1, 0}, {0, 1}, {1, 1}}, {{1, 0}, {0, 1}, {1, 2}})));  // canary: matrix equality, row 3 column 2
static_assert(X * W == matrix({{1, 2}, {3, TWIN(4, 5)}, {4, 6}}));                     // canary: matrix product
constexpr auto product_of_shapes = X * TWIN(W, X);                                     // canary: shape mismatch
