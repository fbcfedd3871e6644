#pragma once

#include "reference/certified/worker.hpp"

#include <cstddef>

// What settles a row without a kernel: constants, means, enclosures and the symbolic tier.
namespace attest::certified {

/// A row that sees no key and has no sink.
void write_empty_row(const call& call, const query& x, worker& w);

/// The outputs of the constant columns.
void write_constant_outputs(const call& call, const query& x, worker& w);

/// The open outputs of a row of equal scores: means of the values. Rows that see the same keys have the same.
void write_means(const call& call, query& x, worker& w);

/// A value that needs no calculation, and its low word 0.
void write_known(const result_array& array, const result_array::place& at, std::uint64_t pattern, worker& w);

/// The open outputs, all weights, the log-sum-exp.
void finish_exactly(const call& call, query& x, worker& w);

/// What is open of a row; of its weights what w.exact.open_weights marks.
void finish_rest_exactly(const call& call, query& x, bool weights_open, bool logarithm_open, worker& w);

}  // namespace attest::certified
