#pragma once

#include <attest/exact/matrix.hpp>

#include <cstddef>
#include <utility>

namespace attest {

namespace detail {

/// Columns of a product that one constant computes: 256 products of floats and their sums take about a third of clang's
/// 1,048,576 steps.
constexpr std::size_t columns_at_once(std::size_t inner) { return inner >= 256 ? 1 : 256 / inner; }

template <const auto& A, const auto& B, std::size_t Row, std::size_t Block>
inline constexpr auto product_block = [] {
  constexpr std::size_t first = Block * columns_at_once(B.rows());
  constexpr std::size_t left = B.columns() - first;
  constexpr std::size_t count = left < columns_at_once(B.rows()) ? left : columns_at_once(B.rows());
  using Common = typename decltype(A * B)::value_type;
  matrix<Common, 1, count> sums;
  for (std::size_t j = 0; j < count; ++j) {
    Common sum(0);
    for (std::size_t k = 0; k < B.rows(); ++k) {
      const Common x = exact_cast<Common>(A(Row, k));
      const Common y = exact_cast<Common>(B(k, first + j));
      const Common term = x * y;
      const Common next = sum + term;
      sum = next;
    }
    sums(0, j) = sum;
  }
  return sums;
}();

template <const auto& A, const auto& B, std::size_t Row>
inline constexpr auto product_row = []<std::size_t... Block>(std::index_sequence<Block...>) {
  matrix<typename decltype(A * B)::value_type, 1, B.columns()> row;
  std::size_t at = 0;
  const auto append = [&](const auto& block) {
    for (std::size_t j = 0; j < block.columns(); ++j) row(0, at++) = block(0, j);
  };
  (append(product_block<A, B, Row, Block>), ...);
  return row;
}(std::make_index_sequence<(B.columns() + columns_at_once(B.rows()) - 1) / columns_at_once(B.rows())>{});

}  // namespace detail

/// A * B for two namespace-scope constants, computed piece by piece in constants of their own: compilers limit the work in
/// each constant, and A * B in one is past clang's limit from about 1000 products of floats on.
///
///     constexpr auto Q = product<X, WQ>;  // the same matrix as X * WQ
template <const auto& A, const auto& B>
inline constexpr auto product = []<std::size_t... Row>(std::index_sequence<Row...>) {
  static_assert(A.columns() == B.rows(), "a product needs as many columns on its left as rows on its right");
  using T = typename decltype(A * B)::value_type;
  const matrix<T, 1, B.columns()>* const rows[] = {&detail::product_row<A, B, Row>...};
  matrix<T, A.rows(), B.columns()> result;
  for (std::size_t i = 0; i < A.rows(); ++i)
    for (std::size_t j = 0; j < B.columns(); ++j) result(i, j) = (*rows[i])(0, j);
  return result;
}(std::make_index_sequence<A.rows()>{});

}  // namespace attest
