#pragma once

#include "kernel/fused.hpp"
#include "reference/certified/row.hpp"

#include <attest/problem/tensor.hpp>

#include <cstddef>
#include <optional>

namespace attest::certified {

/// Rows first .. last of one head of an array, and their memory where they have to be converted.
class input_rows {
 public:
  /// With hidden_rows, rows that hold NaN or infinity become zeros: no query sees them. Binary64 rows without
  /// gaps between their elements stay where they are. The array has to outlive the use of the rows.
  void load(const any_tensor& array, std::size_t b, std::size_t h, std::size_t first, std::size_t last,
            bool hidden_rows);
  std::size_t rows() const { return rows_.rows; }
  std::size_t width() const { return rows_.width; }
  /// Whether all are doubles: integers of 64 bits may not be.
  bool are_doubles() const { return rows_.numbers.empty(); }
  /// The rows as doubles; converts them when first asked.
  const exact_rows& get() {
    if (narrow_ && rows_.doubles == nullptr) convert(false);
    return rows_;
  }
  /// The rows as they are, for the double kernel; nothing where it cannot read them.
  const std::optional<kernel::fused_head::narrow_rows>& narrow() const { return narrow_; }

 private:
  void convert(bool hidden_rows);

  const any_tensor* array_ = nullptr;
  std::size_t b_ = 0, h_ = 0, first_ = 0;
  std::optional<kernel::fused_head::narrow_rows> narrow_;
  exact_rows rows_;
  kernel::fused_head::vector_memory<double> storage_;
  std::size_t storage_size_ = 0;
};

}  // namespace attest::certified
