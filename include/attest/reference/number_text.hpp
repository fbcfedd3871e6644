#pragma once

#include <attest/reference/exact_values.hpp>

#include <string>

namespace attest {

/// The shortest decimal that reads back as this finite binary64, in one notation: "0.25", "1.0", "-0.0",
/// "1e-05", "1e+16" (an exponent below 10^-4 and from 10^16 on). It always has a point or an exponent, so
/// that a JSON reader which keeps integers apart takes it for a float.
std::string shortest_text(double value);

/// A text that io::read_exact() reads as this value again: "-7", "0x1.8p-3", "1/3".
std::string exact_text(const exact_scalar& value);

}  // namespace attest
