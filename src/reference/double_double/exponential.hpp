#if defined(ATTEST_REFERENCE_DOUBLE_DOUBLE_EXPONENTIAL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_REFERENCE_DOUBLE_DOUBLE_EXPONENTIAL_HPP
#undef ATTEST_REFERENCE_DOUBLE_DOUBLE_EXPONENTIAL_HPP
#else
#define ATTEST_REFERENCE_DOUBLE_DOUBLE_EXPONENTIAL_HPP
#endif

// The exponential of pairs of doubles. docs/error-bounds.md, "The exponential".
#include "reference/double_double/exp_tables.hpp"
#include "reference/double_double/vectors.hpp"

HWY_BEFORE_NAMESPACE();
namespace attest::double_double_tier {
namespace HWY_NAMESPACE {

/// table[index mod 16].
HWY_INLINE V lookup(const double* table, VU index) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  const D d;
  return V{_mm512_permutex2var_pd(hn::Load(d, table).raw, index.raw, hn::Load(d, table + 8).raw)};
#else
  const DU du;
  const hn::RebindToSigned<D> di;
  return hn::GatherIndex(D(), table, hn::BitCast(di, hn::And(index, hn::Set(du, 15))));
#endif
}

constexpr double least_exponent = -960;  // exponentials below 2^-960 are taken for about that

/// Independent vectors, two or, as two<two<V>>, four, whose operations are interleaved: one alone waits for
/// its own results.
template <class X>
struct two {
  HWY_INLINE two() {}  // an implicit one, g++ compiles without the instruction set
  HWY_INLINE two(X first, X second) : a(first), b(second) {}
  X a, b;
};

/// Two vectors, the second `apart` vectors behind the first.
HWY_INLINE two<V> load_two(const double* x, std::size_t apart) {
  const D d;
  return {hn::Load(d, x), hn::Load(d, x + apart * lanes)};
}
HWY_INLINE void store_two(two<V> x, double* to, std::size_t apart) {
  const D d;
  hn::Store(x.a, d, to);
  hn::Store(x.b, d, to + apart * lanes);
}

HWY_INLINE V number(double x) { return hn::Set(D(), x); }

// The operations of exponential(), on one vector and on several.
HWY_INLINE V plus(V x, V y) { return hn::Add(x, y); }
HWY_INLINE V minus(V x, V y) { return hn::Sub(x, y); }
HWY_INLINE V times(V x, V y) { return pinned(hn::Mul(x, y)); }
HWY_INLINE V larger(V x, V y) { return hn::Max(x, y); }
template <class X>
HWY_INLINE two<X> plus(two<X> x, two<X> y) {
  return {plus(x.a, y.a), plus(x.b, y.b)};
}
template <class X>
HWY_INLINE two<X> plus(two<X> x, V y) {
  return {plus(x.a, y), plus(x.b, y)};
}
template <class X>
HWY_INLINE two<X> minus(two<X> x, two<X> y) {
  return {minus(x.a, y.a), minus(x.b, y.b)};
}
template <class X>
HWY_INLINE two<X> minus(two<X> x, V y) {
  return {minus(x.a, y), minus(x.b, y)};
}
template <class X>
HWY_INLINE two<X> times(two<X> x, two<X> y) {
  return {times(x.a, y.a), times(x.b, y.b)};
}
template <class X>
HWY_INLINE two<X> times(two<X> x, V y) {
  return {times(x.a, y), times(x.b, y)};
}
template <class X>
HWY_INLINE two<X> larger(two<X> x, V y) {
  return {larger(x.a, y), larger(x.b, y)};
}
template <class X>
HWY_INLINE two<X> multiply_add(two<X> x, two<X> y, two<X> z) {
  return {multiply_add(x.a, y.a, z.a), multiply_add(x.b, y.b, z.b)};
}
template <class X>
HWY_INLINE two<X> multiply_add(two<X> x, two<X> y, V z) {
  return {multiply_add(x.a, y.a, z), multiply_add(x.b, y.b, z)};
}
template <class X>
HWY_INLINE two<X> multiply_add(two<X> x, V y, two<X> z) {
  return {multiply_add(x.a, y, z.a), multiply_add(x.b, y, z.b)};
}
template <class X>
HWY_INLINE two<X> multiply_add(two<X> x, V y, V z) {
  return {multiply_add(x.a, y, z), multiply_add(x.b, y, z)};
}
template <class X>
HWY_INLINE two<X> product_low(two<X> x, two<X> y, two<X> p) {
  return {product_low(x.a, y.a, p.a), product_low(x.b, y.b, p.b)};
}
template <class X>
HWY_INLINE two<X> product_low(two<X> x, V y, two<X> p) {
  return {product_low(x.a, y, p.a), product_low(x.b, y, p.b)};
}
template <class X>
HWY_INLINE void fast_two_sum(two<X> x, two<X> y, two<X>& sum, two<X>& low) {
  sum = plus(x, y);
  low = minus(y, minus(sum, x));
}
template <class X>
HWY_INLINE void add_product(two<X> x, two<X> y, two<X> z, two<X>& high, two<X>& low) {
  add_product(x.a, y.a, z.a, high.a, low.a);
  add_product(x.b, y.b, z.b, high.b, low.b);
}
template <class X>
HWY_INLINE void add_product(two<X> x, two<X> y, V z, two<X>& high, two<X>& low) {
  add_product(x.a, y.a, z, high.a, low.a);
  add_product(x.b, y.b, z, high.b, low.b);
}

/// For an integer 256k + 16a + b, |k| < 1000, in the last bits of x: 2^(k + a/16) and 2^(b/256) as high (1 +
/// rest) and small (1 + small_rest).
HWY_INLINE void powers_of_two(V x, V& high, V& rest, V& small, V& small_rest) {
  const D d;
  const DU du;
  const VU bits = hn::BitCast(du, x);
  const VU upper = hn::ShiftRight<4>(bits);
  const VU exponent = hn::ShiftLeft<52>(hn::ShiftRight<8>(bits));
  high = hn::BitCast(d, hn::Add(hn::BitCast(du, lookup(exp_tables::sixteenths_high, upper)), exponent));
  rest = lookup(exp_tables::sixteenths_rest, upper);
  small = lookup(exp_tables::small_high, bits);
  small_rest = lookup(exp_tables::small_rest, bits);
}
template <class X>
HWY_INLINE void powers_of_two(two<X> x, two<X>& high, two<X>& rest, two<X>& small, two<X>& small_rest) {
  powers_of_two(x.a, high.a, rest.a, small.a, small_rest.a);
  powers_of_two(x.b, high.b, rest.b, small.b, small_rest.b);
}

// The exponential in three steps, which exponentials() takes one after another for all vectors of some rows:
// a vector that took all of them at once would mostly wait for its own results. X is V or two<V>.

/// r, |r| <= 1/2 + 2^-9, and the pair th + tl with 2^((yh + yl - shift)/256) = (th + tl) 2^(r/256).
template <class X>
HWY_INLINE void reduce(X yh, X yl, V shift, X& r, X& th, X& tl) {
  // Adding this rounds to an integer, which is in the last bits then.
  const V large = minus(number(0x1.8p52), shift);
  yh = larger(yh, plus(shift, number(256 * least_exponent)));
  const X integer = plus(yh, large);
  X rl, high, rest, small, small_rest;
  fast_two_sum(minus(yh, minus(integer, large)), yl, r, rl);
  powers_of_two(integer, high, rest, small, small_rest);
  th = times(high, small);
  tl = multiply_add(rl, number(exp_tables::c1_high), plus(rest, small_rest));
  tl = multiply_add(th, tl, product_low(high, small, th));
}

/// 2^(r/256) - 1 as eh + el.
template <class X>
HWY_INLINE void power_minus_one(X r, X& eh, X& el) {
  namespace t = exp_tables;
  X q = multiply_add(r, number(t::c7), number(t::c6));
  q = multiply_add(r, q, number(t::c5));
  q = multiply_add(r, q, number(t::c4));
  X c3h, c3l, c2h, c2l, c1h, c1l;
  add_product(r, q, number(t::c3_high), c3h, c3l);
  c3l = plus(c3l, number(t::c3_low));
  add_product(r, c3h, number(t::c2_high), c2h, c2l);
  c2l = plus(c2l, multiply_add(r, c3l, number(t::c2_low)));
  add_product(r, c2h, number(t::c1_high), c1h, c1l);
  c1l = plus(c1l, multiply_add(r, c2l, number(t::c1_low)));
  eh = times(r, c1h);
  el = multiply_add(r, c1l, product_low(r, c1h, eh));
}

/// (th + tl)(1 + eh + el).
template <class X>
HWY_INLINE void multiply_by_one_plus(X th, X tl, X eh, X el, X& ph, X& pl) {
  X low;
  add_product(th, eh, th, ph, low);
  pl = plus(multiply_add(tl, eh, multiply_add(th, el, low)), tl);
}

/// 2^((yh + yl - shift)/256) as ph + pl, where shift is a multiple of 256, yh - shift < 2^17 and |yl| <=
/// 2^-10: relative error at most 2^-94, and 2^-59 |yl| more where |yl| > |yh|, while the result is above
/// 2^-960; below, ph + pl is in [2^-961, 2^-959].
HWY_INLINE void exponential(V yh, V yl, V shift, V& ph, V& pl) {
  V r, th, tl, eh, el;
  reduce(yh, yl, shift, r, th, tl);
  power_minus_one(r, eh, el);
  multiply_by_one_plus(th, tl, eh, el, ph, pl);
}

}  // namespace HWY_NAMESPACE
}  // namespace attest::double_double_tier
HWY_AFTER_NAMESPACE();

#endif
