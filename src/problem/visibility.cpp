#include <attest/problem/visibility.hpp>

#include "problem/finite.hpp"
#include "problem/rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace attest {

visibility::visibility(const attention_shape& shape, const attention_options& o)
    : queries_(shape.queries),
      keys_(shape.keys),
      key_lengths_(o.key_lengths),
      causal_(o.causal),
      window_(o.window),
      corner_(o.corner),
      past_keys_(o.past_keys) {
  const std::array<std::size_t, 4> scores{shape.batch, shape.query_heads, shape.queries, shape.keys};
  if (o.mask) mask_ = broadcast(*o.mask, scores, "mask");
  if (o.bias) bias_ = broadcast(*o.bias, scores, "bias");
}

std::size_t visibility::key_count(std::size_t b) const {
  return key_lengths_.empty() ? keys_ : key_lengths_[b];
}

std::ptrdiff_t visibility::position(std::size_t b, std::size_t i) const {
  const auto query = static_cast<std::ptrdiff_t>(i);
  if (past_keys_) return static_cast<std::ptrdiff_t>(*past_keys_) + query;
  if (corner_ == causal_corner::bottom_right)
    return static_cast<std::ptrdiff_t>(key_count(b)) - static_cast<std::ptrdiff_t>(queries_) + query;
  return query;
}

visibility::key_range visibility::keys(std::size_t b, std::size_t i) const {
  const auto count = static_cast<std::ptrdiff_t>(key_count(b));
  const std::ptrdiff_t own = position(b, i);
  // A side of the window that reaches beyond every key has no effect; cut it so that the sums below fit.
  const auto reach = [&](std::size_t n) {
    return static_cast<std::ptrdiff_t>(std::min(n, queries_ + keys_));
  };
  std::ptrdiff_t first = 0;
  std::ptrdiff_t last = count;
  if (causal_) last = std::min(last, own + 1);
  if (window_ && window_->left) first = std::max(first, own - reach(*window_->left));
  if (window_ && window_->right) last = std::min(last, own + reach(*window_->right) + 1);
  if (first >= last) return {0, 0};
  return {static_cast<std::size_t>(first), static_cast<std::size_t>(last)};
}

bool visibility::operator()(std::size_t b, std::size_t h, std::size_t i, std::size_t j) const {
  const key_range range = keys(b, i);
  if (j < range.first || j >= range.last) return false;
  if (mask_ && (*mask_)(b, h, i, j) == 0) return false;
  return !(bias_ && (*bias_)(b, h, i, j) == -std::numeric_limits<double>::infinity());
}

bool visibility::any(std::size_t b, std::size_t h, std::size_t i) const {
  const key_range range = keys(b, i);
  if (bias_) {
    for (std::size_t j = range.first; j < range.last; ++j)
      if ((*this)(b, h, i, j)) return true;
    return false;
  }
  if (!mask_ || range.first == range.last) return range.first != range.last;
  const auto* row = static_cast<const unsigned char*>(mask_->data()) + mask_->where().offset(b, h, i, 0);
  for (std::size_t j = range.first; j < range.last; ++j)
    if (row[static_cast<std::ptrdiff_t>(j) * mask_->where().strides[3]] != 0) return true;
  return false;
}

