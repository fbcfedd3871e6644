// 15.1 One input, three different products.
#include "head.hpp"

namespace chapter15 {

// ---- Shapes: three positions, two input coordinates; W is [input coordinate, output coordinate]
static_assert(shape<X, 3, 2>);
static_assert(shape<WQ, 2, 2>);
static_assert(shape<WK, 2, 2>);
static_assert(shape<WV, 2, 2>);
static_assert(shape<Q, 3, 2>);
static_assert(shape<K, 3, 2>);
static_assert(shape<V, 3, 2>);

// ---- The three products
static_assert(exactly<Q, "[[1, 0], [0, 1], [1, 1]]">);
static_assert(exactly<K, "[[1, 1], [0, 1], [1, 2]]">);
static_assert(exactly<V, "[[1, 0], [1, 2], [2, 2]]">);

// ---- Worked: Q's third-row first coordinate, 1×1 + 1×0 = 1
constexpr auto Q31_terms = product_terms(X, 2, WQ, 0);
constexpr auto Q31 = Q(2, 0);
static_assert(exactly<Q31_terms, "1 0">);
static_assert(exactly<Q31, "1">);

// ---- Worked: K's third-row second coordinate, 1×1 + 1×1 = 2
constexpr auto K32_terms = product_terms(X, 2, WK, 1);
constexpr auto K32 = K(2, 1);
static_assert(exactly<K32_terms, "1 1">);
static_assert(exactly<K32, "2">);

// ---- Worked: V's second-row second coordinate, 0×0 + 1×2 = 2
constexpr auto V22_terms = product_terms(X, 1, WV, 1);
constexpr auto V22 = V(1, 1);
static_assert(exactly<V22_terms, "0 2">);
static_assert(exactly<V22, "2">);

}  // namespace chapter15
