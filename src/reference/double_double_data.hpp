#pragma once

#include "reference/double_double_tier.hpp"

#include "kernel/fused_memory.hpp"

#include <cstddef>
#include <vector>

// What the tier keeps between calls, in the order in which its loops read it. "Block" is a block of keys,
// "panel" a strip of keys or of value columns. Scaled: multiplied by a power of two, exactly but for what
// falls below 2^-1074.
namespace attest::double_double_tier {

inline constexpr std::size_t panel_width = 16;
inline constexpr std::size_t block_keys = 128;  // a multiple of panel_width
inline constexpr std::size_t group_rows = 4;    // rows of a register tile
inline constexpr std::size_t block_rows = 32;   // a multiple of group_rows

inline std::size_t rounded_up(std::size_t n, std::size_t unit) { return (n + unit - 1) / unit * unit; }

using numbers = kernel::fused_head::vector_memory<double>;

struct packed_head::data {
  std::size_t keys = 0;
  std::size_t key_width = 0;
  std::size_t value_width = 0;
  std::size_t value_panels = 0;

  int key_exponent = 0;          // the keys are scaled by 2^-key_exponent: coordinates below 1
  numbers k;                     // [panel][key_width][panel_width], zeros beyond the last key
  numbers key_grid;              // 3·κ_j for every key: κ_j a power of two, |k_j| (1 + 2^-20) <= κ_j
  std::vector<double> key_norm;  // of every block: the largest κ_j
  // Of every block: the least of (exponent of the last bit of k_j) - log2 g_j, g_j = 2^-51 κ_j.
  std::vector<long> key_spare;

  numbers v;              // [value panel][key][panel_width], scaled
  numbers value_grid;     // [block][value panel][panel_width]: powers of two, not below |v| (1 + 2^-20)
  numbers value_largest;  // [value panel][panel_width]: max |v|, scaled
  std::vector<int> value_exponents;  // v is scaled by 2^-value_exponents
};

struct scratch::buffers {
  std::size_t key_width = 0;
  std::size_t value_panels = 0;
  std::size_t blocks = 0;
  numbers q;      // [group][key_width][group_rows]
  numbers query;  // [key_width], padded
  numbers high;   // [block_rows][block_keys]: scores, then exponentials
  numbers low;
  numbers output_high;  // [block_rows][value panel][panel_width]
  numbers output_low;
  numbers sums;  // [block_rows][2][8]: Σ exponentials by lane, high and low
  // [block_rows][blocks]: what the exponentials of a block of keys are relative to, and their relative error
  std::vector<double> block_shift;
  std::vector<double> block_error;
};

}  // namespace attest::double_double_tier
