#pragma once

#include "reference/double_double/tier.hpp"

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

/// Cuts pieces of whole cache lines off uninitialised memory: with null memory, only adds up their sizes.
class pieces {
 public:
  explicit pieces(double* memory) : memory_(memory) {}
  void cut(double*& piece, std::size_t count) {
    piece = memory_ == nullptr ? nullptr : memory_ + size_;
    size_ += rounded_up(count, 8);
  }
  std::size_t size() const { return size_; }

 private:
  double* memory_;
  std::size_t size_ = 0;
};

struct packed_head::data {
  std::size_t keys = 0;
  std::size_t key_width = 0;
  std::size_t value_width = 0;
  std::size_t value_panels = 0;
  std::size_t blocks = 0;

  int key_exponent = 0;  // the keys are scaled by 2^-key_exponent: coordinates below 1
  double* k;             // [panel][key_width][panel_width], zeros beyond the last key
  double* key_grid;      // 3·κ_j for every key: κ_j a power of two, |k_j| (1 + 2^-20) <= κ_j
  double* key_norm;      // of every block: the largest κ_j
  double* key_last_bit;  // of every block: all k_j are multiples of that times 2^-51 κ_j; a power of two

  double* v;              // [value panel][key][panel_width], scaled
  double* value_grid;     // [block][value panel][panel_width]: powers of two, not below |v| (1 + 2^-20)
  double* value_largest;  // [value panel][panel_width]: max |v|, scaled
  std::vector<int> value_exponents;  // v is scaled by 2^-value_exponents

  numbers memory;

  /// Sizes are known: makes room for all arrays.
  void reserve() {
    pieces size(nullptr);
    cut(size);
    memory = numbers(size.size());
    pieces all(memory.get());
    cut(all);
    value_exponents.assign(value_width, 0);
  }

 private:
  void cut(pieces& from) {
    const std::size_t padded = rounded_up(keys, panel_width);
    const std::size_t width = value_panels * panel_width;
    from.cut(k, padded * key_width);
    from.cut(v, width * keys);
    from.cut(key_grid, padded);
    from.cut(key_norm, blocks);
    from.cut(key_last_bit, blocks);
    from.cut(value_grid, width * blocks);
    from.cut(value_largest, width);
  }
};

struct scratch::buffers {
  double* q;            // [group][key_width][group_rows]
  double* coordinates;  // [key_width][rows of a vector]: queries on their way there
  double* high;         // [group_rows][block_keys]: scores, then exponentials
  double* low;
  double* output_high;  // [block_rows][value panel][panel_width]
  double* output_low;
  double* sums;  // [block_rows][2][8]: Σ exponentials by lane, high and low
  // [block_rows][blocks]: what the exponentials of a block of keys are relative to, and their relative error
  double* block_shift;
  double* block_error;

  numbers memory;
  std::size_t size = 0;

  /// Makes room for rows of a head; what is in it is lost.
  void reserve(const packed_head::data& head) {
    pieces needed(nullptr);
    cut(needed, head);
    if (needed.size() > size) {
      size = needed.size();
      memory = numbers(size);
    }
    pieces all(memory.get());
    cut(all, head);
  }

 private:
  void cut(pieces& from, const packed_head::data& head) {
    from.cut(q, block_rows * head.key_width);
    from.cut(coordinates, head.key_width * 8);
    from.cut(high, group_rows * block_keys);
    from.cut(low, group_rows * block_keys);
    from.cut(output_high, block_rows * head.value_panels * panel_width);
    from.cut(output_low, block_rows * head.value_panels * panel_width);
    from.cut(sums, block_rows * 16);
    from.cut(block_shift, block_rows * head.blocks);
    from.cut(block_error, block_rows * head.blocks);
  }
};

}  // namespace attest::double_double_tier
