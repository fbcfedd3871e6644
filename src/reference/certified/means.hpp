#pragma once

#include "reference/certified/worker.hpp"

#include <vector>

namespace attest::certified {

/// Settles elements that the bounds of the double kernel leave open by a sharper one: with the mean of |V|
/// over the weights in place of the largest |V|. The means come from the float kernel, which takes half as
/// long as the double one, and its bound. `numbers` are outputs of the double kernel, each off by at most
/// `error`. Rows of which much is open are left alone, and all rows where inputs are wider than binary32 or
/// something is done to scores.
void settle_by_means(const call& call, std::vector<worker::open_row>& rows, worker& w);

}  // namespace attest::certified
