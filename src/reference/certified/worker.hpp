#pragma once

#include "kernel/fused.hpp"
#include "reference/certified/call.hpp"
#include "reference/certified/head.hpp"
#include "reference/certified/progress.hpp"
#include "reference/certified/query.hpp"
#include "reference/certified/tally.hpp"
#include "reference/double_double/tier.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace attest::certified {

/// What a thread keeps from rows to rows.
struct worker {
  loaded_head head;
  input_rows q;         // of the query head at hand
  score_options steps;  // likewise
  query_set block;
  query_set pending;         // rows that the narrow tier left open
  std::vector<query*> rows;  // the rows at hand, of the one or the other
  tally counts;
  effort work;

  /// A row that the narrow tier leaves open, and what it has.
  struct open_row {
    query* x;
    const double* numbers;
    double error;
  };
  struct narrow_memory {
    std::vector<open_row> open;
    std::vector<std::uint64_t> patterns;
    kernel::fused_head::scratch<double> kernel;
    kernel::fused_head::scratch<float> float_kernel;
  } narrow;
  struct pairs_memory {
    std::vector<double_double_tier::query_row> rows;
    std::vector<double_double_tier::row_results> results;
    std::vector<void*> places;
    std::vector<unsigned char> open_rows;
    std::vector<double> rounded;
    double_double_tier::scratch kernel;
  } pairs;
  struct exact_memory {
    std::vector<unsigned char> open_weights;  // of the row at hand, by key
    std::size_t mean_first = 0, mean_last = 0;
    std::vector<std::optional<std::pair<std::uint64_t, certificate>>> means;  // by column, of these keys
  } exact;

  /// Uninitialised room for so many numbers, until it is asked for again.
  double* room(std::size_t count) {
    if (count > numbers_size_) {
      numbers_ = kernel::fused_head::vector_memory<double>(count);
      numbers_size_ = count;
    }
    return numbers_.get();
  }

 private:
  kernel::fused_head::vector_memory<double> numbers_;
  std::size_t numbers_size_ = 0;
};

}  // namespace attest::certified
