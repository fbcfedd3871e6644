// 15.4 Receive values, not scores.
#include "head.hpp"

namespace chapter15 {

// ---- The two worked expressions, with the first row's normaliser
constexpr auto O11 = O(0, 0);
constexpr auto O12 = O(0, 1);
constexpr auto O11_printed = (1 * r + 1 + 2 * r) / (2 * r + 1);
constexpr auto O12_printed = (0 * r + 2 + 2 * r) / (2 * r + 1);
static_assert(equal<O11, O11_printed>);
static_assert(equal<O12, O12_printed>);
static_assert(decimal<O11, "1.401112">);
static_assert(decimal<O12, "1.197776">);

// ---- O = AV: [3, 3] @ [3, 2] -> [3, 2]
static_assert(decimal<O, "[1.401112, 1.197776]"
                         "[1.503490, 1.503490]"
                         "[1.575975, 1.432009]">);
static_assert(shape<O, 3, 2>);

// ---- The outputs as the file's derivation has them: [a1 + a2 + 2 a3, 2 (a2 + a3)]
constexpr auto O21 = O(1, 0);
constexpr auto O22 = O(1, 1);
constexpr auto O31 = O(2, 0);
constexpr auto O32 = O(2, 1);
constexpr auto O21_printed = (1 + 1 + 2 * r) / (2 + r);
constexpr auto O22_printed = (2 + 2 * r) / (2 + r);
constexpr auto O31_printed = (r + 1 + 2 * r * r) / (r + 1 + r * r);
constexpr auto O32_printed = (2 + 2 * r * r) / (r + 1 + r * r);
static_assert(equal<O21, O21_printed>);
static_assert(equal<O22, O22_printed>);
static_assert(equal<O31, O31_printed>);
static_assert(equal<O32, O32_printed>);

// ---- Every output lies between its column's smallest and largest value: decided by sign, not sampled
constexpr auto V_minima = column_minima(V);
constexpr auto V_maxima = column_maxima(V);
static_assert(exactly<V_minima, "1 0">);
static_assert(exactly<V_maxima, "2 2">);
static_assert(greater<O, V_minima>);
static_assert(less<O, V_maxima>);

// ---- Figure 15.1: one query, three weights, two output coordinates
constexpr auto first_row = A.row(0);
static_assert(decimal<first_row, "0.401112, 0.197776, 0.401112">);

}  // namespace chapter15
