#pragma once

#include <attest/problem/tensor.hpp>

#include <optional>

namespace attest::kernel {

/// What a kernel reads: Q [B, Hq, Tq, d_k], K [B, Hkv, Tk, d_k], V [B, Hkv, Tk, d_v]. T is double or float.
template <class T>
struct attention_inputs {
  tensor<const T> q;
  tensor<const T> k;
  tensor<const T> v;
};

/// What a kernel writes: the output [B, Hq, Tq, d_v]; the weights [B, Hq, Tq, Tk], zero for a hidden key, and
/// the log-sum-exp [B, Hq, Tq, 1] where they are wanted. Result arrays overlap neither each other nor the
/// inputs.
template <class T>
struct attention_results {
  tensor<T> output;
  std::optional<tensor<T>> weights = {};
  std::optional<tensor<T>> log_sum_exp = {};
};

}  // namespace attest::kernel
