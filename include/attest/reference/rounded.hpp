#pragma once

#include <attest/reference/exact_values.hpp>

namespace attest {

/// The binary64 nearest to x, ties to even: infinity when it overflows, and zero keeps the sign of what rounds to it (an
/// exact zero is +0).
double nearest_binary64(const exact_scalar& x);

}  // namespace attest
