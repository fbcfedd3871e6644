// 15.8 and 15.9: the exercises and their printed answers. (Exercise 5 has no number in it.)
#include "head.hpp"

namespace chapter15 {

// ---- Exercise 1: the third query replaced by [0, 0]
constexpr matrix zero_third_Q({{1, 0}, {0, 1}, {0, 0}});
constexpr auto zero_third_D = zero_third_Q * transpose(K);
constexpr auto zero_third_A = softmax(zero_third_D / root(2));
constexpr auto zero_third_O = zero_third_A * V;
constexpr auto its_dot_products = row_of(zero_third_D, 2);
constexpr auto its_normaliser = zero_third_A.normaliser(2);
constexpr auto its_weights = zero_third_A.row(2);
constexpr auto its_outputs = zero_third_O.row(2);
static_assert(exactly<its_dot_products, "0 0 0">);
static_assert(exactly<its_normaliser, "3">);
static_assert(exactly<its_weights, "[1/3, 1/3, 1/3]">);
static_assert(exactly<its_outputs, "[4/3, 4/3]">);

// ---- Exercise 2: unit column sums are not enough; the first row of this matrix sums to 3
constexpr matrix by_columns({{1, 1, 1}, {0, 0, 0}, {0, 0, 0}});
constexpr auto column_totals = row_sums(transpose(by_columns));
constexpr auto row_totals = row_sums(by_columns);
constexpr auto not_a_mixture = by_columns * V;
static_assert(exactly<column_totals, "1 1 1">);
static_assert(exactly<row_totals, "3 0 0">);
static_assert(exactly<not_a_mixture, "[[4, 4], [0, 0], [0, 0]]">);  // row 1: a sum of values, not a mixture

// ---- Exercise 3: [2, -1] added to every value row
constexpr matrix added({{2, -1}});
constexpr auto shifted_O = A * (V + repeat_row<3>(added));
constexpr auto new_O11 = shifted_O(0, 0);
constexpr auto new_O12 = shifted_O(0, 1);
static_assert(decimal<new_O11, "3.401112092679786">);
static_assert(binary64<new_O11, "3.401112092679786">);

// The second printed coordinate, 0.1977758146404283, is wrong in its last digit as a decimal, and four ulps above the
// correctly rounded double.
constexpr integer ulps_above = ulp_difference("0.1977758146404283", new_O12, formats::binary64);
static_assert(!decimal<new_O12, "0.1977758146404283">);
static_assert(!binary64<new_O12, "0.1977758146404283">);
static_assert(decimal<new_O12, "0.1977758146404282">);
static_assert(binary64<new_O12, "0.19777581464042818">);
static_assert(exactly<ulps_above, "4">);
static_assert(within<new_O12, "0.1977758146404283", "1e-12">);

// If only the first value row changes, the extra contribution is [2, -1] times the weight on it, no longer all of it.
constexpr matrix added_to_first({{2, -1}, {0, 0}, {0, 0}});
constexpr auto partly_shifted_O = A * (V + added_to_first);
constexpr auto extra_O11 = partly_shifted_O(0, 0) - O(0, 0);
constexpr auto extra_O12 = partly_shifted_O(0, 1) - O(0, 1);
constexpr auto twice_the_weight = 2 * r / (2 * r + 1);
constexpr auto minus_the_weight = -1 * r / (2 * r + 1);
constexpr auto weight_on_first = A(0, 0);
static_assert(equal<extra_O11, twice_the_weight>);
static_assert(equal<extra_O12, minus_the_weight>);
static_assert(decimal<weight_on_first, "0.4011120926797859">);
static_assert(binary64<weight_on_first, "0.4011120926797859">);

// ---- Exercise 4: Q and K of shape [5, 4], V of shape [5, 3]
constexpr matrix<integer, 5, 4> five_queries;
constexpr matrix<integer, 5, 4> five_keys;
constexpr matrix<integer, 5, 3> five_values;
constexpr auto five_scores = five_queries * transpose(five_keys);
constexpr auto five_weights = softmax(five_scores / root(4));
constexpr auto five_outputs = five_weights * five_values;
constexpr auto divisor = 4 / root(4);  // √4
constexpr auto terms_of_one_score = product_terms(five_queries, 0, transpose(five_keys), 0);
constexpr auto weights_of_one_query = five_weights.row(0);
static_assert(exactly<divisor, "2">);
static_assert(shape<five_scores, 5, 5>);
static_assert(shape<five_outputs, 5, 3>);
static_assert(shape<terms_of_one_score, 1, 4>);    // four terms in each dot product
static_assert(shape<weights_of_one_query, 1, 5>);  // five contributors, over which Softmax normalises

}  // namespace chapter15
