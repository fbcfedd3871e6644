#if defined(ATTEST_REFERENCE_DOUBLE_DOUBLE_ROWS_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_REFERENCE_DOUBLE_DOUBLE_ROWS_HPP
#undef ATTEST_REFERENCE_DOUBLE_DOUBLE_ROWS_HPP
#else
#define ATTEST_REFERENCE_DOUBLE_DOUBLE_ROWS_HPP
#endif

// Rows of one query head, up to block_rows together: they go over the blocks of keys, whose scores become
// exponentials and whose values are added up. What happens to a row is in scores.hpp, dominant_key.hpp and
// results.hpp.
#include "reference/double_double/arithmetic.hpp"
#include "reference/double_double/data.hpp"
#include "reference/double_double/exp_tables.hpp"
#include "reference/double_double/exponents.hpp"
#include "reference/double_double/scaling.hpp"
#include "reference/double_double/tiles.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace attest::double_double_tier {
namespace HWY_NAMESPACE {

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
  double factor_error = 0;    // of scores, where the factor was too small to be taken for anything but 0
  double query_last_bit = 0;  // a power of two that all coordinates of the scaled query are multiples of
  bool lost = false;          // nothing is claimed
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

/// One number for each row, for vectors of rows.
struct alignas(64) of_rows {
  double of[block_rows];
  double& operator[](std::size_t i) { return of[i]; }
  double operator[](std::size_t i) const { return of[i]; }
};

class evaluation {
 public:
  evaluation(const packed_head::data& head, const score_steps& steps, scratch::buffers& memory)
      : head_(head), steps_(steps), memory_(memory) {
    width_ = head.value_panels * panel_width;
    blocks_ = head.blocks;
    simple_ = !steps.softcap && !steps.slope;
    const double_double log2e{exp_tables::log2e_256_high, exp_tables::log2e_256_low};
    scale_ = steps.scale ? double_double{std::abs(*steps.scale), 0}
                         : reciprocal_root(static_cast<double>(head.key_width));
    if (scale_.high != 0) {
      std::frexp(scale_.high, &scale_exponent_);
      scale_ = {std::ldexp(scale_.high, -scale_exponent_), std::ldexp(scale_.low, -scale_exponent_)};
    }
    for (std::size_t b = 0; b < head.blocks; ++b) {
      largest_key_norm_ = std::max(largest_key_norm_, head.key_norm[b]);
      keys_have_few_bits_ = keys_have_few_bits_ || head.key_last_bit[b] >= 0x1p-40;
    }
    scale_log2e_ = product(scale_, log2e);
    if (steps.sink) sink_ = product(log2e, *steps.sink);
    sink_overflows_ = !(std::abs(sink_.high) < 0x1p1023);
    if (sink_overflows_) sink_ = {std::copysign(0x1p1000, *steps.sink), 0};  // any number: nothing is claimed
    memory.reserve(head);
  }

  void rows(const query_row* rows, const row_results* results, std::size_t count) {
    rows_ = rows;
    results_ = results;
    count_ = count;
    start();
    for (std::size_t block = 0; block < blocks_; ++block) keys(block);
    for (std::size_t i = 0; i < count_; i += lanes) finish(i);
  }

 private:
  void start();
  void load_queries(std::size_t first);
  void start_row(std::size_t i);
  void keys(std::size_t block);
  void exponentials(std::size_t block, std::size_t group, std::size_t first, std::size_t last);
  bool start_exponentials(std::size_t block, std::size_t i, std::size_t first, std::size_t last);
  double add_exponentials(std::size_t block, std::size_t i, std::size_t first, std::size_t last);
  double apply_steps(std::size_t block, std::size_t i, std::size_t first, std::size_t last, double error,
                     double& largest_low);
  double dot_error(const row_state& s, double norm, double key_last_bit) const;
  void consider(row_state& s, double y, double error, std::size_t key);
  void find_best_key(std::size_t block, std::size_t i, std::size_t first, std::size_t last);
  void finish_coarse(std::size_t i);
  void rescale(std::size_t i, double shift);
  void finish(std::size_t first);
  void finish_output(std::size_t i, double_double inverse, double error);
  void finish_log_sum_exp(std::size_t i, double_double total, double error);
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
  bool keys_have_few_bits_ = false;  // in some block: else the last bits of queries do not matter

