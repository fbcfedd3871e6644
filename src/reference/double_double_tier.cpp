#include "reference/double_double_tier.hpp"

#include "reference/vector_targets.hpp"

#include "reference/double_double.hpp"
#include "reference/double_double_data.hpp"
#include "reference/exp_tables.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/double_double_tier.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attest::double_double_tier {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<double, 8>;
using V = hn::Vec<D>;
using DU = hn::RebindToUnsigned<D>;
using VU = hn::Vec<DU>;
constexpr std::size_t lanes = hn::MaxLanes(D());

// --- error-free transforms of vectors ----------------------------------------------------------------------------

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

// --- exp ---------------------------------------------------------------------------------------------------------

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
  X a, b;
};

HWY_INLINE two<V> load_two(const double* x) {
  const D d;
  return {hn::Load(d, x), hn::Load(d, x + lanes)};
}
HWY_INLINE void store_two(two<V> x, double* to) {
  const D d;
  hn::Store(x.a, d, to);
  hn::Store(x.b, d, to + lanes);
}

HWY_INLINE V number(double x) { return hn::Set(D(), x); }

// The operations of exponential(), on one vector and on several.
HWY_INLINE V plus(V x, V y) { return hn::Add(x, y); }
HWY_INLINE V minus(V x, V y) { return hn::Sub(x, y); }
HWY_INLINE V times(V x, V y) { return pinned(hn::Mul(x, y)); }
HWY_INLINE V nearest_integer(V x) { return hn::Round(x); }
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
HWY_INLINE two<X> nearest_integer(two<X> x) {
  return {nearest_integer(x.a), nearest_integer(x.b)};
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
HWY_INLINE void add_product(two<X> x, two<X> y, V z, two<X>& high, two<X>& low) {
  add_product(x.a, y.a, z, high.a, low.a);
  add_product(x.b, y.b, z, high.b, low.b);
}

/// 2^(i/256) as a pair, and 2^k, for the integers 256k + i of e.
HWY_INLINE void powers_of_two(V e, V& power, V& high, V& low, V& small_high, V& small_low) {
  const D d;
  const DU du;
  const VU bits = hn::BitCast(du, hn::Add(e, number(0x1.8p52)));
  power = hn::BitCast(d, hn::ShiftLeft<52>(hn::Add(hn::ShiftRight<8>(bits), hn::Set(du, 1023))));
  const VU upper = hn::ShiftRight<4>(bits);
  high = lookup(exp_tables::sixteenths_high, upper);
  low = lookup(exp_tables::sixteenths_low, upper);
  small_high = lookup(exp_tables::small_high, bits);
  small_low = lookup(exp_tables::small_low, bits);
}
template <class X>
HWY_INLINE void powers_of_two(two<X> e, two<X>& power, two<X>& high, two<X>& low, two<X>& small_high,
                              two<X>& small_low) {
  powers_of_two(e.a, power.a, high.a, low.a, small_high.a, small_low.a);
  powers_of_two(e.b, power.b, high.b, low.b, small_high.b, small_low.b);
}

// The exponential in three steps, which row_exponentials() takes one after another for all vectors of a row:
// a vector that took all of them at once would mostly wait for its own results. X is V or two<V>.

/// r, |r| <= 1/2 + 2^-9, and the pair th + tl with 2^((yh + yl - shift)/256) = (th + tl) 2^(r/256).
template <class X>
HWY_INLINE void reduce(X yh, X yl, V shift, X& r, X& th, X& tl) {
  const X n = nearest_integer(yh);
  X rl;
  fast_two_sum(minus(yh, n), yl, r, rl);
  X power, ah, al, bh, bl;
  powers_of_two(larger(minus(n, shift), number(256 * least_exponent)), power, ah, al, bh, bl);
  ah = times(ah, power);
  al = times(al, power);
  th = times(ah, bh);
  tl = multiply_add(al, bh, multiply_add(ah, bl, product_low(ah, bh, th)));
  tl = multiply_add(th, times(rl, number(exp_tables::c1_high)), tl);
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
  const X xh = times(th, eh);
  X xl = multiply_add(th, el, product_low(th, eh, xh));
  xl = plus(multiply_add(tl, eh, xl), tl);
  ph = plus(th, xh);
  pl = plus(plus(minus(th, ph), xh), xl);
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

// --- register tiles ----------------------------------------------------------------------------------------------

// Sums of one row of a tile: two vectors of columns.
struct tile_row {
  V s0, s1, r0, r1;
};

constexpr std::size_t tile_vectors = panel_width / lanes >= 2 ? 2 : 1;
constexpr std::size_t tile_width = tile_vectors * lanes;
// Four rows need 16 sums and a few more registers.
#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM
constexpr std::size_t tile_rows = 4;
#else
constexpr std::size_t tile_rows = 2;
#endif
static_assert(group_rows == 4 && panel_width % (2 * lanes) == 0 && panel_width % tile_width == 0 &&
              group_rows % tile_rows == 0);

HWY_INLINE void accumulate(V a, V b0, V b1, tile_row& t) {
  accumulate(a, b0, t.s0, t.r0);
  accumulate(a, b1, t.s1, t.r1);
}
HWY_INLINE void accumulate_pair(V a, V a_low, V b0, V b1, tile_row& t) {
  accumulate(a, a_low, b0, t.s0, t.r0);
  accumulate(a, a_low, b1, t.s1, t.r1);
}

HWY_INLINE void store_scores(const tile_row& t, V grid0, V grid1, double* high, double* low) {
  const D d;
  hn::Store(hn::Sub(t.s0, grid0), d, high);
  hn::Store(hn::Sub(t.s1, grid1), d, high + lanes);
  hn::Store(t.r0, d, low);
  hn::Store(t.r1, d, low + lanes);
}

/// Dot products of group_rows queries q[c][row] and the tile_width keys k[c][panel], as high + low, into rows
/// block_keys apart.
HWY_INLINE void score_tile(const double* HWY_RESTRICT q, const double* HWY_RESTRICT k,
                           const double* HWY_RESTRICT grid, std::size_t width, double* HWY_RESTRICT high,
                           double* HWY_RESTRICT low) {
  const D d;
  const V g0 = hn::Load(d, grid);
  const V g1 = hn::Load(d, grid + lanes);
  for (std::size_t first = 0; first < group_rows; first += tile_rows) {
    const tile_row start{g0, g1, hn::Zero(d), hn::Zero(d)};
    tile_row a = start, b = start, c = start, e = start;
    const double* qc = q + first;
    const double* kc = k;
    for (std::size_t i = 0; i < width; ++i, qc += group_rows, kc += panel_width) {
      const V k0 = in_register(hn::Load(d, kc));
      const V k1 = in_register(hn::Load(d, kc + lanes));
      accumulate(in_register(hn::Set(d, qc[0])), k0, k1, a);
      accumulate(in_register(hn::Set(d, qc[1])), k0, k1, b);
      if constexpr (tile_rows == 4) {
        accumulate(in_register(hn::Set(d, qc[2])), k0, k1, c);
        accumulate(in_register(hn::Set(d, qc[3])), k0, k1, e);
      }
    }
    double* h = high + first * block_keys;
    double* l = low + first * block_keys;
    store_scores(a, g0, g1, h, l);
    store_scores(b, g0, g1, h + block_keys, l + block_keys);
    if constexpr (tile_rows == 4) {
      store_scores(c, g0, g1, h + 2 * block_keys, l + 2 * block_keys);
      store_scores(e, g0, g1, h + 3 * block_keys, l + 3 * block_keys);
    }
  }
}

HWY_INLINE void add_output(V s, V r, V grid, double* high, double* low) {
  const D d;
  V h, e;
  two_sum(hn::Load(d, high), hn::Sub(s, grid), h, e);
  hn::Store(h, d, high);
  hn::Store(hn::Add(hn::Load(d, low), hn::Add(e, r)), d, low);
}
HWY_INLINE void add_outputs(const tile_row& t, V grid0, V grid1, double* high, double* low) {
  add_output(t.s0, t.r0, grid0, high, low);
  add_output(t.s1, t.r1, grid1, high + lanes, low + lanes);
}

/// Adds Σ_j p_j v_j over `count` keys, p from rows block_keys apart, to group_rows rows of outputs `stride`
/// apart. The grid of a row is sums[row] · grid.
HWY_INLINE void output_tile(const double* HWY_RESTRICT high, const double* HWY_RESTRICT low,
                            const double* HWY_RESTRICT v, std::size_t count, const double* HWY_RESTRICT grid,
                            const double* HWY_RESTRICT sums, double* HWY_RESTRICT output_high,
                            double* HWY_RESTRICT output_low, std::size_t stride) {
  const D d;
  const V g0 = hn::Load(d, grid);
  const V g1 = hn::Load(d, grid + lanes);
  for (std::size_t first = 0; first < group_rows; first += tile_rows) {
    const auto start = [&](std::size_t row) HWY_ATTR {
      const V p = hn::Set(D(), sums[row]);
      return tile_row{hn::Mul(p, g0), hn::Mul(p, g1), hn::Zero(D()), hn::Zero(D())};
    };
    tile_row a = start(first), b = start(first + 1), c = start(first + tile_rows - 2), e = start(first + tile_rows - 1);
    const double* h = high + first * block_keys;
    const double* l = low + first * block_keys;
    const double* vj = v;
    for (std::size_t j = 0; j < count; ++j, vj += panel_width) {
      const V v0 = in_register(hn::Load(d, vj));
      const V v1 = in_register(hn::Load(d, vj + lanes));
      accumulate_pair(in_register(hn::Set(d, h[j])), in_register(hn::Set(d, l[j])), v0, v1, a);
      accumulate_pair(in_register(hn::Set(d, h[j + block_keys])), in_register(hn::Set(d, l[j + block_keys])), v0, v1,
                      b);
      if constexpr (tile_rows == 4) {
        accumulate_pair(in_register(hn::Set(d, h[j + 2 * block_keys])),
                        in_register(hn::Set(d, l[j + 2 * block_keys])), v0, v1, c);
        accumulate_pair(in_register(hn::Set(d, h[j + 3 * block_keys])),
                        in_register(hn::Set(d, l[j + 3 * block_keys])), v0, v1, e);
      }
    }
    const auto finish = [&](const tile_row& t, std::size_t row) HWY_ATTR {
      const V p = hn::Set(D(), sums[row]);
      add_outputs(t, hn::Mul(p, g0), hn::Mul(p, g1), output_high + row * stride, output_low + row * stride);
    };
    finish(a, first);
    finish(b, first + 1);
    if constexpr (tile_rows == 4) {
      finish(c, first + 2);
      finish(e, first + 3);
    }
  }
}

// --- numbers -----------------------------------------------------------------------------------------------------

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double exp_error = 0x1p-94;
constexpr double ln2_256 = 0x1.62e42fefa39f0p-9;  // log(2)/256, rounded up

/// A power of two that is not below x; 2^-200 at least, 2^1000 at most.
inline double power_of_two_above(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t up = (bits + 0xfffffffffffffu) & 0x7ff0000000000000u;
  return std::clamp(std::bit_cast<double>(up), 0x1p-200, 0x1p1000);
}

/// The least e with x < 2^e, for normal x > 0; -1022 below.
inline int exponent_above(double x) {
  return static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 52 & 0x7ff) - 1022;
}

/// 2^e for -1074 <= e <= 1023.
inline double power_of_two(int e) {
  return e >= -1022 ? std::bit_cast<double>(static_cast<std::uint64_t>(e + 1023) << 52)
                    : std::bit_cast<double>(std::uint64_t{1} << (e + 1074));
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

// --- packing -----------------------------------------------------------------------------------------------------

inline std::uint64_t panel_bit(std::size_t panel) { return std::uint64_t{1} << std::min<std::size_t>(panel, 63); }

inline std::size_t rounded_up(std::size_t n, std::size_t unit) { return (n + unit - 1) / unit * unit; }

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

inline void pack_keys(packed_head::data& head, const double* k, std::size_t stride) {
  const std::size_t width = head.key_width;
  const std::size_t row = rounded_up(width, 8);
  const std::size_t padded = rounded_up(head.keys, block_keys);
  head.k = numbers(padded * width);
  head.key_grid = numbers(padded);
  head.key_norm.assign(padded / block_keys, 0);
  head.key_spare.assign(padded / block_keys, 100000);
  head.key_exponent = std::max(exponent_above(largest_magnitude(k, head.keys, width, stride)), -900);
  const double by = power_of_two(-head.key_exponent);
  const auto keys = numbers(panel_width * row);
  std::fill_n(keys.get(), panel_width * row, 0.0);
  for (std::size_t first = 0; first < padded; first += panel_width) {
    const std::size_t here = first < head.keys ? std::min(panel_width, head.keys - first) : 0;
    double* panel = head.k.get() + first * width;
    if (here < panel_width) std::fill_n(panel, panel_width * width, 0.0);
    for (std::size_t j = 0; j < panel_width; ++j) {
      int power = -200;
      if (j < here) {
        double* x = keys.get() + j * row;
        std::copy_n(k + (first + j) * stride, width, x);
        const scaled_row scaled = scale_row(x, row, by);
        power = std::max(exponent_above(scaled.norm * (1 + 0x1p-19)), -200);
        double& of_block = head.key_norm[first / block_keys];
        of_block = std::max(of_block, power_of_two(power));
        long& spare = head.key_spare[first / block_keys];
        if (scaled.last_bit < 2)
          spare = std::min(spare, static_cast<long>(exponent_above(scaled.last_bit)) - 1 - (power - 51));
      }
      head.key_grid.get()[first + j] = 3 * power_of_two(power);
    }
    for (std::size_t c = 0; c < width; ++c)
      for (std::size_t j = 0; j < here; ++j) panel[c * panel_width + j] = keys.get()[j * row + c];
  }
}

inline void pack_values(packed_head::data& head, const double* v, std::size_t stride) {
  const D d;
  const std::size_t width = head.value_panels * panel_width;
  const std::size_t blocks = rounded_up(head.keys, block_keys) / block_keys;
  head.v = numbers(std::max<std::size_t>(width * head.keys, 1));
  head.value_grid = numbers(std::max<std::size_t>(width * blocks, 1));
  head.value_largest = numbers(std::max<std::size_t>(width, 1));
  head.value_exponents.assign(head.value_width, 0);
  std::fill_n(head.value_largest.get(), width, 0.0);
  for (std::size_t panel = 0; panel < head.value_panels; ++panel) {
    const std::size_t first = panel * panel_width;
    const std::size_t here = std::min(panel_width, head.value_width - first);
    double* to = head.v.get() + panel * head.keys * panel_width;
    double* of_all = head.value_largest.get() + first;
    for (std::size_t b = 0; b < blocks; ++b) {
      double* grid = head.value_grid.get() + (b * head.value_panels + panel) * panel_width;
      std::fill_n(grid, panel_width, 0.0);
      for (std::size_t j = b * block_keys; j < std::min((b + 1) * block_keys, head.keys); ++j) {
        const double* from = v + j * stride + first;
        double* x = to + j * panel_width;
        if (here == panel_width) {
          for (std::size_t c = 0; c < panel_width; c += lanes) hn::Store(hn::LoadU(d, from + c), d, x + c);
        } else {
          std::copy_n(from, here, x);
          std::fill_n(x + here, panel_width - here, 0.0);
        }
        for (std::size_t c = 0; c < panel_width; c += lanes)
          hn::Store(hn::Max(hn::Load(d, grid + c), hn::Abs(hn::Load(d, x + c))), d, grid + c);
      }
      for (std::size_t c = 0; c < panel_width; ++c) of_all[c] = std::max(of_all[c], grid[c]);
    }
    for (std::size_t c = 0; c < here; ++c) {
      int exponent = exponent_above(of_all[c]);
      if (of_all[c] == 0 || (exponent < 900 && exponent > -400)) continue;
      exponent = std::max(exponent, -1000);
      head.value_exponents[first + c] = exponent;
      const double by = power_of_two(-exponent);
      of_all[c] *= by;
      for (std::size_t j = 0; j < head.keys; ++j) to[j * panel_width + c] *= by;
      for (std::size_t b = 0; b < blocks; ++b)
        head.value_grid.get()[(b * head.value_panels + panel) * panel_width + c] *= by;
    }
    for (std::size_t b = 0; b < blocks; ++b) {
      double* grid = head.value_grid.get() + (b * head.value_panels + panel) * panel_width;
      for (std::size_t c = 0; c < panel_width; ++c)
        grid[c] = of_all[c] == 0 ? 0
                                 : power_of_two(exponent_above(std::max(grid[c], of_all[c] * 0x1p-200) * (1 + 0x1p-19)));
    }
  }
}

void pack(packed_head::data& head, const double* k, std::size_t k_stride, const double* v, std::size_t v_stride) {
  pack_keys(head, k, k_stride);
  pack_values(head, v, v_stride);
}

// --- rows --------------------------------------------------------------------------------------------------------

constexpr std::size_t no_key = static_cast<std::size_t>(-1);

struct row_state {
  std::size_t first = 0;  // keys that it may see; none for a row that only fills a tile
  std::size_t last = 0;
  // A scaled dot product times this is a score, times 256 log2(e) where nothing else is done to it.
  double_double factor{};
  long factor_exponent = 0;
  double factor_error = 0;  // of scores, where the factor was too small to be taken for anything but 0
  long query_last_bit = 0;  // of the scaled query
  bool lost = false;        // nothing is claimed
  double shift = -infinity;  // of the exponentials: a multiple of 256
  double grids = 0;          // Σ over blocks of the power of two above Σ exponentials
  double error = 0;          // Σ over blocks of (relative error of exponentials · Σ exponentials)
  double largest = -infinity;       // the largest score so far, times 256 log2(e)
  double largest_block_error = 0;   // relative error of the exponentials of its block
  double largest_low = 0;           // what its low word is at most
  std::uint64_t wanted_panels = 0;  // of values; the last bit stands for panel 63 and all beyond

  // Scores too large for a difference of exponents to be known well: only whether one key outweighs all
  // others is asked for.
  bool coarse = false;
  double best = -infinity;       // the largest of (score less its error), times 256 log2(e)
  double second = -infinity;     // the largest of (score plus its error) of the others
  double best_upper = -infinity;
  std::size_t best_key = no_key;
  double_double best_product{};  // of the scaled query and that key
  double best_norm = 0;          // κ of its block
};

class evaluation {
 public:
  evaluation(const packed_head::data& head, const score_steps& steps, scratch::buffers& memory)
      : head_(head), steps_(steps), memory_(memory) {
    width_ = head.value_panels * panel_width;
    blocks_ = (head.keys + block_keys - 1) / block_keys;
    simple_ = !steps.softcap && !steps.slope;
    const double_double log2e{exp_tables::log2e_256_high, exp_tables::log2e_256_low};
    scale_ = steps.scale ? double_double{std::abs(*steps.scale), 0}
                         : reciprocal_root(static_cast<double>(head.key_width));
    if (scale_.high != 0) {
      std::frexp(scale_.high, &scale_exponent_);
      scale_ = {std::ldexp(scale_.high, -scale_exponent_), std::ldexp(scale_.low, -scale_exponent_)};
    }
    for (const double norm : head.key_norm) largest_key_norm_ = std::max(largest_key_norm_, norm);
    scale_log2e_ = product(scale_, log2e);
    if (steps.sink) sink_ = product(log2e, *steps.sink);
    sink_overflows_ = !(std::abs(sink_.high) < 0x1p1023);
    if (sink_overflows_) sink_ = {std::copysign(0x1p1000, *steps.sink), 0};  // any number: nothing is claimed
    reserve();
  }

  void rows(const query_row* rows, const row_results* results, std::size_t count) {
    rows_ = rows;
    results_ = results;
    count_ = count;
    start();
    for (std::size_t block = 0; block < blocks_; ++block) keys(block);
    for (std::size_t i = 0; i < count_; ++i) finish(i);
  }

 private:
  void reserve();
  void start();
  void start_row(std::size_t i);
  void keys(std::size_t block);
  bool bias(std::size_t i) const { return rows_[i].bias != nullptr; }
  void row_exponentials(std::size_t block, std::size_t i, std::size_t first, std::size_t last, double& sum);
  double apply_steps(std::size_t block, std::size_t i, std::size_t first, std::size_t last, double error,
                     double& largest_low);
  double dot_error(const row_state& s, double norm, long spare) const;
  void consider(row_state& s, double y, double error, std::size_t key);
  void find_best_key(std::size_t block, std::size_t i, std::size_t first, std::size_t last);
  void finish_coarse(std::size_t i);
  void rescale(std::size_t i, double shift);
  void finish(std::size_t i);
  void finish_weights(std::size_t i, double_double inverse, double error);

  const packed_head::data& head_;
  const score_steps& steps_;
  scratch::buffers& memory_;
  std::size_t width_;
  std::size_t blocks_;
  bool simple_;
  double_double scale_{};  // |scale|, times 2^-scale_exponent_
  double_double scale_log2e_{};
  int scale_exponent_ = 0;
  double_double sink_{};  // times 256 log2(e)
  bool sink_overflows_ = false;
  double largest_key_norm_ = 0;

  const query_row* rows_ = nullptr;
  const row_results* results_ = nullptr;
  std::size_t count_ = 0;
  row_state state_[block_rows];
  double grids_[block_rows] = {};  // of the sums over values of the block at hand, but for the values' factor
  alignas(64) std::uint64_t mask_[block_keys];
};

void evaluation::reserve() {
  if (memory_.key_width < head_.key_width || memory_.q.get() == nullptr) {
    memory_.q = numbers(block_rows * head_.key_width);
    memory_.query = numbers(head_.key_width + 8);
    memory_.key_width = head_.key_width;
  }
  if (memory_.high.get() == nullptr) {
    memory_.high = numbers(block_rows * block_keys);
    memory_.low = numbers(block_rows * block_keys);
    memory_.sums = numbers(block_rows * 16);
  }
  if (memory_.value_panels < head_.value_panels || memory_.output_high.get() == nullptr) {
    memory_.output_high = numbers(block_rows * std::max<std::size_t>(width_, 1));
    memory_.output_low = numbers(block_rows * std::max<std::size_t>(width_, 1));
    memory_.value_panels = head_.value_panels;
  }
  if (memory_.blocks < blocks_) {
    memory_.block_shift.resize(block_rows * blocks_);
    memory_.block_error.resize(block_rows * blocks_);
    memory_.blocks = blocks_;
  }
}

void evaluation::start() {
  if (count_ % group_rows != 0)
    std::fill_n(memory_.q.get() + count_ / group_rows * group_rows * head_.key_width,
                group_rows * head_.key_width, 0.0);
  std::fill_n(memory_.output_high.get(), block_rows * width_, 0.0);
  std::fill_n(memory_.output_low.get(), block_rows * width_, 0.0);
  std::fill_n(memory_.sums.get(), block_rows * 16, 0.0);
  for (std::size_t i = 0; i < block_rows; ++i) {
    state_[i] = {};
    if (i < count_) start_row(i);
  }
}

void evaluation::start_row(std::size_t i) {
  row_state& s = state_[i];
  const query_row& row = rows_[i];
  const std::size_t width = head_.key_width;
  const std::size_t padded = rounded_up(width, 8);
  s.first = row.first_key;
  s.last = std::min(row.last_key, head_.keys);
  s.wanted_panels = row.wanted ? 0 : ~std::uint64_t{0};
  if (row.wanted)
    for (std::size_t c = 0; c < head_.value_width; ++c)
      if (row.wanted[c]) s.wanted_panels |= panel_bit(c / panel_width);
  double* x = memory_.query.get();
  std::copy(row.q, row.q + width, x);
  std::fill(x + width, x + padded, 0.0);

  int exponent = std::max(exponent_above(largest_magnitude(x, 1, padded, padded)), -900);
  const scaled_row scaled = scale_row(x, padded, power_of_two(-exponent));
  // The norm of x is below 2^norm. (A number that lost bits below 2^-1074 has a last bit there: nothing is
  // exact then.)
  const int norm = exponent_above(scaled.norm * (1 + 0x1p-20));
  exponent += norm;
  s.query_last_bit = exponent_above(scaled.last_bit) - 1 - norm;

  const bool negative = steps_.scale && std::signbit(*steps_.scale);
  const double factor = negative ? -power_of_two(-norm) : power_of_two(-norm);
  double* q = memory_.q.get() + (i / group_rows) * group_rows * width + i % group_rows;
  for (std::size_t c = 0; c < width; ++c) q[c * group_rows] = x[c] * factor;

  const double_double scale = simple_ && !row.bias ? scale_log2e_ : scale_;
  const long total = static_cast<long>(scale_exponent_) + exponent + head_.key_exponent;
  if (scale.high == 0) {
    s.factor = {0, 0};
  } else if (total < -500) {
    s.factor_error = 0x1p-470;
  } else {
    // A smaller factor than the true one leaves a key that outweighs all others what it is.
    const double by_total = power_of_two(static_cast<int>(std::min<long>(total, 900)));
    s.factor = {scale.high * by_total, scale.low * by_total};
    s.factor_exponent = total;
    if (total > 900 && steps_.sink) s.lost = true;
    const double size = s.factor.high * largest_key_norm_;
    if (!(size * static_cast<double>(width + 1) * 0x1p-52 <= 0x1p-11))
      (simple_ && !row.bias ? s.coarse : s.lost) = true;
  }
  if (steps_.sink) {
    s.largest = sink_.high;
    s.shift = 256 * std::ceil(sink_.high / 256);
    s.largest_low = std::abs(sink_.low);
    s.largest_block_error = std::abs(sink_.high) * 0x1p-103 * ln2_256 + exp_error;
    if (!(std::abs(sink_.high) < 0x1p42)) {
      (simple_ && !row.bias ? s.coarse : s.lost) = true;
    }
    if (sink_overflows_) s.lost = true;
    if (s.coarse) consider(s, sink_.high, std::abs(sink_.high) * 0x1p-50, no_key);
  }
}

/// Scores times 256 log2(e), from scaled dot products, in place. Returns a bound of their absolute error,
/// given that of the dot products times the factor. docs/error-bounds.md, "Further steps of a score".
double evaluation::apply_steps(std::size_t block, std::size_t i, std::size_t first, std::size_t last, double error,
                               double& largest_low) {
  const D d;
  const row_state& s = state_[i];
  const query_row& row = rows_[i];
  double* high = memory_.high.get() + i * block_keys;
  double* low = memory_.low.get() + i * block_keys;
  const V fh = hn::Set(d, s.factor.high);
  const V fl = hn::Set(d, s.factor.low);
  const V log2e_high = hn::Set(d, exp_tables::log2e_256_high);
  const V log2e_low = hn::Set(d, exp_tables::log2e_256_low);
  const V one = hn::Set(d, 1.0);
  double cap = 1;
  double_double cap_factor{};
  if (steps_.softcap) {
    cap = *steps_.softcap;
    cap_factor = quotient({2 * exp_tables::log2e_256_high, 2 * exp_tables::log2e_256_low}, {cap, 0});
    if (!(cap < 0x1p500 && cap > 0x1p-500)) return infinity;
  }
  alignas(64) double bias_of[block_keys];
  if (row.bias) {
    for (std::size_t j = first; j < last; ++j) {
      const std::size_t key = block * block_keys + j;
      bias_of[j] = key >= s.first && key < s.last && mask_[j] ? row.bias[key - row.first_key] : 0.0;
    }
  }
  alignas(64) double distance[block_keys];
  if (steps_.slope)
    for (std::size_t j = first; j < last; ++j) {
      const auto key = static_cast<std::ptrdiff_t>(block * block_keys + j);
      distance[j] = static_cast<double>(row.position > key ? row.position - key : key - row.position);
    }

  V magnitude = hn::Zero(d);
  for (std::size_t j = first; j < last; j += lanes) {
    V xh, xl;
    multiply(hn::Load(d, high + j), hn::Load(d, low + j), fh, fl, xh, xl);
    fast_two_sum(xh, xl, xh, xl);
    if (steps_.softcap) {
      // tanh(x/cap) = (e - 1)/(e + 1) with e = exp(2|x|/cap), 1 beyond |x| = 40 cap or so.
      V yh, yl;
      const V negative = hn::And(xh, hn::Set(d, -0.0));
      multiply(hn::Xor(xh, negative), hn::Xor(xl, negative), hn::Set(d, cap_factor.high),
               hn::Set(d, cap_factor.low), yh, yl);
      const auto far = hn::Gt(yh, hn::Set(d, 256.0 * 120));
      yh = hn::IfThenElse(far, hn::Set(d, 256.0 * 120), yh);
      yl = hn::IfThenElse(far, hn::Zero(d), yl);
      V eh, el, nh, nl, dh, dl;
      exponential(yh, yl, hn::Zero(d), eh, el);
      two_sum(eh, hn::Neg(one), nh, nl);
      two_sum(eh, one, dh, dl);
      fast_two_sum(nh, hn::Add(nl, el), nh, nl);
      fast_two_sum(dh, hn::Add(dl, el), dh, dl);
      const V q = hn::Div(nh, dh);
      const V qd = pinned(hn::Mul(q, dh));
      V rest = hn::Sub(hn::Sub(nh, qd), product_low(q, dh, qd));
      rest = hn::Add(rest, hn::Sub(nl, pinned(hn::Mul(q, dl))));
      V th, tl;
      fast_two_sum(q, hn::Div(rest, dh), th, tl);
      const V c = hn::Set(d, cap);
      xh = pinned(hn::Mul(th, c));
      xl = multiply_add(tl, c, product_low(th, c, xh));
      xh = hn::Xor(xh, negative);
      xl = hn::Xor(xl, negative);
    }
    magnitude = hn::Max(magnitude, hn::Abs(xh));
    if (row.bias) {
      const V b = hn::Load(d, bias_of + j);
      V e;
      magnitude = hn::Max(magnitude, hn::Abs(b));
      two_sum(xh, b, xh, e);
      fast_two_sum(xh, hn::Add(xl, e), xh, xl);
      magnitude = hn::Max(magnitude, hn::Abs(xh));
    }
    if (steps_.slope) {
      const V slope = hn::Set(d, -*steps_.slope);
      const V far = hn::Load(d, distance + j);
      const V ah = pinned(hn::Mul(slope, far));
      const V al = product_low(slope, far, ah);
      V e;
      magnitude = hn::Max(magnitude, hn::Abs(ah));
      two_sum(xh, ah, xh, e);
      fast_two_sum(xh, hn::Add(hn::Add(xl, al), e), xh, xl);
      magnitude = hn::Max(magnitude, hn::Abs(xh));
    }
    V yh, yl;
    multiply(xh, xl, log2e_high, log2e_low, yh, yl);
    fast_two_sum(yh, yl, yh, yl);
    hn::Store(yh, d, high + j);
    hn::Store(yl, d, low + j);
  }
  const double m = hn::GetLane(hn::MaxOfLanes(d, magnitude));
  if (steps_.slope && !(std::abs(*steps_.slope) < 0x1p500)) return infinity;
  largest_low = m * 0x1p-43;  // 2^-11 at most where anything is claimed: m <= 2^32
  if (steps_.softcap) error += cap * 0x1p-94;
  return (error + m * 0x1p-101 + 0x1p-480) * 370 + m * 0x1p-94;
}

void evaluation::rescale(std::size_t i, double shift) {
  row_state& s = state_[i];
  if (s.shift == -infinity) {
    s.shift = shift;
    return;
  }
  const double by = (s.shift - shift) / 256;
  const double f = by < -1000 ? 0 : std::ldexp(1.0, static_cast<int>(by));
  s.shift = shift;
  s.grids *= f;
  s.error *= f;
  const D d;
  const V factor = hn::Set(d, f);
  double* high = memory_.output_high.get() + i * width_;
  double* low = memory_.output_low.get() + i * width_;
  for (std::size_t c = 0; c < width_; c += lanes) {
    hn::Store(hn::Mul(hn::Load(d, high + c), factor), d, high + c);
    hn::Store(hn::Mul(hn::Load(d, low + c), factor), d, low + c);
  }
  double* sums = memory_.sums.get() + i * 16;
  for (std::size_t c = 0; c < 16; ++c) sums[c] *= f;
}

/// Error of a dot product times the factor, in the exponent's unit where the factor holds log2(e):
/// docs/error-bounds.md, "Scores".
double evaluation::dot_error(const row_state& s, double norm, long spare) const {
  const double n = static_cast<double>(head_.key_width);
  double error = 0x1p-100;
  const long last_bit = s.query_last_bit + spare;  // of all products, in last places of the grid
  if (last_bit < 0) error += n * 0x1p-101;
  if (last_bit < -40 || n > 2048) error += (n + 5) * (n + 5) * (fused ? 0x1p-106 : 0x1p-105);
  return s.factor.high * norm * error + s.factor_error;
}

void evaluation::consider(row_state& s, double y, double error, std::size_t key) {
  if (y - error > s.best) {
    s.second = std::max(s.second, s.best_upper);
    s.best = y - error;
    s.best_upper = y + error;
    s.best_key = key;
  } else {
    s.second = std::max(s.second, y + error);
  }
}

void evaluation::find_best_key(std::size_t block, std::size_t i, std::size_t first, std::size_t last) {
  row_state& s = state_[i];
  const query_row& row = rows_[i];
  const double* high = memory_.high.get() + i * block_keys;
  const double* low = memory_.low.get() + i * block_keys;
  const double error = dot_error(s, head_.key_norm[block], head_.key_spare[block]);
  for (std::size_t j = first; j < last; ++j) {
    const std::size_t key = block * block_keys + j;
    if (key < s.first || key >= s.last || (row.visible && !row.visible[key - row.first_key])) continue;
    const double y = (high[j] + low[j]) * s.factor.high;
    consider(s, y, error + std::abs(y) * 0x1p-50, key);
    if (s.best_key == key) {
      s.best_product = error_free::two_sum(high[j], low[j]);
      s.best_norm = head_.key_norm[block];
    }
  }
}

/// Results where one key (or the sink) outweighs the sum of all others by 2^300 / n or more; else nothing is
/// claimed.
void evaluation::finish_coarse(std::size_t i) {
  const row_state& s = state_[i];
  const row_results& result = results_[i];
  const bool outweighs = s.second <= s.best - 256 * 300;
  const double error = outweighs ? static_cast<double>(head_.keys + 1) * 0x1p-298 : infinity;
  if (result.output_high)
    for (std::size_t c = 0; c < head_.value_width; ++c) {
      const double largest = head_.value_largest.get()[c];
      result.output_high[c] =
          s.best_key == no_key
              ? 0
              : head_.v.get()[(c / panel_width * head_.keys + s.best_key) * panel_width + c % panel_width];
      result.output_low[c] = 0;
      result.output_error[c] = outweighs ? error * largest : infinity;
    }
  if (result.weights_high)
    for (std::size_t key = s.first; key < s.last; ++key) {
      const std::size_t at = key - rows_[i].first_key;
      const bool hidden = rows_[i].visible && !rows_[i].visible[at];
      result.weights_high[at] = key == s.best_key ? 1 : 0;
      result.weights_low[at] = 0;
      result.weights_error[at] = hidden ? 0 : error;
    }
  if (result.log_sum_exp) {
    // The score of the one key.
    double* log = result.log_sum_exp;
    log[2] = infinity;
    if (s.best_key == no_key) {
      log[0] = *steps_.sink;
      log[1] = 0;
      log[2] = error;
    } else if (s.factor_exponent <= 900) {
      const double by = power_of_two(static_cast<int>(s.factor_exponent));
      const double_double score = product(s.best_product, double_double{scale_.high * by, scale_.low * by});
      log[0] = score.high;
      log[1] = score.low;
      const double size = s.best_norm * scale_.high * by;
      log[2] = error + dot_error(s, s.best_norm, -100) * 0x1p-8 + size * 0x1p-100;
    }
  }
}

/// Scores [first, last) of the block (multiples of the panel width) become exponentials, 0 where the row does
/// not see the key; sum is not below their sum.
void evaluation::row_exponentials(std::size_t block, std::size_t i, std::size_t first, std::size_t last, double& sum) {
  const D d;
  const DU du;
  row_state& s = state_[i];
  const query_row& row = rows_[i];
  double* high = memory_.high.get() + i * block_keys;
  double* low = memory_.low.get() + i * block_keys;
  const std::size_t first_key = block * block_keys + first;
  const std::size_t last_key = block * block_keys + last;
  const bool masked = row.visible || s.first > first_key || s.last < last_key;
  bool any = !masked;
  if (masked)
    for (std::size_t j = first; j < last; ++j) {
      const std::size_t key = block * block_keys + j;
      const bool sees = key >= s.first && key < s.last && (!row.visible || row.visible[key - row.first_key]);
      mask_[j] = sees ? ~std::uint64_t{0} : 0;
      any |= sees;
    }
  else if (row.bias)
    for (std::size_t j = first; j < last; ++j) mask_[j] = ~std::uint64_t{0};
  sum = 0;
  if (!any) {
    std::fill(high + first, high + last, 0.0);
    std::fill(low + first, low + last, 0.0);
    return;
  }

  if (s.coarse) {
    find_best_key(block, i, first, last);
    std::fill(high + first, high + last, 0.0);
    std::fill(low + first, low + last, 0.0);
    return;
  }

  double error = dot_error(s, head_.key_norm[block], head_.key_spare[block]);
  double largest_low = s.factor.high * head_.key_norm[block] * static_cast<double>(head_.key_width + 1) * 0x1p-52;
  const bool direct = simple_ && !row.bias;
  if (!direct) error = apply_steps(block, i, first, last, error, largest_low);
  if (!(largest_low <= 0x1p-11 && error <= 0x1p-20)) s.lost = true;
  const double relative = error * ln2_256 * 1.001 + exp_error;

  const V fh = hn::Set(d, direct ? s.factor.high : 1.0);
  const V fl = hn::Set(d, direct ? s.factor.low : 0.0);
  V top = hn::Set(d, -infinity);
  if (masked) {
    for (std::size_t j = first; j < last; j += lanes) {
      const auto sees = hn::MaskFromVec(hn::BitCast(d, hn::Load(du, mask_ + j)));
      top = hn::Max(top, hn::IfThenElse(sees, hn::Load(d, high + j), hn::Set(d, -infinity)));
    }
  } else {
    for (std::size_t j = first; j < last; j += lanes) top = hn::Max(top, hn::Load(d, high + j));
  }
  double largest = hn::GetLane(hn::MaxOfLanes(d, top));
  if (direct) largest *= s.factor.high;
  if (largest > s.largest) {
    s.largest = largest;
    s.largest_block_error = relative;
    s.largest_low = largest_low;
  }
  const double shift = 256 * std::ceil(largest / 256);
  if (shift > s.shift) rescale(i, shift);
  memory_.block_shift[i * blocks_ + block] = s.shift;
  memory_.block_error[i * blocks_ + block] = relative;

  const V shift_of_all = hn::Set(d, s.shift);
  V sum_high = hn::Zero(d), sum_low = hn::Zero(d);
  alignas(64) double reduced[5][block_keys];
  const auto all_vectors = [&](auto is_direct, auto is_masked) HWY_ATTR {
    const auto load = [&](std::size_t j, V& yh, V& yl) HWY_ATTR {
      yh = hn::Load(d, high + j);
      yl = hn::Load(d, low + j);
      if constexpr (is_direct.value) {
        const V sh = yh;
        yh = pinned(hn::Mul(sh, fh));
        yl = multiply_add(yl, fh, multiply_add(sh, fl, product_low(sh, fh, yh)));
      }
    };
    for (std::size_t j = first; j < last; j += 2 * lanes) {
      two<V> yh, yl, r, th, tl;
      load(j, yh.a, yl.a);
      load(j + lanes, yh.b, yl.b);
      reduce(yh, yl, shift_of_all, r, th, tl);
      store_two(r, reduced[0] + j);
      store_two(th, reduced[1] + j);
      store_two(tl, reduced[2] + j);
    }
    for (std::size_t j = first; j < last; j += 2 * lanes) {
      two<V> eh, el;
      power_minus_one(load_two(reduced[0] + j), eh, el);
      store_two(eh, reduced[3] + j);
      store_two(el, reduced[4] + j);
    }
    for (std::size_t j = first; j < last; j += lanes) {
      V ph, pl, e;
      multiply_by_one_plus(hn::Load(d, reduced[1] + j), hn::Load(d, reduced[2] + j), hn::Load(d, reduced[3] + j),
                           hn::Load(d, reduced[4] + j), ph, pl);
      if constexpr (is_masked.value) {
        const auto sees = hn::MaskFromVec(hn::BitCast(d, hn::Load(du, mask_ + j)));
        ph = hn::IfThenElseZero(sees, ph);
        pl = hn::IfThenElseZero(sees, pl);
      }
      hn::Store(ph, d, high + j);
      hn::Store(pl, d, low + j);
      two_sum(sum_high, ph, sum_high, e);
      sum_low = hn::Add(sum_low, hn::Add(e, pl));
    }
  };
  if (direct && !masked)
    all_vectors(std::true_type(), std::false_type());
  else if (direct)
    all_vectors(std::true_type(), std::true_type());
  else if (!masked)
    all_vectors(std::false_type(), std::false_type());
  else
    all_vectors(std::false_type(), std::true_type());

  double* sums = memory_.sums.get() + i * 16;
  V all, e;
  two_sum(hn::Load(d, sums), sum_high, all, e);
  hn::Store(all, d, sums);
  hn::Store(hn::Add(hn::Load(d, sums + 8), hn::Add(e, sum_low)), d, sums + 8);

  sum = hn::GetLane(hn::SumOfLanes(d, sum_high)) * (1 + 0x1p-20);
  s.error += relative * sum;

  if (results_[i].weights_high) {
    const std::size_t from = std::max(first_key, s.first);
    const std::size_t to = std::min(last_key, s.last);
    for (std::size_t key = from; key < to; ++key) {
      results_[i].weights_high[key - row.first_key] = high[key - block * block_keys];
      results_[i].weights_low[key - row.first_key] = low[key - block * block_keys];
    }
  }
}

void evaluation::keys(std::size_t block) {
  const std::size_t begin = block * block_keys;
  const std::size_t end = std::min(begin + block_keys, head_.keys);
  const std::size_t groups = (count_ + group_rows - 1) / group_rows;
  struct range {
    std::size_t first, last;
  };
  // Of each group of rows: the keys of the block that some row may see.
  range keys[block_rows / group_rows];
  std::size_t first_panel = block_keys, last_panel = 0;
  for (std::size_t g = 0; g < groups; ++g) {
    keys[g] = {end, begin};
    for (std::size_t i = g * group_rows; i < (g + 1) * group_rows; ++i) {
      if (state_[i].last <= state_[i].first) continue;
      keys[g].first = std::min(keys[g].first, std::max(state_[i].first, begin));
      keys[g].last = std::max(keys[g].last, std::min(state_[i].last, end));
    }
    if (keys[g].first >= keys[g].last) {
      keys[g] = {begin, begin};
      continue;
    }
    keys[g].first -= begin;
    keys[g].last -= begin;
    first_panel = std::min(first_panel, keys[g].first / panel_width);
    last_panel = std::max(last_panel, (keys[g].last + panel_width - 1) / panel_width);
  }

  const std::size_t width = head_.key_width;
  for (std::size_t panel = first_panel; panel < last_panel; ++panel)
    for (std::size_t g = 0; g < groups; ++g) {
      if (keys[g].last <= panel * panel_width || keys[g].first >= (panel + 1) * panel_width) continue;
      for (std::size_t j = panel * panel_width; j < (panel + 1) * panel_width; j += tile_width)
        score_tile(memory_.q.get() + g * group_rows * width,
                   head_.k.get() + (begin / panel_width + panel) * width * panel_width + j % panel_width,
                   head_.key_grid.get() + begin + j, width, memory_.high.get() + g * group_rows * block_keys + j,
                   memory_.low.get() + g * group_rows * block_keys + j);
    }
  for (std::size_t g = 0; g < groups; ++g) {
    if (keys[g].last == keys[g].first) continue;
    const std::size_t first = keys[g].first / panel_width * panel_width;
    const std::size_t last = (keys[g].last + panel_width - 1) / panel_width * panel_width;
    for (std::size_t i = g * group_rows; i < (g + 1) * group_rows; ++i) {
      double sum = 0;
      if (i < count_) {
        row_exponentials(block, i, first, last, sum);
      } else {
        std::fill_n(memory_.high.get() + i * block_keys + first, last - first, 0.0);
        std::fill_n(memory_.low.get() + i * block_keys + first, last - first, 0.0);
      }
      const double grid = power_of_two_above(sum);
      state_[i].grids += grid;
      grids_[i] = 3 * grid;
    }
  }
  for (std::size_t panel = 0; panel < head_.value_panels; ++panel) {
    const double* grid = head_.value_grid.get() + (block * head_.value_panels + panel) * panel_width;
    for (std::size_t g = 0; g < groups; ++g) {
      const std::size_t row = g * group_rows;
      const std::uint64_t wanted = state_[row].wanted_panels | state_[row + 1].wanted_panels |
                                   state_[row + 2].wanted_panels | state_[row + 3].wanted_panels;
      if (keys[g].last == keys[g].first || (wanted & panel_bit(panel)) == 0) continue;
      const double* v = head_.v.get() + (panel * head_.keys + begin + keys[g].first) * panel_width;
      for (std::size_t c = 0; c < panel_width; c += tile_width)
        output_tile(memory_.high.get() + row * block_keys + keys[g].first,
                    memory_.low.get() + row * block_keys + keys[g].first, v + c, keys[g].last - keys[g].first, grid + c,
                    grids_ + row, memory_.output_high.get() + row * width_ + panel * panel_width + c,
                    memory_.output_low.get() + row * width_ + panel * panel_width + c, width_);
    }
  }
}

void evaluation::finish(std::size_t i) {
  const D d;
  row_state& s = state_[i];
  const row_results& result = results_[i];
  if (s.coarse && !s.lost) return finish_coarse(i);

  // l = Σ exponentials.
  const double* sums = memory_.sums.get() + i * 16;
  double total_high = sums[0], total_low = sums[8];
  const auto add = [&](double high, double low) {
    const auto t = error_free::two_sum(total_high, high);
    total_high = t.high;
    total_low += t.low + low;
  };
  for (std::size_t lane = 1; lane < lanes; ++lane) add(sums[lane], sums[lane + 8]);
  if (steps_.sink) {
    V ph, pl;
    exponential(hn::Set(d, sink_.high), hn::Set(d, sink_.low), hn::Set(d, s.shift), ph, pl);
    const double p = hn::GetLane(ph);
    add(p, hn::GetLane(pl));
    s.error += p * (std::abs(sink_.high) * 0x1p-103 * ln2_256 + exp_error) * 1.001;
  }
  const double_double total = error_free::fast_two_sum(total_high, total_low);

  // docs/error-bounds.md, "Outputs in double-double". b blocks, n keys.
  const double l = total.high;
  const double b = static_cast<double>(blocks_);
  const double n = static_cast<double>(head_.keys) + 1;
  constexpr double k = static_cast<double>(block_keys);
  constexpr double per_lane = k / static_cast<double>(lanes);
  double spread = s.error * (1 + 0x1p-20);
  if (spread > l * 0x1p-84) {  // else the rest is about as large
    // Not above the largest exponential.
    const double top = std::exp2((s.largest - s.shift) / 256) * (1 - 0x1p-30 - s.largest_low);
    spread = std::min(spread, s.error * (1 + 0x1p-30) - s.largest_block_error * top +
                                  s.largest_block_error * (l * (1 + 0x1p-40) - top) + s.error * 0x1p-40);
  }
  const double sum_error = (per_lane * per_lane + (b + 8) * (b + 8)) * 0x1p-103 + 0x1p-99;
  const double grid_error = s.grids / l * 0x1p-103 *
                            ((k + 8) * (k + 8) * (fused ? 0.25 : 0.5) + b * (k + 4) * (fused ? 1 : 1.5)) * 1.01;
  double output_error = 2.04 * spread / l + grid_error + sum_error * 1.01 + n * 0x1p-390;
  double weight_error = s.error / l * 1.02 + sum_error * 1.01;
  if (s.lost || !(l > 0x1p-2 && l < 0x1p100)) output_error = weight_error = infinity;

  const double_double inverse = quotient({1, 0}, total);
  if (result.output_high) {
    const V ih = hn::Set(d, inverse.high);
    const V il = hn::Set(d, inverse.low);
    const V relative = hn::Set(d, output_error);
    const auto column = [&](std::size_t c, double* high, double* low, double* error) HWY_ATTR {
      V h, e;
      multiply(hn::Load(d, memory_.output_high.get() + i * width_ + c),
               hn::Load(d, memory_.output_low.get() + i * width_ + c), ih, il, h, e);
      two_sum(h, e, h, e);
      hn::StoreU(h, d, high);
      hn::StoreU(e, d, low);
      const V largest = hn::Load(d, head_.value_largest.get() + c);
      const V bound = hn::Mul(relative, largest);
      // 0 for a column of zeros, infinity (and not NaN) where nothing is claimed.
      hn::StoreU(hn::IfThenElse(hn::Eq(relative, hn::Set(d, infinity)), relative, bound), d, error);
    };
    std::size_t c = 0;
    for (; c + lanes <= head_.value_width; c += lanes)
      column(c, result.output_high + c, result.output_low + c, result.output_error + c);
    if (c < head_.value_width) {
      double rest[3][lanes];
      column(c, rest[0], rest[1], rest[2]);
      for (std::size_t x = c; x < head_.value_width; ++x) {
        result.output_high[x] = rest[0][x - c];
        result.output_low[x] = rest[1][x - c];
        result.output_error[x] = rest[2][x - c];
      }
    }
  }
  if (result.log_sum_exp) {
    // log l = x + log(l e^-x) with x near it, and log(1 + z) = z - z^2/2 + ...
    const double x = std::log(l);
    const double_double y = product(double_double{-exp_tables::log2e_256_high, -exp_tables::log2e_256_low}, x);
    V ph, pl;
    const double by = 256 * std::ceil(y.high / 256);
    exponential(hn::Set(d, y.high), hn::Set(d, y.low), hn::Set(d, by), ph, pl);
    const double f = std::ldexp(1.0, static_cast<int>(by / 256));
    const double_double inverse_l{hn::GetLane(ph) * f, hn::GetLane(pl) * f};
    const double_double z = sum(product(total, inverse_l), -1.0);
    const double shift = s.shift / 256;
    double_double log = product(double_double{exp_tables::ln2_high, exp_tables::ln2_low}, shift);
    log = sum(log, sum(sum(z, -z.high * z.high / 2), x));
    result.log_sum_exp[0] = log.high;
    result.log_sum_exp[1] = log.low;
    const bool certain = std::abs(z.high) <= 0x1p-40 && std::abs(shift) < 0x1p50;
    result.log_sum_exp[2] =
        certain ? weight_error + 0x1p-92 + (std::abs(shift) + std::abs(x) + std::abs(log.high)) * 0x1p-100 +
                      n * 0x1p-900
                : infinity;
  }
  if (result.weights_high) finish_weights(i, inverse, weight_error);
}

void evaluation::finish_weights(std::size_t i, double_double inverse, double error) {
  const row_state& s = state_[i];
  const row_results& result = results_[i];
  const std::size_t offset = rows_[i].first_key;
  for (std::size_t key = s.first; key < s.last; ++key) {
    const std::size_t at = key - offset;
    if (rows_[i].visible && !rows_[i].visible[at]) {
      result.weights_high[at] = result.weights_low[at] = result.weights_error[at] = 0;
      continue;
    }
    const std::size_t block = key / block_keys;
    const double by = (memory_.block_shift[i * blocks_ + block] - s.shift) / 256;
    const double f = by < -1000 ? 0 : std::ldexp(1.0, static_cast<int>(by));
    const double_double w =
        product(double_double{result.weights_high[at] * f, result.weights_low[at] * f}, inverse);
    result.weights_high[at] = w.high;
    result.weights_low[at] = w.low;
    const double e = w.high * (error + memory_.block_error[i * blocks_ + block] * 1.01 + 0x1p-100) + 0x1p-950;
    result.weights_error[at] = error == infinity ? infinity : e;
  }
}

void evaluate_rows(const packed_head::data& head, const score_steps& steps, const query_row* rows,
                   const row_results* results, std::size_t count, scratch::buffers& memory) {
  evaluation e(head, steps, memory);
  for (std::size_t i = 0; i < count; i += block_rows) e.rows(rows + i, results + i, std::min(block_rows, count - i));
}

void evaluate_powers(std::size_t count, const double* high, const double* low, double shift, double* power_high,
                     double* power_low) {
  const D d;
  for (std::size_t i = 0; i < count; ++i) {
    V ph, pl;
    exponential(hn::Set(d, high[i]), hn::Set(d, low[i]), hn::Set(d, shift), ph, pl);
    power_high[i] = hn::GetLane(ph);
    power_low[i] = hn::GetLane(pl);
  }
}

const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace HWY_NAMESPACE
}  // namespace attest::double_double_tier
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attest::double_double_tier {

HWY_EXPORT(pack);
HWY_EXPORT(evaluate_rows);
HWY_EXPORT(evaluate_powers);
HWY_EXPORT(target_name);

packed_head::packed_head(std::size_t keys, std::size_t key_width, std::size_t value_width, const double* k,
                         std::size_t k_stride, const double* v, std::size_t v_stride)
    : data_(std::make_unique<data>()) {
  data_->keys = keys;
  data_->key_width = key_width;
  data_->value_width = value_width;
  data_->value_panels = (value_width + panel_width - 1) / panel_width;
  HWY_DYNAMIC_DISPATCH(pack)(*data_, k, k_stride, v, v_stride);
}
packed_head::~packed_head() = default;
packed_head::packed_head(packed_head&&) noexcept = default;
packed_head& packed_head::operator=(packed_head&&) noexcept = default;

std::span<const int> packed_head::value_exponents() const { return data_->value_exponents; }

scratch::scratch() : buffers_(std::make_unique<buffers>()) {}
scratch::~scratch() = default;
scratch::scratch(scratch&&) noexcept = default;
scratch& scratch::operator=(scratch&&) noexcept = default;

void evaluate(const packed_head& head, const score_steps& steps, std::span<const query_row> rows,
              std::span<const row_results> results, scratch& memory) {
  HWY_DYNAMIC_DISPATCH(evaluate_rows)
  (head.contents(), steps, rows.data(), results.data(), rows.size(), memory.memory());
}

void powers(std::span<const double> high, std::span<const double> low, double shift, std::span<double> power_high,
            std::span<double> power_low) {
  HWY_DYNAMIC_DISPATCH(evaluate_powers)
  (high.size(), high.data(), low.data(), shift, power_high.data(), power_low.data());
}

const char* instruction_set() { return HWY_DYNAMIC_DISPATCH(target_name)(); }

}  // namespace attest::double_double_tier
#endif
