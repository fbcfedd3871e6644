#pragma once

#include <attest/rounding/direction.hpp>

#include <cstddef>
#include <cstdint>

// From pairs of doubles with an error bound to one number of a format, with a test whether that is certain. Vectorised for
// nearest even; proofs in docs/error-bounds.md, "Certified double". The caller's environment as in double_double_tier.hpp.
namespace attest::rounding_of_pairs {

/// For every i < count with x any real number in [high + low - error, high + low + error]: rounded[i] is x rounded to
/// binary64, to nearest even, where undecided[i] is 0. Where it is 1, rounded[i] is some double. Branch-free, no alignment
/// asked for. Returns how many are undecided.
///
/// Decided never: error not finite or NaN anywhere; results that may overflow; results below 2^-960 in magnitude, zero
/// included, but for high = low = error = 0, which gives +0. (Zeros are certain only where exact, and then the sign is +.)
/// A tie is never decided, and a representable value only with error = 0.
std::size_t to_binary64(std::size_t count, const double* high, const double* low, const double* error, double* rounded,
                        unsigned char* undecided);

/// The same for a narrower format: its bits, by one rounding of x to nearest even (overflow, subnormal results and results
/// that round to zero are decided where certain; a result that rounds to zero keeps the sign of x).
std::size_t to_binary32(std::size_t count, const double* high, const double* low, const double* error, std::uint32_t* bits,
                        unsigned char* undecided);
std::size_t to_binary16(std::size_t count, const double* high, const double* low, const double* error, std::uint16_t* bits,
                        unsigned char* undecided);
std::size_t to_bfloat16(std::size_t count, const double* high, const double* low, const double* error, std::uint16_t* bits,
                        unsigned char* undecided);

}  // namespace attest::rounding_of_pairs
