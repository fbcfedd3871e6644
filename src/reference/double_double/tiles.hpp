#if defined(ATTEST_REFERENCE_DOUBLE_DOUBLE_TILES_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_REFERENCE_DOUBLE_DOUBLE_TILES_HPP
#undef ATTEST_REFERENCE_DOUBLE_DOUBLE_TILES_HPP
#else
#define ATTEST_REFERENCE_DOUBLE_DOUBLE_TILES_HPP
#endif

// Tiles of scores and of outputs, held in registers: sums of products on fixed grids.
#include "reference/double_double/data.hpp"
#include "reference/double_double/vectors.hpp"

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace attest::double_double_tier {
namespace HWY_NAMESPACE {

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
    HWY_UNROLL(2)  // else clang copies all sums from one register to another, in every round
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

HWY_INLINE void put_output(V s, V r, V grid, double* high, double* low, bool add) {
  const D d;
  V h = hn::Sub(s, grid), l = r;
  if (add) {
    V e;
    two_sum(hn::Load(d, high), h, h, e);
    l = hn::Add(hn::Load(d, low), hn::Add(e, r));
  }
  hn::Store(h, d, high);
  hn::Store(l, d, low);
}
HWY_INLINE void put_outputs(const tile_row& t, V grid0, V grid1, double* high, double* low, bool add) {
  put_output(t.s0, t.r0, grid0, high, low, add);
  put_output(t.s1, t.r1, grid1, high + lanes, low + lanes, add);
}

/// Adds Σ_j p_j v_j over `count` keys, p from rows block_keys apart, to group_rows rows of outputs `stride`
/// apart, or with `fresh` puts it there. The grid of a row is sums[row] · grid.
HWY_INLINE void output_tile(const double* HWY_RESTRICT high, const double* HWY_RESTRICT low,
                            const double* HWY_RESTRICT v, std::size_t count, const double* HWY_RESTRICT grid,
                            const double* HWY_RESTRICT sums, double* HWY_RESTRICT output_high,
                            double* HWY_RESTRICT output_low, std::size_t stride, bool fresh) {
  const D d;
  const V g0 = hn::Load(d, grid);
  const V g1 = hn::Load(d, grid + lanes);
  for (std::size_t first = 0; first < group_rows; first += tile_rows) {
    const auto start = [&](std::size_t row) HWY_ATTR {
      const V p = hn::Set(D(), sums[row]);
      return tile_row{hn::Mul(p, g0), hn::Mul(p, g1), hn::Zero(D()), hn::Zero(D())};
    };
    tile_row a = start(first), b = start(first + 1), c = start(first + tile_rows - 2),
             e = start(first + tile_rows - 1);
    const double* h = high + first * block_keys;
    const double* l = low + first * block_keys;
    const double* vj = v;
    HWY_UNROLL(2)
    for (std::size_t j = 0; j < count; ++j, vj += panel_width) {
      const V v0 = in_register(hn::Load(d, vj));
      const V v1 = in_register(hn::Load(d, vj + lanes));
      accumulate_pair(in_register(hn::Set(d, h[j])), in_register(hn::Set(d, l[j])), v0, v1, a);
      accumulate_pair(in_register(hn::Set(d, h[j + block_keys])), in_register(hn::Set(d, l[j + block_keys])),
                      v0, v1, b);
      if constexpr (tile_rows == 4) {
        accumulate_pair(in_register(hn::Set(d, h[j + 2 * block_keys])),
                        in_register(hn::Set(d, l[j + 2 * block_keys])), v0, v1, c);
        accumulate_pair(in_register(hn::Set(d, h[j + 3 * block_keys])),
                        in_register(hn::Set(d, l[j + 3 * block_keys])), v0, v1, e);
      }
    }
    const auto finish = [&](const tile_row& t, std::size_t row) HWY_ATTR {
      const V p = hn::Set(D(), sums[row]);
      put_outputs(t, hn::Mul(p, g0), hn::Mul(p, g1), output_high + row * stride, output_low + row * stride,
                  !fresh);
    };
    finish(a, first);
    finish(b, first + 1);
    if constexpr (tile_rows == 4) {
      finish(c, first + 2);
      finish(e, first + 3);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace attest::double_double_tier
HWY_AFTER_NAMESPACE();

#endif
