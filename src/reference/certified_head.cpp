#include "reference/certified_head.hpp"

#include "problem/finite.hpp"
#include "problem/rows.hpp"
#include "reference/rounding_of_doubles.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace attest::certified {

namespace {

template <class T>
T load(const void* data, std::ptrdiff_t offset) {
  T value;
  std::memcpy(&value,
              static_cast<const unsigned char*>(data) + offset * static_cast<std::ptrdiff_t>(sizeof(T)),
              sizeof(T));
  return value;
}

bool is_wide_integer(dtype type) { return type == dtype::int64 || type == dtype::uint64; }

input_number wide_integer(const any_tensor& array, std::ptrdiff_t offset) {
  if (array.type() == dtype::uint64) return {false, load<std::uint64_t>(array.data(), offset), 0};
  const auto n = load<std::int64_t>(array.data(), offset);
  const auto magnitude = static_cast<std::uint64_t>(n);
  return {n < 0, n < 0 ? ~magnitude + 1 : magnitude, 0};
}

bool is_double(const input_number& x) {
  return x.magnitude == 0 || 64 - std::countl_zero(x.magnitude) - std::countr_zero(x.magnitude) <= 53;
}

}  // namespace

void input_rows::load(const any_tensor& array, std::size_t b, std::size_t h, std::size_t first,
                      std::size_t last, bool hidden_rows) {
  rows_.rows = last - first;
  rows_.width = array.where().extents[3];
  rows_.numbers.clear();
  const std::size_t width = rows_.width;
  const bool in_place = array.type() == dtype::binary64 && array.where().strides[3] == 1 &&
                        array.where().strides[2] >= 0 &&
                        reinterpret_cast<std::uintptr_t>(array.data()) % alignof(double) == 0;
  if (in_place) {
    rows_.doubles = static_cast<const double*>(array.data()) +
                    (rows_.rows == 0 ? 0 : array.where().offset(b, h, first, 0));
    rows_.stride = static_cast<std::size_t>(array.where().strides[2]);
    bool finite = true;
    if (hidden_rows)
      for (std::size_t t = 0; t < rows_.rows && finite; ++t) finite = all_finite(rows_.row(t), width);
    if (finite) return;
  }
  if (rows_.rows * width > storage_size_) {
    storage_size_ = rows_.rows * width;
    storage_ = kernel::fused_head::vector_memory<double>(storage_size_);
  }
  bool exact = true;
  for (std::size_t t = first; t < last; ++t) {
    double* out = storage_.get() + (t - first) * width;
    read_row(array, b, h, t, 0, width, out);
    if (is_wide_integer(array.type()))
      for (std::size_t c = 0; c < width; ++c)
        exact = exact && is_double(wide_integer(array, array.where().offset(b, h, t, c)));
  }
  if (hidden_rows && !all_finite(storage_.get(), rows_.rows * width))
    for (std::size_t t = 0; t < rows_.rows; ++t) {
      double* out = storage_.get() + t * width;
      if (!all_finite(out, width)) std::fill(out, out + width, 0.0);
    }
  rows_.doubles = storage_.get();
  rows_.stride = width;
  if (exact) return;
  for (std::size_t t = first; t < last; ++t)
    for (std::size_t c = 0; c < width; ++c)
      rows_.numbers.push_back(wide_integer(array, array.where().offset(b, h, t, c)));
}

void value_facts::reset(const exact_rows& v) {
  v_ = &v;
  constant_columns_.reset();
  largest_.reset();
  largest_by_column_.clear();
  first_ = last_ = count_ = 0;
  summed_ = masked_ = false;
  sums_.clear();
  exact_first_ = exact_last_ = 0;
  exact_sums_.clear();
}

const std::vector<std::size_t>& value_facts::constant_columns() {
  if (constant_columns_) return *constant_columns_;
  std::vector<std::size_t>& constant = constant_columns_.emplace();
  if (v_->rows == 0) return constant;
  for (std::size_t c = 0; c < v_->width; ++c) constant.push_back(c);
  const auto differs = [&](std::size_t j, std::size_t c) {
    if (v_->numbers.empty()) return v_->row(j)[c] != v_->row(0)[c];
    const input_number x = (*v_)(j, c);
    const input_number first = (*v_)(0, c);
    return x.magnitude != first.magnitude || x.negative != first.negative;
  };
  for (std::size_t j = 1; j < v_->rows && !constant.empty(); ++j)
    std::erase_if(constant, [&](std::size_t c) { return differs(j, c); });
  return constant;
}

double value_facts::largest() {
  if (!largest_) {
    double largest = 0;
    for (std::size_t j = 0; j < v_->rows; ++j)
      largest = std::max(largest, largest_magnitude(v_->width, v_->row(j)));
    largest_ = largest;
  }
  return *largest_;
}

const std::vector<double>& value_facts::largest_by_column() {
  if (largest_by_column_.empty()) {
    largest_by_column_.resize(v_->width);
    double* largest = largest_by_column_.data();
    for (std::size_t j = 0; j < v_->rows; ++j) {
      const double* values = v_->row(j);
      for (std::size_t c = 0; c < v_->width; ++c) largest[c] = std::max(largest[c], std::fabs(values[c]));
    }
  }
  return largest_by_column_;
}

void value_facts::add_up(const row_view& row) {
  if (summed_) return;
  summed_ = true;
  const std::size_t width = v_->width;
  const bool extends =
      row.visible == nullptr && !masked_ && !sums_.empty() && row.first == first_ && row.last >= last_;
  if (!extends) {
    sums_.assign(width, 0.0);
    first_ = last_ = row.first;
    count_ = 0;
  }
  double* sums = sums_.data();
  for (std::size_t j = last_; j < row.last; ++j) {
    if (row.visible != nullptr && !row.sees(j)) continue;
    ++count_;
    const double* values = v_->row(j);
    for (std::size_t c = 0; c < width; ++c) sums[c] += values[c];
  }
  last_ = row.last;
  masked_ = row.visible != nullptr;
}

// n additions in turn are off by less than n 2^-53 times the sum of the magnitudes, n largest at most; n x by
// 2^-53 of itself, and x stands for a number that differs by 2^-53 of itself.
bool value_facts::mean_excludes(std::size_t column, const row_view& row, double x) {
  if (!v_->numbers.empty()) return false;
  add_up(row);
  const auto n = static_cast<double>(count_ + (row.steps->sink ? 1 : 0));
  const double margin = 0x1p-50 * n * (n * largest() + std::fabs(x));
  return std::fabs(n * x - sums_[column]) > margin;
}

unbounded_dyadic value_facts::sum(std::size_t column, std::size_t first, std::size_t last) {
  if (exact_sums_.empty()) exact_sums_.resize(v_->width);
  const std::size_t width = v_->width;
  if (first >= exact_last_ || last <= exact_first_) {
    for (exact_accumulator& sum : exact_sums_) sum.clear();
    exact_first_ = exact_last_ = first;
  }
  const auto change = [&](std::size_t j, bool add) {
    for (std::size_t c = 0; c < width; ++c) {
      if (add)
        exact_sums_[c].add((*v_)(j, c));
      else
        exact_sums_[c].subtract((*v_)(j, c));
    }
  };
  while (exact_first_ > first) change(--exact_first_, true);
  while (exact_last_ < last) change(exact_last_++, true);
  while (exact_first_ < first) change(exact_first_++, false);
  while (exact_last_ > last) change(--exact_last_, false);
  return exact_sums_[column].value();
}

}  // namespace attest::certified
