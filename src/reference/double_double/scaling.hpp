#if defined(ATTEST_REFERENCE_DOUBLE_DOUBLE_SCALING_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_REFERENCE_DOUBLE_DOUBLE_SCALING_HPP
#undef ATTEST_REFERENCE_DOUBLE_DOUBLE_SCALING_HPP
#else
#define ATTEST_REFERENCE_DOUBLE_DOUBLE_SCALING_HPP
#endif

// Rows of numbers and powers of two: their size, what they are multiplied by, the last bit that is left.
#include "reference/double_double/vectors.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

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

/// 2x rounded down to a power of two: the least that is above x, for normal x > 0; 0 for 0.
HWY_INLINE V power_of_two_over(V x) {
  const D d;
  const DU du;
  const V power = hn::BitCast(d, hn::And(hn::BitCast(du, x), hn::Set(du, 0x7ff0000000000000u)));
  return hn::Add(power, power);
}

/// Rows become columns: lane i of x[c] and lane c of x[i] change places.
HWY_INLINE void transpose([[maybe_unused]] V (&x)[lanes]) {
#if HWY_TARGET != HWY_SCALAR
  const D d;
  V y[lanes];
  HWY_UNROLL(8)
  for (std::size_t i = 0; i < lanes; i += 2) {
    y[i] = hn::InterleaveLower(d, x[i], x[i + 1]);
    y[i + 1] = hn::InterleaveUpper(d, x[i], x[i + 1]);
  }
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  // The blocks of two numbers: y[0], y[2], y[4], y[6] hold those of the even columns, the others of the odd.
  HWY_UNROLL(8)
  for (std::size_t i = 0; i < 2; ++i) {
    const auto a = _mm512_shuffle_f64x2(y[i].raw, y[i + 2].raw, 0x44);
    const auto b = _mm512_shuffle_f64x2(y[i + 4].raw, y[i + 6].raw, 0x44);
    const auto c = _mm512_shuffle_f64x2(y[i].raw, y[i + 2].raw, 0xee);
    const auto e = _mm512_shuffle_f64x2(y[i + 4].raw, y[i + 6].raw, 0xee);
    x[i] = V{_mm512_shuffle_f64x2(a, b, 0x88)};
    x[i + 2] = V{_mm512_shuffle_f64x2(a, b, 0xdd)};
    x[i + 4] = V{_mm512_shuffle_f64x2(c, e, 0x88)};
    x[i + 6] = V{_mm512_shuffle_f64x2(c, e, 0xdd)};
  }
#else
  static_assert(lanes <= 4);
  if constexpr (lanes == 4) {
    HWY_UNROLL(8)
    for (std::size_t i = 0; i < lanes / 2; ++i) {
      x[i] = hn::ConcatLowerLower(d, y[i + lanes / 2], y[i]);
      x[i + lanes / 2] = hn::ConcatUpperUpper(d, y[i + lanes / 2], y[i]);
    }
  } else {
    HWY_UNROLL(8)
    for (std::size_t i = 0; i < lanes; ++i) x[i] = y[i];
  }
#endif
#endif
}

/// Columns `column` and on of `lanes` rows, `stride` apart in memory or each at its place: lane i of x[c] is
/// of row i. What is beyond `rows` or `width` is 0. row(i) is where row i starts.
template <class Row>
HWY_INLINE void load_columns(Row row, std::size_t rows, std::size_t column, std::size_t width,
                             V (&x)[lanes]) {
  const D d;
  if (rows >= lanes && column + lanes <= width) {
    HWY_UNROLL(8)
    for (std::size_t i = 0; i < lanes; ++i) x[i] = hn::LoadU(d, row(i) + column);
  } else {
    alignas(64) double part[lanes * lanes] = {};
    const std::size_t columns = std::min(lanes, width - column);
    for (std::size_t i = 0; i < std::min(rows, lanes); ++i)
      std::copy_n(row(i) + column, columns, part + i * lanes);
    HWY_UNROLL(8)
    for (std::size_t i = 0; i < lanes; ++i) x[i] = hn::Load(d, part + i * lanes);
  }
  transpose(x);
}

/// Of vectors in each lane, whose coordinates it is shown one after another, all below 1 in magnitude: the
/// Euclidean norm, rounded, and the last bit that is 1 in any coordinate.
class coordinates_seen {
 public:
  HWY_INLINE coordinates_seen()
      : even_squares_(hn::Zero(D())), odd_squares_(even_squares_), bits_(hn::Zero(DU())), rests_(bits_) {}

  /// Coordinate c: neighbours go to different sums, which need not wait for one another. Without Bits,
  /// nothing is known of last bits.
  template <bool Bits = true>
  HWY_INLINE void look(V x, std::size_t c) {
    const D d;
    const DU du;
    const V three = hn::Set(d, 3.0);
    V& squares = c % 2 == 0 ? even_squares_ : odd_squares_;
    squares = multiply_add(x, x, squares);
    if constexpr (!Bits) return;
    const V rounded = hn::Add(x, three);  // to a multiple of 2^-51
    bits_ = hn::Or(bits_, hn::BitCast(du, rounded));
    rests_ = hn::Or(rests_, hn::BitCast(du, hn::Sub(x, hn::Sub(rounded, three))));
  }

  HWY_INLINE V norm() const { return hn::Sqrt(hn::Add(even_squares_, odd_squares_)); }

  /// A power of two that all coordinates are multiples of, at most 1; 2^-300 where that is not a multiple of
  /// 2^-51: hardly anything is exact then.
  HWY_INLINE V last_bit() const {
    const D d;
    const DU du;
    // The last bit as an integer below 2^52, as a double of the same value, in units of 2^-51. (3 has one.)
    const VU last = hn::And(bits_, hn::Sub(hn::Zero(du), bits_));
    const V large = hn::Set(d, 0x1p52);
    const V bit = hn::Sub(hn::BitCast(d, hn::Or(last, hn::BitCast(du, large))), large);
    const V rest = hn::Abs(hn::BitCast(d, rests_));
    return hn::IfThenElse(hn::Eq(rest, hn::Zero(d)), hn::Mul(bit, hn::Set(d, 0x1p-51)), hn::Set(d, 0x1p-300));
  }

 private:
  V even_squares_, odd_squares_;
  VU bits_, rests_;
};

}  // namespace HWY_NAMESPACE
}  // namespace attest::double_double_tier
HWY_AFTER_NAMESPACE();

#endif
