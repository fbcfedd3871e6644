#pragma once

#include <cstddef>
#include <optional>

namespace attest::kernel {

/// What the error bound of a row depends on. Each magnitude is the largest over the keys that the row sees,
/// or more. None is negative or NaN, key_width and keys are at least 1; what overflows may be infinite, and
/// the bounds that it goes into are then, too.
struct row_magnitudes {
  std::size_t key_width = 1;  // d_k
  std::size_t keys = 1;       // n, the keys that the row sees; a sink is one more
  std::size_t span = 0;       // from the first key that it sees to the last, or more; 0: not known
  double products = 0;        // max_j Σ_c |q_c k_jc|
  double scale = 1;           // |scale|, 1/√d_k where none was given
  std::optional<double> softcap = {};
  std::optional<double> bias = {};   // max_j |bias_j|, where there is a bias
  std::optional<double> slope = {};  // |slope|, where there is ALiBi
  double distance = 0;               // max_j |position difference|
  double sink = 0;                   // |sink|
  double values = 0;                 // max_j |V_jc|, of the column or of all
  double all_values = 0;  // of all columns, where `values` is of one: if others overflow, it loses bits too
  double log_sum_exp = 0;            // |log-sum-exp|, in its base
  bool base_two = false;             // of the log-sum-exp
};

/// Absolute errors, in the units of what is in error. Infinite where nothing is known.
struct row_bound {
  double score;  // of every score, the options applied
  double weight;
  double output;
  double log_sum_exp;
};

/// What `stable` and `naive` in the precision T are off by at most, in any element of such a row: derived in
/// docs/error-bounds.md, under its assumptions about exp, log and tanh of libm, for rows on which nothing
/// overflows. T is double or float. The log-sum-exp of `naive` is not bounded: it has none.
template <class T>
row_bound stable_bound(const row_magnitudes& row);
template <class T>
row_bound naive_bound(const row_magnitudes& row);

/// The same of `fused` on every instruction set. It is much smaller than stable_bound() for wide heads and
/// for many keys, as the sums are restarted every 16 coordinates and every 64 keys; it needs `span` for the
/// latter.
template <class T>
row_bound fused_bound(const row_magnitudes& row);

/// What an output of `fused` is off by at most where more is known of it: mean is at least Σ_j w_j |V_jc|,
/// with the exact weights w, and output at least |o_c|. Much less than fused_bound() where the largest values
/// have small weights. Infinite with a softcap, a bias, ALiBi or a sink other than 0, and where errors of
/// scores are not small. Derived in docs/error-bounds.md, too.
template <class T>
double fused_output_bound(const row_magnitudes& row, double mean, double output);

extern template row_bound stable_bound<double>(const row_magnitudes&);
extern template row_bound stable_bound<float>(const row_magnitudes&);
extern template row_bound fused_bound<double>(const row_magnitudes&);
extern template row_bound fused_bound<float>(const row_magnitudes&);
extern template double fused_output_bound<double>(const row_magnitudes&, double, double);
extern template double fused_output_bound<float>(const row_magnitudes&, double, double);
extern template row_bound naive_bound<double>(const row_magnitudes&);
extern template row_bound naive_bound<float>(const row_magnitudes&);

}  // namespace attest::kernel
