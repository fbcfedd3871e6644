#pragma once

#include <attest/kernel/arrays.hpp>
#include <attest/problem/options.hpp>

namespace attest::kernel {

/// O = softmax(Q Kᵀ · scale) V as the formula stands, without subtracting the largest score of a row: here to
/// show where that fails. Takes a scale and a boolean mask; every other option, grouped heads included, and a
/// row that sees no key are refused. Weights on request.
///
/// Where it fails, in binary64 (binary32):
///   - A visible score above 709.783 (88.723): its exponential overflows. Its weight is ∞/∞ = NaN, every
///     other of the row 0, and the row's outputs are NaN.
///   - Scores below that whose exponentials add up to more than the largest number, as two of 709.5 (88.6)
///     do: every weight of the row, and so every output, is 0.
///   - A row's scores all below -745.14 (-103.98): every exponential underflows to 0, every weight is
///     0/0 = NaN.
///   - A row's scores all below -708.39 (-87.33), the logarithm of the smallest normal number: the
///     exponentials are subnormal and have lost digits, up to all of them. The weights look right and are
///     not.
/// None of these is reported: the results are what the arithmetic gives. The same holds for scores that
/// overflow.
///
/// Error elsewhere, that is when the largest calculated score of the row lies in [-708.39, 709.78 - ln n], n
/// the number of keys that it sees (float: [-87.33, 88.72 - ln n]): naive_bound() in error_bound.hpp, derived
/// in docs/error-bounds.md.
///
/// The results do not depend on the caller's rounding mode or flush-to-zero, which are as before afterwards.
/// Throws attention_error, with no result touched, as `stable` does.
template <class T>
void naive(const attention_inputs<T>& inputs, const attention_options& options,
           const attention_results<T>& results);

extern template void naive(const attention_inputs<double>&, const attention_options&,
                           const attention_results<double>&);
extern template void naive(const attention_inputs<float>&, const attention_options&,
                           const attention_results<float>&);

}  // namespace attest::kernel
