#pragma once

#include "reference/certified/result.hpp"
#include "reference/certified/row.hpp"

#include <attest/problem/visibility.hpp>
#include <attest/reference/certified_attention.hpp>

#include <cstddef>
#include <optional>

namespace attest::certified {

/// A call that has passed every check, as all its threads read it.
struct call {
  call(const certified_inputs& in, const attention_options& options, const attention_shape& shape,
       const certified_results& out, const certified_options& how);

  target target_of(const result_array& array) const { return {&array.to(), how.direction}; }
  score_options steps_of(std::size_t query_head) const;

  const certified_inputs& in;
  const attention_options& options;
  const attention_shape& shape;
  const certified_options& how;
  visibility visible;
  result_array output;
  std::optional<result_array> weights;
  std::optional<result_array> log_sum_exp;
  std::optional<any_tensor> mask;  // [B, Hq, Tq, Tk]
  std::optional<any_tensor> bias;
  bool hidden_keys = false;  // there may be keys that no query sees
  double tiny_weight = 0;    // a weight below it needs no digits
  bool use_narrow = false;
  bool use_pairs = false;
  std::size_t block_rows = 0;  // that go through the tiers at once
  row_limits limits;
};

/// The shape of a call whose arrays and options fit; attention_error otherwise.
attention_shape checked_shape(const certified_inputs& in, const attention_options& options,
                              const certified_results& out, const certified_options& how);

}  // namespace attest::certified
