// Read again for every instruction set, hence the guard (see reference/double_double/vectors.hpp).
#if defined(ATTEST_PROBLEM_WIDEN_VECTORS_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_PROBLEM_WIDEN_VECTORS_HPP
#undef ATTEST_PROBLEM_WIDEN_VECTORS_HPP
#else
#define ATTEST_PROBLEM_WIDEN_VECTORS_HPP
#endif

// Vectors of narrow floats as vectors of doubles, exactly. Infinity stays, and NaN stays NaN.
#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace attest {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

struct from_float {
  template <class D, class V>
  HWY_INLINE hn::Vec<D> operator()(D d, V x) const {
    return hn::PromoteTo(d, x);
  }
};

/// A pattern of binary32 with 16 bits less.
struct from_bfloat16 {
  template <class D, class V>
  HWY_INLINE hn::Vec<D> operator()(D d, V x) const {
    const hn::Rebind<float, D> single;
    const hn::Rebind<std::uint32_t, D> wide;
    return hn::PromoteTo(d, hn::BitCast(single, hn::ShiftLeft<16>(hn::PromoteTo(wide, x))));
  }
};

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_F16C)
/// An instruction that no mode changes.
struct from_binary16 {
  template <class D, class V>
  HWY_INLINE hn::Vec<D> operator()(D d, V x) const {
    const hn::Rebind<float, D> single;
    const hn::Rebind<hwy::float16_t, D> half;
    return hn::PromoteTo(d, hn::PromoteTo(single, hn::BitCast(half, x)));
  }
};
#else
/// The exponent's bias grows by 112, once more for infinity and NaN, whose exponent is all ones in both
/// formats. Subnormal numbers are integers times 2^-24, which binary32 has as normal numbers.
struct from_binary16 {
  template <class D, class V>
  HWY_INLINE hn::Vec<D> operator()(D d, V x) const {
    const hn::Rebind<float, D> single;
    const hn::Rebind<std::uint32_t, D> wide;
    const hn::Rebind<std::int32_t, D> integer;
    const auto pattern = hn::PromoteTo(wide, x);
    const auto magnitude = hn::And(pattern, hn::Set(wide, 0x7fffu));
    const auto sign = hn::ShiftLeft<16>(hn::And(pattern, hn::Set(wide, 0x8000u)));
    const auto rebias = hn::Set(wide, 112u << 23);
    const auto normal = hn::Add(hn::ShiftLeft<13>(magnitude), rebias);
    const auto small =
        hn::Mul(hn::ConvertTo(single, hn::BitCast(integer, magnitude)), hn::Set(single, 0x1p-24f));
    const auto finite =
        hn::IfThenElse(hn::Lt(magnitude, hn::Set(wide, 0x400u)), hn::BitCast(wide, small), normal);
    const auto all = hn::Add(finite, hn::IfThenElseZero(hn::Gt(magnitude, hn::Set(wide, 0x7bffu)), rebias));
    return hn::PromoteTo(d, hn::BitCast(single, hn::Or(all, sign)));
  }
};
#endif

}  // namespace HWY_NAMESPACE
}  // namespace attest
HWY_AFTER_NAMESPACE();

#endif
