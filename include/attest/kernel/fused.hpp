#pragma once

#include <attest/kernel/arrays.hpp>
#include <attest/problem/options.hpp>

namespace attest::kernel {

struct fused_options {
  /// The results do not depend on it. 0: as many as the machine has.
  unsigned threads = 1;
};

/// O = softmax(scores) V in the precision T, with every option of attention_options, in one pass over the
/// keys with a running maximum, by the widest vector instructions that the machine has. Blocks of keys that
/// no query sees are skipped. T is double or float.
///
/// Everything is calculated in T. Numbers of the options are rounded to T once; a bias of a wider type than T
/// is refused. Memory beyond inputs and results is O(B·Hkv·Tk·(d_k + d_v)), packed copies of K and V, and for
/// at most 8 queries in a group of heads (decoding) O(B·Hq·Tq·d_v·(1 + Tk/2048)): K and V are then read once
/// and not copied.
///
/// Error: fused_bound() in error_bound.hpp, derived in docs/error-bounds.md. For scores of moderate size, d_k
/// coordinates and n visible keys without large gaps an output is off by at most about u · max|V| · ((19 +
/// d_k/16) · max_j Σ_c |scale · q_c · k_jc| + min(2n, n/32 + 93) + 2 ln n + 13). Weights below 2^-958 (float:
/// 2^-92) of the row's largest may come out as 0.
///
/// The results are the same bits for every number of threads and for every strides, and on every machine with
/// the same instruction set. They do not depend on the caller's rounding mode or flush-to-zero, which are as
/// before afterwards.
///
/// Throws attention_error, with no result touched, for arrays and options that do not fit (see
/// checked_shape), for NaN and infinity where a query looks and for an empty row without a policy. Finite
/// inputs whose scores (times log2 e), outputs or log-sum-exps overflow T are attention_error
/// (fault::overflow) too, found on the way: the results are then partly written.
template <class T>
void fused(const attention_inputs<T>& inputs, const attention_options& options,
           const attention_results<T>& results, const fused_options& how = {});

extern template void fused(const attention_inputs<double>&, const attention_options&,
                           const attention_results<double>&, const fused_options&);
extern template void fused(const attention_inputs<float>&, const attention_options&,
                           const attention_results<float>&, const fused_options&);

}  // namespace attest::kernel
