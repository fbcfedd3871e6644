#if defined(ATTEST_REFERENCE_DOUBLE_DOUBLE_DOMINANT_KEY_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_REFERENCE_DOUBLE_DOUBLE_DOMINANT_KEY_HPP
#undef ATTEST_REFERENCE_DOUBLE_DOUBLE_DOMINANT_KEY_HPP
#else
#define ATTEST_REFERENCE_DOUBLE_DOUBLE_DOMINANT_KEY_HPP
#endif

// Rows whose scores are too large for exponentials: one key may outweigh all others. docs/error-bounds.md,
// "Scores too large for that".
#include "reference/double_double/rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace attest::double_double_tier {
namespace HWY_NAMESPACE {

inline void evaluation::consider(row_state& s, double y, double error, std::size_t key) {
  if (y - error > s.best) {
    s.second = std::max(s.second, s.best_upper);
    s.best = y - error;
    s.best_upper = y + error;
    s.best_key = key;
  } else {
    s.second = std::max(s.second, y + error);
  }
}

inline void evaluation::find_best_key(std::size_t block, std::size_t i, std::size_t first, std::size_t last) {
  row_state& s = state_[i];
  const query_row& row = rows_[i];
  const double* high = memory_.high + i % group_rows * block_keys;
  const double* low = memory_.low + i % group_rows * block_keys;
  const double error = dot_error(s, head_.key_norm[block], head_.key_last_bit[block]);
  for (std::size_t j = first; j < last; ++j) {
    const std::size_t key = block * block_keys + j;
    if (key < s.first || key >= s.last || (row.visible && !row.visible[key - row.first_key])) continue;
    const double y = (high[j] + low[j]) * s.factor.high;
    consider(s, y, error + std::abs(y) * 0x1p-50, key);
    if (s.best_key == key) {
      s.best_product = error_free::two_sum(high[j], low[j]);
      s.best_norm = head_.key_norm[block];
    }
  }
}

/// Results where one key (or the sink) outweighs the sum of all others by 2^300 / n or more; else nothing is
/// claimed.
inline void evaluation::finish_coarse(std::size_t i) {
  const row_state& s = state_[i];
  const row_results& result = results_[i];
  const bool outweighs = s.second <= s.best - 256 * 300;
  const double error = outweighs ? static_cast<double>(head_.keys + 1) * 0x1p-298 : infinity;
  if (result.output_high)
    for (std::size_t c = 0; c < head_.value_width; ++c) {
      const double largest = head_.value_largest[c];
      result.output_high[c] =
          s.best_key == no_key
              ? 0
              : head_.v[(c / panel_width * head_.keys + s.best_key) * panel_width + c % panel_width];
      result.output_low[c] = 0;
      result.output_error[c] = outweighs ? error * largest : infinity;
    }
  if (result.weights_high)
    for (std::size_t key = s.first; key < s.last; ++key) {
      const std::size_t at = key - rows_[i].first_key;
      const bool hidden = rows_[i].visible && !rows_[i].visible[at];
      result.weights_high[at] = key == s.best_key ? 1 : 0;
      result.weights_low[at] = 0;
      result.weights_error[at] = hidden ? 0 : error;
    }
  if (result.log_sum_exp) {
    // The score of the one key.
    double* log = result.log_sum_exp;
    log[2] = infinity;
    if (s.best_key == no_key) {
      log[0] = *steps_.sink;
      log[1] = 0;
      log[2] = error;
    } else if (s.factor_exponent <= 900) {
      const double by = power_of_two(static_cast<int>(s.factor_exponent));
      const double_double score = product(s.best_product, double_double{scale_.high * by, scale_.low * by});
      log[0] = score.high;
      log[1] = score.low;
      const double size = s.best_norm * scale_.high * by;
      log[2] = error + dot_error(s, s.best_norm, 0) * 0x1p-8 + size * 0x1p-100;
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace attest::double_double_tier
HWY_AFTER_NAMESPACE();

#endif
