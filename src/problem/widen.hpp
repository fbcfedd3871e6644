#pragma once

#include <cstddef>
#include <cstdint>

// Narrow floats as doubles, exactly, with the widest instructions of the machine. Infinity stays, and NaN
// stays NaN; nothing depends on the floating-point environment.
namespace attest {

void widen(const float* x, std::size_t size, double* out);
/// Patterns of binary16.
void widen_binary16(const std::uint16_t* x, std::size_t size, double* out);
/// Patterns of bfloat16.
void widen_bfloat16(const std::uint16_t* x, std::size_t size, double* out);

}  // namespace attest
