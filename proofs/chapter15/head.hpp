#pragma once

#include <attest/proof.hpp>

// The chapter's head (Example 15.1): three positions, "red", "key" and ".", in two coordinates. Everything in this
// folder follows from these four matrices. A proof of another head begins the same way: matrices in, claims below.
namespace chapter15 {

using namespace attest;

inline constexpr matrix X({{1, 0}, {0, 1}, {1, 1}});
inline constexpr matrix WQ({{1, 0}, {0, 1}});
inline constexpr matrix WK({{1, 1}, {0, 1}});
inline constexpr matrix WV({{1, 0}, {1, 2}});

inline constexpr auto Q = X * WQ;
inline constexpr auto K = X * WK;
inline constexpr auto V = X * WV;

inline constexpr auto D = Q * transpose(K);  // one row a query, one column a key
inline constexpr auto S = D / root(2);       // d_k = 2
inline constexpr auto A = softmax(S);        // over the keys of each row
inline constexpr auto O = A * V;

inline constexpr auto s = 1 / root(2);
inline constexpr auto r = exp(s);

}  // namespace chapter15
