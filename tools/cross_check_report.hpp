#pragma once

#include <attest/reference/high_precision.hpp>

#include <span>

namespace attest::tools {

/// Holds references against Boost's floats and says on standard error how they agree; a value that does not
/// agree gets a line of its own. Returns the exit status.
int report_cross_check(std::span<const problem> problems, std::span<const attention_reference> answers);

}  // namespace attest::tools
