#include "reference/certified/values.hpp"

#include "reference/certified/rounding_of_doubles.hpp"

#include <algorithm>
#include <cmath>

namespace attest::certified {

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
  const auto differs = [&](std::size_t j, std::size_t c) {
    if (v_->numbers.empty()) return v_->row(j)[c] != v_->row(0)[c];
    const input_number x = (*v_)(j, c);
    const input_number first = (*v_)(0, c);
    return x.magnitude != first.magnitude || x.negative != first.negative;
  };
  const std::size_t second = v_->rows > 1 ? 1 : 0;
  for (std::size_t c = 0; c < v_->width; ++c)
    if (!differs(second, c)) constant.push_back(c);
  for (std::size_t j = 2; j < v_->rows && !constant.empty(); ++j)
    std::erase_if(constant, [&](std::size_t c) { return differs(j, c); });
  return constant;
}

double value_facts::largest() {
  if (!largest_) largest_ = largest_magnitude(v_->rows, v_->width, v_->doubles, v_->stride);
  return *largest_;
}

const std::vector<double>& value_facts::largest_by_column() {
  if (largest_by_column_.empty()) {
    largest_by_column_.resize(v_->width);
    attest::certified::largest_by_column(v_->rows, v_->width, v_->doubles, v_->stride,
                                         largest_by_column_.data());
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
  return std::fabs(n * x - sums_[column]) > margin;  // where the sum overflowed, the margin is infinite
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
