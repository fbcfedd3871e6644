#pragma once

#include "text.hpp"

#include <attest/inputs/numpy_random.hpp>

// What the lesson makes of a stream of random values, in the order in which it draws them: the embedding table [24, 8], then
// W_q, W_k and W_v, [8, 4] each.
namespace lesson1 {

inline constexpr std::size_t C = 8;   // model width
inline constexpr std::size_t hs = 4;  // head size
inline constexpr std::size_t first_weight = characters.size * C;
inline constexpr std::size_t drawn = first_weight + 3 * C * hs;

/// embed_table[ids]: a row for each character of the slice, [8, 8].
template <class Table>
constexpr auto embedded(const Table& table) {
  matrix<dyadic, slice.size(), C> rows;
  for (std::size_t t = 0; t < slice.size(); ++t) {
    const std::size_t id = characters.token(slice[t]);
    for (std::size_t c = 0; c < C; ++c) rows(t, c) = table(id, c);
  }
  return rows;
}

/// randn(C, hs) * 0.1 from the values from `first` on: the products with the double 0.1, each rounded to a double.
template <std::size_t HeadSize = hs, class Values>
constexpr auto weight_matrix(const Values& values, std::size_t first) {
  return nearest(reshape<C, HeadSize>(values, first) * exact_value(0.1), formats::binary64);
}

}  // namespace lesson1