namespace {

std::string index_text(std::size_t b, std::size_t h, std::size_t t, std::size_t c) {
  return shape_text(std::array{b, h, t, c});
}

std::string value_text(double x) { return std::isnan(x) ? "NaN" : x > 0 ? "infinity" : "-infinity"; }

bool seen_by_some_query(const attention_shape& shape, const visibility& visible, std::size_t b,
                        std::size_t kv_head, std::size_t j) {
  for (std::size_t h = 0; h < shape.query_heads; ++h) {
    if (shape.key_value_head(h) != kv_head) continue;
    for (std::size_t i = 0; i < shape.queries; ++i)
      if (visible(b, h, i, j)) return true;
  }
  return false;
}

enum class question { is_finite, is_below_infinity };

bool answer(question q, double x) {
  return q == question::is_finite ? std::isfinite(x) : x < std::numeric_limits<double>::infinity();
}

/// Whether it holds for all elements of the rows [first, last) of a head, whose coordinates stand side by
/// side; holds(x, size) answers for numbers in turn.
template <class T, class Holds>
bool holds_for_rows(Holds holds, const any_tensor& array, std::size_t b, std::size_t h, std::size_t first,
                    std::size_t last) {
  const layout& l = array.where();
  const std::size_t width = l.extents[3];
  const T* data = static_cast<const T*>(array.data()) + l.offset(b, h, first, 0);
  if (l.strides[2] == static_cast<std::ptrdiff_t>(width)) return holds(data, width * (last - first));
  for (std::size_t row = first; row < last; ++row, data += l.strides[2])
    if (!holds(data, width)) return false;
  return true;
}

bool holds_for_rows(question q, const any_tensor& array, std::size_t b, std::size_t h, std::size_t first,
                    std::size_t last) {
  const bool finite = q == question::is_finite;
  const auto numbers = [&](const auto* x, std::size_t size) {
    return finite ? all_finite(x, size) : all_below_infinity(x, size);
  };
  const auto patterns = [&](std::uint16_t infinity) {
    return [finite, infinity](const std::uint16_t* x, std::size_t size) {
      return finite ? all_finite(x, size, infinity) : all_below_infinity(x, size, infinity);
    };
  };
  const bool side_by_side = array.where().strides[3] == 1 &&
                            reinterpret_cast<std::uintptr_t>(array.data()) % size_of(array.type()) == 0;
  switch (array.type()) {
    case dtype::boolean:
    case dtype::int8:
    case dtype::int16:
    case dtype::int32:
    case dtype::int64:
    case dtype::uint8:
    case dtype::uint16:
    case dtype::uint32:
    case dtype::uint64:
      return true;
    case dtype::bfloat16:
      if (side_by_side) return holds_for_rows<std::uint16_t>(patterns(0x7f80), array, b, h, first, last);
      break;
    case dtype::binary16:
      if (side_by_side) return holds_for_rows<std::uint16_t>(patterns(0x7c00), array, b, h, first, last);
      break;
    case dtype::binary32:
      if (side_by_side) return holds_for_rows<float>(numbers, array, b, h, first, last);
      break;
    case dtype::binary64:
      if (side_by_side) return holds_for_rows<double>(numbers, array, b, h, first, last);
      break;
    default:
      break;
  }
  std::vector<double> values(array.where().extents[3]);
  for (std::size_t row = first; row < last; ++row) {
    read_row(array, b, h, row, 0, values.size(), values.data());
    if (!numbers(values.data(), values.size())) return false;
  }
  return true;
}

/// Calls found(b, h, row, c) for the first element of every row for which it does not hold.
template <class F>
void for_each_failure(question q, const any_tensor& array, F found) {
  const auto& e = array.where().extents;  // as given: nothing is read twice
  for (std::size_t b = 0; b < e[0]; ++b)
    for (std::size_t h = 0; h < e[1]; ++h) {
      if (holds_for_rows(q, array, b, h, 0, e[2])) continue;
      for (std::size_t row = 0; row < e[2]; ++row) {
        if (holds_for_rows(q, array, b, h, row, row + 1)) continue;
        std::size_t c = 0;
        while (answer(q, array(b, h, row, c))) ++c;
        found(b, h, row, c);
      }
    }
}

void check_seen_rows(const char* name, const any_tensor& array, const attention_shape& shape,
                     const visibility& visible) {
  for_each_failure(question::is_finite, array,
                   [&](std::size_t b, std::size_t h, std::size_t j, std::size_t c) {
                     if (!seen_by_some_query(shape, visible, b, h, j)) return;
                     throw attention_error(fault::value, name,
                                           "element " + index_text(b, h, j, c) + " is " +
                                               value_text(array(b, h, j, c)) +
                                               " and a query sees this row: make it finite, or mask the key");
                   });
}

}  // namespace

void check_query_values(const any_tensor& q, const attention_options& o) {
  for_each_failure(question::is_finite, q, [&](std::size_t b, std::size_t h, std::size_t i, std::size_t c) {
    throw attention_error(fault::value, "Q",
                          "element " + index_text(b, h, i, c) + " is " + value_text(q(b, h, i, c)) +
                              ": queries have to be finite");
  });
  if (!o.bias) return;
  for_each_failure(question::is_below_infinity, *o.bias,
                   [&](std::size_t b, std::size_t h, std::size_t i, std::size_t j) {
                     throw attention_error(fault::value, "bias",
                                           "element " + index_text(b, h, i, j) + " is " +
                                               value_text((*o.bias)(b, h, i, j)) +
                                               ": a bias is a finite number, or -infinity to hide the key");
                   });
}

void check_key_values(const any_tensor& k, const any_tensor& v, const attention_shape& shape,
                      const visibility& visible) {
  check_seen_rows("K", k, shape, visible);
  check_seen_rows("V", v, shape, visible);
}

void check_values(const any_tensor& q, const any_tensor& k, const any_tensor& v, const attention_options& o,
                  const attention_shape& shape, const visibility& visible) {
  check_query_values(q, o);
  check_key_values(k, v, shape, visible);
}

void check_empty_rows(const attention_options& o, const attention_shape& shape, const visibility& visible) {
  if (!o.sinks.empty()) return;
  const bool output_said = o.empty_row && *o.empty_row != empty_row_policy::error;
  const bool log_sum_exp_said = !o.log_sum_exp || o.log_sum_exp->empty;
  if (output_said && log_sum_exp_said) return;
  // Without a mask or a bias all heads see the same, without causal or window all queries.
  const bool by_head = o.mask || o.bias, by_query = by_head || o.causal || o.window;
  for (std::size_t b = 0; b < shape.batch; ++b)
    for (std::size_t h = 0; h < (by_head ? shape.query_heads : std::min<std::size_t>(shape.query_heads, 1));
         ++h)
      for (std::size_t i = 0; i < (by_query ? shape.queries : std::min<std::size_t>(shape.queries, 1)); ++i) {
        if (visible.any(b, h, i)) continue;
        const std::string row = "query " + std::to_string(i) + " of batch element " + std::to_string(b) +
                                " and head " + std::to_string(h) + " sees no key: ";
        if (!o.empty_row)
          throw attention_error(fault::option,
                                row + "set empty_row to zero or nan to say what such a row gives");
        if (*o.empty_row == empty_row_policy::error)
          throw attention_error(fault::option, row + "empty_row says that this is an error");
        throw attention_error(
            fault::option,
            row + "set log_sum_exp->empty to minus_infinity or plus_infinity to say its log-sum-exp");
      }
}

}  // namespace attest
