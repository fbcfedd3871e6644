#pragma once

#include "kernel/fused_memory.hpp"
#include "reference/certified/row.hpp"

#include <attest/problem/tensor.hpp>

#include <cstddef>

namespace attest::certified {

/// Rows first .. last of one head of an array, and their memory where they had to be converted.
class input_rows {
 public:
  /// With hidden_rows, rows that hold NaN or infinity become zeros: no query sees them. Binary64 rows without
  /// gaps between their elements stay where they are.
  void load(const any_tensor& array, std::size_t b, std::size_t h, std::size_t first, std::size_t last,
            bool hidden_rows);
  const exact_rows& get() const { return rows_; }

 private:
  exact_rows rows_;
  kernel::fused_head::vector_memory<double> storage_;
  std::size_t storage_size_ = 0;
};

}  // namespace attest::certified
