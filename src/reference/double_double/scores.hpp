#if defined(ATTEST_REFERENCE_DOUBLE_DOUBLE_SCORES_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_REFERENCE_DOUBLE_DOUBLE_SCORES_HPP
#undef ATTEST_REFERENCE_DOUBLE_DOUBLE_SCORES_HPP
#else
#define ATTEST_REFERENCE_DOUBLE_DOUBLE_SCORES_HPP
#endif

// What becomes of the scores of a row and a block of keys: further steps, then exponentials.
#include "reference/double_double/exponential.hpp"
#include "reference/double_double/rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace attest::double_double_tier {
namespace HWY_NAMESPACE {

/// docs/error-bounds.md, "Scores".
inline double evaluation::dot_error(const row_state& s, double norm, double key_last_bit) const {
  const double n = static_cast<double>(head_.key_width);
  double error = 0x1p-100;
  const double last_bit = s.query_last_bit * key_last_bit;  // of all products, in last places of the grid
  if (last_bit < 1) error += n * 0x1p-101;
  if (last_bit < 0x1p-40 || n > 2048) error += (n + 5) * (n + 5) * (fused ? 0x1p-106 : 0x1p-105);
  return s.factor.high * norm * error + s.factor_error;
}

/// Scores times 256 log2(e), from scaled dot products, in place. Returns a bound of their absolute error,
/// given that of the dot products times the factor. docs/error-bounds.md, "Further steps".
inline double evaluation::apply_steps(std::size_t block, std::size_t i, std::size_t first, std::size_t last,
                                      double error, double& largest_low) {
  const D d;
  const row_state& s = state_[i];
  const query_row& row = rows_[i];
  double* high = memory_.high + i % group_rows * block_keys;
  double* low = memory_.low + i % group_rows * block_keys;
  const V fh = hn::Set(d, s.factor.high);
  const V fl = hn::Set(d, s.factor.low);
  const V log2e_high = hn::Set(d, exp_tables::log2e_256_high);
  const V log2e_low = hn::Set(d, exp_tables::log2e_256_low);
  const V one = hn::Set(d, 1.0);
  double cap = 1;
  double_double cap_factor{};
  if (steps_.softcap) {
    cap = *steps_.softcap;
    cap_factor = quotient({2 * exp_tables::log2e_256_high, 2 * exp_tables::log2e_256_low}, {cap, 0});
    if (!(cap < 0x1p500 && cap > 0x1p-500)) return infinity;
  }
  alignas(64) double bias_of[block_keys];
  if (row.bias) {
    for (std::size_t j = first; j < last; ++j) {
      const std::size_t key = block * block_keys + j;
      bias_of[j] =
          key >= s.first && key < s.last && mask_[i % group_rows][j] ? row.bias[key - row.first_key] : 0.0;
    }
  }
  alignas(64) double distance[block_keys];
  if (steps_.slope)
    for (std::size_t j = first; j < last; ++j) {
      const auto key = static_cast<std::ptrdiff_t>(block * block_keys + j);
      distance[j] = static_cast<double>(row.position > key ? row.position - key : key - row.position);
    }

  V magnitude = hn::Zero(d);
  for (std::size_t j = first; j < last; j += lanes) {
    V xh, xl;
    multiply(hn::Load(d, high + j), hn::Load(d, low + j), fh, fl, xh, xl);
    fast_two_sum(xh, xl, xh, xl);
    if (steps_.softcap) {
      // tanh(x/cap) = (e - 1)/(e + 1) with e = exp(2|x|/cap), 1 beyond |x| = 40 cap or so.
      V yh, yl;
      const V negative = hn::And(xh, hn::Set(d, -0.0));
      multiply(hn::Xor(xh, negative), hn::Xor(xl, negative), hn::Set(d, cap_factor.high),
               hn::Set(d, cap_factor.low), yh, yl);
      const auto far = hn::Gt(yh, hn::Set(d, 256.0 * 120));
      yh = hn::IfThenElse(far, hn::Set(d, 256.0 * 120), yh);
      yl = hn::IfThenElse(far, hn::Zero(d), yl);
      V eh, el, nh, nl, dh, dl;
      exponential(yh, yl, hn::Zero(d), eh, el);
      two_sum(eh, hn::Neg(one), nh, nl);
      two_sum(eh, one, dh, dl);
      fast_two_sum(nh, hn::Add(nl, el), nh, nl);
      fast_two_sum(dh, hn::Add(dl, el), dh, dl);
      const V q = hn::Div(nh, dh);
      const V qd = pinned(hn::Mul(q, dh));
      V rest = hn::Sub(hn::Sub(nh, qd), product_low(q, dh, qd));
      rest = hn::Add(rest, hn::Sub(nl, pinned(hn::Mul(q, dl))));
      V th, tl;
      fast_two_sum(q, hn::Div(rest, dh), th, tl);
      const V c = hn::Set(d, cap);
      xh = pinned(hn::Mul(th, c));
      xl = multiply_add(tl, c, product_low(th, c, xh));
      xh = hn::Xor(xh, negative);
      xl = hn::Xor(xl, negative);
    }
    magnitude = hn::Max(magnitude, hn::Abs(xh));
    if (row.bias) {
      const V b = hn::Load(d, bias_of + j);
      V e;
      magnitude = hn::Max(magnitude, hn::Abs(b));
      two_sum(xh, b, xh, e);
      fast_two_sum(xh, hn::Add(xl, e), xh, xl);
      magnitude = hn::Max(magnitude, hn::Abs(xh));
    }
    if (steps_.slope) {
      const V slope = hn::Set(d, -*steps_.slope);
      const V far = hn::Load(d, distance + j);
      const V ah = pinned(hn::Mul(slope, far));
      const V al = product_low(slope, far, ah);
      V e;
      magnitude = hn::Max(magnitude, hn::Abs(ah));
      two_sum(xh, ah, xh, e);
      fast_two_sum(xh, hn::Add(hn::Add(xl, al), e), xh, xl);
      magnitude = hn::Max(magnitude, hn::Abs(xh));
    }
    V yh, yl;
    multiply(xh, xl, log2e_high, log2e_low, yh, yl);
    fast_two_sum(yh, yl, yh, yl);
    hn::Store(yh, d, high + j);
    hn::Store(yl, d, low + j);
  }
  const double m = hn::GetLane(hn::MaxOfLanes(d, magnitude));
  if (steps_.slope && !(std::abs(*steps_.slope) < 0x1p500)) return infinity;
  largest_low = m * 0x1p-43;  // 2^-11 at most where anything is claimed: m <= 2^32
  if (steps_.softcap) error += cap * 0x1p-94;
  return (error + m * 0x1p-101 + 0x1p-480) * 370 + m * 0x1p-94;
}

inline void evaluation::rescale(std::size_t i, double shift) {
  const double by = (shift_[i] - shift) / 256;
  const double f = by < -1000 ? 0 : std::ldexp(1.0, static_cast<int>(by));
  grids_[i] *= f;
  error_[i] *= f;
  const D d;
  const V factor = hn::Set(d, f);
  const std::size_t group = i / group_rows;
  for (std::size_t panel = 0; panel < head_.value_panels && !fresh_[group]; ++panel) {
    if ((wanted_panels_[group] & panel_bit(panel)) == 0) continue;
    double* high = memory_.output_high + i * width_ + panel * panel_width;
    double* low = memory_.output_low + i * width_ + panel * panel_width;
    for (std::size_t c = 0; c < panel_width; c += lanes) {
      hn::Store(hn::Mul(hn::Load(d, high + c), factor), d, high + c);
      hn::Store(hn::Mul(hn::Load(d, low + c), factor), d, low + c);
    }
  }
  double* sums = memory_.sums + i * 16;
  for (std::size_t c = 0; c < 16; ++c) sums[c] *= f;
}

// The steps of the exponentials of a row, over vectors [first, last) of keys. `steps` holds of every vector
// r, th, tl, eh and el one after another.

/// Reduces scores high + low, or if they are not `Final` yet, scores times fh + fl.
template <bool Final>
HWY_INLINE void reduce_row(std::size_t first, std::size_t last, const double* HWY_RESTRICT high,
                           const double* HWY_RESTRICT low, V fh, V fl, V shift, double* HWY_RESTRICT steps) {
  const D d;
  const auto score = [=](std::size_t j, V& yh, V& yl) HWY_ATTR {
    yh = hn::Load(d, high + j);
    yl = hn::Load(d, low + j);
    if constexpr (!Final) multiply(yh, yl, fh, fl, yh, yl);
  };
  for (std::size_t j = first; j < last; j += 2 * lanes) {
    two<V> yh, yl, r, th, tl;
    score(j, yh.a, yl.a);
    score(j + lanes, yh.b, yl.b);
    reduce(yh, yl, shift, r, th, tl);
    store_two(r, steps + 5 * j, 5);
    store_two(th, steps + 5 * j + lanes, 5);
    store_two(tl, steps + 5 * j + 2 * lanes, 5);
  }
}

HWY_INLINE void powers_of_row(std::size_t first, std::size_t last, double* steps) {
  for (std::size_t j = first; j < last; j += 2 * lanes) {
    two<V> eh, el;
    power_minus_one(load_two(steps + 5 * j, 5), eh, el);
    store_two(eh, steps + 5 * j + 3 * lanes, 5);
    store_two(el, steps + 5 * j + 4 * lanes, 5);
  }
}

/// The exponentials, 0 where mask is 0, and their sum by lanes.
template <bool Masked>
HWY_INLINE void finish_row(std::size_t first, std::size_t last, const double* HWY_RESTRICT steps,
                           const std::uint64_t* HWY_RESTRICT mask, double* HWY_RESTRICT high,
                           double* HWY_RESTRICT low, V& sum_high, V& sum_low) {
  const D d;
  const DU du;
  V sh = hn::Zero(d), sl = hn::Zero(d);
  for (std::size_t j = first; j < last; j += lanes) {
    const double* x = steps + 5 * j;
    V ph, pl, e;
    multiply_by_one_plus(hn::Load(d, x + lanes), hn::Load(d, x + 2 * lanes), hn::Load(d, x + 3 * lanes),
                         hn::Load(d, x + 4 * lanes), ph, pl);
    if constexpr (Masked) {
      const auto sees = hn::MaskFromVec(hn::BitCast(d, hn::Load(du, mask + j)));
      ph = hn::IfThenElseZero(sees, ph);
      pl = hn::IfThenElseZero(sees, pl);
    }
    hn::Store(ph, d, high + j);
    hn::Store(pl, d, low + j);
    two_sum(sh, ph, sh, e);
    sl = hn::Add(sl, hn::Add(e, pl));
  }
  sum_high = sh;
  sum_low = sl;
}

/// Before the exponentials of a row: which keys of the block it sees, further steps of their scores, and what
/// the exponentials are relative to. False where there is nothing to calculate.
inline bool evaluation::start_exponentials(std::size_t block, std::size_t i, std::size_t first,
                                           std::size_t last) {
  const D d;
  const DU du;
  row_state& s = state_[i];
  const query_row& row = rows_[i];
  const std::size_t r = i % group_rows;
  std::uint64_t* mask = mask_[r];
  const std::size_t first_key = block * block_keys + first;
  const std::size_t last_key = block * block_keys + last;
  masked_[r] = row.visible || s.first > first_key || s.last < last_key;
  if (masked_[r]) {
    // What is in the range of keys, less what is hidden there.
    const std::size_t begin = std::clamp(s.first, first_key, last_key) - block * block_keys;
    const std::size_t end = std::clamp(s.last, first_key, last_key) - block * block_keys;
    if (begin >= end) return false;
    std::fill(mask + first, mask + begin, std::uint64_t{0});
    std::fill(mask + begin, mask + end, ~std::uint64_t{0});
    std::fill(mask + end, mask + last, std::uint64_t{0});
    if (row.visible) {
      const unsigned char* visible = row.visible + (block * block_keys + begin - row.first_key);
      bool any = false;
      for (std::size_t j = begin; j < end; ++j) {
        const bool sees = visible[j - begin] != 0;
        mask[j] = sees ? ~std::uint64_t{0} : 0;
        any |= sees;
      }
      if (!any) return false;
    }
  } else if (row.bias) {
    std::fill(mask + first, mask + last, ~std::uint64_t{0});
  }
  if (s.coarse) {
    find_best_key(block, i, first, last);
    return false;
  }

  double error = dot_error(s, head_.key_norm[block], head_.key_last_bit[block]);
  double largest_low =
      s.factor.high * head_.key_norm[block] * static_cast<double>(head_.key_width + 1) * 0x1p-52;
  const bool direct = simple_ && !row.bias;
  if (!direct) error = apply_steps(block, i, first, last, error, largest_low);
  if (!(largest_low <= 0x1p-11 && error <= 0x1p-20)) s.lost = true;
  const double relative = error * ln2_256 * 1.001 + exp_error;

  const double* high = memory_.high + r * block_keys;
  V top = hn::Set(d, -infinity);
  if (masked_[r]) {
    for (std::size_t j = first; j < last; j += lanes) {
      const auto sees = hn::MaskFromVec(hn::BitCast(d, hn::Load(du, mask + j)));
      top = hn::Max(top, hn::IfThenElse(sees, hn::Load(d, high + j), hn::Set(d, -infinity)));
    }
  } else {
    V other = top;
    for (std::size_t j = first; j < last; j += 2 * lanes) {
      top = hn::Max(top, hn::Load(d, high + j));
      other = hn::Max(other, hn::Load(d, high + j + lanes));
    }
    top = hn::Max(top, other);
  }
  double largest = hn::GetLane(hn::MaxOfLanes(d, top));
  if (direct) largest *= s.factor.high;
  if (largest > largest_[i]) {
    largest_[i] = largest;
    largest_block_error_[i] = relative;
    largest_low_[i] = largest_low;
  }
  const double shift = 256 * std::ceil(largest / 256);
  if (shift > shift_[i]) {
    if (shift_[i] != -infinity) rescale(i, shift);
    shift_[i] = shift;
  }
  relative_error_[r] = relative;
  memory_.block_shift[i * blocks_ + block] = shift_[i];
  memory_.block_error[i * blocks_ + block] = relative;
  return true;
}

/// Scores [first, last) of the block (multiples of the panel width) become exponentials, 0 where a row of the
/// group does not see the key. Each step goes over all rows: that leaves little to wait for.
inline void evaluation::exponentials(std::size_t block, std::size_t group, std::size_t first,
                                     std::size_t last) {
  const D d;
  bool some[group_rows];
  for (std::size_t r = 0; r < group_rows; ++r) {
    const std::size_t i = group * group_rows + r;
    some[r] = i < count_ && start_exponentials(block, i, first, last);
  }
  for (std::size_t r = 0; r < group_rows; ++r) {
    if (!some[r]) continue;
    const std::size_t i = group * group_rows + r;
    const double* high = memory_.high + r * block_keys;
    const double* low = memory_.low + r * block_keys;
    const V shift = hn::Set(d, shift_[i]);
    const V fh = hn::Set(d, state_[i].factor.high);
    const V fl = hn::Set(d, state_[i].factor.low);
    if (simple_ && !rows_[i].bias)
      reduce_row<false>(first, last, high, low, fh, fl, shift, steps_of_[r]);
    else
      reduce_row<true>(first, last, high, low, fh, fl, shift, steps_of_[r]);
  }
  for (std::size_t r = 0; r < group_rows; ++r)
    if (some[r]) powers_of_row(first, last, steps_of_[r]);
  for (std::size_t r = 0; r < group_rows; ++r) {
    const std::size_t i = group * group_rows + r;
    double sum = 0;
    if (some[r]) {
      sum = add_exponentials(block, i, first, last);
    } else {
      std::fill_n(memory_.high + r * block_keys + first, last - first, 0.0);
      std::fill_n(memory_.low + r * block_keys + first, last - first, 0.0);
    }
    const double grid = power_of_two_above(sum);
    grids_[i] += grid;
    grid_[r] = 3 * grid;
  }
}

/// The last step of the exponentials of a row, and their sums. Returns what is not below that of the block.
inline double evaluation::add_exponentials(std::size_t block, std::size_t i, std::size_t first,
                                           std::size_t last) {
  const D d;
  const std::size_t r = i % group_rows;
  double* high = memory_.high + r * block_keys;
  double* low = memory_.low + r * block_keys;
  V sum_high, sum_low;
  if (masked_[r])
    finish_row<true>(first, last, steps_of_[r], mask_[r], high, low, sum_high, sum_low);
  else
    finish_row<false>(first, last, steps_of_[r], mask_[r], high, low, sum_high, sum_low);

  double* sums = memory_.sums + i * 16;
  V all, e;
  two_sum(hn::Load(d, sums), sum_high, all, e);
  hn::Store(all, d, sums);
  hn::Store(hn::Add(hn::Load(d, sums + 8), hn::Add(e, sum_low)), d, sums + 8);
  const double sum = hn::GetLane(hn::SumOfLanes(d, sum_high)) * (1 + 0x1p-20);
  error_[i] += relative_error_[r] * sum;

  if (results_[i].weights_high) {
    const row_state& s = state_[i];
    const std::size_t from = std::max(block * block_keys + first, s.first);
    const std::size_t to = std::min(block * block_keys + last, s.last);
    for (std::size_t key = from; key < to; ++key) {
      results_[i].weights_high[key - rows_[i].first_key] = high[key - block * block_keys];
      results_[i].weights_low[key - rows_[i].first_key] = low[key - block * block_keys];
    }
  }
  return sum;
}

}  // namespace HWY_NAMESPACE
}  // namespace attest::double_double_tier
HWY_AFTER_NAMESPACE();

#endif
