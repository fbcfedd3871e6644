#pragma once

#include "reference/certified/rounding_of_doubles.hpp"
#include "reference/certified/worker.hpp"

#include <cstddef>

namespace attest::certified {

/// A real number within error of high + low.
struct pair_value {
  double high;
  double low;
  double error;
};

/// Writes an element that a pair has settled, counts it, and writes its low word if the pair settles that
/// too; false if not.
bool write_settled(const result_array& array, const result_array::place& at, const pair_value& x,
                   const pair_rounding& rounded, reference_tier tier, worker& w);

/// Writes and counts an output if the pair settles it. Where a number of the format or a tie may be the exact
/// value, the mean of the column has to show that it is not.
bool settle_output(const call& call, const query& row, std::size_t column, const pair_value& x,
                   reference_tier tier, worker& w);

}  // namespace attest::certified
