#pragma once

#include "reference/certified/worker.hpp"

#include <attest/kernel/error_bound.hpp>

#include <cstddef>

// What the bounds of the double kernel depend on.
namespace attest::certified {

/// As far as it is known of the head and the query head at hand.
kernel::row_magnitudes head_magnitudes(const call& call, worker& w);

/// Takes the keys of a query into account, and the sink, which is one more.
void add_keys(kernel::row_magnitudes& m, const score_options& steps, std::ptrdiff_t position,
              std::size_t first, std::size_t last);

/// At least Σ |q_c k_jc| for queries whose sums of squares are not larger, by the largest norm of a key.
double products(const call& call, double squares, worker& w);
/// The same for the rows that the double kernel took last, from the largest |q| and |k| alone: a few times as
/// much.
double rough_products(const call& call, worker& w);

/// Of one row.
kernel::row_magnitudes row_magnitudes_of(const call& call, const query& x, worker& w);

}  // namespace attest::certified
