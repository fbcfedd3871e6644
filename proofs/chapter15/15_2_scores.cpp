// 15.2 Compare every receiving row with every contributing row.
#include "head.hpp"

namespace chapter15 {

// ---- D = QKᵀ, three queries by three keys: [3, 2] @ [2, 3]
static_assert(exactly<D, "[1, 0, 1]"
                         "[1, 1, 2]"
                         "[2, 1, 3]">);
static_assert(shape<D, 3, 3>);
constexpr auto K_transposed = transpose(K);
static_assert(shape<K_transposed, 2, 3>);

// ---- Worked: query 3 with key 2, 1×0 + 1×1 = 1
constexpr auto D32_terms = product_terms(Q, 2, K_transposed, 1);
constexpr auto D32 = D(2, 1);
static_assert(exactly<D32_terms, "0 1">);
static_assert(exactly<D32, "1">);

// ---- No table of probabilities: the rows do not sum to one
constexpr auto D_row_sums = row_sums(D);
static_assert(exactly<D_row_sums, "2 4 6">);

// ---- Position 3 scores 3 with itself and 2 with position 1
constexpr auto D33 = D(2, 2);
constexpr auto D31 = D(2, 0);
static_assert(exactly<D33, "3">);
static_assert(exactly<D31, "2">);

// Q * K, without the transpose, does not compile: refuted/chapter15/15_2_scores.cpp.

}  // namespace chapter15
