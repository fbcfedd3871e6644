#include "problem/widen.hpp"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "problem/widen.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attest {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Numbers of type T, as many as `convert` makes doubles of at a time.
template <class T, class Convert>
void widen_with(Convert convert, const T* HWY_RESTRICT x, std::size_t size, double* HWY_RESTRICT out) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<T, decltype(d)> from;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t n = 0;
  for (; n + lanes <= size; n += lanes) hn::StoreU(convert(d, hn::LoadU(from, x + n)), d, out + n);
  if (n == size) return;
  HWY_ALIGN T rest[HWY_MAX_BYTES / sizeof(double)] = {};
  HWY_ALIGN double rest_out[HWY_MAX_BYTES / sizeof(double)];
  std::memcpy(rest, x + n, (size - n) * sizeof(T));
  hn::Store(convert(d, hn::LoadU(from, rest)), d, rest_out);
  std::memcpy(out + n, rest_out, (size - n) * sizeof(double));
}

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

void widen_float_here(const float* x, std::size_t size, double* out) {
  widen_with(from_float(), x, size, out);
}
void widen_bfloat16_here(const std::uint16_t* x, std::size_t size, double* out) {
  widen_with(from_bfloat16(), x, size, out);
}
void widen_binary16_here(const std::uint16_t* x, std::size_t size, double* out) {
  widen_with(from_binary16(), x, size, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace attest
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attest {

HWY_EXPORT(widen_float_here);
HWY_EXPORT(widen_bfloat16_here);
HWY_EXPORT(widen_binary16_here);

void widen(const float* x, std::size_t size, double* out) {
  HWY_DYNAMIC_DISPATCH(widen_float_here)(x, size, out);
}
void widen_bfloat16(const std::uint16_t* x, std::size_t size, double* out) {
  HWY_DYNAMIC_DISPATCH(widen_bfloat16_here)(x, size, out);
}
void widen_binary16(const std::uint16_t* x, std::size_t size, double* out) {
  HWY_DYNAMIC_DISPATCH(widen_binary16_here)(x, size, out);
}

}  // namespace attest
#endif
