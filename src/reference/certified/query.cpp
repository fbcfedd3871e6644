#include "reference/certified/query.hpp"

#include "problem/rows.hpp"
#include "reference/certified/rounding_of_doubles.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace attest::certified {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// How many keys a query sees, but no more than 2; and the first of them.
void count_keys(query& x) {
  const row_view& row = x.view;
  x.only_key = row.first;
  x.seen = std::min<std::size_t>(row.last - row.first, 2);
  if (row.visible == nullptr) return;
  x.seen = 0;
  for (std::size_t j = row.first; j < row.last && x.seen < 2; ++j)
    if (row.sees(j) && x.seen++ == 0) x.only_key = j;
}

}  // namespace

void query_set::reserve(const call& call, std::size_t queries) {
  if (queries <= capacity_) return;
  using kernel::fused_head::vector_memory;
  capacity_ = queries;
  columns_ = call.shape.value_width;
  keys_ = call.shape.keys;
  queries_ = vector_memory<query>(queries);
  flags_ = vector_memory<unsigned char>(queries * columns_);
  if (call.bias || (call.mask && call.mask->where().strides[3] != 1))
    sees_ = vector_memory<unsigned char>(queries * keys_);
  if (call.bias) bias_ = vector_memory<double>(queries * keys_);
}

query& query_set::add_copy(const query& x) {
  query& copy = add(x);
  std::memcpy(copy.open, x.open, columns_);
  const std::size_t keys = x.view.last - x.view.first;
  if (x.view.visible != nullptr && sees_.get() != nullptr) {
    std::memcpy(sees(copy), x.view.visible, keys);
    copy.view.visible = sees(copy);
  }
  if (x.view.bias != nullptr) {
    std::memcpy(bias(copy), x.view.bias, keys * sizeof(double));
    copy.view.bias = bias(copy);
  }
  return copy;
}

void query_set::read_mask(query& x, const any_tensor& mask) {
  row_view& row = x.view;
  const std::size_t count = row.last - row.first;
  if (count == 0) return;
  const unsigned char* bytes = static_cast<const unsigned char*>(mask.data()) +
                               mask.where().offset(x.at[0], x.at[1], x.at[2], row.first);
  const std::ptrdiff_t step = mask.where().strides[3];
  row.visible = bytes;
  if (step == 1) return;
  unsigned char* copy = sees(x);
  for (std::size_t j = 0; j < count; ++j) copy[j] = bytes[static_cast<std::ptrdiff_t>(j) * step];
  row.visible = copy;
}

void query_set::read_bias(query& x, const any_tensor& array) {
  row_view& row = x.view;
  const std::size_t count = row.last - row.first;
  if (count == 0) return;
  double* numbers = bias(x);
  row.bias = numbers;
  read_row(array, x.at[0], x.at[1], x.at[2], row.first, count, numbers);
  x.largest_bias = largest_magnitude(count, numbers);
  if (x.largest_bias != infinity) return;
  // -infinity hides the key.
  unsigned char* visible = sees(x);
  if (row.visible == nullptr)
    std::memset(visible, 1, count);
  else if (row.visible != visible)
    std::memcpy(visible, row.visible, count);
  row.visible = visible;
  for (std::size_t j = 0; j < count; ++j)
    if (numbers[j] == -infinity) {
      visible[j] = 0;
      numbers[j] = 0;
    }
  x.largest_bias = largest_magnitude(count, numbers);
}

void query_set::open_all(std::size_t varying_columns) {
  if (varying_columns != 0) std::memset(flags_.get(), 1, size_ * columns_);
  for (std::size_t n = 0; n < size_; ++n) (*this)[n].open_count = varying_columns;
}

void prepare(query_set& set, const call& call, const row_block& block, const exact_rows& q,
             const score_options& steps, loaded_head& head) {
  query each{};
  each.at = {block.b, block.h, block.first};
  each.view.q = &q;
  each.view.k = &head.keys();
  each.view.v = &head.values();
  each.view.steps = &steps;
  each.view.position = call.visible.position(block.b, block.first);
  const auto see = [&](std::size_t i) {
    const visibility::key_range keys = call.visible.keys(block.b, i);
    each.view.first = keys.first;
    each.view.last = keys.last;
    count_keys(each);
  };
  see(block.first);
  const bool same_keys = !call.options.causal && !call.options.window;
  const bool products_alone = !steps.sink && !steps.slope && !call.mask && !call.bias;
  set.clear();
  set.reserve(call, block.size());
  for (std::size_t i = block.first; i < block.last; ++i, ++each.view.position) {
    each.at[2] = i;
    each.view.query = i - block.loaded;
    if (!same_keys) see(i);
    query& x = set.add(each);
    if (call.mask) set.read_mask(x, *call.mask);
    if (call.bias) set.read_bias(x, *call.bias);
    if (call.mask || call.bias) count_keys(x);
    if (x.seen == 1 && !steps.sink) {
      x.equal_scores = true;
    } else if (products_alone && x.seen != 0) {
      x.zero_scores = is_zero(q, x.view.query);
      x.equal_scores = x.zero_scores || head.constant_keys();
    }
  }
  set.open_all(head.varying().size());
}

}  // namespace attest::certified
