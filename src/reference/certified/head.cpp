#include "reference/certified/head.hpp"

#include "reference/certified/rounding_of_doubles.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <span>

namespace attest::certified {

// The sum is off by less than n 2^-52 of itself and, where squares underflow, n 2^-1074.
double norm(double squares, std::size_t count) {
  const auto n = static_cast<double>(count);
  return std::sqrt(squares * (1 + (n + 8) * 0x1p-52) + n * 0x1p-1060);
}

namespace {

bool are_constant(input_rows& k) {
  if (!k.are_doubles()) return false;
  // Seldom more than a look at two numbers, which have other patterns where they differ.
  if (const auto& narrow = k.narrow(); narrow && k.rows() > 1 && k.width() != 0) {
    const std::uint16_t first = narrow->data[0], second = narrow->data[narrow->row];
    if (first != second && ((first | second) & 0x7fff) != 0) return false;
  }
  const exact_rows& rows = k.get();
  for (std::size_t j = 1; j < rows.rows; ++j)
    if (!std::equal(rows.row(j), rows.row(j) + rows.width, rows.row(0))) return false;
  return true;
}

}  // namespace

bool loaded_head::load(const call& call, std::size_t b, std::size_t head) {
  if (loaded_ && b_ == b && head_ == head) return false;
  loaded_ = true;
  b_ = b;
  head_ = head;
  queries_ = call.shape.query_heads / call.shape.key_value_heads * call.shape.queries;
  v_.load(call.in.v, b, head, 0, call.shape.keys, call.hidden_keys);
  k_.load(call.in.k, b, head, 0, call.shape.keys, call.hidden_keys);
  facts_.reset(v_.get());
  largest_key_.reset();
  constant_keys_.reset();
  pairs_.reset();
  fused_.reset();
  magnitudes_.reset();
  sort_columns(call);
  // While K is in the cache.
  if (call.use_narrow && doubles() && !varying_.empty()) fused();
  return true;
}

loaded_head::constant_column loaded_head::constant_of(const call& call, std::size_t c) {
  const exact_rows& v = v_.get();
  if (v.numbers.empty())
    if (const auto pattern = exact_pattern(v.row(0)[c], call.output.to()))
      return {c, *pattern, 0, certificate::exact};
  bool step = false;
  const unbounded_dyadic value = dyadic_of(v(0, c));
  const std::uint64_t pattern = round_ratio(value, 1, call.target_of(call.output), &step);
  std::uint64_t low = 0;
  if (const auto high = value_of_pattern(pattern, call.output.to()); high && call.output.has_low())
    low = round_ratio(value - *high, 1, {&formats::binary32}, nullptr);
  return {c, pattern, low, step ? certificate::exact : certificate::certified};
}

void loaded_head::sort_columns(const call& call) {
  const exact_rows& v = v_.get();
  constant_.clear();
  varying_.clear();
  for (const std::size_t c : facts_.constant_columns()) {
    if (!call.options.sinks.empty() && v(0, c).magnitude != 0) continue;
    // Often zeros, one beside the other.
    if (!constant_.empty() && v.numbers.empty() &&
        std::bit_cast<std::uint64_t>(v.row(0)[c]) ==
            std::bit_cast<std::uint64_t>(v.row(0)[constant_.back().column])) {
      constant_.push_back(constant_.back());
      constant_.back().column = c;
    } else {
      constant_.push_back(constant_of(call, c));
    }
  }
  varying_.reserve(v.width);
  if (constant_.empty()) {
    varying_.resize(v.width);
    std::iota(varying_.begin(), varying_.end(), std::size_t{0});
    return;
  }
  for (std::size_t c = 0, n = 0; c < v.width; ++c) {
    if (n < constant_.size() && constant_[n].column == c)
      ++n;
    else
      varying_.push_back(c);
  }
  varying_values_.resize(v.rows * varying_.size());
  for (std::size_t j = 0; j < v.rows; ++j)
    for (std::size_t n = 0; n < varying_.size(); ++n)
      varying_values_[j * varying_.size() + n] = v.row(j)[varying_[n]];
}

const double_double_tier::packed_head& loaded_head::pairs() {
  const exact_rows& k = k_.get();
  if (!pairs_) {
    pairs_.emplace(k.rows, k.width, varying_.size(), k.doubles, k.stride, packed_values(), packed_stride());
    const std::span<const int> exponents = pairs_->value_exponents();
    scaled_ = std::any_of(exponents.begin(), exponents.end(), [](int e) { return e != 0; });
  }
  return *pairs_;
}

const kernel::fused_head::packed_head<double>& loaded_head::fused() {
  if (!fused_) {
    fused_.emplace(k_.rows(), k_.width(), varying_.size());
    // Copying pays from a few row blocks on.
    if (queries_ <= kernel::fused_head::block_rows) fused_->keep_values_in_place();
    const kernel::fused_head::strided_rows<double> values{packed_values(),
                                                          static_cast<std::ptrdiff_t>(packed_stride()), 1};
    if (const auto& narrow = k_.narrow()) {
      fused_->pack_all(*narrow, values);
    } else {
      const exact_rows& k = k_.get();
      fused_->pack_all({k.doubles, static_cast<std::ptrdiff_t>(k.stride), 1}, values);
    }
  }
  return *fused_;
}

const kernel::fused_head::packed_head<float>& loaded_head::magnitudes() {
  if (!magnitudes_) {
    using kernel::fused_head::vector_memory;
    const exact_rows& k = k_.get();
    const std::size_t width = varying_.size();
    const vector_memory<float> keys(k.rows * k.width), values(k.rows * width);
    for (std::size_t j = 0; j < k.rows; ++j) {
      to_floats(k.width, k.row(j), keys.get() + j * k.width);
      magnitudes_to_floats(width, packed_values() + j * packed_stride(), values.get() + j * width);
    }
    magnitudes_.emplace(k.rows, k.width, width, keys.get(), static_cast<std::ptrdiff_t>(k.width),
                        values.get(), static_cast<std::ptrdiff_t>(width));
  }
  return *magnitudes_;
}

double loaded_head::largest_key() {
  if (!largest_key_) {
    const exact_rows& k = k_.get();
    largest_key_ = norm(largest_sum_of_squares(k.rows, k.width, k.doubles, k.stride), k.width);
  }
  return *largest_key_;
}

bool loaded_head::constant_keys() {
  if (!constant_keys_) constant_keys_ = are_constant(k_);
  return *constant_keys_;
}

}  // namespace attest::certified
