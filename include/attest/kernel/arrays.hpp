#pragma once

#include <attest/problem/tensor.hpp>

#include <optional>

namespace attest::kernel {

/// What a kernel reads: Q [B, Hq, Tq, d_k], K [B, Hkv, Tk, d_k], V [B, Hkv, Tk, d_v]. T is double or float.
/// Shapes that do not fit are attention_error, and so are NaN and infinity where a query looks.
template <class T>
struct attention_inputs {
  tensor<const T> q;
  tensor<const T> k;
  tensor<const T> v;
};

/// What a kernel writes: the output [B, Hq, Tq, d_v]; the weights [B, Hq, Tq, Tk], zero for a hidden key, and
/// the log-sum-exp [B, Hq, Tq, 1] where they are wanted; other shapes are attention_error. Result arrays
/// overlap neither each other nor the inputs: that is not checked, and results are wrong where they do.
template <class T>
struct attention_results {
  tensor<T> output;
  std::optional<tensor<T>> weights = {};
  std::optional<tensor<T>> log_sum_exp = {};
};

}  // namespace attest::kernel
