#if defined(ATTEST_REFERENCE_DOUBLE_DOUBLE_RESULTS_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_REFERENCE_DOUBLE_DOUBLE_RESULTS_HPP
#undef ATTEST_REFERENCE_DOUBLE_DOUBLE_RESULTS_HPP
#else
#define ATTEST_REFERENCE_DOUBLE_DOUBLE_RESULTS_HPP
#endif

// The results of a row, from its sums, and their bounds.
#include "reference/double_double_exponential.hpp"
#include "reference/double_double_rows.hpp"

#include <cmath>
#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace attest::double_double_tier {
namespace HWY_NAMESPACE {

inline void evaluation::finish(std::size_t i) {
  const D d;
  row_state& s = state_[i];
  const row_results& result = results_[i];
  if (s.coarse && !s.lost) return finish_coarse(i);

  // l = Σ exponentials.
  const double* sums = memory_.sums.get() + i * 16;
  double total_high = sums[0], total_low = sums[8];
  const auto add = [&](double high, double low) {
    const auto t = error_free::two_sum(total_high, high);
    total_high = t.high;
    total_low += t.low + low;
  };
  for (std::size_t lane = 1; lane < lanes; ++lane) add(sums[lane], sums[lane + 8]);
  if (steps_.sink) {
    V ph, pl;
    exponential(hn::Set(d, sink_.high), hn::Set(d, sink_.low), hn::Set(d, s.shift), ph, pl);
    const double p = hn::GetLane(ph);
    add(p, hn::GetLane(pl));
    s.error += p * (std::abs(sink_.high) * 0x1p-103 * ln2_256 + exp_error) * 1.001;
  }
  const double_double total = error_free::fast_two_sum(total_high, total_low);

  // docs/error-bounds.md, "Outputs in double-double". b blocks, n keys.
  const double l = total.high;
  const double b = static_cast<double>(blocks_);
  const double n = static_cast<double>(head_.keys) + 1;
  constexpr double k = static_cast<double>(block_keys);
  constexpr double per_lane = k / static_cast<double>(lanes);
  double spread = s.error * (1 + 0x1p-20);
  if (spread > l * 0x1p-84) {  // else the rest is about as large
    // Not above the largest exponential.
    const double top = std::exp2((s.largest - s.shift) / 256) * (1 - 0x1p-30 - s.largest_low);
    spread = std::min(spread, s.error * (1 + 0x1p-30) - s.largest_block_error * top +
                                  s.largest_block_error * (l * (1 + 0x1p-40) - top) + s.error * 0x1p-40);
  }
  const double sum_error = (per_lane * per_lane + (b + 8) * (b + 8)) * 0x1p-103 + 0x1p-99;
  const double grid_error = s.grids / l * 0x1p-103 *
                            ((k + 8) * (k + 8) * (fused ? 0.25 : 0.5) + b * (k + 4) * (fused ? 1 : 1.5)) *
                            1.01;
  double output_error = 2.04 * spread / l + grid_error + sum_error * 1.01 + n * 0x1p-390;
  double weight_error = s.error / l * 1.02 + sum_error * 1.01;
  if (s.lost || !(l > 0x1p-2 && l < 0x1p100)) output_error = weight_error = infinity;

  const double_double inverse = quotient({1, 0}, total);
  if (result.output_high) {
    const V ih = hn::Set(d, inverse.high);
    const V il = hn::Set(d, inverse.low);
    const V relative = hn::Set(d, output_error);
    const auto column = [&](std::size_t c, double* high, double* low, double* error) HWY_ATTR {
      V h, e;
      multiply(hn::Load(d, memory_.output_high.get() + i * width_ + c),
               hn::Load(d, memory_.output_low.get() + i * width_ + c), ih, il, h, e);
      two_sum(h, e, h, e);
      hn::StoreU(h, d, high);
      hn::StoreU(e, d, low);
      const V largest = hn::Load(d, head_.value_largest.get() + c);
      const V bound = hn::Mul(relative, largest);
      // 0 for a column of zeros, infinity (and not NaN) where nothing is claimed.
      hn::StoreU(hn::IfThenElse(hn::Eq(relative, hn::Set(d, infinity)), relative, bound), d, error);
    };
    std::size_t c = 0;
    for (; c + lanes <= head_.value_width; c += lanes)
      column(c, result.output_high + c, result.output_low + c, result.output_error + c);
    if (c < head_.value_width) {
      double rest[3][lanes];
      column(c, rest[0], rest[1], rest[2]);
      for (std::size_t x = c; x < head_.value_width; ++x) {
        result.output_high[x] = rest[0][x - c];
        result.output_low[x] = rest[1][x - c];
        result.output_error[x] = rest[2][x - c];
      }
    }
  }
  if (result.log_sum_exp) {
    // log l = x + log(l e^-x) with x near it, and log(1 + z) = z - z^2/2 + ...
    const double x = std::log(l);
    const double_double y =
        product(double_double{-exp_tables::log2e_256_high, -exp_tables::log2e_256_low}, x);
    V ph, pl;
    const double by = 256 * std::ceil(y.high / 256);
    exponential(hn::Set(d, y.high), hn::Set(d, y.low), hn::Set(d, by), ph, pl);
    const double f = std::ldexp(1.0, static_cast<int>(by / 256));
    const double_double inverse_l{hn::GetLane(ph) * f, hn::GetLane(pl) * f};
    const double_double z = sum(product(total, inverse_l), -1.0);
    const double shift = s.shift / 256;
    double_double log = product(double_double{exp_tables::ln2_high, exp_tables::ln2_low}, shift);
    log = sum(log, sum(sum(z, -z.high * z.high / 2), x));
    result.log_sum_exp[0] = log.high;
    result.log_sum_exp[1] = log.low;
    const bool certain = std::abs(z.high) <= 0x1p-40 && std::abs(shift) < 0x1p50;
    result.log_sum_exp[2] = certain ? weight_error + 0x1p-92 +
                                          (std::abs(shift) + std::abs(x) + std::abs(log.high)) * 0x1p-100 +
                                          n * 0x1p-900
                                    : infinity;
  }
  if (result.weights_high) finish_weights(i, inverse, weight_error);
}

inline void evaluation::finish_weights(std::size_t i, double_double inverse, double error) {
  const row_state& s = state_[i];
  const row_results& result = results_[i];
  const std::size_t offset = rows_[i].first_key;
  for (std::size_t key = s.first; key < s.last; ++key) {
    const std::size_t at = key - offset;
    if (rows_[i].visible && !rows_[i].visible[at]) {
      result.weights_high[at] = result.weights_low[at] = result.weights_error[at] = 0;
      continue;
    }
    const std::size_t block = key / block_keys;
    const double by = (memory_.block_shift[i * blocks_ + block] - s.shift) / 256;
    const double f = by < -1000 ? 0 : std::ldexp(1.0, static_cast<int>(by));
    const double_double w =
        product(double_double{result.weights_high[at] * f, result.weights_low[at] * f}, inverse);
    result.weights_high[at] = w.high;
    result.weights_low[at] = w.low;
    const double e = w.high * (error + memory_.block_error[i * blocks_ + block] * 1.01 + 0x1p-100) + 0x1p-950;
    result.weights_error[at] = error == infinity ? infinity : e;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace attest::double_double_tier
HWY_AFTER_NAMESPACE();

#endif
