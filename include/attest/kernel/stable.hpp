#pragma once

#include <attest/kernel/arrays.hpp>
#include <attest/problem/options.hpp>

namespace attest::kernel {

/// O = softmax(scores) V in the precision T, with every option of attention_options, one row after another
/// and each sum in the order of the keys: the conventions as a program to read (src/kernel/stable.cpp). The
/// largest score of a row is subtracted before the exponentials, so no score is too large.
///
/// Everything is calculated in T. Numbers of the options are rounded to T once; a bias of a wider type than T
/// is refused.
///
/// Error: stable_bound() in error_bound.hpp, derived in docs/error-bounds.md. For scores of moderate size,
/// d_k coordinates and n visible keys an output is off by at most about u · max|V| · ((d_k + 2) · max_j Σ_c
/// |scale · q_c · k_jc| + 2n + 2 ln n + 4).
///
/// The results do not depend on the caller's rounding mode or flush-to-zero, which are as before afterwards.
///
/// Throws attention_error, with no result touched, for arrays and options that do not fit (see
/// checked_shape), for NaN and infinity where a query looks and for an empty row without a policy. Finite
/// inputs whose scores, outputs or log-sum-exps overflow T are attention_error (fault::overflow) too, found
/// on the way: the results are then partly written.
template <class T>
void stable(const attention_inputs<T>& inputs, const attention_options& options,
            const attention_results<T>& results);

extern template void stable(const attention_inputs<double>&, const attention_options&,
                            const attention_results<double>&);
extern template void stable(const attention_inputs<float>&, const attention_options&,
                            const attention_results<float>&);

}  // namespace attest::kernel
