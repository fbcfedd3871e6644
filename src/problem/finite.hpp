#pragma once

#include <cstddef>
#include <cstdint>

// The two questions that every call asks of all its values, with the widest instructions of the machine.
namespace attest {

/// Whether every element is finite.
bool all_finite(const double* x, std::size_t size);
bool all_finite(const float* x, std::size_t size);
/// Of patterns of a float format of 16 bits, given that of its infinity.
bool all_finite(const std::uint16_t* x, std::size_t size, std::uint16_t infinity);

/// Whether every element is below +infinity: neither that nor NaN.
bool all_below_infinity(const double* x, std::size_t size);
bool all_below_infinity(const float* x, std::size_t size);
bool all_below_infinity(const std::uint16_t* x, std::size_t size, std::uint16_t infinity);

}  // namespace attest
