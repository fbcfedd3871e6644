#if defined(ATTEST_REFERENCE_DOUBLE_DOUBLE_RESULTS_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_REFERENCE_DOUBLE_DOUBLE_RESULTS_HPP
#undef ATTEST_REFERENCE_DOUBLE_DOUBLE_RESULTS_HPP
#else
#define ATTEST_REFERENCE_DOUBLE_DOUBLE_RESULTS_HPP
#endif

// The results of a row, from its sums, and their bounds.
#include "reference/double_double/exponential.hpp"
#include "reference/double_double/rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace attest::double_double_tier {
namespace HWY_NAMESPACE {

/// Results of a vector of rows.
inline void evaluation::finish(std::size_t first) {
  const D d;
  // l = Σ exponentials.
  V high[lanes], low[lanes];
  HWY_UNROLL(8)
  for (std::size_t r = 0; r < lanes; ++r) {
    high[r] = hn::Load(d, memory_.sums + (first + r) * 16);
    low[r] = hn::Load(d, memory_.sums + (first + r) * 16 + 8);
  }
  transpose(high);
  transpose(low);
  V total_high = high[0], total_low = low[0];
  const auto add = [&](V h, V l) HWY_ATTR {
    V e;
    two_sum(total_high, h, total_high, e);
    total_low = hn::Add(total_low, hn::Add(e, l));
  };
  HWY_UNROLL(8)
  for (std::size_t lane = 1; lane < lanes; ++lane) add(high[lane], low[lane]);
  const V shift = hn::Load(d, shift_.of + first);
  V errors = hn::Load(d, error_.of + first);
  if (steps_.sink) {
    V ph, pl;
    exponential(hn::Set(d, sink_.high), hn::Set(d, sink_.low), shift, ph, pl);
    add(ph, pl);
    const double relative = (std::abs(sink_.high) * 0x1p-103 * ln2_256 + exp_error) * 1.001;
    errors = hn::Add(errors, hn::Mul(ph, hn::Set(d, relative)));
  }
  V l, rest;
  fast_two_sum(total_high, total_low, l, rest);

  // docs/error-bounds.md, "From scores to outputs". b blocks, n keys.
  const auto times = [&](V x, double y) HWY_ATTR { return hn::Mul(x, hn::Set(d, y)); };
  const double b = static_cast<double>(blocks_);
  const double n = static_cast<double>(head_.keys) + 1;
  constexpr double k = static_cast<double>(block_keys);
  constexpr double per_lane = k / static_cast<double>(lanes);
  V spread = times(errors, 1 + 0x1p-20);
  const auto peaked = hn::Gt(spread, times(l, 0x1p-84));  // else the rest is about as large
  if (!hn::AllFalse(d, peaked)) {
    V top, top_low;  // not above the largest exponential
    exponential(hn::Load(d, largest_.of + first), hn::Zero(d), shift, top, top_low);
    top = hn::Mul(top, hn::Sub(hn::Set(d, 1 - 0x1p-30), hn::Load(d, largest_low_.of + first)));
    const V of_block = hn::Load(d, largest_block_error_.of + first);
    const V others = hn::Sub(times(l, 1 + 0x1p-40), top);
    V x = hn::Sub(times(errors, 1 + 0x1p-30), hn::Mul(of_block, top));
    x = hn::Add(hn::Add(x, hn::Mul(of_block, others)), times(errors, 0x1p-40));
    spread = hn::IfThenElse(hn::And(peaked, hn::Lt(x, spread)), x, spread);
  }
  const V by_l = hn::Div(hn::Set(d, 1.0), l);
  const double sum_error = (per_lane * per_lane + (b + 8) * (b + 8)) * 0x1p-103 + 0x1p-99;
  const double of_grids =
      0x1p-103 * ((k + 8) * (k + 8) * (fused ? 0.25 : 0.5) + b * (k + 4) * (fused ? 1 : 1.5)) * 1.01;
  V output_error = hn::Add(times(spread, 2.04), times(hn::Load(d, grids_.of + first), of_grids));
  output_error = hn::Add(hn::Mul(output_error, by_l), hn::Set(d, sum_error * 1.01 + n * 0x1p-390));
  V weight_error = hn::Add(hn::Mul(times(errors, 1.02), by_l), hn::Set(d, sum_error * 1.01));
  // All comparisons with NaN are false.
  const auto in_range = hn::And(hn::Gt(l, hn::Set(d, 0x1p-2)), hn::Lt(l, hn::Set(d, 0x1p100)));
  const V none = hn::Set(d, infinity);
  output_error = hn::IfThenElse(hn::And(in_range, hn::Lt(output_error, none)), output_error, none);
  weight_error = hn::IfThenElse(hn::And(in_range, hn::Lt(weight_error, none)), weight_error, none);

  // 1/l as quotient() of arithmetic.hpp has it.
  const V remainder_high = pinned(hn::Mul(l, by_l));
  V remainder, remainder_low;
  fast_two_sum(remainder_high, multiply_add(rest, by_l, product_low(l, by_l, remainder_high)), remainder,
               remainder_low);
  const V correction = hn::Sub(hn::Sub(hn::Set(d, 1.0), remainder), remainder_low);
  V inverse_high, inverse_low;
  fast_two_sum(by_l, hn::Div(correction, l), inverse_high, inverse_low);

  alignas(64) double numbers_of[6][lanes];
  hn::Store(output_error, d, numbers_of[0]);
  hn::Store(weight_error, d, numbers_of[1]);
  hn::Store(inverse_high, d, numbers_of[2]);
  hn::Store(inverse_low, d, numbers_of[3]);
  hn::Store(l, d, numbers_of[4]);
  hn::Store(rest, d, numbers_of[5]);
  for (std::size_t r = 0; r < std::min(lanes, count_ - first); ++r) {
    const std::size_t i = first + r;
    const row_state& s = state_[i];
    if (s.coarse && !s.lost) {
      finish_coarse(i);
      continue;
    }
    const double_double inverse{numbers_of[2][r], numbers_of[3][r]};
    const double of_weights = s.lost ? infinity : numbers_of[1][r];
    if (results_[i].output_high) finish_output(i, inverse, s.lost ? infinity : numbers_of[0][r]);
    if (results_[i].log_sum_exp) finish_log_sum_exp(i, {numbers_of[4][r], numbers_of[5][r]}, of_weights);
    if (results_[i].weights_high) finish_weights(i, inverse, of_weights);
  }
}

/// The sums times the inverse of Σ exponentials; error is relative to the largest value of a column.
inline void evaluation::finish_output(std::size_t i, double_double inverse, double error) {
  const D d;
  const row_results result = results_[i];  // copied: stores of results might change the pointers
  double* output_high = memory_.output_high + i * width_;
  double* output_low = memory_.output_low + i * width_;
  if (fresh_[i / group_rows]) {  // no key was seen
    std::fill_n(output_high, width_, 0.0);
    std::fill_n(output_low, width_, 0.0);
  }
  const double* largest = head_.value_largest;
  const std::size_t width = head_.value_width;
  const V ih = hn::Set(d, inverse.high);
  const V il = hn::Set(d, inverse.low);
  const V relative = hn::Set(d, error);
  const auto unbounded = hn::Eq(relative, hn::Set(d, infinity));
  const auto columns = [=](std::size_t c, double* high, double* low, double* bound) HWY_ATTR {
    V h, e;
    multiply(hn::Load(d, output_high + c), hn::Load(d, output_low + c), ih, il, h, e);
    two_sum(h, e, h, e);
    hn::StoreU(h, d, high);
    hn::StoreU(e, d, low);
    // 0 for a column of zeros, infinity (and not NaN) where nothing is claimed.
    const V product = hn::Mul(relative, hn::Load(d, largest + c));
    hn::StoreU(hn::IfThenElse(unbounded, relative, product), d, bound);
  };
  for (std::size_t panel = 0; panel < head_.value_panels; ++panel) {
    if ((state_[i].wanted_panels & panel_bit(panel)) == 0) continue;
    const std::size_t first = panel * panel_width;
    const std::size_t last = std::min(first + panel_width, width);
    std::size_t c = first;
    for (; c + lanes <= last; c += lanes)
      columns(c, result.output_high + c, result.output_low + c, result.output_error + c);
    if (c < last) {
      double part[3][lanes];
      columns(c, part[0], part[1], part[2]);
      std::copy_n(part[0], last - c, result.output_high + c);
      std::copy_n(part[1], last - c, result.output_low + c);
      std::copy_n(part[2], last - c, result.output_error + c);
    }
  }
}

/// log l = x + log(l e^-x) with x near it, and log(1 + z) = z - z^2/2 + ...
inline void evaluation::finish_log_sum_exp(std::size_t i, double_double total, double error) {
  const D d;
  double* result = results_[i].log_sum_exp;
  const double n = static_cast<double>(head_.keys) + 1;
  const double x = std::log(total.high);
  const double_double y = product(double_double{-exp_tables::log2e_256_high, -exp_tables::log2e_256_low}, x);
  V ph, pl;
  const double by = 256 * std::ceil(y.high / 256);
  exponential(hn::Set(d, y.high), hn::Set(d, y.low), hn::Set(d, by), ph, pl);
  const double f = std::ldexp(1.0, static_cast<int>(by / 256));
  const double_double inverse_l{hn::GetLane(ph) * f, hn::GetLane(pl) * f};
  const double_double z = sum(product(total, inverse_l), -1.0);
  const double shift = shift_[i] / 256;
  double_double log = product(double_double{exp_tables::ln2_high, exp_tables::ln2_low}, shift);
  log = sum(log, sum(sum(z, -z.high * z.high / 2), x));
  result[0] = log.high;
  result[1] = log.low;
  const bool certain = std::abs(z.high) <= 0x1p-40 && std::abs(shift) < 0x1p50;
  result[2] = certain ? error + 0x1p-92 + (std::abs(shift) + std::abs(x) + std::abs(log.high)) * 0x1p-100 +
                            n * 0x1p-900
                      : infinity;
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
    const double by = (memory_.block_shift[i * blocks_ + block] - shift_[i]) / 256;
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
