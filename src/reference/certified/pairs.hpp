#pragma once

#include "reference/certified/worker.hpp"

#include <vector>

namespace attest::certified {

/// Rows by pairs of doubles, and what those leave open by the exact tiers. The order of rows may change.
void finish_by_pairs(const call& call, std::vector<query*>& rows, worker& w);

/// The same of a block of outputs alone that needs no queries but for what stays open; false, and nothing
/// done, for any other.
bool finish_by_pairs(const call& call, const row_block& block, worker& w);

}  // namespace attest::certified
