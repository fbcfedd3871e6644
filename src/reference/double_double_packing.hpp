#if defined(ATTEST_REFERENCE_DOUBLE_DOUBLE_PACKING_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_REFERENCE_DOUBLE_DOUBLE_PACKING_HPP
#undef ATTEST_REFERENCE_DOUBLE_DOUBLE_PACKING_HPP
#else
#define ATTEST_REFERENCE_DOUBLE_DOUBLE_PACKING_HPP
#endif

// Keys and values in the order in which tiles read them, each with its grid.
#include "reference/double_double_data.hpp"
#include "reference/double_double_exponents.hpp"
#include "reference/double_double_scaling.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace attest::double_double_tier {
namespace HWY_NAMESPACE {

inline void pack_keys(packed_head::data& head, const double* k, std::size_t stride) {
  const std::size_t width = head.key_width;
  const std::size_t row = rounded_up(width, 8);
  const std::size_t padded = rounded_up(head.keys, block_keys);
  head.k = numbers(padded * width);
  head.key_grid = numbers(padded);
  head.key_norm.assign(padded / block_keys, 0);
  head.key_spare.assign(padded / block_keys, 100000);
  head.key_exponent = std::max(exponent_above(largest_magnitude(k, head.keys, width, stride)), -900);
  const double by = power_of_two(-head.key_exponent);
  const auto keys = numbers(panel_width * row);
  std::fill_n(keys.get(), panel_width * row, 0.0);
  for (std::size_t first = 0; first < padded; first += panel_width) {
    const std::size_t here = first < head.keys ? std::min(panel_width, head.keys - first) : 0;
    double* panel = head.k.get() + first * width;
    if (here < panel_width) std::fill_n(panel, panel_width * width, 0.0);
    for (std::size_t j = 0; j < panel_width; ++j) {
      int power = -200;
      if (j < here) {
        double* x = keys.get() + j * row;
        std::copy_n(k + (first + j) * stride, width, x);
        const scaled_row scaled = scale_row(x, row, by);
        power = std::max(exponent_above(scaled.norm * (1 + 0x1p-19)), -200);
        double& of_block = head.key_norm[first / block_keys];
        of_block = std::max(of_block, power_of_two(power));
        long& spare = head.key_spare[first / block_keys];
        if (scaled.last_bit < 2)
          spare = std::min(spare, static_cast<long>(exponent_above(scaled.last_bit)) - 1 - (power - 51));
      }
      head.key_grid.get()[first + j] = 3 * power_of_two(power);
    }
    for (std::size_t c = 0; c < width; ++c)
      for (std::size_t j = 0; j < here; ++j) panel[c * panel_width + j] = keys.get()[j * row + c];
  }
}

inline void pack_values(packed_head::data& head, const double* v, std::size_t stride) {
  const D d;
  const std::size_t width = head.value_panels * panel_width;
  const std::size_t blocks = rounded_up(head.keys, block_keys) / block_keys;
  head.v = numbers(std::max<std::size_t>(width * head.keys, 1));
  head.value_grid = numbers(std::max<std::size_t>(width * blocks, 1));
  head.value_largest = numbers(std::max<std::size_t>(width, 1));
  head.value_exponents.assign(head.value_width, 0);
  std::fill_n(head.value_largest.get(), width, 0.0);
  for (std::size_t panel = 0; panel < head.value_panels; ++panel) {
    const std::size_t first = panel * panel_width;
    const std::size_t here = std::min(panel_width, head.value_width - first);
    double* to = head.v.get() + panel * head.keys * panel_width;
    double* of_all = head.value_largest.get() + first;
    for (std::size_t b = 0; b < blocks; ++b) {
      double* grid = head.value_grid.get() + (b * head.value_panels + panel) * panel_width;
      std::fill_n(grid, panel_width, 0.0);
      for (std::size_t j = b * block_keys; j < std::min((b + 1) * block_keys, head.keys); ++j) {
        const double* from = v + j * stride + first;
        double* x = to + j * panel_width;
        if (here == panel_width) {
          for (std::size_t c = 0; c < panel_width; c += lanes) hn::Store(hn::LoadU(d, from + c), d, x + c);
        } else {
          std::copy_n(from, here, x);
          std::fill_n(x + here, panel_width - here, 0.0);
        }
        for (std::size_t c = 0; c < panel_width; c += lanes)
          hn::Store(hn::Max(hn::Load(d, grid + c), hn::Abs(hn::Load(d, x + c))), d, grid + c);
      }
      for (std::size_t c = 0; c < panel_width; ++c) of_all[c] = std::max(of_all[c], grid[c]);
    }
    for (std::size_t c = 0; c < here; ++c) {
      int exponent = exponent_above(of_all[c]);
      if (of_all[c] == 0 || (exponent < 900 && exponent > -400)) continue;
      exponent = std::max(exponent, -1000);
      head.value_exponents[first + c] = exponent;
      const double by = power_of_two(-exponent);
      of_all[c] *= by;
      for (std::size_t j = 0; j < head.keys; ++j) to[j * panel_width + c] *= by;
      for (std::size_t b = 0; b < blocks; ++b)
        head.value_grid.get()[(b * head.value_panels + panel) * panel_width + c] *= by;
    }
    for (std::size_t b = 0; b < blocks; ++b) {
      double* grid = head.value_grid.get() + (b * head.value_panels + panel) * panel_width;
      for (std::size_t c = 0; c < panel_width; ++c)
        grid[c] = of_all[c] == 0
                      ? 0
                      : power_of_two(exponent_above(std::max(grid[c], of_all[c] * 0x1p-200) * (1 + 0x1p-19)));
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace attest::double_double_tier
HWY_AFTER_NAMESPACE();

#endif
