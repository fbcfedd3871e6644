#pragma once

#include <attest/problem/options.hpp>

#include "kernel/fused_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

// The fused kernel below its checks: one key/value head, packed once, and lists of query rows. Nothing here
// looks for NaN in queries or biases; nothing throws but bad_alloc. T is double or float.
namespace attest::kernel::fused_head {

/// Keys go through the kernel 64 at a time: a block has one word of visibility bits, and sums over keys
/// restart with every block. Sums over coordinates restart every 16.
inline constexpr std::size_t block_keys = 64;
inline constexpr std::size_t chunk_width = 16;
/// The rows that evaluate() takes at once.
inline constexpr std::size_t block_rows = 64;
/// The rows that evaluate_few() takes at once.
inline constexpr std::size_t few_rows = 8;

/// Rows of numbers anywhere: coordinate c of row i is at data[i * row + c * coordinate].
template <class T>
struct strided_rows {
  const T* data;
  std::ptrdiff_t row;
  std::ptrdiff_t coordinate;
};

/// Finite numbers of a narrower format, coordinates side by side and a multiple of narrow_width in number: element
/// c of row i is at data[i * row + c].
enum class narrow_format { binary16, bfloat16 };
struct narrow_rows {
  const std::uint16_t* data;
  std::ptrdiff_t row;
  narrow_format format;
};
inline constexpr std::size_t narrow_width = 8;

/// What was seen while a block was packed.
template <class T>
struct packed_values {
  T largest_key = 0;  // max |k| over the rows that are finite
  T largest_value = 0;  // and max |v|
  bool all_finite = true;  // K and V
  const T* values = nullptr;  // where V is read as it is: its first row
  std::size_t value_stride = 0;
};

/// One key/value head as the kernel reads it, in blocks of 64 keys: K transposed, V as it is, each in panels
/// a few vectors wide, zeros beyond the end. A row with NaN or infinity becomes zeros: no query sees it.
/// Immutable once packed, and read by all query heads, row blocks and threads.
template <class T>
class packed_head {
 public:
  packed_head(std::size_t keys, std::size_t key_width, std::size_t value_width);
  /// Packs everything at once; k and v row by row.
  packed_head(std::size_t keys, std::size_t key_width, std::size_t value_width, const T* k,
              std::ptrdiff_t k_stride, const T* v, std::ptrdiff_t v_stride)
      : packed_head(keys, key_width, value_width) {
    pack_all({k, k_stride, 1}, {v, v_stride, 1});
  }

  /// V may be read where it is, if it is as good there as packed: it has to outlive this object. Before pack().
  void keep_values_in_place() { values_in_place_ = true; }
  /// Packs one of the blocks, from the rows of the whole head. Different blocks at the same time are fine.
  void pack(std::size_t block, const strided_rows<T>& k, const strided_rows<T>& v);
  void pack_all(const strided_rows<T>& k, const strided_rows<T>& v) {
    for (std::size_t block = 0; block < blocks(); ++block) pack(block, k, v);
  }
  /// Keys of a narrower format, for doubles.
  void pack_all(const narrow_rows& k, const strided_rows<T>& v);

  std::size_t keys() const { return keys_; }
  std::size_t key_width() const { return key_width_; }
  std::size_t value_width() const { return value_width_; }
  std::size_t blocks() const { return (keys_ + block_keys - 1) / block_keys; }
  /// value_width, rounded up to two vectors of any machine.
  std::size_t padded_value_width() const { return (value_width_ + 31) / 32 * 32; }
  T* key_block(std::size_t block) const { return k_.get() + block * block_keys * key_width_; }
  /// V of the columns [c, c + a panel), row by row; the stride of the rows.
  struct value_panel {
    const T* data;
    std::size_t stride;
  };
  value_panel values(std::size_t block, std::size_t c, std::size_t panel) const {
    const packed_values<T>& there = packed_[block];
    if (there.values != nullptr) return {there.values + c, there.value_stride};
    return {value_block(block) + c * block_keys, std::min(panel, padded_value_width() - c)};
  }
  T* value_block(std::size_t block) const { return v_.get() + block * block_keys * padded_value_width(); }
  /// max |k| over the packed keys of all blocks.
  T largest_key() const;
  T largest_value() const;
  /// Whether there was neither NaN nor infinity in K and V.
  bool all_finite() const;

