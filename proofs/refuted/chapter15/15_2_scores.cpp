// The claims of chapter15/15_2_scores.cpp, each beside a false twin: one number changed at a time.
#include "../../chapter15/head.hpp"

#include <attest/proof/twin.hpp>

namespace chapter15 {

// ---- D = QKᵀ, three queries by three keys: [3, 2] @ [2, 3]
static_assert(exactly<D, TWIN("[1, 0, 1]", "[2, 0, 1]")
                         "[1, 1, 2]"
                         "[2, 1, 3]">);
static_assert(exactly<D, TWIN("[1, 0, 1]", "[1, 1, 1]")
                         "[1, 1, 2]"
                         "[2, 1, 3]">);
static_assert(exactly<D, TWIN("[1, 0, 1]", "[1, 0, 2]")
                         "[1, 1, 2]"
                         "[2, 1, 3]">);
static_assert(exactly<D, "[1, 0, 1]"
                         TWIN("[1, 1, 2]", "[2, 1, 2]")
                         "[2, 1, 3]">);
static_assert(exactly<D, "[1, 0, 1]"
                         TWIN("[1, 1, 2]", "[1, 2, 2]")
                         "[2, 1, 3]">);
static_assert(exactly<D, "[1, 0, 1]"
                         TWIN("[1, 1, 2]", "[1, 1, 3]")
                         "[2, 1, 3]">);
static_assert(exactly<D, "[1, 0, 1]"
                         "[1, 1, 2]"
                         TWIN("[2, 1, 3]", "[3, 1, 3]")>);
static_assert(exactly<D, "[1, 0, 1]"
                         "[1, 1, 2]"
                         TWIN("[2, 1, 3]", "[2, 2, 3]")>);
static_assert(exactly<D, "[1, 0, 1]"
                         "[1, 1, 2]"
                         TWIN("[2, 1, 3]", "[2, 1, 4]")>);
static_assert(shape<D, TWIN(3, 4), 3>);
static_assert(shape<D, 3, TWIN(3, 4)>);
constexpr auto K_transposed = transpose(K);
static_assert(shape<K_transposed, TWIN(2, 3), 3>);
static_assert(shape<K_transposed, 2, TWIN(3, 4)>);

// ---- Worked: query 3 with key 2, 1×0 + 1×1 = 1
constexpr auto D32_terms = product_terms(Q, 2, K_transposed, 1);
constexpr auto D32 = D(2, 1);
static_assert(exactly<D32_terms, TWIN("0 1", "1 1")>);
static_assert(exactly<D32_terms, TWIN("0 1", "0 2")>);
static_assert(exactly<D32, TWIN("1", "2")>);

// ---- No table of probabilities: the rows do not sum to one
constexpr auto D_row_sums = row_sums(D);
static_assert(exactly<D_row_sums, TWIN("2 4 6", "3 4 6")>);
static_assert(exactly<D_row_sums, TWIN("2 4 6", "2 5 6")>);
static_assert(exactly<D_row_sums, TWIN("2 4 6", "2 4 7")>);

// ---- Position 3 scores 3 with itself and 2 with position 1
constexpr auto D33 = D(2, 2);
constexpr auto D31 = D(2, 0);
static_assert(exactly<D33, TWIN("3", "4")>);
static_assert(exactly<D31, TWIN("2", "3")>);

// ---- Q @ K, without the transpose: the inner extents, 2 and 3, differ
constexpr auto QK = Q * TWIN(transpose(K), K);

}  // namespace chapter15
