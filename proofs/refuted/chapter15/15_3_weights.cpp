// The claims of chapter15/15_3_weights.cpp, each beside a false twin: one number changed at a time.
#include "../../chapter15/head.hpp"

#include <attest/proof/twin.hpp>

namespace chapter15 {

// ---- Spreads: the square roots of the variances 2 and 64 (√d is d/√d)
constexpr auto spread_of_2 = 2 / root(2);
constexpr auto spread_of_64 = 64 / root(64);
static_assert(decimal<spread_of_2, TWIN("1.414", "1.415")>);
static_assert(exactly<spread_of_64, TWIN("8", "9")>);

// ---- S = D/√2 in units of s = 1/√2, exactly
static_assert(exactly<s, TWIN("1/sqrt(2)", "2/sqrt(2)")>);
static_assert(decimal<s, TWIN("0.707107", "0.707108")>);
static_assert(exactly<S, TWIN("[1/sqrt(2), 0,         1/sqrt(2)]", "[2/sqrt(2), 0,         1/sqrt(2)]")
                         "[1/sqrt(2), 1/sqrt(2), 2/sqrt(2)]"
                         "[2/sqrt(2), 1/sqrt(2), 3/sqrt(2)]">);
static_assert(exactly<S, TWIN("[1/sqrt(2), 0,         1/sqrt(2)]", "[1/sqrt(2), 1,         1/sqrt(2)]")
                         "[1/sqrt(2), 1/sqrt(2), 2/sqrt(2)]"
                         "[2/sqrt(2), 1/sqrt(2), 3/sqrt(2)]">);
static_assert(exactly<S, TWIN("[1/sqrt(2), 0,         1/sqrt(2)]", "[1/sqrt(2), 0,         2/sqrt(2)]")
                         "[1/sqrt(2), 1/sqrt(2), 2/sqrt(2)]"
                         "[2/sqrt(2), 1/sqrt(2), 3/sqrt(2)]">);
static_assert(exactly<S, "[1/sqrt(2), 0,         1/sqrt(2)]"
                         TWIN("[1/sqrt(2), 1/sqrt(2), 2/sqrt(2)]", "[2/sqrt(2), 1/sqrt(2), 2/sqrt(2)]")
                         "[2/sqrt(2), 1/sqrt(2), 3/sqrt(2)]">);
static_assert(exactly<S, "[1/sqrt(2), 0,         1/sqrt(2)]"
                         TWIN("[1/sqrt(2), 1/sqrt(2), 2/sqrt(2)]", "[1/sqrt(2), 2/sqrt(2), 2/sqrt(2)]")
                         "[2/sqrt(2), 1/sqrt(2), 3/sqrt(2)]">);
static_assert(exactly<S, "[1/sqrt(2), 0,         1/sqrt(2)]"
                         TWIN("[1/sqrt(2), 1/sqrt(2), 2/sqrt(2)]", "[1/sqrt(2), 1/sqrt(2), 3/sqrt(2)]")
                         "[2/sqrt(2), 1/sqrt(2), 3/sqrt(2)]">);
static_assert(exactly<S, "[1/sqrt(2), 0,         1/sqrt(2)]"
                         "[1/sqrt(2), 1/sqrt(2), 2/sqrt(2)]"
                         TWIN("[2/sqrt(2), 1/sqrt(2), 3/sqrt(2)]", "[3/sqrt(2), 1/sqrt(2), 3/sqrt(2)]")>);
static_assert(exactly<S, "[1/sqrt(2), 0,         1/sqrt(2)]"
                         "[1/sqrt(2), 1/sqrt(2), 2/sqrt(2)]"
                         TWIN("[2/sqrt(2), 1/sqrt(2), 3/sqrt(2)]", "[2/sqrt(2), 2/sqrt(2), 3/sqrt(2)]")>);
static_assert(exactly<S, "[1/sqrt(2), 0,         1/sqrt(2)]"
                         "[1/sqrt(2), 1/sqrt(2), 2/sqrt(2)]"
                         TWIN("[2/sqrt(2), 1/sqrt(2), 3/sqrt(2)]", "[2/sqrt(2), 1/sqrt(2), 4/sqrt(2)]")>);
static_assert(shape<S, TWIN(3, 4), 3>);
static_assert(shape<S, 3, TWIN(3, 4)>);
constexpr auto S33 = S(2, 2);
static_assert(decimal<S33, TWIN("2.121320", "2.121321")>);

// ---- r = e^s, and the first row's total
constexpr auto first_total = A.normaliser(0);
constexpr auto two_r_plus_1 = 2 * r + 1;
static_assert(decimal<r, TWIN("2.028115", "2.028116")>);
static_assert(equal<first_total, TWIN(two_r_plus_1, r)>);
static_assert(decimal<first_total, TWIN("5.056230", "5.056231")>);

// ---- The rows as they come: [r, 1, r], [r, r, r²], [r², r, r³] over their totals
constexpr auto first_row = A.row(0);
constexpr auto second_row = A.row(1);
constexpr auto third_row = A.row(2);
constexpr auto second_undivided = row(r, r, r * r) / (r + r + r * r);
constexpr auto third_undivided = row(r * r, r, r * r * r) / (r * r + r + r * r * r);
static_assert(equal<second_row, TWIN(second_undivided, third_undivided)>);
static_assert(equal<third_row, TWIN(third_undivided, second_undivided)>);

// ---- The exact row expressions, the second and third divided through by r
constexpr auto A1 = row(r, 1, r) / (2 * r + 1);
constexpr auto A2 = row(1, 1, r) / (2 + r);
constexpr auto A3 = row(r, 1, r * r) / (r + 1 + r * r);
static_assert(equal<first_row, TWIN(A1, A2)>);
static_assert(equal<second_row, TWIN(A2, A3)>);
static_assert(equal<third_row, TWIN(A3, A1)>);
static_assert(reads<first_row, TWIN("[r, 1, r]/(2r + 1)", "[1, 1, r]/(2r + 1)")>);
static_assert(reads<first_row, TWIN("[r, 1, r]/(2r + 1)", "[r, 2, r]/(2r + 1)")>);
static_assert(reads<first_row, TWIN("[r, 1, r]/(2r + 1)", "[r, 1, 1]/(2r + 1)")>);
static_assert(reads<first_row, TWIN("[r, 1, r]/(2r + 1)", "[r, 1, r]/(3r + 1)")>);
static_assert(reads<first_row, TWIN("[r, 1, r]/(2r + 1)", "[r, 1, r]/(21 + 1)")>);
static_assert(reads<first_row, TWIN("[r, 1, r]/(2r + 1)", "[r, 1, r]/(2r + 2)")>);
static_assert(reads<second_row, TWIN("[1, 1, r]/(2 + r)", "[2, 1, r]/(2 + r)")>);
static_assert(reads<second_row, TWIN("[1, 1, r]/(2 + r)", "[1, 2, r]/(2 + r)")>);
static_assert(reads<second_row, TWIN("[1, 1, r]/(2 + r)", "[1, 1, 1]/(2 + r)")>);
static_assert(reads<second_row, TWIN("[1, 1, r]/(2 + r)", "[1, 1, r]/(3 + r)")>);
static_assert(reads<second_row, TWIN("[1, 1, r]/(2 + r)", "[1, 1, r]/(2 + 1)")>);
static_assert(reads<third_row, TWIN("[r, 1, r^2]/(r + 1 + r^2)", "[1, 1, r^2]/(r + 1 + r^2)")>);
static_assert(reads<third_row, TWIN("[r, 1, r^2]/(r + 1 + r^2)", "[r, 2, r^2]/(r + 1 + r^2)")>);
static_assert(reads<third_row, TWIN("[r, 1, r^2]/(r + 1 + r^2)", "[r, 1, 1^2]/(r + 1 + r^2)")>);
static_assert(reads<third_row, TWIN("[r, 1, r^2]/(r + 1 + r^2)", "[r, 1, r^3]/(r + 1 + r^2)")>);
static_assert(reads<third_row, TWIN("[r, 1, r^2]/(r + 1 + r^2)", "[r, 1, r^2]/(1 + 1 + r^2)")>);
static_assert(reads<third_row, TWIN("[r, 1, r^2]/(r + 1 + r^2)", "[r, 1, r^2]/(r + 2 + r^2)")>);
static_assert(reads<third_row, TWIN("[r, 1, r^2]/(r + 1 + r^2)", "[r, 1, r^2]/(r + 1 + 1^2)")>);
static_assert(reads<third_row, TWIN("[r, 1, r^2]/(r + 1 + r^2)", "[r, 1, r^2]/(r + 1 + r^3)")>);

// ---- Table 15.1: each query distributes a total weight of one
static_assert(decimal<A, TWIN("[0.401112, 0.197776, 0.401112]", "[0.401113, 0.197776, 0.401112]")
                         "[0.248255, 0.248255, 0.503490]"
                         "[0.283995, 0.140029, 0.575975]">);
static_assert(decimal<A, TWIN("[0.401112, 0.197776, 0.401112]", "[0.401112, 0.197777, 0.401112]")
                         "[0.248255, 0.248255, 0.503490]"
                         "[0.283995, 0.140029, 0.575975]">);
static_assert(decimal<A, TWIN("[0.401112, 0.197776, 0.401112]", "[0.401112, 0.197776, 0.401113]")
                         "[0.248255, 0.248255, 0.503490]"
                         "[0.283995, 0.140029, 0.575975]">);
static_assert(decimal<A, "[0.401112, 0.197776, 0.401112]"
                         TWIN("[0.248255, 0.248255, 0.503490]", "[0.248256, 0.248255, 0.503490]")
                         "[0.283995, 0.140029, 0.575975]">);
static_assert(decimal<A, "[0.401112, 0.197776, 0.401112]"
                         TWIN("[0.248255, 0.248255, 0.503490]", "[0.248255, 0.248256, 0.503490]")
                         "[0.283995, 0.140029, 0.575975]">);
static_assert(decimal<A, "[0.401112, 0.197776, 0.401112]"
                         TWIN("[0.248255, 0.248255, 0.503490]", "[0.248255, 0.248255, 0.503491]")
                         "[0.283995, 0.140029, 0.575975]">);
static_assert(decimal<A, "[0.401112, 0.197776, 0.401112]"
                         "[0.248255, 0.248255, 0.503490]"
                         TWIN("[0.283995, 0.140029, 0.575975]", "[0.283996, 0.140029, 0.575975]")>);
static_assert(decimal<A, "[0.401112, 0.197776, 0.401112]"
                         "[0.248255, 0.248255, 0.503490]"
                         TWIN("[0.283995, 0.140029, 0.575975]", "[0.283995, 0.140020, 0.575975]")>);
static_assert(decimal<A, "[0.401112, 0.197776, 0.401112]"
                         "[0.248255, 0.248255, 0.503490]"
                         TWIN("[0.283995, 0.140029, 0.575975]", "[0.283995, 0.140029, 0.575976]")>);
static_assert(shape<A, TWIN(3, 4), 3>);
static_assert(shape<A, 3, TWIN(3, 4)>);
constexpr auto first_sum = A(0, 0) + A(0, 1) + A(0, 2);
constexpr auto second_sum = A(1, 0) + A(1, 1) + A(1, 2);
constexpr auto third_sum = A(2, 0) + A(2, 1) + A(2, 2);
static_assert(exactly<first_sum, TWIN("1", "2")>);
static_assert(exactly<second_sum, TWIN("1", "2")>);
static_assert(exactly<third_sum, TWIN("1", "2")>);

// ---- Normalising the columns instead is another calculation, and its rows are no mixtures
constexpr auto by_column = softmax(transpose(S));
constexpr auto first_receiver_by_column = by_column(0, 0) + by_column(1, 0) + by_column(2, 0);
constexpr auto one = ratio(1, 1);
static_assert(TWIN(less, greater)<first_receiver_by_column, one>);

// ---- Nothing requires a contributor's column to sum to one: position 3 is used heavily by all
constexpr auto third_column = A(0, 2) + A(1, 2) + A(2, 2);
static_assert(TWIN(greater, less)<third_column, one>);

}  // namespace chapter15