 private:
  std::size_t keys_, key_width_, value_width_;
  bool values_in_place_ = false;
  vector_memory<T> k_, v_;
  std::vector<packed_values<T>> packed_;  // of each block
};

/// What happens to the products q · k of one query head, in this order, and what a row without any key gives.
template <class T>
struct score_steps {
  T scale = 1;
  T base_two_scale = 1;  // scale · log2 e, rounded once
  std::optional<T> softcap = {};
  std::optional<T> slope = {};
  std::optional<T> sink = {};
  std::optional<narrow_format> queries = {};  // what they are, where not T
  log_sum_exp_base base = log_sum_exp_base::e;
  T empty_output = 0;  // and weight
  T empty_log_sum_exp = -std::numeric_limits<T>::infinity();

  /// The sink in base two. Infinite where it overflows: as no score does, and numbers of that size differ by
  /// 2^970 (2^103) or not at all, it then has all the weight, or none beside a key.
  T base_two_sink() const { return *sink * static_cast<T>(1.442695040888963407359924681001892); }
  /// Of a row with an infinite maximum, which sees no key, or whose sink has all the weight: outputs and
  /// weights, and the log-sum-exp, which may overflow.
  T lone_output() const { return sink ? T(0) : empty_output; }
  T lone_log_sum_exp() const {
    if (!sink) return empty_log_sum_exp;
    return base == log_sum_exp_base::two ? base_two_sink() : *sink;
  }

  /// An absent scale is 1/√key_width: both scales are then within 1.01 u.
  static score_steps of_scale(std::optional<double> scale, std::size_t key_width);
};

/// A query and what it sees. visible and bias are indexed by key - first_key; null: all, none. Bias: finite,
/// or -infinity, which hides.
template <class T>
struct query_row {
  union {
    const T* q;
    const std::uint16_t* narrow;  // if the steps name a format, for doubles: as in narrow_rows
  };
  std::ptrdiff_t q_stride = 1;
  std::size_t first_key = 0;
  std::size_t last_key = 0;     // one beyond the end
  std::ptrdiff_t position = 0;  // for ALiBi
  const unsigned char* visible = nullptr;
  std::ptrdiff_t visible_stride = 1;
  const T* bias = nullptr;
  std::ptrdiff_t bias_stride = 1;
};

/// Where the results of a row go: value_width outputs; where not null the log-sum-exp, and a weight for every
/// key of the head, 0 for the hidden ones.
template <class T>
struct row_results {
  T* output;
  std::ptrdiff_t output_stride = 1;
  T* log_sum_exp = nullptr;
  T* weights = nullptr;
  std::ptrdiff_t weights_stride = 1;
};

/// What overflowed in a row. The outputs of that row are then undefined.
struct overflow {
  enum class what { score, output, log_sum_exp } kind;
  std::size_t row;    // in the list
  std::size_t index;  // the key of a score, the coordinate of an output
};

/// Memory for one thread; grows as needed and can be used again.
template <class T>
struct scratch {
  std::size_t key_width = 0, value_width = 0;  // what it is large enough for
  vector_memory<T> memory;
  T largest_query = 0;  // max |q| of the rows that evaluate() took last
  void reserve(std::size_t wanted_key_width, std::size_t wanted_value_width);
};

/// The attention of at most block_rows rows of one query head. Returns the first overflow that was met, and
/// nothing when all rows are good. The error of a good row is at most fused_bound().
template <class T>
std::optional<overflow> evaluate(const packed_head<T>& head, const score_steps<T>& steps,
                                 const query_row<T>* rows, const row_results<T>* results, std::size_t count,
                                 scratch<T>& memory);

/// The state of a row after some of its keys: the weights, relative to 2^maximum, add up to `total` and with the
/// values to `sum`. maximum is -infinity before the first key.
template <class T>
struct partial_row {
  T maximum;
  T total;
  T* sum;  // value_width
};

/// The keys [first_key, last_key) of a head that is not packed, for few_rows rows at most, each with steps of its
/// own; first_key is a multiple of block_keys. K and V are read once. Sinks are left out. Where a row sees NaN or
/// infinity, a score overflows or a sum is not finite.
template <class T>
std::optional<overflow> evaluate_few(const strided_rows<T>& k, const strided_rows<T>& v, std::size_t key_width,
                                     std::size_t value_width, std::size_t first_key, std::size_t last_key,
                                     const score_steps<T>* steps, const query_row<T>* rows, std::size_t count,
                                     bool headroom, partial_row<T>* results, scratch<T>& memory);

/// Puts the parts of a row together, in their order, and its sink: the output and, where wanted, the
/// log-sum-exp. Either may come out as infinity or NaN.
template <class T>
void merge(const partial_row<T>* parts, std::size_t count, const score_steps<T>& steps, bool headroom,
           std::size_t value_width, T* output, T* log_sum_exp);

}  // namespace attest::kernel::fused_head
