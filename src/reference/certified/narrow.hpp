#pragma once

#include "reference/certified/worker.hpp"

#include <vector>

namespace attest::certified {

/// The narrow tier: outputs by the double kernel, rounded where its bound allows. At least one row of a
/// block, in order; marks in each query what stays open.
void evaluate_narrow(const call& call, const std::vector<query*>& rows, worker& w);

/// The same of a block that needs no queries; false, and nothing done, for any other. Those that are needed
/// for what stays open are in w.rows afterwards, of w.block.
bool evaluate_narrow(const call& call, const row_block& block, worker& w);

}  // namespace attest::certified
