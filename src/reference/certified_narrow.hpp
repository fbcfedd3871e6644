#pragma once

#include "reference/certified_worker.hpp"

namespace attest::certified {

/// The narrow tier: outputs of the rows of w.block by the double kernel, rounded where its bound allows.
/// Marks in each query what stays open.
void evaluate_narrow(const call& call, worker& w);

}  // namespace attest::certified
