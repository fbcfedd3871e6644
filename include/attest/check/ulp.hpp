#pragma once

#include <attest/rounding/format.hpp>

#include <bit>
#include <cstdint>
#include <optional>

// Two measures of how far a float is from where it should be. They answer different questions, and neither
// replaces the other: the distance counts floats from the correctly rounded one, so it is an integer and a
// perfect result has 0; the error measures from the exact number, so a perfect result may have up to 1/2.
namespace attest {

/// By how many floats of the format two bit patterns lie apart: the number of steps from one to the next
/// float that lead from a to b. Nothing if either is a NaN, which lies nowhere.
///
///   powers of two  steps are counted, not lengths: 1 - 2^-53 and 1 + 2^-52, the neighbours of 1, are each
///                  1 away from it, though one is twice as far
///   subnormals     are floats like any other: from zero to the smallest is 1, from the largest subnormal to
///                  the smallest normal number is 1
///   zero           +0 and -0 are one number, at distance 0; the smallest positive and the smallest negative
///                  float are 2 apart
///   infinity       is what follows the largest finite float, at distance 1, as it is what rounding gives
///                  there; the two infinities are the farthest apart of all
constexpr std::optional<std::uint64_t> ulp_distance(std::uint64_t a, std::uint64_t b, const format& f) {
  const std::uint64_t a_steps = a & (f.sign_bit() - 1);  // from zero: patterns ascend with the magnitudes
  const std::uint64_t b_steps = b & (f.sign_bit() - 1);
  if (decode(a, f).kind == number_kind::not_a_number || decode(b, f).kind == number_kind::not_a_number)
    return std::nullopt;
  if ((a & f.sign_bit()) != (b & f.sign_bit())) return a_steps + b_steps;
  return a_steps < b_steps ? b_steps - a_steps : a_steps - b_steps;
}
constexpr std::optional<std::uint64_t> ulp_distance(double a, double b) {
  return ulp_distance(std::bit_cast<std::uint64_t>(a), std::bit_cast<std::uint64_t>(b), formats::binary64);
}
constexpr std::optional<std::uint64_t> ulp_distance(float a, float b) {
  return ulp_distance(std::bit_cast<std::uint32_t>(a), std::bit_cast<std::uint32_t>(b), formats::binary32);
}

/// |candidate - x| / ulp(x) for an exact number x, which is given as the float `nearest` it rounds to (to
/// nearest) and offset = (x - nearest) / ulp(nearest), from -1/2 to 1/2. Both floats are numbers of the
/// format, held in doubles.
///
/// ulp(x) is the distance of the format's floats around x: 2^(max(e, min_exponent) - precision + 1) where 2^e
/// <= |x| < 2^(e + 1) (J.-M. Muller et al., Handbook of Floating-Point Arithmetic, 2nd ed., section 2.3.2).
/// Then rounding to nearest has an error of at most 1/2, everywhere:
///
///   powers of two  ulp(2^e) is the greater of the two distances there; an x just below 2^e, which is a
///                  negative offset to nearest = 2^e, has the smaller one
///   subnormals     and zero: the distance of subnormal numbers, which is also that of the smallest normal
///                  ones
///   overflow       nearest is infinite: an infinite candidate of that sign has error 0, any other infinity;
///                  the exact number plays no part, as a format has no floats there to measure with
///   infinity       an infinite candidate for a finite x has an infinite error
///   NaN            in either gives NaN
///
/// Relative error below 2^-51, with `offset` taken for exact: the candidate's and nearest's difference in
/// ulps is rounded once, and is exact where it is small enough for the offset to cancel any of it; the
/// subtraction of the offset is rounded once. A quotient past the range of binary64 is infinity.
double ulp_error(double candidate, double nearest, double offset = 0, const format& f = formats::binary64);

}  // namespace attest
