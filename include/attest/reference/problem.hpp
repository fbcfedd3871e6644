#pragma once

#include <attest/problem/attention_error.hpp>
#include <attest/reference/exact_values.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace attest {

/// One attention head with its inputs, exactly as they were given.
///
///     problem chapter{projected_inputs{X, {}, WQ, WK, WV}};
struct projected_inputs {
  exact_matrix x;                 // [Tq, C], the receiving sequence
  std::optional<exact_matrix> y;  // [Tk, Cy], the contributing sequence of cross-attention; x where absent
  exact_matrix wq;                // [C, d_k]
  exact_matrix wk;                // [Cy, d_k]
  exact_matrix wv;                // [Cy, d_v]
};
struct head_inputs {
  exact_matrix q;  // [Tq, d_k]
  exact_matrix k;  // [Tk, d_k]
  exact_matrix v;  // [Tk, d_v]
};
struct problem {
  std::variant<projected_inputs, head_inputs> inputs;
  std::optional<matrix<bool>> mask;   // [Tq, Tk], true where the query sees the key; absent: every key is seen
  std::optional<exact_scalar> scale;  // absent: exactly 1/√d_k
};

/// Inputs that do not fit each other. what() reads "array WQ: shape [3, 2] does not fit ...: remedy".
class problem_error : public attention_error {
 public:
  problem_error(std::string_view array, const std::string& message) : attention_error(attest::fault::shape, array, message) {}
};

/// The extents of a problem whose inputs fit each other. Inputs that do not, an array without elements and a mask row in
/// which no key is seen are problem_error.
struct extents {
  std::size_t queries;      // Tq
  std::size_t keys;         // Tk
  std::size_t key_width;    // d_k
  std::size_t value_width;  // d_v
};
extents checked_extents(const problem& p);

/// Whether every input is dyadic, so that the whole of the head's exact arithmetic is.
bool is_dyadic(const problem& p);

}  // namespace attest
