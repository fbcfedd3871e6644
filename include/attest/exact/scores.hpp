#pragma once

#include <attest/exact/matrix.hpp>

namespace attest {

/// D = Q Kᵀ, exactly: every query [Tq, d_k] against every key [Tk, d_k], [Tq, Tk]. Not yet scaled.
template <exact_number T, exact_number U, std::size_t Tq, std::size_t Tk, std::size_t D, std::size_t E>
constexpr auto scores(const matrix<T, Tq, D>& queries, const matrix<U, Tk, E>& keys) {
  return queries * transpose(keys);
}

}  // namespace attest