  const query_row* rows_ = nullptr;
  const row_results* results_ = nullptr;
  std::size_t count_ = 0;
  row_state state_[block_rows];
  of_rows query_exponent_;       // the scaled query is q · 2^-query_exponent
  of_rows shift_;                // of the exponentials: a multiple of 256
  of_rows grids_;                // Σ over blocks of the power of two above Σ exponentials
  of_rows error_;                // Σ over blocks of (relative error of exponentials · Σ exponentials)
  of_rows largest_;              // the largest score so far, times 256 log2(e)
  of_rows largest_block_error_;  // relative error of the exponentials of its block
  of_rows largest_low_;          // what its low word is at most
  std::uint64_t wanted_panels_[block_rows / group_rows];  // by some row of the group
  bool fresh_[block_rows / group_rows];                   // outputs of the group are not set yet

  // Of the group of rows and the block of keys at hand:
  bool masked_[group_rows];            // some keys of the block are hidden
  double relative_error_[group_rows];  // of the exponentials
  double grid_[group_rows];            // of the sums over values, but for the values' factor
  alignas(64) std::uint64_t mask_[group_rows][block_keys];  // if so, all bits of those that are not
  // Of its exponentials, what their steps leave: of every vector r, th, tl, eh and el one after another.
  alignas(64) double steps_of_[group_rows][block_keys * 5];
};

inline void evaluation::start() {
  const std::size_t filled = rounded_up(count_, std::max(group_rows, lanes));
  std::fill_n(memory_.sums, filled * 16, 0.0);
  for (std::size_t i = 0; i < filled; ++i) {
    state_[i] = {};
    shift_[i] = largest_[i] = -infinity;
    grids_[i] = error_[i] = largest_block_error_[i] = largest_low_[i] = 0;
  }
  for (std::size_t g = 0; g < filled / group_rows; ++g) {
    fresh_[g] = true;
    wanted_panels_[g] = 0;
  }
  for (std::size_t i = 0; i < filled; i += lanes) load_queries(i);
  for (std::size_t i = 0; i < count_; ++i) {
    start_row(i);
    wanted_panels_[i / group_rows] |= state_[i].wanted_panels;
  }
}

/// Scales the queries of a vector of rows, so that their norms are below 1, and puts them where tiles read
/// them. A negative scale's sign goes to them.
inline void evaluation::load_queries(std::size_t first) {
  const D d;
  const std::size_t width = head_.key_width;
  const std::size_t rows = first < count_ ? count_ - first : 0;
  double* x = memory_.coordinates;
  V largest = hn::Zero(d);
  for (std::size_t c = 0; c < width; c += lanes) {
    V columns[lanes];
    load_columns([&](std::size_t i) { return rows_[first + i].q; }, rows, c, width, columns);
    const auto put = [&](std::size_t i) HWY_ATTR {
      largest = hn::Max(largest, hn::Abs(columns[i]));
      hn::Store(columns[i], d, x + (c + i) * lanes);
    };
    if (c + lanes <= width) {
      HWY_UNROLL(8)
      for (std::size_t i = 0; i < lanes; ++i) put(i);
    } else {
      for (std::size_t i = 0; c + i < width; ++i) put(i);
    }
  }

  alignas(64) double numbers_of[lanes], factor[lanes];
  int exponent[lanes];
  hn::Store(largest, d, numbers_of);
  for (std::size_t i = 0; i < lanes; ++i) {
    exponent[i] = std::max(exponent_above(numbers_of[i]), -900);
    factor[i] = power_of_two(-exponent[i]);
  }
  const V below_one = hn::Load(d, factor);
  coordinates_seen seen;
  const auto look_at_all = [&](auto bits) HWY_ATTR {
    const auto scaled = [&](std::size_t c)
                            HWY_ATTR { return hn::Mul(hn::Load(d, x + c * lanes), below_one); };
    for (std::size_t c = 0; c + 2 <= width; c += 2) {
      seen.look<bits.value>(scaled(c), 0);
      seen.look<bits.value>(scaled(c + 1), 1);
    }
    if (width % 2 != 0) seen.look<bits.value>(scaled(width - 1), 0);
  };
  if (keys_have_few_bits_)
    look_at_all(std::true_type());
  else
    look_at_all(std::false_type());

  hn::Store(hn::Mul(seen.norm(), hn::Set(d, 1 + 0x1p-20)), d, numbers_of);
  const bool negative = steps_.scale && std::signbit(*steps_.scale);
  for (std::size_t i = 0; i < lanes; ++i) {
    // The norm of the coordinates below 1 is below 2^norm. (A number that lost bits below 2^-1074 has a last
    // bit there: nothing is exact then.)
    const int norm = exponent_above(numbers_of[i]);
    factor[i] = negative ? -power_of_two(-norm) : power_of_two(-norm);
    query_exponent_[first + i] = exponent[i] + norm;
  }
  const V to_norm = hn::Load(d, factor);
  if (keys_have_few_bits_) {
    hn::Store(hn::Abs(hn::Mul(seen.last_bit(), to_norm)), d, numbers_of);
    for (std::size_t i = 0; i < lanes; ++i) state_[first + i].query_last_bit = numbers_of[i];
  }

  double* q = memory_.q + first / group_rows * group_rows * width + first % group_rows;
  for (std::size_t c = 0; c < width; ++c) {
    const V y = hn::Mul(hn::Mul(hn::Load(d, x + c * lanes), below_one), to_norm);
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
    const hn::Half<D> half;
    hn::Store(hn::LowerHalf(half, y), half, q + c * group_rows);
    hn::Store(hn::UpperHalf(half, y), half, q + (width + c) * group_rows);
#else
    hn::Store(y, d, q + c * group_rows);
#endif
  }
}

inline void evaluation::start_row(std::size_t i) {
  row_state& s = state_[i];
  const query_row& row = rows_[i];
  s.first = row.first_key;
  s.last = std::min(row.last_key, head_.keys);
  s.wanted_panels = row.wanted ? 0 : ~std::uint64_t{0};
  if (row.wanted)
    for (std::size_t c = 0; c < head_.value_width; ++c)
      if (row.wanted[c]) s.wanted_panels |= panel_bit(c / panel_width);

  const double_double scale = simple_ && !row.bias ? scale_log2e_ : scale_;
  const long total = scale_exponent_ + static_cast<long>(query_exponent_[i]) + head_.key_exponent;
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
    if (!(size * static_cast<double>(head_.key_width + 1) * 0x1p-52 <= 0x1p-11))
      (simple_ && !row.bias ? s.coarse : s.lost) = true;
  }
  if (steps_.sink) {
    largest_[i] = sink_.high;
    shift_[i] = 256 * std::ceil(sink_.high / 256);
    largest_low_[i] = std::abs(sink_.low);
    largest_block_error_[i] = std::abs(sink_.high) * 0x1p-103 * ln2_256 + exp_error;
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
  const std::size_t width = head_.key_width;
  // Group by group: its scores and exponentials stay in the first-level cache.
  for (std::size_t g = 0; g * group_rows < count_; ++g) {
    const std::size_t row = g * group_rows;
    // The keys of the block that some row of the group may see.
    std::size_t first = end, last = begin;
    for (std::size_t i = row; i < row + group_rows; ++i) {
      if (state_[i].last <= state_[i].first) continue;
      first = std::min(first, std::max(state_[i].first, begin));
      last = std::max(last, std::min(state_[i].last, end));
    }
    if (first >= last) continue;
    first -= begin;
    last -= begin;

    double* high = memory_.high;
    double* low = memory_.low;
    const std::size_t first_panel = first / panel_width;
    const std::size_t last_panel = (last + panel_width - 1) / panel_width;
    for (std::size_t panel = first_panel; panel < last_panel; ++panel) {
      const double* k = head_.k + (begin / panel_width + panel) * width * panel_width;
      const double* grid = head_.key_grid + begin + panel * panel_width;
      for (std::size_t j = 0; j < panel_width; j += tile_width)
        score_tile(memory_.q + row * width, k + j, grid + j, width, high + panel * panel_width + j,
                   low + panel * panel_width + j);
    }
    exponentials(block, g, first_panel * panel_width, last_panel * panel_width);
    for (std::size_t panel = 0; panel < head_.value_panels; ++panel) {
      if ((wanted_panels_[g] & panel_bit(panel)) == 0) continue;
      const double* v = head_.v + (panel * head_.keys + begin + first) * panel_width;
      const double* grid = head_.value_grid + (block * head_.value_panels + panel) * panel_width;
      double* output_high = memory_.output_high + row * width_ + panel * panel_width;
      double* output_low = memory_.output_low + row * width_ + panel * panel_width;
      for (std::size_t c = 0; c < panel_width; c += tile_width)
        output_tile(high + first, low + first, v + c, last - first, grid + c, grid_, output_high + c,
                    output_low + c, width_, fresh_[g]);
    }
    fresh_[g] = false;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace attest::double_double_tier
HWY_AFTER_NAMESPACE();

#endif
