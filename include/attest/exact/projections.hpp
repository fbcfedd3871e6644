#pragma once

#include <attest/exact/matrix.hpp>

namespace attest {

/// The queries [Tq, d_k], keys [Tk, d_k] and values [Tk, d_v] of one head.
template <class Q, class K, class V>
struct head {
  Q queries;
  K keys;
  V values;
};

/// Cross-attention: queries from one sequence [Tq, C_q], keys and values from another [Tk, C].
template <class X, class Y, class WQ, class WK, class WV>
constexpr auto projections(const X& receiving, const Y& contributing, const WQ& wq, const WK& wk, const WV& wv) {
  return head<decltype(receiving * wq), decltype(contributing * wk), decltype(contributing * wv)>{
      receiving * wq, contributing * wk, contributing * wv};
}

/// Self-attention: queries, keys and values all from one sequence [T, C].
template <class X, class WQ, class WK, class WV>
constexpr auto projections(const X& sequence, const WQ& wq, const WK& wk, const WV& wv) {
  return projections(sequence, sequence, wq, wk, wv);
}

}  // namespace attest
