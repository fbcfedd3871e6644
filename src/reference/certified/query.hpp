#pragma once

#include "kernel/fused_memory.hpp"
#include "reference/certified/head.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace attest::certified {

/// Queries first .. last of one query head, of which query `loaded` is row 0 of the rows of Q at hand.
struct row_block {
  std::size_t b;
  std::size_t h;
  std::size_t loaded;
  std::size_t first;
  std::size_t last;

  std::size_t size() const { return last - first; }
};

/// A query on its way through the tiers.
struct query {
  std::array<std::size_t, 3> at;  // b, h, i
  row_view view;
  std::size_t seen;      // keys: 0, 1, or 2 for more
  std::size_t only_key;  // where it is 1
  bool equal_scores;     // all, and no sink
  bool zero_scores;      // moreover 0
  double largest_bias;
  unsigned char* open;  // by varying column: not settled yet
  std::size_t open_count;

  void settled(std::size_t column) {
    open[column] = 0;
    --open_count;
  }
};

/// Queries and what they point to: flags, and masks and biases that had to be converted. Uninitialised memory
/// that is used again and again.
class query_set {
 public:
  /// Before the first query.
  void reserve(const call& call, std::size_t queries);

  void clear() { size_ = 0; }
  std::size_t size() const { return size_; }
  query& operator[](std::size_t n) { return queries_.get()[n]; }

  /// Room was reserved.
  query& add(const query& x) {
    query& added = queries_.get()[size_];
    added = x;
    added.open = flags_.get() + size_++ * columns_;
    return added;
  }
  /// With what x points to.
  query& add_copy(const query& x);
  /// Reads what the query sees beyond visibility::keys().
  void read_mask(query& x, const any_tensor& mask);
  void read_bias(query& x, const any_tensor& bias);
  /// Everything is open.
  void open_all(std::size_t varying_columns);

 private:
  std::size_t index_of(const query& x) const { return static_cast<std::size_t>(&x - queries_.get()); }
  unsigned char* sees(const query& x) { return sees_.get() + index_of(x) * keys_; }
  double* bias(const query& x) { return bias_.get() + index_of(x) * keys_; }

  std::size_t size_ = 0, capacity_ = 0, columns_ = 0, keys_ = 0;
  kernel::fused_head::vector_memory<query> queries_;
  kernel::fused_head::vector_memory<unsigned char> flags_, sees_;
  kernel::fused_head::vector_memory<double> bias_;
};

/// Queries of a block in place of those of the set, with what they see. The rows of q, the steps and the head
/// have to outlive the set; everything is open.
void prepare(query_set& set, const call& call, const row_block& block, const exact_rows& q,
             const score_options& steps, loaded_head& head);

/// Whether the scores of a query are 0 for its numbers alone.
inline bool is_zero(const exact_rows& q, std::size_t row) {
  if (!q.numbers.empty()) return false;
  const double* numbers = q.row(row);
  return std::all_of(numbers, numbers + q.width, [](double x) { return x == 0; });
}

/// A row for the kernel of a tier: those name what they need of a query alike.
template <class Row>
Row kernel_row(const row_view& row) {
  Row to{};
  to.q = row.q->row(row.query);
  to.first_key = row.first;
  to.last_key = row.last;
  to.position = row.position;
  to.visible = row.visible;
  to.bias = row.bias;
  return to;
}

/// The rows of a block for the kernel of a tier, straight from the call. False, and nothing useful, unless
/// each sees all of a range of at least two keys, with nothing added to scores that are not all the same.
/// set_query(row, n) sets the query of a row to the n-th of those that are loaded; false if it is zero.
template <class Row, class F>
bool plain_kernel_rows(const call& call, const row_block& block, loaded_head& head, Row* rows, F set_query) {
  if (call.mask || call.bias || !head.doubles() || head.constant_keys()) return false;
  const bool same_keys = !call.options.causal && !call.options.window;
  const std::ptrdiff_t position = call.visible.position(block.b, block.first);
  visibility::key_range keys = call.visible.keys(block.b, block.first);
  for (std::size_t n = 0; n < block.size(); ++n) {
    if (!same_keys) keys = call.visible.keys(block.b, block.first + n);
    if (keys.last - keys.first < 2) return false;
    Row& row = rows[n];
    row = {};
    if (!set_query(row, block.first - block.loaded + n)) return false;
    row.first_key = keys.first;
    row.last_key = keys.last;
    row.position = position + static_cast<std::ptrdiff_t>(n);
  }
  return true;
}
template <class Row>
bool plain_kernel_rows(const call& call, const row_block& block, const exact_rows& q, loaded_head& head,
                       Row* rows) {
  return q.numbers.empty() && plain_kernel_rows(call, block, head, rows, [&](Row& row, std::size_t n) {
           row.q = q.row(n);
           return !is_zero(q, n);
         });
}

}  // namespace attest::certified
