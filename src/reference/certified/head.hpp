#pragma once

#include "kernel/fused.hpp"
#include "reference/certified/call.hpp"
#include "reference/certified/input.hpp"
#include "reference/certified/values.hpp"
#include "reference/double_double/tier.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace attest::certified {

/// At least the Euclidean norm of `count` numbers, from what sum_of_squares() gives of them.
double norm(double squares, std::size_t count);

/// Keys and values of one head as the tiers read them. What is not always needed is found out when it is
/// first asked for.
class loaded_head {
 public:
  struct constant_column {
    std::size_t column;
    std::uint64_t pattern;  // of its number in the output's format
    std::uint64_t low_pattern;
    certificate how;
  };

  /// Whether it was not the head at hand already.
  bool load(const call& call, std::size_t b, std::size_t head);

  const exact_rows& keys() { return k_.get(); }
  const exact_rows& values() { return v_.get(); }
  /// Whether K and V are exact as doubles.
  bool doubles() const { return k_.are_doubles() && v_.are_doubles(); }
  value_facts& facts() { return facts_; }
  /// At least the Euclidean norm of every key.
  double largest_key();
  /// Whether all keys are the same.
  bool constant_keys();

  /// Columns of V that hold one number in every row, where no sink draws it towards 0: it is the output.
  const std::vector<constant_column>& constant() const { return constant_; }
  /// The other columns, which are all that the packed heads have.
  const std::vector<std::size_t>& varying() const { return varying_; }
  const kernel::fused_head::packed_head<double>& fused();
  /// K and |V| in binary32.
  const kernel::fused_head::packed_head<float>& magnitudes();
  const double_double_tier::packed_head& pairs();
  /// Whether some of the pairs' value_exponents() is not 0.
  bool scaled_pairs() const { return scaled_; }

 private:
  void sort_columns(const call& call);
  constant_column constant_of(const call& call, std::size_t column);
  const double* packed_values() { return constant_.empty() ? v_.get().doubles : varying_values_.data(); }
  std::size_t packed_stride() { return constant_.empty() ? v_.get().stride : varying_.size(); }

  bool loaded_ = false;
  std::size_t b_ = 0;
  std::size_t head_ = 0;
  std::size_t queries_ = 0;  // of all query heads that read it
  input_rows k_, v_;
  value_facts facts_;
  std::optional<double> largest_key_;
  std::optional<bool> constant_keys_;
  std::vector<constant_column> constant_;
  std::vector<std::size_t> varying_;
  std::vector<double> varying_values_;  // these columns alone, where there are constant ones
  std::optional<kernel::fused_head::packed_head<double>> fused_;
  std::optional<kernel::fused_head::packed_head<float>> magnitudes_;
  std::optional<double_double_tier::packed_head> pairs_;
  bool scaled_ = false;
};

}  // namespace attest::certified
