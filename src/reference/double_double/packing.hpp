#if defined(ATTEST_REFERENCE_DOUBLE_DOUBLE_PACKING_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_REFERENCE_DOUBLE_DOUBLE_PACKING_HPP
#undef ATTEST_REFERENCE_DOUBLE_DOUBLE_PACKING_HPP
#else
#define ATTEST_REFERENCE_DOUBLE_DOUBLE_PACKING_HPP
#endif

// Keys and values in the order in which tiles read them, each with its grid.
#include "reference/double_double/data.hpp"
#include "reference/double_double/exponents.hpp"
#include "reference/double_double/scaling.hpp"

#include <algorithm>
#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace attest::double_double_tier {
namespace HWY_NAMESPACE {

inline void pack_keys(packed_head::data& head, const double* k, std::size_t stride) {
  const D d;
  const std::size_t width = head.key_width;
  head.key_exponent = std::max(exponent_above(largest_magnitude(k, head.keys, width, stride)), -900);
  const V by = hn::Set(d, power_of_two(-head.key_exponent));
  for (std::size_t block = 0; block < head.blocks; ++block) {
    V largest = hn::Zero(d);
    V last_bit = hn::Set(d, infinity);
    const std::size_t end = std::min((block + 1) * block_keys, rounded_up(head.keys, panel_width));
    for (std::size_t first = block * block_keys; first < end; first += lanes) {
      const std::size_t here = first < head.keys ? head.keys - first : 0;
      double* to = head.k + first / panel_width * panel_width * width + first % panel_width;
      coordinates_seen seen;
      for (std::size_t c = 0; c < width; c += lanes) {
        V x[lanes];
        load_columns([=](std::size_t j) { return k + (first + j) * stride; }, here, c, width, x);
        const auto put = [&](std::size_t i) HWY_ATTR {
          const V y = hn::Mul(x[i], by);
          seen.look(y, i);
          hn::Store(y, d, to + (c + i) * panel_width);
        };
        if (c + lanes <= width) {
          HWY_UNROLL(8)
          for (std::size_t i = 0; i < lanes; ++i) put(i);
        } else {
          for (std::size_t i = 0; c + i < width; ++i) put(i);
        }
      }
      const V power =
          hn::Max(power_of_two_over(hn::Mul(seen.norm(), hn::Set(d, 1 + 0x1p-19))), hn::Set(d, 0x1p-200));
      hn::Store(hn::Mul(power, hn::Set(d, 3.0)), d, head.key_grid + first);
      largest = hn::Max(largest, power);
      last_bit = hn::Min(last_bit, hn::Mul(seen.last_bit(), hn::Div(hn::Set(d, 0x1p51), power)));
    }
    head.key_norm[block] = hn::GetLane(hn::MaxOfLanes(d, largest));
    head.key_last_bit[block] = hn::GetLane(hn::MinOfLanes(d, last_bit));
  }
}

/// Columns of values so large or so small that pairs would overflow or lose their low word are scaled.
inline void scale_values(packed_head::data& head, std::size_t panel) {
  double* values = head.v + panel * head.keys * panel_width;
  double* largest = head.value_largest + panel * panel_width;
  const std::size_t first = panel * panel_width;
  for (std::size_t c = 0; c < std::min(panel_width, head.value_width - first); ++c) {
    int exponent = exponent_above(largest[c]);
    if (largest[c] == 0 || (exponent < 900 && exponent > -400)) continue;
    exponent = std::max(exponent, -1000);
    head.value_exponents[first + c] = exponent;
    const double by = power_of_two(-exponent);
    largest[c] *= by;
    for (std::size_t j = 0; j < head.keys; ++j) values[j * panel_width + c] *= by;
    for (std::size_t b = 0; b < head.blocks; ++b)
      head.value_grid[(b * head.value_panels + panel) * panel_width + c] *= by;
  }
}

inline void pack_values(packed_head::data& head, const double* v, std::size_t stride) {
  const D d;
  constexpr std::size_t vectors = panel_width / lanes;
  for (std::size_t panel = 0; panel < head.value_panels; ++panel) {
    const std::size_t first = panel * panel_width;
    const std::size_t here = std::min(panel_width, head.value_width - first);
    double* to = head.v + panel * head.keys * panel_width;
    double* largest = head.value_largest + first;
    const auto grid_of = [&](std::size_t b) {
      return head.value_grid + (b * head.value_panels + panel) * panel_width;
    };
    V of_all[vectors];
    for (V& x : of_all) x = hn::Zero(d);
    for (std::size_t b = 0; b < head.blocks; ++b) {
      V most[vectors];
      for (V& x : most) x = hn::Zero(d);
      for (std::size_t j = b * block_keys; j < std::min((b + 1) * block_keys, head.keys); ++j) {
        const double* from = v + j * stride + first;
        double* x = to + j * panel_width;
        if (here == panel_width) {
          HWY_UNROLL(8)
          for (std::size_t c = 0; c < vectors; ++c) {
            const V y = hn::LoadU(d, from + c * lanes);
            most[c] = hn::Max(most[c], hn::Abs(y));
            hn::Store(y, d, x + c * lanes);
          }
        } else {
          std::copy_n(from, here, x);
          std::fill_n(x + here, panel_width - here, 0.0);
          for (std::size_t c = 0; c < vectors; ++c)
            most[c] = hn::Max(most[c], hn::Abs(hn::Load(d, x + c * lanes)));
        }
      }
      for (std::size_t c = 0; c < vectors; ++c) {
        hn::Store(most[c], d, grid_of(b) + c * lanes);
        of_all[c] = hn::Max(of_all[c], most[c]);
      }
    }
    // Whether a column is to be scaled: one that is not 0 and not in [2^-400, 2^899).
    bool ordinary = true;
    for (std::size_t c = 0; c < vectors; ++c) {
      const V x = of_all[c];
      hn::Store(x, d, largest + c * lanes);
      const auto fits = hn::And(hn::Ge(x, hn::Set(d, 0x1p-400)), hn::Lt(x, hn::Set(d, 0x1p899)));
      ordinary = ordinary && hn::AllTrue(d, hn::Or(fits, hn::Eq(x, hn::Zero(d))));
    }
    if (!ordinary) scale_values(head, panel);
    for (std::size_t b = 0; b < head.blocks; ++b)
      for (std::size_t c = 0; c < panel_width; c += lanes) {
        // Not much below the largest value of all: what is added up is not much larger than that.
        const V least = hn::Mul(hn::Load(d, largest + c), hn::Set(d, 0x1p-200));
        const V of_block = hn::Max(hn::Load(d, grid_of(b) + c), least);
        hn::Store(power_of_two_over(hn::Mul(of_block, hn::Set(d, 1 + 0x1p-19))), d, grid_of(b) + c);
      }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace attest::double_double_tier
HWY_AFTER_NAMESPACE();

#endif
