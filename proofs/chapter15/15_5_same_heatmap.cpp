// 15.5 The same heatmap can carry different information.
#include "head.hpp"

namespace chapter15 {

// ---- Example 15.2: a zero W_V leaves the table as it is and delivers nothing
constexpr matrix zero_WV({{0, 0}, {0, 0}});
constexpr auto zero_V = X * zero_WV;
constexpr auto zero_O = A * zero_V;
constexpr auto its_weights = zero_O.row_weights();
static_assert(exactly<zero_V, "[[0, 0], [0, 0], [0, 0]]">);
static_assert(equal<its_weights, A>);
static_assert(decimal<its_weights, "[0.401112, 0.197776, 0.401112]"
                                   "[0.248255, 0.248255, 0.503490]"
                                   "[0.283995, 0.140029, 0.575975]">);
static_assert(exactly<zero_O, "[[0, 0], [0, 0], [0, 0]]">);

// ---- The same vector [2, -1] added to every value row is added to every output row, exactly
constexpr matrix added({{2, -1}});
constexpr auto shifted_O = A * (V + repeat_row<3>(added));
constexpr auto output_differences = differences(shifted_O, O);
static_assert(exactly<output_differences, "[2, -1]"
                                          "[2, -1]"
                                          "[2, -1]">);

// ---- Both sides are affine in what is added, so a second vector along each coordinate makes it an identity
constexpr matrix added_twice({{4, -2}});
constexpr auto twice_shifted_O = A * (V + repeat_row<3>(added_twice));
constexpr auto twice_differences = differences(twice_shifted_O, O);
static_assert(exactly<twice_differences, "[4, -2]"
                                         "[4, -2]"
                                         "[4, -2]">);

}  // namespace chapter15
