#include "problem/finite.hpp"

#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "problem/finite.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attest {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Whether x · 0 is 0 for every element: it is NaN for infinity and NaN.
template <class T>
bool finite(const T* x, std::size_t size) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto zero = hn::Zero(d);
  auto a = zero, b = zero, c = zero, e = zero;
  std::size_t n = 0;
  for (; n + 4 * lanes <= size; n += 4 * lanes) {
    a = hn::MulAdd(hn::LoadU(d, x + n), zero, a);
    b = hn::MulAdd(hn::LoadU(d, x + n + lanes), zero, b);
    c = hn::MulAdd(hn::LoadU(d, x + n + 2 * lanes), zero, c);
    e = hn::MulAdd(hn::LoadU(d, x + n + 3 * lanes), zero, e);
  }
  bool result = hn::AllTrue(d, hn::Eq(hn::Add(hn::Add(a, b), hn::Add(c, e)), zero));
  for (; n < size; ++n) result = result && std::isfinite(x[n]);
  return result;
}

template <class T>
bool below_infinity(const T* x, std::size_t size) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto infinity = hn::Set(d, std::numeric_limits<T>::infinity());
  auto below = hn::Lt(hn::Zero(d), infinity);
  std::size_t n = 0;
  for (; n + lanes <= size; n += lanes) below = hn::And(below, hn::Lt(hn::LoadU(d, x + n), infinity));
  bool result = hn::AllTrue(d, below);
  for (; n < size; ++n) result = result && x[n] < std::numeric_limits<T>::infinity();
  return result;
}

/// Whether every pattern is below that of infinity, its sign aside.
bool finite_patterns(const std::uint16_t* x, std::size_t size, std::uint16_t infinity) {
  const hn::ScalableTag<std::uint16_t> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto magnitude_bits = hn::Set(d, static_cast<std::uint16_t>(0x7fff));
  auto largest = hn::Zero(d);
  std::size_t n = 0;
  for (; n + lanes <= size; n += lanes)
    largest = hn::Max(largest, hn::And(hn::LoadU(d, x + n), magnitude_bits));
  bool result = hn::AllTrue(d, hn::Lt(largest, hn::Set(d, infinity)));
  for (; n < size; ++n) result = result && (x[n] & 0x7fff) < infinity;
  return result;
}

/// The same, or that of -infinity.
bool below_patterns(const std::uint16_t* x, std::size_t size, std::uint16_t infinity) {
  const hn::ScalableTag<std::uint16_t> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto magnitude_bits = hn::Set(d, static_cast<std::uint16_t>(0x7fff));
  const auto limit = hn::Set(d, infinity);
  const auto minus_infinity = static_cast<std::uint16_t>(0x8000 | infinity);
  auto good = hn::Lt(hn::Zero(d), limit);
  std::size_t n = 0;
  for (; n + lanes <= size; n += lanes) {
    const auto v = hn::LoadU(d, x + n);
    good = hn::And(good,
                   hn::Or(hn::Lt(hn::And(v, magnitude_bits), limit), hn::Eq(v, hn::Set(d, minus_infinity))));
  }
  bool result = hn::AllTrue(d, good);
  for (; n < size; ++n) result = result && ((x[n] & 0x7fff) < infinity || x[n] == minus_infinity);
  return result;
}

bool finite_double(const double* x, std::size_t size) { return finite(x, size); }
bool finite_float(const float* x, std::size_t size) { return finite(x, size); }
bool below_double(const double* x, std::size_t size) { return below_infinity(x, size); }
bool below_float(const float* x, std::size_t size) { return below_infinity(x, size); }

}  // namespace HWY_NAMESPACE
}  // namespace attest
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attest {

HWY_EXPORT(finite_double);
HWY_EXPORT(finite_float);
HWY_EXPORT(below_double);
HWY_EXPORT(below_float);
HWY_EXPORT(finite_patterns);
HWY_EXPORT(below_patterns);

bool all_finite(const double* x, std::size_t size) { return HWY_DYNAMIC_DISPATCH(finite_double)(x, size); }
bool all_finite(const float* x, std::size_t size) { return HWY_DYNAMIC_DISPATCH(finite_float)(x, size); }
bool all_below_infinity(const double* x, std::size_t size) {
  return HWY_DYNAMIC_DISPATCH(below_double)(x, size);
}
bool all_below_infinity(const float* x, std::size_t size) {
  return HWY_DYNAMIC_DISPATCH(below_float)(x, size);
}
bool all_finite(const std::uint16_t* x, std::size_t size, std::uint16_t infinity) {
  return HWY_DYNAMIC_DISPATCH(finite_patterns)(x, size, infinity);
}
bool all_below_infinity(const std::uint16_t* x, std::size_t size, std::uint16_t infinity) {
  return HWY_DYNAMIC_DISPATCH(below_patterns)(x, size, infinity);
}

}  // namespace attest
#endif
