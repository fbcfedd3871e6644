// Why the guard, here and in the other headers of this folder that have one: tier.cpp
// is read again for every instruction set (Highway's foreach_target.h), each time with another HWY_NAMESPACE,
// and so are these headers. HWY_TARGET_TOGGLE is defined in every other round; the guard lets a header in
// when the macro of the header agrees with it, and turns the macro over. #pragma once would leave all rounds
// but the first without the header.
#if defined(ATTEST_REFERENCE_DOUBLE_DOUBLE_VECTORS_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_REFERENCE_DOUBLE_DOUBLE_VECTORS_HPP
#undef ATTEST_REFERENCE_DOUBLE_DOUBLE_VECTORS_HPP
#else
#define ATTEST_REFERENCE_DOUBLE_DOUBLE_VECTORS_HPP
#endif

// Vectors of doubles and their error-free transforms; the scalar ones, and their source, are in
// error_free.hpp.
#include "problem/vector_targets.hpp"

#include <hwy/highway.h>

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace attest::double_double_tier {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<double, 8>;
using V = hn::Vec<D>;
using DU = hn::RebindToUnsigned<D>;
using VU = hn::Vec<DU>;
constexpr std::size_t lanes = hn::MaxLanes(D());

// A compiler that contracts a·b and a later sum into one operation would break the transforms, whatever its
// flags: the product goes through here.
HWY_INLINE V pinned(V x) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
  asm("" : "+v"(x.raw));
#elif HWY_ARCH_ARM_A64 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
  asm("" : "+w"(x.raw));
#else
  asm volatile("" : "+m"(x));
#endif
  return x;
}

// A vector that many operations read: it is loaded once, not by each of them.
HWY_INLINE V in_register(V x) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
  asm("" : "+v"(x.raw));
#endif
  return x;
}

#if HWY_NATIVE_FMA
constexpr bool fused = true;

/// a·b + c, rounded once.
HWY_INLINE V multiply_add(V a, V b, V c) { return hn::MulAdd(a, b, c); }

/// What p = fl(a·b) leaves out.
HWY_INLINE V product_low(V a, V b, V p) { return hn::MulSub(a, b, p); }
#else
constexpr bool fused = false;

/// a·b + c, rounded twice.
HWY_INLINE V multiply_add(V a, V b, V c) { return hn::Add(pinned(hn::Mul(a, b)), c); }

/// x as the sum of two numbers of 26 bits (T. J. Dekker, "A floating-point technique for extending the
/// available precision", Numer. Math. 18, 1971), for |x| < 2^996.
HWY_INLINE void split(V x, V& high, V& low) {
  const V c = pinned(hn::Mul(x, hn::Set(D(), 134217729.0)));
  high = hn::Sub(c, hn::Sub(c, x));
  low = hn::Sub(x, high);
}

/// What p = fl(a·b) leaves out.
HWY_INLINE V product_low(V a, V b, V p) {
  V ah, al, bh, bl;
  split(a, ah, al);
  split(b, bh, bl);
  V e = hn::Sub(pinned(hn::Mul(ah, bh)), p);
  e = hn::Add(e, pinned(hn::Mul(ah, bl)));
  e = hn::Add(e, pinned(hn::Mul(al, bh)));
  return hn::Add(e, pinned(hn::Mul(al, bl)));
}
#endif

/// sum + low = a + b.
HWY_INLINE void two_sum(V a, V b, V& sum, V& low) {
  const V s = hn::Add(a, b);
  const V a1 = hn::Sub(s, b);
  const V b1 = hn::Sub(s, a1);
  low = hn::Add(hn::Sub(a, a1), hn::Sub(b, b1));
  sum = s;
}
HWY_INLINE void fast_two_sum(V a, V b, V& sum, V& low) {
  const V s = hn::Add(a, b);
  low = hn::Sub(b, hn::Sub(s, a));
  sum = s;
}

/// high + low = a·b + c but for the rounding of low, where |a·b| <= |c|/2.
HWY_INLINE void add_product(V a, V b, V c, V& high, V& low) {
#if HWY_NATIVE_FMA
  high = hn::MulAdd(a, b, c);
  low = hn::MulAdd(a, b, hn::Sub(c, high));
#else
  const V p = pinned(hn::Mul(a, b));
  high = hn::Add(c, p);
  low = hn::Add(hn::Sub(p, hn::Sub(high, c)), product_low(a, b, p));
#endif
}

/// One term of a sum on a fixed grid (docs/error-bounds.md, "A dot product on a fixed grid").
HWY_INLINE void accumulate(V a, V b, V& s, V& r) {
#if HWY_NATIVE_FMA
  const V next = hn::MulAdd(a, b, s);
  r = hn::Add(r, hn::MulAdd(a, b, hn::Sub(s, next)));
  s = next;
#else
  const V p = pinned(hn::Mul(a, b));
  const V next = hn::Add(s, p);
  r = hn::Add(r, hn::Add(hn::Sub(p, hn::Sub(next, s)), product_low(a, b, p)));
  s = next;
#endif
}
/// The same for the term (a + a_low)·b.
HWY_INLINE void accumulate(V a, V a_low, V b, V& s, V& r) {
#if HWY_NATIVE_FMA
  const V next = hn::MulAdd(a, b, s);
  r = hn::Add(r, hn::MulAdd(a_low, b, hn::MulAdd(a, b, hn::Sub(s, next))));
  s = next;
#else
  const V p = pinned(hn::Mul(a, b));
  const V next = hn::Add(s, p);
  r = hn::Add(r, multiply_add(a_low, b, hn::Add(hn::Sub(p, hn::Sub(next, s)), product_low(a, b, p))));
  s = next;
#endif
}

/// (ah + al)·(bh + bl), not normalised: where the low words are at most u times the high ones the relative
/// error is at most 6u^2 (9u^2 without fused operations).
HWY_INLINE void multiply(V ah, V al, V bh, V bl, V& high, V& low) {
  high = pinned(hn::Mul(ah, bh));
  low = multiply_add(al, bh, multiply_add(ah, bl, product_low(ah, bh, high)));
}

}  // namespace HWY_NAMESPACE
}  // namespace attest::double_double_tier
HWY_AFTER_NAMESPACE();

#endif
