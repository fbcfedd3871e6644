#pragma once

#include "model.hpp"

// The lesson's head, from the correctly rounded stream of seed 42: one sequence, "the lamp", in a batch of one.
namespace lesson1 {

inline constexpr auto& values = numpy_randn<42, drawn>;
inline constexpr auto embed_table = reshape<characters.size, C>(values);
inline constexpr batch X({embedded(embed_table)});
inline constexpr auto WQ = weight_matrix(values, first_weight);
inline constexpr auto WK = weight_matrix(values, first_weight + C * hs);
inline constexpr auto WV = weight_matrix(values, first_weight + 2 * C * hs);

inline constexpr auto Q = X * WQ;
inline constexpr auto K = X * WK;
inline constexpr auto V = X * WV;

inline constexpr auto D = Q * transpose(K);
inline constexpr auto S = D / root(hs);
inline constexpr auto A = softmax(S);
inline constexpr auto O = A * V;

}  // namespace lesson1
