#pragma once

#include "reference/certified_worker.hpp"

namespace attest::certified {

/// The rows of w.pending by pairs of doubles, and what those leave open by the exact tiers.
void finish_pending(const call& call, worker& w);

}  // namespace attest::certified
