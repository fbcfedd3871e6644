#include "reference/certified_query.hpp"

#include "problem/rows.hpp"
#include "reference/rounding_of_doubles.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace attest::certified {

namespace {

void read_mask(query& x, const any_tensor& mask) {
  row_view& row = x.view;
  const auto [b, h, i] = x.at;
  const unsigned char* bytes = static_cast<const unsigned char*>(mask.data());
  if (row.first == row.last) return;
  bytes += mask.where().offset(b, h, i, row.first);
  const std::ptrdiff_t step = mask.where().strides[3];
  if (step == 1) {
    row.visible = bytes;
    return;
  }
  x.sees.resize(row.last - row.first);
  for (std::size_t j = 0; j < x.sees.size(); ++j) x.sees[j] = bytes[static_cast<std::ptrdiff_t>(j) * step];
  row.visible = x.sees.data();
}

void read_bias(query& x, const any_tensor& bias) {
  row_view& row = x.view;
  const auto [b, h, i] = x.at;
  const std::size_t count = row.last - row.first;
  if (count == 0) return;
  x.bias.resize(count);
  read_row(bias, b, h, i, row.first, count, x.bias.data());
  x.largest_bias = largest_magnitude(count, x.bias.data());
  if (x.largest_bias == std::numeric_limits<double>::infinity()) {
    // -infinity hides the key.
    if (row.visible != x.sees.data() || row.visible == nullptr) {
      x.sees.resize(count);
      for (std::size_t j = 0; j < count; ++j) x.sees[j] = row.visible == nullptr ? 1 : row.visible[j];
      row.visible = x.sees.data();
    }
    for (std::size_t j = 0; j < count; ++j)
      if (x.bias[j] == -std::numeric_limits<double>::infinity()) x.sees[j] = 0, x.bias[j] = 0;
    x.largest_bias = largest_magnitude(count, x.bias.data());
  }
  row.bias = x.bias.data();
}

}  // namespace

void query::open_all(std::size_t columns) {
  std::memset(open, 1, columns);
  open_count = columns;
}

void prepare(query& x, const call& call, std::size_t b, std::size_t h, std::size_t i, const exact_rows& q,
             std::size_t row_of_q, const score_options& steps, loaded_head& head) {
  x.at = {b, h, i};
  row_view& row = x.view;
  row.q = &q;
  row.query = row_of_q;
  row.k = &head.keys();
  row.v = &head.values();
  const visibility::key_range keys = call.visible.keys(b, i);
  row.first = keys.first;
  row.last = keys.last;
  row.position = call.visible.position(b, i);
  row.visible = nullptr;
  row.bias = nullptr;
  row.steps = &steps;
  if (call.mask) read_mask(x, *call.mask);
  if (call.bias) read_bias(x, *call.bias);
  x.seen = std::min<std::size_t>(keys.last - keys.first, 2);
  x.only_key = keys.first;
  if (row.visible != nullptr) {
    x.seen = 0;
    for (std::size_t j = keys.first; j < keys.last && x.seen < 2; ++j)
      if (row.sees(j) && x.seen++ == 0) x.only_key = j;
  }
  x.equal_scores = false;
  x.zero_scores = false;
  if (!steps.sink && x.seen == 1) {
    x.equal_scores = true;
  } else if (!steps.sink && !steps.slope && row.bias == nullptr && row.visible == nullptr && x.seen != 0) {
    bool zero = q.numbers.empty();
    for (std::size_t c = 0; c < q.width && zero; ++c) zero = q.row(row_of_q)[c] == 0;
    x.zero_scores = zero;
    x.equal_scores = zero || head.constant_keys();
  }
  x.open_count = 0;
}

query* query_pool::take(const call& call) {
  if (spare_.empty()) {
    const std::size_t width = call.shape.value_width;
    queries_.push_back(std::make_unique<query[]>(call.block_rows));
    flags_.push_back(std::make_unique<unsigned char[]>(call.block_rows * width));
    for (std::size_t n = call.block_rows; n-- > 0;) {
      query* x = &queries_.back()[n];
      x->open = flags_.back().get() + n * width;
      spare_.push_back(x);
    }
  }
  query* x = spare_.back();
  spare_.pop_back();
  return x;
}

}  // namespace attest::certified
