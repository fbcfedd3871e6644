// The claims of chapter15/15_1_projections.cpp, each beside a false twin: one number changed at a time.
#include "../../chapter15/head.hpp"

#include <attest/proof/twin.hpp>

namespace chapter15 {

// ---- Shapes: three positions, two input coordinates; W is [input coordinate, output coordinate]
static_assert(shape<X, TWIN(3, 4), 2>);
static_assert(shape<X, 3, TWIN(2, 3)>);
static_assert(shape<WQ, TWIN(2, 3), 2>);
static_assert(shape<WQ, 2, TWIN(2, 3)>);
static_assert(shape<WK, TWIN(2, 3), 2>);
static_assert(shape<WK, 2, TWIN(2, 3)>);
static_assert(shape<WV, TWIN(2, 3), 2>);
static_assert(shape<WV, 2, TWIN(2, 3)>);
static_assert(shape<Q, TWIN(3, 4), 2>);
static_assert(shape<Q, 3, TWIN(2, 3)>);
static_assert(shape<K, TWIN(3, 4), 2>);
static_assert(shape<K, 3, TWIN(2, 3)>);
static_assert(shape<V, TWIN(3, 4), 2>);
static_assert(shape<V, 3, TWIN(2, 3)>);

// ---- The three products
static_assert(exactly<Q, TWIN("[[1, 0], [0, 1], [1, 1]]", "[[2, 0], [0, 1], [1, 1]]")>);
static_assert(exactly<Q, TWIN("[[1, 0], [0, 1], [1, 1]]", "[[1, 1], [0, 1], [1, 1]]")>);
static_assert(exactly<Q, TWIN("[[1, 0], [0, 1], [1, 1]]", "[[1, 0], [1, 1], [1, 1]]")>);
static_assert(exactly<Q, TWIN("[[1, 0], [0, 1], [1, 1]]", "[[1, 0], [0, 2], [1, 1]]")>);
static_assert(exactly<Q, TWIN("[[1, 0], [0, 1], [1, 1]]", "[[1, 0], [0, 1], [2, 1]]")>);
static_assert(exactly<Q, TWIN("[[1, 0], [0, 1], [1, 1]]", "[[1, 0], [0, 1], [1, 2]]")>);
static_assert(exactly<K, TWIN("[[1, 1], [0, 1], [1, 2]]", "[[2, 1], [0, 1], [1, 2]]")>);
static_assert(exactly<K, TWIN("[[1, 1], [0, 1], [1, 2]]", "[[1, 2], [0, 1], [1, 2]]")>);
static_assert(exactly<K, TWIN("[[1, 1], [0, 1], [1, 2]]", "[[1, 1], [1, 1], [1, 2]]")>);
static_assert(exactly<K, TWIN("[[1, 1], [0, 1], [1, 2]]", "[[1, 1], [0, 2], [1, 2]]")>);
static_assert(exactly<K, TWIN("[[1, 1], [0, 1], [1, 2]]", "[[1, 1], [0, 1], [2, 2]]")>);
static_assert(exactly<K, TWIN("[[1, 1], [0, 1], [1, 2]]", "[[1, 1], [0, 1], [1, 3]]")>);
static_assert(exactly<V, TWIN("[[1, 0], [1, 2], [2, 2]]", "[[2, 0], [1, 2], [2, 2]]")>);
static_assert(exactly<V, TWIN("[[1, 0], [1, 2], [2, 2]]", "[[1, 1], [1, 2], [2, 2]]")>);
static_assert(exactly<V, TWIN("[[1, 0], [1, 2], [2, 2]]", "[[1, 0], [2, 2], [2, 2]]")>);
static_assert(exactly<V, TWIN("[[1, 0], [1, 2], [2, 2]]", "[[1, 0], [1, 3], [2, 2]]")>);
static_assert(exactly<V, TWIN("[[1, 0], [1, 2], [2, 2]]", "[[1, 0], [1, 2], [3, 2]]")>);
static_assert(exactly<V, TWIN("[[1, 0], [1, 2], [2, 2]]", "[[1, 0], [1, 2], [2, 3]]")>);

// ---- Worked: Q's third-row first coordinate, 1×1 + 1×0 = 1
constexpr auto Q31_terms = product_terms(X, 2, WQ, 0);
constexpr auto Q31 = Q(2, 0);
static_assert(exactly<Q31_terms, TWIN("1 0", "2 0")>);
static_assert(exactly<Q31_terms, TWIN("1 0", "1 1")>);
static_assert(exactly<Q31, TWIN("1", "2")>);

// ---- Worked: K's third-row second coordinate, 1×1 + 1×1 = 2
constexpr auto K32_terms = product_terms(X, 2, WK, 1);
constexpr auto K32 = K(2, 1);
static_assert(exactly<K32_terms, TWIN("1 1", "2 1")>);
static_assert(exactly<K32_terms, TWIN("1 1", "1 2")>);
static_assert(exactly<K32, TWIN("2", "3")>);

// ---- Worked: V's second-row second coordinate, 0×0 + 1×2 = 2
constexpr auto V22_terms = product_terms(X, 1, WV, 1);
constexpr auto V22 = V(1, 1);
static_assert(exactly<V22_terms, TWIN("0 2", "1 2")>);
static_assert(exactly<V22_terms, TWIN("0 2", "0 3")>);
static_assert(exactly<V22, TWIN("2", "3")>);

}  // namespace chapter15
