#if defined(ATTEST_REFERENCE_DOUBLE_DOUBLE_SCALING_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_REFERENCE_DOUBLE_DOUBLE_SCALING_HPP
#undef ATTEST_REFERENCE_DOUBLE_DOUBLE_SCALING_HPP
#else
#define ATTEST_REFERENCE_DOUBLE_DOUBLE_SCALING_HPP
#endif

// Rows of numbers and powers of two: their size, what they are multiplied by, the last bit that is left.
#include "reference/double_double_vectors.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace attest::double_double_tier {
namespace HWY_NAMESPACE {

/// max |x|.
inline double largest_magnitude(const double* x, std::size_t rows, std::size_t width, std::size_t stride) {
  const D d;
  V most = hn::Zero(d);
  double rest = 0;
  for (std::size_t j = 0; j < rows; ++j, x += stride) {
    std::size_t c = 0;
    for (; c + lanes <= width; c += lanes) most = hn::Max(most, hn::Abs(hn::LoadU(d, x + c)));
    for (; c < width; ++c) rest = std::max(rest, std::abs(x[c]));
  }
  return std::max(rest, hn::GetLane(hn::MaxOfLanes(d, most)));
}

/// The last bit of x that is 1, as a power of two; 2 where x = 0.
HWY_INLINE V last_bit_of(V x) {
  const D d;
  const DU du;
  const VU bits = hn::BitCast(du, x);
  const auto power = hn::Eq(hn::And(bits, hn::Set(du, 0xfffffffffffffu)), hn::Zero(du));
  const V rest = hn::BitCast(d, hn::And(bits, hn::Sub(bits, hn::Set(du, 1))));
  const V bit = hn::IfThenElse(hn::RebindMask(d, power), x, hn::Sub(x, rest));
  return hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Set(d, 2.0), hn::Abs(bit));
}

/// Of a row after scaling: its Euclidean norm, rounded, and the last bit that is 1 in any coordinate; 2 where
/// all are 0.
struct scaled_row {
  double norm;
  double last_bit;
};

/// Multiplies a row by a power of two, `width` numbers, a multiple of 8, aligned.
HWY_INLINE scaled_row scale_row(double* x, std::size_t width, double by) {
  const D d;
  const V factor = hn::Set(d, by);
  V squares = hn::Zero(d);
  V last_bit = hn::Set(d, 2.0);
  for (std::size_t c = 0; c < width; c += lanes) {
    const V y = hn::Mul(hn::Load(d, x + c), factor);
    squares = multiply_add(y, y, squares);
    last_bit = hn::Min(last_bit, last_bit_of(y));
    hn::Store(y, d, x + c);
  }
  return {std::sqrt(hn::GetLane(hn::SumOfLanes(d, squares))), hn::GetLane(hn::MinOfLanes(d, last_bit))};
}

}  // namespace HWY_NAMESPACE
}  // namespace attest::double_double_tier
HWY_AFTER_NAMESPACE();

#endif
