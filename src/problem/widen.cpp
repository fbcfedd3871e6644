#include "problem/widen.hpp"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "problem/widen.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "problem/widen_vectors.hpp"

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
