#pragma once

#include "reference/certified/row.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace attest::certified {

/// What rows of one head see of the values: which columns are constant, means, largest magnitudes. Everything
/// is found out when it is first asked for.
class value_facts {
 public:
  void reset(const exact_rows& v);

  /// The columns that hold one number in all rows.
  const std::vector<std::size_t>& constant_columns();
  double largest();
  /// The largest magnitude of each column.
  const std::vector<double>& largest_by_column();

  /// What follows is asked about another row.
  void next_row() { summed_ = false; }

  /// Whether the mean of the column over the keys that the row sees is certainly not x. An output that is a
  /// rational number is the mean of the values of each score that occurs, so also the mean of all: where that
  /// mean is something else, the output is not x.
  bool mean_excludes(std::size_t column, const row_view& row, double x);

  /// The exact sum of a column over the keys first .. last.
  unbounded_dyadic sum(std::size_t column, std::size_t first, std::size_t last);

 private:
  void add_up(const row_view& row);

  const exact_rows* v_ = nullptr;
  std::optional<std::vector<std::size_t>> constant_columns_;
  std::optional<double> largest_;
  std::vector<double> largest_by_column_;

  // Plain sums of what the row at hand sees.
  bool summed_ = false;
  bool masked_ = false;
  std::size_t first_ = 0, last_ = 0, count_ = 0;
  std::vector<double> sums_;

  std::size_t exact_first_ = 0, exact_last_ = 0;
  std::vector<exact_accumulator> exact_sums_;
};

}  // namespace attest::certified
