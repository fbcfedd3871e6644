#if defined(ATTEST_REFERENCE_DOUBLE_DOUBLE_ROWS_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_REFERENCE_DOUBLE_DOUBLE_ROWS_HPP
#undef ATTEST_REFERENCE_DOUBLE_DOUBLE_ROWS_HPP
#else
#define ATTEST_REFERENCE_DOUBLE_DOUBLE_ROWS_HPP
#endif

// Rows of one query head, up to block_rows together: they go over the blocks of keys, whose scores become
// exponentials and whose values are added up. What happens to a row is in double_double_scores.hpp,
// double_double_dominant_key.hpp and double_double_results.hpp.
#include "reference/double_double.hpp"
#include "reference/double_double_data.hpp"
#include "reference/double_double_exponents.hpp"
#include "reference/double_double_scaling.hpp"
#include "reference/double_double_tiles.hpp"
#include "reference/exp_tables.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace attest::double_double_tier {
namespace HWY_NAMESPACE {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double exp_error = 0x1p-94;
constexpr double ln2_256 = 0x1.62e42fefa39f0p-9;  // log(2)/256, rounded up

inline std::uint64_t panel_bit(std::size_t panel) {
  return std::uint64_t{1} << std::min<std::size_t>(panel, 63);
}

constexpr std::size_t no_key = static_cast<std::size_t>(-1);

struct row_state {
  std::size_t first = 0;  // keys that it may see; none for a row that only fills a tile
  std::size_t last = 0;
  // A scaled dot product times this is a score, times 256 log2(e) where nothing else is done to it.
  double_double factor{};
  long factor_exponent = 0;
  double factor_error = 0;         // of scores, where the factor was too small to be taken for anything but 0
  long query_last_bit = 0;         // of the scaled query
  bool lost = false;               // nothing is claimed
  double shift = -infinity;        // of the exponentials: a multiple of 256
  double grids = 0;                // Σ over blocks of the power of two above Σ exponentials
  double error = 0;                // Σ over blocks of (relative error of exponentials · Σ exponentials)
  double largest = -infinity;      // the largest score so far, times 256 log2(e)
  double largest_block_error = 0;  // relative error of the exponentials of its block
  double largest_low = 0;          // what its low word is at most
  std::uint64_t wanted_panels = 0;  // of values; the last bit stands for panel 63 and all beyond

  // Scores too large for a difference of exponents to be known well: only whether one key outweighs all
  // others is asked for.
  bool coarse = false;
  double best = -infinity;    // the largest of (score less its error), times 256 log2(e)
  double second = -infinity;  // the largest of (score plus its error) of the others
  double best_upper = -infinity;
  std::size_t best_key = no_key;
  double_double best_product{};  // of the scaled query and that key
  double best_norm = 0;          // κ of its block
};

class evaluation {
 public:
  evaluation(const packed_head::data& head, const score_steps& steps, scratch::buffers& memory)
      : head_(head), steps_(steps), memory_(memory) {
    width_ = head.value_panels * panel_width;
    blocks_ = (head.keys + block_keys - 1) / block_keys;
    simple_ = !steps.softcap && !steps.slope;
    const double_double log2e{exp_tables::log2e_256_high, exp_tables::log2e_256_low};
    scale_ = steps.scale ? double_double{std::abs(*steps.scale), 0}
                         : reciprocal_root(static_cast<double>(head.key_width));
    if (scale_.high != 0) {
      std::frexp(scale_.high, &scale_exponent_);
      scale_ = {std::ldexp(scale_.high, -scale_exponent_), std::ldexp(scale_.low, -scale_exponent_)};
    }
    for (const double norm : head.key_norm) largest_key_norm_ = std::max(largest_key_norm_, norm);
    scale_log2e_ = product(scale_, log2e);
    if (steps.sink) sink_ = product(log2e, *steps.sink);
    sink_overflows_ = !(std::abs(sink_.high) < 0x1p1023);
    if (sink_overflows_) sink_ = {std::copysign(0x1p1000, *steps.sink), 0};  // any number: nothing is claimed
    reserve();
  }

  void rows(const query_row* rows, const row_results* results, std::size_t count) {
    rows_ = rows;
    results_ = results;
    count_ = count;
    start();
    for (std::size_t block = 0; block < blocks_; ++block) keys(block);
    for (std::size_t i = 0; i < count_; ++i) finish(i);
  }

 private:
  void reserve();
  void start();
  void start_row(std::size_t i);
  void keys(std::size_t block);
  bool bias(std::size_t i) const { return rows_[i].bias != nullptr; }
  void row_exponentials(std::size_t block, std::size_t i, std::size_t first, std::size_t last, double& sum);
  double apply_steps(std::size_t block, std::size_t i, std::size_t first, std::size_t last, double error,
                     double& largest_low);
  double dot_error(const row_state& s, double norm, long spare) const;
  void consider(row_state& s, double y, double error, std::size_t key);
  void find_best_key(std::size_t block, std::size_t i, std::size_t first, std::size_t last);
  void finish_coarse(std::size_t i);
  void rescale(std::size_t i, double shift);
  void finish(std::size_t i);
  void finish_weights(std::size_t i, double_double inverse, double error);

