#pragma once

#include "kernel/fused.hpp"
#include "reference/certified_call.hpp"
#include "reference/certified_head.hpp"
#include "reference/certified_query.hpp"
#include "reference/certified_tally.hpp"
#include "reference/double_double_tier.hpp"

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
  query_pool queries;
  std::vector<query*> block;
  std::vector<query*> pending;  // rows that the narrow tier left open
  tally counts;

  struct narrow_memory {
    double squares = 0, keys = 0, bound = 0;  // the last bound of the tier, and for what
    std::vector<kernel::fused_head::query_row<double>> rows;
    std::vector<kernel::fused_head::row_results<double>> results;
    std::vector<std::uint64_t> patterns;
    kernel::fused_head::scratch<double> kernel;
  } narrow;
  struct pairs_memory {
    std::vector<double_double_tier::query_row> rows;
    std::vector<double_double_tier::row_results> results;
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