  const packed_head::data& head_;
  const score_steps& steps_;
  scratch::buffers& memory_;
  std::size_t width_;
  std::size_t blocks_;
  bool simple_;
  double_double scale_{};  // |scale|, times 2^-scale_exponent_
  double_double scale_log2e_{};
  int scale_exponent_ = 0;
  double_double sink_{};  // times 256 log2(e)
  bool sink_overflows_ = false;
  double largest_key_norm_ = 0;

  const query_row* rows_ = nullptr;
  const row_results* results_ = nullptr;
  std::size_t count_ = 0;
  row_state state_[block_rows];
  double grids_[block_rows] = {};  // of the sums over values of the block at hand, but for the values' factor
  alignas(64) std::uint64_t mask_[block_keys];
};

inline void evaluation::reserve() {
  if (memory_.key_width < head_.key_width || memory_.q.get() == nullptr) {
    memory_.q = numbers(block_rows * head_.key_width);
    memory_.query = numbers(head_.key_width + 8);
    memory_.key_width = head_.key_width;
  }
  if (memory_.high.get() == nullptr) {
    memory_.high = numbers(block_rows * block_keys);
    memory_.low = numbers(block_rows * block_keys);
    memory_.sums = numbers(block_rows * 16);
  }
  if (memory_.value_panels < head_.value_panels || memory_.output_high.get() == nullptr) {
    memory_.output_high = numbers(block_rows * std::max<std::size_t>(width_, 1));
    memory_.output_low = numbers(block_rows * std::max<std::size_t>(width_, 1));
    memory_.value_panels = head_.value_panels;
  }
  if (memory_.blocks < blocks_) {
    memory_.block_shift.resize(block_rows * blocks_);
    memory_.block_error.resize(block_rows * blocks_);
    memory_.blocks = blocks_;
  }
}

inline void evaluation::start() {
  if (count_ % group_rows != 0)
    std::fill_n(memory_.q.get() + count_ / group_rows * group_rows * head_.key_width,
                group_rows * head_.key_width, 0.0);
  std::fill_n(memory_.output_high.get(), block_rows * width_, 0.0);
  std::fill_n(memory_.output_low.get(), block_rows * width_, 0.0);
  std::fill_n(memory_.sums.get(), block_rows * 16, 0.0);
  for (std::size_t i = 0; i < block_rows; ++i) {
    state_[i] = {};
    if (i < count_) start_row(i);
  }
}

inline void evaluation::start_row(std::size_t i) {
  row_state& s = state_[i];
  const query_row& row = rows_[i];
  const std::size_t width = head_.key_width;
  const std::size_t padded = rounded_up(width, 8);
  s.first = row.first_key;
  s.last = std::min(row.last_key, head_.keys);
  s.wanted_panels = row.wanted ? 0 : ~std::uint64_t{0};
  if (row.wanted)
    for (std::size_t c = 0; c < head_.value_width; ++c)
      if (row.wanted[c]) s.wanted_panels |= panel_bit(c / panel_width);
  double* x = memory_.query.get();
  std::copy(row.q, row.q + width, x);
  std::fill(x + width, x + padded, 0.0);

  int exponent = std::max(exponent_above(largest_magnitude(x, 1, padded, padded)), -900);
  const scaled_row scaled = scale_row(x, padded, power_of_two(-exponent));
  // The norm of x is below 2^norm. (A number that lost bits below 2^-1074 has a last bit there: nothing is
  // exact then.)
  const int norm = exponent_above(scaled.norm * (1 + 0x1p-20));
  exponent += norm;
  s.query_last_bit = exponent_above(scaled.last_bit) - 1 - norm;

  const bool negative = steps_.scale && std::signbit(*steps_.scale);
  const double factor = negative ? -power_of_two(-norm) : power_of_two(-norm);
  double* q = memory_.q.get() + (i / group_rows) * group_rows * width + i % group_rows;
  for (std::size_t c = 0; c < width; ++c) q[c * group_rows] = x[c] * factor;

  const double_double scale = simple_ && !row.bias ? scale_log2e_ : scale_;
  const long total = static_cast<long>(scale_exponent_) + exponent + head_.key_exponent;
  if (scale.high == 0) {
    s.factor = {0, 0};
  } else if (total < -500) {
    s.factor_error = 0x1p-470;
  } else {
    // A smaller factor than the true one leaves a key that outweighs all others what it is.
    const double by_total = power_of_two(static_cast<int>(std::min<long>(total, 900)));
    s.factor = {scale.high * by_total, scale.low * by_total};
    s.factor_exponent = total;
    if (total > 900 && steps_.sink) s.lost = true;
    const double size = s.factor.high * largest_key_norm_;
    if (!(size * static_cast<double>(width + 1) * 0x1p-52 <= 0x1p-11))
      (simple_ && !row.bias ? s.coarse : s.lost) = true;
  }
  if (steps_.sink) {
    s.largest = sink_.high;
    s.shift = 256 * std::ceil(sink_.high / 256);
    s.largest_low = std::abs(sink_.low);
    s.largest_block_error = std::abs(sink_.high) * 0x1p-103 * ln2_256 + exp_error;
    if (!(std::abs(sink_.high) < 0x1p42)) {
      (simple_ && !row.bias ? s.coarse : s.lost) = true;
    }
    if (sink_overflows_) s.lost = true;
    if (s.coarse) consider(s, sink_.high, std::abs(sink_.high) * 0x1p-50, no_key);
  }
}

inline void evaluation::keys(std::size_t block) {
  const std::size_t begin = block * block_keys;
  const std::size_t end = std::min(begin + block_keys, head_.keys);
  const std::size_t groups = (count_ + group_rows - 1) / group_rows;
  struct range {
    std::size_t first, last;
  };
  // Of each group of rows: the keys of the block that some row may see.
  range keys[block_rows / group_rows];
  std::size_t first_panel = block_keys, last_panel = 0;
  for (std::size_t g = 0; g < groups; ++g) {
    keys[g] = {end, begin};
    for (std::size_t i = g * group_rows; i < (g + 1) * group_rows; ++i) {
      if (state_[i].last <= state_[i].first) continue;
      keys[g].first = std::min(keys[g].first, std::max(state_[i].first, begin));
      keys[g].last = std::max(keys[g].last, std::min(state_[i].last, end));
    }
    if (keys[g].first >= keys[g].last) {
      keys[g] = {begin, begin};
      continue;
    }
    keys[g].first -= begin;
    keys[g].last -= begin;
    first_panel = std::min(first_panel, keys[g].first / panel_width);
    last_panel = std::max(last_panel, (keys[g].last + panel_width - 1) / panel_width);
  }

  const std::size_t width = head_.key_width;
  for (std::size_t panel = first_panel; panel < last_panel; ++panel)
    for (std::size_t g = 0; g < groups; ++g) {
      if (keys[g].last <= panel * panel_width || keys[g].first >= (panel + 1) * panel_width) continue;
      for (std::size_t j = panel * panel_width; j < (panel + 1) * panel_width; j += tile_width)
        score_tile(memory_.q.get() + g * group_rows * width,
                   head_.k.get() + (begin / panel_width + panel) * width * panel_width + j % panel_width,
                   head_.key_grid.get() + begin + j, width,
                   memory_.high.get() + g * group_rows * block_keys + j,
                   memory_.low.get() + g * group_rows * block_keys + j);
    }
  for (std::size_t g = 0; g < groups; ++g) {
    if (keys[g].last == keys[g].first) continue;
    const std::size_t first = keys[g].first / panel_width * panel_width;
    const std::size_t last = (keys[g].last + panel_width - 1) / panel_width * panel_width;
    for (std::size_t i = g * group_rows; i < (g + 1) * group_rows; ++i) {
      double sum = 0;
      if (i < count_) {
        row_exponentials(block, i, first, last, sum);
      } else {
        std::fill_n(memory_.high.get() + i * block_keys + first, last - first, 0.0);
        std::fill_n(memory_.low.get() + i * block_keys + first, last - first, 0.0);
      }
      const double grid = power_of_two_above(sum);
      state_[i].grids += grid;
      grids_[i] = 3 * grid;
    }
  }
  for (std::size_t panel = 0; panel < head_.value_panels; ++panel) {
    const double* grid = head_.value_grid.get() + (block * head_.value_panels + panel) * panel_width;
    for (std::size_t g = 0; g < groups; ++g) {
      const std::size_t row = g * group_rows;
      const std::uint64_t wanted = state_[row].wanted_panels | state_[row + 1].wanted_panels |
                                   state_[row + 2].wanted_panels | state_[row + 3].wanted_panels;
      if (keys[g].last == keys[g].first || (wanted & panel_bit(panel)) == 0) continue;
      const double* v = head_.v.get() + (panel * head_.keys + begin + keys[g].first) * panel_width;
      for (std::size_t c = 0; c < panel_width; c += tile_width)
        output_tile(memory_.high.get() + row * block_keys + keys[g].first,
                    memory_.low.get() + row * block_keys + keys[g].first, v + c, keys[g].last - keys[g].first,
                    grid + c, grids_ + row,
                    memory_.output_high.get() + row * width_ + panel * panel_width + c,
                    memory_.output_low.get() + row * width_ + panel * panel_width + c, width_);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace attest::double_double_tier
HWY_AFTER_NAMESPACE();

#endif
