// The vector code of the fused kernel, compiled once for every instruction set and chosen at run time.
//
// A block of rows goes over the blocks of 64 keys that one of its rows sees. Each step is a tile product
// (scores), a pass over each row (options, running maximum, exponentials) and a tile product again (output).
#include "kernel/fused.hpp"
#include "kernel/fused_exp.hpp"
#include "kernel/fused_scalar.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#include "problem/vector_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/fused_simd.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "problem/widen_vectors.hpp"

HWY_BEFORE_NAMESPACE();
namespace attest::kernel::fused_head {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using fused_exp::constants;

template <class T>
using tag = hn::ScalableTag<T>;
template <class T>
using vector = hn::Vec<tag<T>>;
template <class T>
inline constexpr std::size_t lanes = HWY_TARGET == HWY_SCALAR ? 1 : HWY_MAX_BYTES / sizeof(T);

// A tile has four rows and as many vectors as the registers hold: accumulators, the vectors of a panel, and
// one element repeated.
inline constexpr std::size_t tile_rows = 4;
#if HWY_TARGET == HWY_AVX3 || HWY_ARCH_ARM_A64
inline constexpr std::size_t tile_vectors = 4;
#else
inline constexpr std::size_t tile_vectors = 2;
#endif
template <class T>
inline constexpr std::size_t panel = tile_vectors * lanes<T>;
template <class T>
inline constexpr std::size_t block_vectors = block_keys / lanes<T>;
/// A row is gone through by so many vectors at a time.
inline constexpr std::size_t row_group = 4;
static_assert(block_keys % panel<float> == 0 && block_rows % tile_rows == 0);

/// Keeps a loaded vector in its register: g++ would load it again in every multiplication.
template <class V>
HWY_INLINE void pin([[maybe_unused]] V& v) {
#if HWY_COMPILER_GCC_ACTUAL && HWY_TARGET == HWY_AVX3
  __asm__("" : "+v"(v.raw));
#elif HWY_COMPILER_GCC_ACTUAL && HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128
  __asm__("" : "+x"(v.raw));
#endif
}

// --- tile products -----------------------------------------------------------------------------------------------

/// out[r][·] (+)= Σ_c a[r * lda + c] · b[c * ldb + ·] over c < count, for Rows rows and Vectors vectors.
/// ahead(c) may fetch what is needed next.
template <std::size_t Rows, std::size_t Vectors, class T, class F>
HWY_INLINE void multiply_tile(const T* HWY_RESTRICT a, std::size_t lda, const T* HWY_RESTRICT b,
                              std::size_t ldb, std::size_t count, T* HWY_RESTRICT out, std::size_t ldo, bool add,
                              F ahead) {
  const tag<T> d;
  vector<T> sum[Rows][Vectors];
  HWY_UNROLL(4)
  for (auto& row : sum)
    HWY_UNROLL(4)
    for (auto& x : row) x = hn::Zero(d);
  for (std::size_t c = 0; c < count; ++c) {
    ahead(c);
    vector<T> right[Vectors];
    HWY_UNROLL(4)
    for (std::size_t v = 0; v < Vectors; ++v) {
      auto x = hn::LoadU(d, b + c * ldb + v * lanes<T>);
      pin(x);
      right[v] = x;
    }
    HWY_UNROLL(4)
    for (std::size_t r = 0; r < Rows; ++r) {
      auto left = hn::Set(d, a[r * lda + c]);
      pin(left);
      HWY_UNROLL(4)
      for (std::size_t v = 0; v < Vectors; ++v) sum[r][v] = hn::MulAdd(left, right[v], sum[r][v]);
    }
  }
  HWY_UNROLL(4)
  for (std::size_t r = 0; r < Rows; ++r)
    HWY_UNROLL(4)
    for (std::size_t v = 0; v < Vectors; ++v) {
      T* place = out + r * ldo + v * lanes<T>;
      hn::StoreU(add ? hn::Add(hn::LoadU(d, place), sum[r][v]) : sum[r][v], d, place);
    }
}

template <std::size_t Rows, std::size_t Vectors, class T>
HWY_INLINE void multiply_tile(const T* a, std::size_t lda, const T* b, std::size_t ldb, std::size_t count,
                              T* out, std::size_t ldo, bool add) {
  multiply_tile<Rows, Vectors>(a, lda, b, ldb, count, out, ldo, add, [](std::size_t) {});
}

/// The same for as many vectors as are left of a panel.
template <std::size_t Rows, class T>
HWY_INLINE void multiply(std::size_t vectors, const T* a, std::size_t lda, const T* b, std::size_t ldb,
                         std::size_t count, T* out, std::size_t ldo, bool add) {
  if (vectors == tile_vectors) return multiply_tile<Rows, tile_vectors>(a, lda, b, ldb, count, out, ldo, add);
  if constexpr (tile_vectors > 2) {
    if (vectors == 3) return multiply_tile<Rows, 3>(a, lda, b, ldb, count, out, ldo, add);
    if (vectors == 2) return multiply_tile<Rows, 2>(a, lda, b, ldb, count, out, ldo, add);
  }
  multiply_tile<Rows, 1>(a, lda, b, ldb, count, out, ldo, add);
}

// --- exponentials ------------------------------------------------------------------------------------------------

/// Adding it rounds a number to the multiples of 2^-index_bits, whose numerator is then in the low bits.
#if HWY_TARGET == HWY_AVX3
inline constexpr int index_bits = 4;
#else
inline constexpr int index_bits = 0;
#endif
template <class T>
inline constexpr int mantissa_bits = std::numeric_limits<T>::digits - 1;
template <class T>
inline constexpr T rounding_shift = T(3) * static_cast<T>(std::uint64_t{1} << (mantissa_bits<T> - index_bits - 1));

/// The polynomial at all x, step by step together: one after another they would wait for their own results.
template <std::size_t Step = 0, std::size_t N, std::size_t M, class V, class T>
HWY_INLINE void polynomial(const T (&coefficients)[M], const V (&x)[N], V (&sum)[N]) {
  const auto coefficient = hn::Set(tag<T>(), coefficients[M - 1 - Step]);
  HWY_UNROLL(4)
  for (std::size_t n = 0; n < N; ++n) sum[n] = Step == 0 ? coefficient : hn::MulAdd(sum[n], x[n], coefficient);
  if constexpr (Step + 1 < M) polynomial<Step + 1>(coefficients, x, sum);
}

#if HWY_TARGET == HWY_AVX3
/// 2^(i/16) less the i that stands in the exponent, in its lowest bits.
template <class T>
struct root_table {
  using word = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  alignas(64) word entries[16];
  constexpr root_table() : entries{} {
    for (word i = 0; i < 16; ++i)
      entries[i] = std::bit_cast<word>(constants<T>::roots[i]) - (i << (mantissa_bits<T> - 4));
  }
};
template <class T>
inline constexpr root_table<T> roots;

/// 2^n.
HWY_INLINE vector<double> root_of(vector<double> z) {
  const hn::RebindToUnsigned<tag<double>> bits;
  const auto index = hn::BitCast(bits, z);
  const auto low = hn::Load(bits, roots<double>.entries), high = hn::Load(bits, roots<double>.entries + 8);
  const decltype(hn::Zero(bits)) entry{_mm512_permutex2var_epi64(low.raw, index.raw, high.raw)};
  return hn::BitCast(tag<double>(), hn::Add(entry, hn::ShiftLeft<48>(index)));
}
HWY_INLINE vector<float> root_of(vector<float> z) {
  const hn::RebindToUnsigned<tag<float>> bits;
  const auto index = hn::BitCast(bits, z);
  const decltype(hn::Zero(bits)) entry{
      _mm512_permutexvar_epi32(index.raw, hn::Load(bits, roots<float>.entries).raw)};
  return hn::BitCast(tag<float>(), hn::Add(entry, hn::ShiftLeft<19>(index)));
}
#endif

/// 2^(n + r), n a multiple of 2^-index_bits and z = rounding_shift + n; n > -1022 (float: -126). Relative error:
/// docs/error-bounds.md.
template <class T, std::size_t N, class V>
HWY_INLINE void exp2_of(const V (&z)[N], const V (&r)[N], V (&result)[N]) {
  const tag<T> d;
  V q[N];
#if HWY_TARGET == HWY_AVX3
  polynomial(constants<T>::sixteenth, r, q);
  HWY_UNROLL(4)
  for (std::size_t n = 0; n < N; ++n) {
    const V root = root_of(z[n]);
    result[n] = hn::MulAdd(hn::Mul(root, r[n]), q[n], root);
  }
#else
  polynomial(constants<T>::whole, r, q);
  const hn::RebindToUnsigned<tag<T>> bits;
  for (std::size_t n = 0; n < N; ++n) {
    const V power = hn::MulAdd(r[n], q[n], hn::Set(d, T(1)));
    const auto exponent = hn::ShiftLeft<mantissa_bits<T>>(hn::BitCast(bits, z[n]));
    result[n] = hn::BitCast(d, hn::Add(hn::BitCast(bits, power), exponent));
  }
#endif
  static_cast<void>(d);
}

/// tanh(x). With a = 2|x| log2 e: t/(t + 2), t = 2^a - 1, for a <= 1/2; (1 - e)/(1 + e), e = 2^-a, beyond.
template <class T>
HWY_INLINE vector<T> tanh_of(vector<T> x) {
  const tag<T> d;
  const auto one = hn::Set(d, T(1));
  const auto a = hn::Mul(hn::Abs(x), hn::Set(d, static_cast<T>(2.885390081777926814719849362003784)));
  const auto is_small = hn::Le(a, hn::Set(d, T(0.5)));
  vector<T> q[1], e[1];
  const vector<T> small[1] = {hn::Min(a, one)};
  polynomial(constants<T>::whole, small, q);
  const auto t = hn::Mul(small[0], q[0]);
  const auto negative = hn::Max(hn::Neg(a), hn::Set(d, T(-100)));
  const vector<T> z[1] = {hn::Add(negative, hn::Set(d, rounding_shift<T>))};
  const vector<T> r[1] = {hn::Sub(negative, hn::Sub(z[0], hn::Set(d, rounding_shift<T>)))};
  exp2_of<T>(z, r, e);
  const auto above = hn::IfThenElse(is_small, t, hn::Sub(one, e[0]));
  const auto below = hn::IfThenElse(is_small, hn::Add(t, hn::Set(d, T(2))), hn::Add(one, e[0]));
  return hn::CopySign(hn::Div(above, below), x);
}

// --- a block of rows ---------------------------------------------------------------------------------------------

template <class T>
inline constexpr std::size_t score_stride = block_keys + 64 / sizeof(T);  // no power of two between rows

/// Everything that is known of the rows at hand.
template <class T>
struct row_block {
  const query_row<T>* rows;
  std::size_t count;
  std::size_t q_stride, sum_stride, sum_vectors;
  T* q;             // [block_rows][q_stride], times the scale and log2 e if `scaled`, else negated for a negative scale
  T* scores;        // [few_rows][score_stride]: q · k, then base-two scores, of the tile at hand and the one before
  T* weights;       // [block_rows][score_stride]: weights before division
  T* sum;           // [block_rows][sum_stride], sum_vectors of each in use: Σ weight V; may be the output
  T* total;         // [block_rows][lanes]: Σ weight
  T* maximum;       // [block_rows]: an integer, the largest score less slack or more; -infinity before the first
                    // key; of a sink that overflows in base two its infinity
  std::uint64_t* visible;  // [block_rows]: the keys of the block at hand
  bool scaled;      // q · k is the base-two score, and small enough to be reduced without rounding
  T headroom;
  std::uint32_t fresh;  // a bit for each tile whose sums are not set yet

  row_block(const scratch<T>& memory, std::size_t key_width, std::size_t value_width)
      : q_stride((key_width + 15) / 16 * 16),
        sum_stride((value_width + 31) / 32 * 32),
        sum_vectors((value_width + lanes<T> - 1) / lanes<T>) {
    q = memory.memory.get();
    scores = q + block_rows * q_stride;
    weights = scores + few_rows * score_stride<T>;
    sum = weights + block_rows * score_stride<T>;
    total = sum + block_rows * sum_stride;
    maximum = total + block_rows * 16;
    visible = reinterpret_cast<std::uint64_t*>(maximum + block_rows);
  }
  T* scores_of(std::size_t i) const { return scores + i % few_rows * score_stride<T>; }
  T* weights_of(std::size_t i) const { return weights + i * score_stride<T>; }
  std::size_t tiles() const { return (count + tile_rows - 1) / tile_rows; }
  /// The keys that some row of the tile sees.
  std::uint64_t visible_to(std::size_t tile) const {
    const std::uint64_t* row = visible + tile * tile_rows;
    return row[0] | row[1] | row[2] | row[3];
  }
};

/// The largest |x| of many numbers; infinity or NaN where one is not finite.
template <class T>
class magnitude {
 public:
  HWY_INLINE magnitude() : largest_(hn::Zero(bits())), second_(largest_) {}
  HWY_INLINE void look(vector<T> x) { largest_ = hn::Max(largest_, hn::BitCast(bits(), hn::Abs(x))); }
  HWY_INLINE void look(vector<T> x, vector<T> y) {
    look(x);
    second_ = hn::Max(second_, hn::BitCast(bits(), hn::Abs(y)));
  }
  HWY_INLINE T value() const {
    alignas(64) hn::TFromD<bits> all[lanes<T>];
    hn::Store(hn::Max(largest_, second_), bits(), all);
    return std::bit_cast<T>(*std::max_element(all, all + lanes<T>));
  }

 private:
  using bits = hn::RebindToUnsigned<tag<T>>;  // NaN > infinity > finite numbers, in their order
  hn::Vec<bits> largest_, second_;
};

/// Calls use(x, c) for every vector x of a row of numbers, at coordinate c, and use_one(x, c) for those that are left.
template <class T, class F, class G>
HWY_INLINE void for_each_vector(const T* row, std::size_t size, magnitude<T>& seen, F use, G use_one) {
  const tag<T> d;
  std::size_t c = 0;
  for (; c + 2 * lanes<T> <= size; c += 2 * lanes<T>) {
    const auto x = hn::LoadU(d, row + c), y = hn::LoadU(d, row + c + lanes<T>);
    seen.look(x, y);
    use(x, c);
    use(y, c + lanes<T>);
  }
  for (; c + lanes<T> <= size; c += lanes<T>) {
    const auto x = hn::LoadU(d, row + c);
    seen.look(x);
    use(x, c);
  }
  for (; c < size; ++c) {
    seen.look(hn::Set(d, row[c]));
    use_one(row[c], c);
  }
}

/// to[c] = factor · from[c * stride].
template <class T>
HWY_INLINE void copy_row(const T* from, std::ptrdiff_t stride, std::size_t size, T factor, T* to,
                         magnitude<T>& seen) {
  const tag<T> d;
  const auto by = hn::Set(d, factor);
  if (stride != 1) {
    for (std::size_t c = 0; c < size; ++c) to[c] = from[static_cast<std::ptrdiff_t>(c) * stride];
    from = to;
  }
  for_each_vector<T>(
      from, size, seen, [&](auto x, std::size_t c) HWY_ATTR { hn::StoreU(hn::Mul(x, by), d, to + c); },
      [&](T x, std::size_t c) { to[c] = factor * x; });
}

/// use(convert) with what makes doubles of patterns of the format.
template <class F>
HWY_INLINE auto with_format(narrow_format format, F use) {
  return format == narrow_format::binary16 ? use(attest::HWY_NAMESPACE::from_binary16())
                                           : use(attest::HWY_NAMESPACE::from_bfloat16());
}

template <class Convert>
HWY_INLINE vector<double> load_narrow(Convert convert, const std::uint16_t* from) {
  const tag<double> d;
  return convert(d, hn::LoadU(hn::Rebind<std::uint16_t, tag<double>>(), from));
}

/// to[c] = factor · x[c] for the numbers x that the patterns stand for.
template <class Convert>
HWY_INLINE void copy_narrow_row(Convert convert, const std::uint16_t* from, std::size_t size, double factor,
                                double* to, magnitude<double>& seen) {
  const tag<double> d;
  const auto by = hn::Set(d, factor);
  for (std::size_t c = 0; c < size; c += lanes<double>) {
    const auto x = load_narrow(convert, from + c);
    seen.look(x);
    hn::StoreU(hn::Mul(x, by), d, to + c);
  }
}

/// One bit for each of the 64 keys of the block that the row sees.
template <class T>
std::uint64_t visible_keys(const query_row<T>& row, std::size_t block) {
  const std::size_t start = block * block_keys;
  const std::size_t first = std::max(row.first_key, start);
  const std::size_t last = std::min(row.last_key, start + block_keys);
  if (first >= last) return 0;
  const std::uint64_t range = (~std::uint64_t{0} >> (block_keys - (last - first))) << (first - start);
  if (row.visible == nullptr) return range;
  const unsigned char* bytes =
      row.visible + static_cast<std::ptrdiff_t>(first - row.first_key) * row.visible_stride;
  if (row.visible_stride == 0) return *bytes != 0 ? range : 0;
  std::uint64_t result = 0;
  if (row.visible_stride == 1 && last - first == block_keys) {
    const hn::CappedTag<std::uint8_t, 64> d;
    for (std::size_t n = 0; n < block_keys; n += hn::Lanes(d)) {
      std::uint8_t bits[8] = {};
      hn::StoreMaskBits(d, hn::Ne(hn::LoadU(d, bytes + n), hn::Zero(d)), bits);
      std::uint64_t word;
      std::memcpy(&word, bits, sizeof word);
      result |= word << n;
    }
    return result;
  }
  for (std::size_t n = 0; n < last - first; ++n)
    if (bytes[static_cast<std::ptrdiff_t>(n) * row.visible_stride] != 0)
      result |= std::uint64_t{1} << (first - start + n);
  return result;
}

template <class T>
HWY_INLINE auto mask_of(std::uint64_t bits, std::size_t v) {
  const std::uint64_t shifted = bits >> (v * lanes<T>);
  std::uint8_t bytes[8];
  std::memcpy(bytes, &shifted, sizeof bytes);
  return hn::LoadMaskBits(tag<T>(), bytes);
}

/// The products q · k of a tile, where one of its rows sees a key of the panel.
template <class T>
void score_products(const row_block<T>& w, const packed_head<T>& head, std::size_t block, std::size_t tile) {
  const T* keys = head.key_block(block);
  const std::size_t width = head.key_width();
  const std::size_t there = std::min(block_keys, head.keys() - block * block_keys);
  const std::uint64_t visible = w.visible_to(tile);
  const T* q = w.q + tile * tile_rows * w.q_stride;
  T* out = w.scores_of(tile * tile_rows);
  for (std::size_t j = 0; j < there; j += panel<T>) {
    if (((visible >> j) << (block_keys - panel<T>)) == 0) continue;
    const std::size_t vectors = std::min(tile_vectors, (there - j + lanes<T> - 1) / lanes<T>);
    for (std::size_t c = 0; c < width; c += chunk_width)
      multiply<tile_rows>(vectors, q + c, w.q_stride, keys + j * width + c * panel<T>, panel<T>,
                          std::min(chunk_width, width - c), out + j, score_stride<T>, c != 0);
  }
}

/// Σ weight V, added to the sums or, of a fresh tile, their first value.
template <class T>
void add_values(row_block<T>& w, const packed_head<T>& head, std::size_t block) {
  const std::size_t width = head.value_width();
  for (std::size_t c = 0; c < width; c += panel<T>) {
    const std::size_t vectors = std::min(tile_vectors, (width - c + lanes<T> - 1) / lanes<T>);
    const auto [values, stride] = head.values(block, c, panel<T>);
    for (std::size_t tile = 0; tile < w.tiles(); ++tile) {
      const std::uint64_t bits = w.visible_to(tile);
      if (bits == 0) continue;
      const auto first = static_cast<std::size_t>(std::countr_zero(bits));
      const auto last = block_keys - static_cast<std::size_t>(std::countl_zero(bits));
      multiply<tile_rows>(vectors, w.weights_of(tile * tile_rows) + first, score_stride<T>,
                          values + first * stride, stride, last - first,
                          w.sum + tile * tile_rows * w.sum_stride + c, w.sum_stride, (w.fresh >> tile & 1) == 0);
    }
  }
  for (std::size_t tile = 0; tile < w.tiles(); ++tile)
    if (w.visible_to(tile) != 0) w.fresh &= ~(std::uint32_t{1} << tile);
}

inline constexpr std::size_t nothing = static_cast<std::size_t>(-1);

/// The products of a row become base-two scores, -infinity for hidden keys. Returns the first key whose score
/// overflows, or nothing.
template <class T>
std::size_t finish_scores(T* HWY_RESTRICT scores, std::uint64_t& visible, const query_row<T>& row,
                          const score_steps<T>& steps, std::size_t block) {
  const tag<T> d;
  const auto infinity = hn::Set(d, std::numeric_limits<T>::infinity());
  const std::size_t start = block * block_keys;
  alignas(64) T bias[block_keys];
  if (row.bias != nullptr)
    for (std::uint64_t rest = visible; rest != 0; rest &= rest - 1) {
      const auto j = static_cast<std::size_t>(std::countr_zero(rest));
      bias[j] = row.bias[static_cast<std::ptrdiff_t>(start + j - row.first_key) * row.bias_stride];
      if (bias[j] == -std::numeric_limits<T>::infinity()) visible &= ~(std::uint64_t{1} << j);
    }
  // Without other steps one multiplication does for both.
  const bool at_once =
      !steps.softcap && !steps.slope && row.bias == nullptr && std::isfinite(steps.base_two_scale);
  const auto scale = hn::Set(d, std::abs(at_once ? steps.base_two_scale : steps.scale));
  const T distance = static_cast<T>(row.position - static_cast<std::ptrdiff_t>(start));
  std::size_t bad = nothing;
  for (std::size_t v = 0; v < block_vectors<T>; ++v) {
    T* place = scores + v * lanes<T>;
    const auto seen = mask_of<T>(visible, v);
    auto s = hn::Mul(hn::IfThenElseZero(seen, hn::Load(d, place)), scale);
    auto finite = hn::Lt(hn::Abs(s), infinity);
    if (steps.softcap) {
      const auto cap = hn::Set(d, *steps.softcap);
      s = hn::Mul(cap, tanh_of<T>(hn::Div(s, cap)));
    }
    if (row.bias != nullptr) s = hn::Add(s, hn::IfThenElseZero(seen, hn::Load(d, bias + v * lanes<T>)));
    if (steps.slope) {
      const auto from = hn::Iota(d, static_cast<T>(v * lanes<T>));
      s = hn::Sub(s, hn::Mul(hn::Set(d, *steps.slope), hn::Abs(hn::Sub(hn::Set(d, distance), from))));
    }
    if (!at_once) s = hn::Mul(s, hn::Set(d, static_cast<T>(1.442695040888963407359924681001892)));
    finite = hn::And(finite, hn::Lt(hn::Abs(s), infinity));
    if (bad == nothing && !hn::AllTrue(d, hn::Or(finite, hn::Not(seen)))) {
      alignas(64) T flags[lanes<T>];
      hn::Store(hn::IfThenElse(hn::And(seen, hn::Not(finite)), hn::Set(d, T(1)), hn::Zero(d)), d, flags);
      bad = start + v * lanes<T> + static_cast<std::size_t>(std::find(flags, flags + lanes<T>, T(1)) - flags);
    }
    hn::Store(hn::IfThenElse(seen, s, hn::Neg(infinity)), d, place);
  }
  return bad;
}

/// In lanes: the sum of the weights, and rounding_shift plus the largest base-two logarithm of one, rounded.
template <class T>
struct exponential_sums {
  vector<T> total, largest;
};

/// The weights that belong to the scores of a row, relative to 2^base: below about 2^slack once the maximum is right.
/// Both may be the same memory. Small: the scores are below largest_small, or -infinity.
/// Hide: keys that are not visible get no weight.
template <bool Small, bool Hide = false, class T>
HWY_INLINE exponential_sums<T> exponentials(const T* scores, T* weights, std::size_t vectors, T base,
                                            [[maybe_unused]] std::uint64_t visible = 0) {
  const tag<T> d;
  [[maybe_unused]] const auto hidden = hn::Set(d, -std::numeric_limits<T>::infinity());
  const auto rounder = hn::Set(d, rounding_shift<T>);
  const auto shifted_rounder = hn::Set(d, rounding_shift<T> - base);
  const auto least = hn::Set(d, rounding_shift<T> - constants<T>::cut);
  const auto lowest = hn::Set(d, -constants<T>::cut - T(2));
  auto total = hn::Zero(d), largest = hn::Zero(d);
  for (std::size_t v = 0; v < vectors; v += row_group, scores += row_group * lanes<T>, weights += row_group * lanes<T>) {
    vector<T> z[row_group], r[row_group], p[row_group];
    if constexpr (Small) {
      HWY_UNROLL(4)
      for (std::size_t n = 0; n < row_group; ++n) {
        auto x = hn::Load(d, scores + n * lanes<T>);
        if constexpr (Hide) x = hn::IfThenElse(mask_of<T>(visible, v + n), x, hidden);
        z[n] = hn::Add(x, shifted_rounder);
        r[n] = hn::Sub(x, hn::Sub(z[n], shifted_rounder));
      }
    } else {
      HWY_UNROLL(4)
      for (std::size_t n = 0; n < row_group; ++n) {
        const auto x = hn::Max(hn::Sub(hn::Load(d, scores + n * lanes<T>), hn::Set(d, base)), lowest);
        z[n] = hn::Add(x, rounder);
        r[n] = hn::Sub(x, hn::Sub(z[n], rounder));
      }
    }
    exp2_of<T>(z, r, p);
    HWY_UNROLL(4)
    for (std::size_t n = 0; n < row_group; ++n) {
      p[n] = hn::IfThenElseZero(hn::Ge(z[n], least), p[n]);
      hn::Store(p[n], d, weights + n * lanes<T>);
    }
    total = hn::Add(total, hn::Add(hn::Add(p[0], p[1]), hn::Add(p[2], p[3])));
    largest = hn::Max(largest, hn::Max(hn::Max(z[0], z[1]), hn::Max(z[2], z[3])));
  }
  return {total, largest};
}

/// The vectors of a block up to its last visible key, in whole groups.
template <class T>
HWY_INLINE std::size_t vectors_up_to(std::uint64_t visible) {
  const auto last = block_keys - static_cast<std::size_t>(std::countl_zero(visible));
  constexpr std::size_t keys = row_group * lanes<T>;
  return (last + keys - 1) / keys * row_group;
}

template <class T>
HWY_INLINE T base_of(const row_block<T>& w, std::size_t i) {
  return (std::isinf(w.maximum[i]) ? T(0) : w.maximum[i]) + w.headroom;
}

template <class T>
HWY_INLINE exponential_sums<T> exponentials(const row_block<T>& w, std::size_t i, std::size_t vectors) {
  const T* scores = w.scores_of(i);
  T* weights = w.weights_of(i);
  const T base = base_of(w, i);
  return w.scaled ? exponentials<true>(scores, weights, vectors, base)
                  : exponentials<false>(scores, weights, vectors, base);
}

/// -infinity for the hidden keys, where finish_scores() has not done it. Returns the largest of them all, in one of
/// the lanes.
template <class T>
HWY_INLINE vector<T> hide(const row_block<T>& w, std::size_t i, std::size_t vectors) {
  const tag<T> d;
  const auto hidden = hn::Set(d, -std::numeric_limits<T>::infinity());
  T* scores = w.scores_of(i);
  auto a = hidden, b = hidden;
  if (w.scaled && w.visible[i] != ~std::uint64_t{0}) {
    const auto seen = [&](std::size_t v) HWY_ATTR {
      T* place = scores + v * lanes<T>;
      const auto x = hn::IfThenElse(mask_of<T>(w.visible[i], v), hn::Load(d, place), hidden);
      hn::Store(x, d, place);
      return x;
    };
    for (std::size_t v = 0; v < vectors; v += 2) {
      a = hn::Max(a, seen(v));
      b = hn::Max(b, seen(v + 1));
    }
  } else {
    for (std::size_t v = 0; v < vectors; v += row_group) {
      a = hn::Max(a, hn::Load(d, scores + v * lanes<T>));
      b = hn::Max(b, hn::Load(d, scores + (v + 1) * lanes<T>));
      a = hn::Max(a, hn::Load(d, scores + (v + 2) * lanes<T>));
      b = hn::Max(b, hn::Load(d, scores + (v + 3) * lanes<T>));
    }
  }
  return hn::Max(a, b);
}

/// Row i gets a larger maximum: what has been added up so far becomes smaller by a power of two.
template <class T>
void raise_maximum(const row_block<T>& w, std::size_t i, T maximum) {
  const T old = std::exchange(w.maximum[i], maximum);
  if (std::isinf(old)) return;  // nothing yet
  const tag<T> d;
  const auto factor = hn::Set(d, power_of_two<T>(old - maximum));
  T* total = w.total + i * lanes<T>;
  hn::Store(hn::Mul(hn::Load(d, total), factor), d, total);
  if ((w.fresh >> i / tile_rows & 1) != 0) return;
  T* sum = w.sum + i * w.sum_stride;
  for (std::size_t c = 0; c < w.sum_vectors * lanes<T>; c += lanes<T>)
    hn::StoreU(hn::Mul(hn::LoadU(d, sum + c), factor), d, sum + c);
}

template <class T>
HWY_INLINE void add_total(const row_block<T>& w, std::size_t i, vector<T> sum) {
  const tag<T> d;
  T* total = w.total + i * lanes<T>;
  hn::Store(hn::Add(hn::Load(d, total), sum), d, total);
}

/// Weights of a row of small scores under the maximum that it has. False when one exceeds that by more than the slack.
template <bool Hide, class T>
HWY_INLINE bool add_under_old_maximum(const row_block<T>& w, std::size_t i, std::size_t vectors) {
  const tag<T> d;
  const auto sums =
      exponentials<true, Hide>(w.scores_of(i), w.weights_of(i), vectors, base_of(w, i), w.visible[i]);
  const auto limit = hn::Set(d, rounding_shift<T> + T(fused_exp::slack) - w.headroom);
  if (!hn::AllFalse(d, hn::Gt(sums.largest, limit))) return false;
  add_total(w, i, sums.total);
  return true;
}

/// The scores of the rows of a tile become weights before division; maxima, totals and sums follow.
template <class T>
void softmax_step(const row_block<T>& w, std::size_t tile) {
  const tag<T> d;
  const std::size_t vectors = vectors_up_to<T>(w.visible_to(tile));
  const std::size_t first = tile * tile_rows, last = std::min(first + tile_rows, w.count);
  vector<T> top[tile_rows];
  bool done[tile_rows] = {};
  for (std::size_t i = first; i < last; ++i) {
    // Most rows have seen about their largest score long ago: then there is no need to look for it first.
    if (w.scaled && !std::isinf(w.maximum[i]))
      done[i - first] = w.visible[i] == ~std::uint64_t{0} ? add_under_old_maximum<false>(w, i, vectors)
                                                          : add_under_old_maximum<true>(w, i, vectors);
    if (done[i - first]) continue;
    top[i - first] = hide(w, i, vectors);
  }
  for (std::size_t i = first; i < last; ++i)
    if (!done[i - first] && !hn::AllFalse(d, hn::Gt(top[i - first], hn::Set(d, w.maximum[i] + fused_exp::slack))))
      raise_maximum(w, i, std::ceil(hn::GetLane(hn::MaxOfLanes(d, top[i - first]))));
  for (std::size_t i = first; i < last; ++i)
    if (!done[i - first]) add_total(w, i, exponentials(w, i, vectors).total);
}

template <class T>
T add_lanes(const T* x) {
  const tag<T> d;
  return hn::GetLane(hn::SumOfLanes(d, hn::Load(d, x)));
}

/// The visible keys of all rows; whether there are any.
template <class T>
bool look(const row_block<T>& w, std::size_t block) {
  std::uint64_t any = 0;
  for (std::size_t i = 0; i < w.tiles() * tile_rows; ++i) {
    w.visible[i] = i < w.count ? visible_keys(w.rows[i], block) : 0;
    any |= w.visible[i];
  }
  return any != 0;
}

template <class T>
class evaluation {
 public:
  evaluation(const packed_head<T>& head, const score_steps<T>& steps, const query_row<T>* rows,
             const row_results<T>* results, std::size_t count, scratch<T>& memory)
      : head_(head), steps_(steps), results_(results), w_(memory, head.key_width(), head.value_width()) {
    w_.rows = rows;
    w_.count = count;
    first_block_ = head.blocks();
    for (std::size_t i = 0; i < count; ++i) {
      if (rows[i].first_key >= rows[i].last_key) continue;
      first_block_ = std::min(first_block_, rows[i].first_key / block_keys);
      last_block_ = std::max(last_block_, (rows[i].last_key - 1) / block_keys + 1);
    }
    for (std::size_t i = 0; i < count; ++i) {
      first_free_ = std::max(first_free_, rows[i].first_key);
      last_free_ = std::min(last_free_, rows[i].visible == nullptr ? rows[i].last_key : 0);
    }
    if (count % tile_rows != 0) last_free_ = 0;
    memory.largest_query = load_queries();
    own_sum_ = std::exchange(w_.sum, sum_in_output());
    if (w_.sum != nullptr) w_.sum_stride = static_cast<std::size_t>(results[1].output - results[0].output);
  }

  std::optional<overflow> run() {
    for (const T headroom : {T(0), constants<T>::headroom}) {
      w_.headroom = headroom;
      if (w_.sum == nullptr || headroom != 0) {  // some rows have been written by then
        w_.sum = own_sum_;
        w_.sum_stride = head_.padded_value_width();
      }
      start();
      for (std::size_t block = first_block_; block < last_block_; ++block) {
        if (seen_by_all(block))
          std::fill_n(w_.visible, w_.count, ~std::uint64_t{0});
        else if (!look(w_, block))
          continue;
        // The products of a tile stand before the exponentials of the one before: those never wait for them.
        bool waiting = false;
        for (std::size_t tile = 0; tile < w_.tiles(); ++tile) {
          const bool seen = w_.visible_to(tile) != 0;
          if (seen)
            if (auto bad = scores(block, tile)) return bad;
          if (waiting) softmax_step(w_, tile - 1);
          waiting = seen;
        }
        if (waiting) softmax_step(w_, w_.tiles() - 1);
        add_values(w_, head_, block);
      }
      // Sums that overflow although the outputs do not: once more, with smaller weights.
      const std::uint64_t good = finish();
      if (wants_weights()) weights(good & ~written_);
      written_ |= good;
      if (log_sum_exp_overflow_) return log_sum_exp_overflow_;
      if (!bad_output_) break;
      if (headroom != 0) return bad_output_;
      bad_output_.reset();
    }
    return std::nullopt;
  }

 private:
  /// The output, where whole tiles of it can hold the sums; null otherwise.
  T* sum_in_output() const {
    if (w_.count % tile_rows != 0 || head_.value_width() % lanes<T> != 0) return nullptr;
    const auto first = reinterpret_cast<std::uintptr_t>(results_[0].output);
    const auto step = reinterpret_cast<std::uintptr_t>(results_[1].output) - first;
    if (step > std::uintptr_t{1} << 40 || step < head_.value_width() * sizeof(T)) return nullptr;
    for (std::size_t i = 0; i < w_.count; ++i)
      if (results_[i].output_stride != 1 || reinterpret_cast<std::uintptr_t>(results_[i].output) != first + i * step)
        return nullptr;
    return results_[0].output;
  }

  bool seen_by_all(std::size_t block) const {
    return first_free_ <= block * block_keys && (block + 1) * block_keys <= last_free_;
  }

  /// Returns the largest |q|.
  T load_queries() {
    constexpr T many = std::numeric_limits<T>::max() / 4;
    const T unit = std::abs(steps_.base_two_scale);
    bool plain = !steps_.softcap && !steps_.slope && unit >= std::numeric_limits<T>::min();
    for (std::size_t i = 0; i < w_.count; ++i) plain = plain && w_.rows[i].bias == nullptr;
    const double keys = static_cast<double>(head_.largest_key()) * static_cast<double>(head_.key_width());
    plain = plain && keys < constants<T>::largest_key_sum;
    w_.scaled = false;
    if (plain) {
      const T largest = load_queries(steps_.base_two_scale);
      const auto queries = static_cast<double>(largest);
      w_.scaled = queries < many && queries * keys < many && queries * unit < many &&
                  queries * keys * unit < constants<T>::largest_small;
      if (w_.scaled) return largest;
    }
    return load_queries(std::copysign(T(1), steps_.scale));
  }

  /// Times the factor. Returns the largest of them without it.
  T load_queries(T factor) {
    if constexpr (std::is_same_v<T, double>)
      if (steps_.queries)
        return with_format(*steps_.queries, [&](auto convert) HWY_ATTR {
          return load_queries_by([&](const query_row<T>& row, T* q, magnitude<T>& seen) HWY_ATTR {
            copy_narrow_row(convert, row.narrow, head_.key_width(), factor, q, seen);
          });
        });
    return load_queries_by([&](const query_row<T>& row, T* q, magnitude<T>& seen) HWY_ATTR {
      copy_row(row.q, row.q_stride, head_.key_width(), factor, q, seen);
    });
  }
  template <class F>
  HWY_INLINE T load_queries_by(F copy) {
    magnitude<T> seen;
    for (std::size_t i = 0; i < w_.tiles() * tile_rows; ++i) {
      T* q = w_.q + i * w_.q_stride;
      if (i < w_.count)
        copy(w_.rows[i], q, seen);
      else
        std::fill_n(q, head_.key_width(), T(0));
    }
    return seen.value();
  }

  void start() {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    w_.fresh = ~std::uint32_t{0};
    std::fill_n(w_.total, w_.count * lanes<T>, T(0));
    std::fill_n(w_.maximum, w_.count, -infinity);
    if (!steps_.sink) return;
    alignas(64) T sink[block_keys];
    for (std::size_t i = 0; i < w_.count; ++i) {
      std::fill_n(sink, block_keys, -infinity);
      sink[0] = steps_.base_two_sink();
      w_.maximum[i] = std::ceil(sink[0]);
      if (std::isinf(sink[0])) continue;
      exponentials<false>(sink, sink, row_group, w_.maximum[i] + w_.headroom);
      w_.total[i * lanes<T>] = sink[0];
    }
  }

  std::optional<overflow> scores(std::size_t block, std::size_t tile) {
    score_products(w_, head_, block, tile);
    if (w_.scaled) return std::nullopt;
    for (std::size_t i = tile * tile_rows; i < std::min((tile + 1) * tile_rows, w_.count); ++i) {
      T* scores = w_.scores_of(i);
      if (w_.visible[i] == 0) {
        std::fill_n(scores, block_keys, -std::numeric_limits<T>::infinity());
        continue;
      }
      const std::size_t bad = finish_scores(scores, w_.visible[i], w_.rows[i], steps_, block);
      if (bad != nothing) return overflow{overflow::what::score, i, bad};
    }
    return std::nullopt;
  }

  /// Divides and writes the rows that are not written yet. Returns the rows that are good.
  std::uint64_t finish() {
    const tag<T> d;
    std::uint64_t good = 0;
    for (std::size_t i = 0; i < w_.count; ++i) {
      const std::uint64_t bit = std::uint64_t{1} << i;
      if ((written_ & bit) != 0) continue;
      const row_results<T>& out = results_[i];
      const T total = add_lanes(w_.total + i * lanes<T>);
      T* sum = w_.sum + i * w_.sum_stride;
      T* output = out.output_stride == 1 && head_.value_width() % lanes<T> == 0 ? out.output : sum;
      T log_sum_exp = steps_.lone_log_sum_exp();
      if (std::isinf(w_.maximum[i])) {
        std::fill_n(output, head_.value_width(), steps_.lone_output());
        check_log_sum_exp(i, log_sum_exp);
      } else {
        if ((w_.fresh >> i / tile_rows & 1) != 0) std::fill_n(sum, w_.sum_vectors * lanes<T>, T(0));  // nothing but a sink
        w_.total[i * lanes<T>] = 1 / total;  // for weights()
        const auto inverse = hn::Set(d, 1 / total);
        auto finite = hn::Zero(d), finite_too = finite;
        const auto divide = [&](std::size_t c, auto& seen) HWY_ATTR {
          const auto x = hn::Mul(hn::LoadU(d, sum + c), inverse);
          seen = hn::MulAdd(x, hn::Zero(d), seen);
          hn::StoreU(x, d, output + c);
        };
        std::size_t v = 0;
        for (; v + 2 <= w_.sum_vectors; v += 2) {
          divide(v * lanes<T>, finite);
          divide((v + 1) * lanes<T>, finite_too);
        }
        if (v < w_.sum_vectors) divide(v * lanes<T>, finite);
        if (!hn::AllTrue(d, hn::Eq(hn::Add(finite, finite_too), hn::Zero(d)))) {
          if (!bad_output_) {
            const T* bad =
                std::find_if(output, output + head_.value_width(), [](T x) { return !std::isfinite(x); });
            bad_output_ = overflow{overflow::what::output, i, static_cast<std::size_t>(bad - output)};
          }
          continue;
        }
        if (out.log_sum_exp != nullptr) {
          log_sum_exp = log_sum_exp_of(w_.maximum[i], std::ldexp(total, static_cast<int>(w_.headroom)), steps_.base);
          check_log_sum_exp(i, log_sum_exp);
        }
      }
      good |= bit;
      if (out.log_sum_exp != nullptr) *out.log_sum_exp = log_sum_exp;
      if (output == out.output) continue;
      if (out.output_stride == 1)
        std::memcpy(out.output, sum, head_.value_width() * sizeof(T));
      else
        for (std::size_t c = 0; c < head_.value_width(); ++c)
          out.output[static_cast<std::ptrdiff_t>(c) * out.output_stride] = sum[c];
    }
    return good;
  }

  void check_log_sum_exp(std::size_t i, T log_sum_exp) {
    if (results_[i].log_sum_exp == nullptr || std::isfinite(log_sum_exp) || log_sum_exp_overflow_) return;
    if (!std::isinf(w_.maximum[i]) || steps_.sink)
      log_sum_exp_overflow_ = overflow{overflow::what::log_sum_exp, i, 0};
  }

  bool wants_weights() const {
    return std::any_of(results_, results_ + w_.count, [](const auto& r) { return r.weights != nullptr; });
  }

  /// A second pass over the keys, with the maxima and totals of the first.
  void weights(std::uint64_t which) {
    for (std::size_t block = 0; block < head_.blocks(); ++block) {
      look(w_, block);
      for (std::size_t i = 0; i < w_.count; ++i) {
        if (i % tile_rows == 0 && w_.visible_to(i / tile_rows) != 0)
          static_cast<void>(scores(block, i / tile_rows));  // overflow was found in the first pass
        if ((which >> i & 1) != 0 && results_[i].weights != nullptr) write_weights(i, block);
      }
    }
  }
  void write_weights(std::size_t i, std::size_t block) {
    T* weights = w_.weights_of(i);
    T factor = 1;
    if (std::isinf(w_.maximum[i])) {
      std::fill_n(weights, block_keys, steps_.lone_output());
    } else if (w_.visible[i] == 0) {
      std::fill_n(weights, block_keys, T(0));
    } else {
      hide(w_, i, block_vectors<T>);
      exponentials(w_, i, block_vectors<T>);
      factor = w_.total[i * lanes<T>];
    }
    const std::ptrdiff_t stride = results_[i].weights_stride;
    T* out = results_[i].weights + static_cast<std::ptrdiff_t>(block * block_keys) * stride;
    for (std::size_t j = 0; j < std::min(block_keys, head_.keys() - block * block_keys); ++j)
      out[static_cast<std::ptrdiff_t>(j) * stride] = weights[j] * factor;
  }

  const packed_head<T>& head_;
  const score_steps<T>& steps_;
  const row_results<T>* results_;
  row_block<T> w_;
  std::size_t first_block_ = 0, last_block_ = 0;
  std::size_t first_free_ = 0, last_free_ = static_cast<std::size_t>(-1);  // keys that the masks of no row may hide
  std::uint64_t written_ = 0;
  T* own_sum_;
  std::optional<overflow> bad_output_, log_sum_exp_overflow_;
};

// --- packing -----------------------------------------------------------------------------------------------------

template <class T>
HWY_INLINE void look_at_row(const T* x, std::size_t size, magnitude<T>& seen) {
  for_each_vector<T>(x, size, seen, [](auto, std::size_t) {}, [](T, std::size_t) {});
}

/// The rows of a block as contiguous arrays: as they are, or gathered into `memory`; `zeros` where there is none.
template <class T>
void block_pointers(const strided_rows<T>& from, std::size_t first, std::size_t there, std::size_t width, T* memory,
                    const T* zeros, const T* (&rows)[block_keys]) {
  for (std::size_t j = 0; j < there; ++j) {
    rows[j] = from.data + static_cast<std::ptrdiff_t>(first + j) * from.row;
    if (from.coordinate != 1) {
      T* gathered = memory + j * width;
      for (std::size_t c = 0; c < width; ++c)
        gathered[c] = rows[j][static_cast<std::ptrdiff_t>(c) * from.coordinate];
      rows[j] = gathered;
    }
  }
  std::fill(rows + there, rows + block_keys, zeros);
}

/// `zeros` instead of the rows that are not finite. Returns the largest |x| of the others.
template <class T>
T drop_rows(std::size_t width, const T* zeros, const T* (&rows)[block_keys]) {
  T largest = 0;
  for (const T*& row : rows) {
    magnitude<T> seen;
    look_at_row(row, width, seen);
    if (std::isfinite(seen.value()))
      largest = std::max(largest, seen.value());
    else
      row = zeros;
  }
  return largest;
}

/// to[c * panel + j] = rows[j][c] for the keys j of a panel.
template <class T>
HWY_INLINE void transpose(const T* const* rows, std::size_t width, T* HWY_RESTRICT to) {
  std::size_t c = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::CappedTag<T, 16 / sizeof(T)> d;
  if constexpr (sizeof(T) == 8) {
    for (; c + 2 <= width; c += 2)
      for (std::size_t j = 0; j < panel<T>; j += 2) {
        const auto a = hn::LoadU(d, rows[j] + c), b = hn::LoadU(d, rows[j + 1] + c);
        hn::Store(hn::InterleaveLower(d, a, b), d, to + c * panel<T> + j);
        hn::Store(hn::InterleaveUpper(d, a, b), d, to + (c + 1) * panel<T> + j);
      }
  } else {
    const hn::Repartition<double, decltype(d)> pairs;
    const auto store = [&](auto x, std::size_t column, std::size_t j) HWY_ATTR {
      hn::Store(hn::BitCast(d, x), d, to + column * panel<T> + j);
    };
    for (; c + 4 <= width; c += 4)
      for (std::size_t j = 0; j < panel<T>; j += 4) {
        const auto a = hn::LoadU(d, rows[j] + c), b = hn::LoadU(d, rows[j + 1] + c);
        const auto e = hn::LoadU(d, rows[j + 2] + c), f = hn::LoadU(d, rows[j + 3] + c);
        const auto ab = hn::BitCast(pairs, hn::InterleaveLower(d, a, b));
        const auto ef = hn::BitCast(pairs, hn::InterleaveLower(d, e, f));
        const auto upper_ab = hn::BitCast(pairs, hn::InterleaveUpper(d, a, b));
        const auto upper_ef = hn::BitCast(pairs, hn::InterleaveUpper(d, e, f));
        store(hn::InterleaveLower(pairs, ab, ef), c, j);
        store(hn::InterleaveUpper(pairs, ab, ef), c + 1, j);
        store(hn::InterleaveLower(pairs, upper_ab, upper_ef), c + 2, j);
        store(hn::InterleaveUpper(pairs, upper_ab, upper_ef), c + 3, j);
      }
  }
#endif
  for (; c < width; ++c)
    for (std::size_t j = 0; j < panel<T>; ++j) to[c * panel<T> + j] = rows[j][c];
}

#if HWY_TARGET == HWY_AVX3
/// Rows of eight numbers become columns.
HWY_INLINE void transpose(__m512d (&x)[8]) {
  __m512d pairs[8], halves[8];
  HWY_UNROLL(4)
  for (std::size_t n = 0; n < 4; ++n) {
    pairs[n] = _mm512_unpacklo_pd(x[2 * n], x[2 * n + 1]);
    pairs[n + 4] = _mm512_unpackhi_pd(x[2 * n], x[2 * n + 1]);
  }
  HWY_UNROLL(4)
  for (std::size_t n = 0; n < 4; ++n) {
    halves[n] = _mm512_shuffle_f64x2(pairs[2 * n], pairs[2 * n + 1], 0x88);
    halves[n + 4] = _mm512_shuffle_f64x2(pairs[2 * n], pairs[2 * n + 1], 0xdd);
  }
  HWY_UNROLL(2)
  for (std::size_t odd = 0; odd < 2; ++odd) {
    x[odd] = _mm512_shuffle_f64x2(halves[2 * odd], halves[2 * odd + 1], 0x88);
    x[odd + 4] = _mm512_shuffle_f64x2(halves[2 * odd], halves[2 * odd + 1], 0xdd);
    x[odd + 2] = _mm512_shuffle_f64x2(halves[2 * odd + 4], halves[2 * odd + 5], 0x88);
    x[odd + 6] = _mm512_shuffle_f64x2(halves[2 * odd + 4], halves[2 * odd + 5], 0xdd);
  }
}
/// Rows of sixteen numbers become columns.
HWY_INLINE void transpose(__m512 (&x)[16]) {
  __m512d fours[16];  // quarter l of fours[4 m + k]: column 4 l + k of the rows from 4 m on
  HWY_UNROLL(4)
  for (std::size_t m = 0; m < 16; m += 4) {
    const __m512d low = _mm512_castps_pd(_mm512_unpacklo_ps(x[m], x[m + 1]));
    const __m512d high = _mm512_castps_pd(_mm512_unpackhi_ps(x[m], x[m + 1]));
    const __m512d next_low = _mm512_castps_pd(_mm512_unpacklo_ps(x[m + 2], x[m + 3]));
    const __m512d next_high = _mm512_castps_pd(_mm512_unpackhi_ps(x[m + 2], x[m + 3]));
    fours[m] = _mm512_unpacklo_pd(low, next_low);
    fours[m + 1] = _mm512_unpackhi_pd(low, next_low);
    fours[m + 2] = _mm512_unpacklo_pd(high, next_high);
    fours[m + 3] = _mm512_unpackhi_pd(high, next_high);
  }
  HWY_UNROLL(4)
  for (std::size_t k = 0; k < 4; ++k) {
    const __m512d even = _mm512_shuffle_f64x2(fours[k], fours[k + 4], 0x88);
    const __m512d odd = _mm512_shuffle_f64x2(fours[k], fours[k + 4], 0xdd);
    const __m512d next_even = _mm512_shuffle_f64x2(fours[k + 8], fours[k + 12], 0x88);
    const __m512d next_odd = _mm512_shuffle_f64x2(fours[k + 8], fours[k + 12], 0xdd);
    x[k] = _mm512_castpd_ps(_mm512_shuffle_f64x2(even, next_even, 0x88));
    x[k + 4] = _mm512_castpd_ps(_mm512_shuffle_f64x2(odd, next_odd, 0x88));
    x[k + 8] = _mm512_castpd_ps(_mm512_shuffle_f64x2(even, next_even, 0xdd));
    x[k + 12] = _mm512_castpd_ps(_mm512_shuffle_f64x2(odd, next_odd, 0xdd));
  }
}

/// The keys of a block into panels, from load(j, c): a vector of the coordinates from c on of key j.
template <class T, class F>
HWY_INLINE void pack_keys_by_squares(std::size_t width, T* HWY_RESTRICT to, magnitude<T>& seen, F load) {
  const tag<T> d;
  constexpr std::size_t n = lanes<T>;
  for (std::size_t j = 0; j < block_keys; j += n)
    for (std::size_t c = 0; c < width; c += n) {
      decltype(vector<T>::raw) x[n];
      HWY_UNROLL(16)
      for (std::size_t i = 0; i < n; ++i) x[i] = load(j + i, c).raw;
      HWY_UNROLL(8)
      for (std::size_t i = 0; i < n; i += 2) seen.look(vector<T>{x[i]}, vector<T>{x[i + 1]});
      transpose(x);
      T* HWY_RESTRICT place = to + j / panel<T> * (panel<T> * width) + c * panel<T> + j % panel<T>;
      HWY_UNROLL(16)
      for (std::size_t i = 0; i < n; ++i) hn::Store(vector<T>{x[i]}, d, place + i * panel<T>);
    }
}
#endif

/// The keys of a block into panels.
template <class T>
HWY_INLINE void pack_keys(const T* const (&rows)[block_keys], std::size_t width, T* HWY_RESTRICT to,
                          magnitude<T>& seen) {
#if HWY_TARGET == HWY_AVX3
  if (width % lanes<T> == 0) {
    const tag<T> d;
    pack_keys_by_squares(width, to, seen, [&](std::size_t j, std::size_t c) HWY_ATTR {
      return hn::LoadU(d, rows[j] + c);
    });
    return;
  }
#endif
  for (const T* row : rows) look_at_row(row, width, seen);
  for (std::size_t j = 0; j < block_keys; j += panel<T>) transpose(rows + j, width, to + j * width);
}

/// to[j * stride + n] = rows[j][n] for n < width, zeros up to the stride, a multiple of a vector.
template <class T>
HWY_INLINE void copy_columns(const T* const* rows, std::size_t from, std::size_t width, std::size_t stride,
                             T* HWY_RESTRICT to, magnitude<T>& seen) {
  const tag<T> d;
  if (width == panel<T> && stride == panel<T>) {
    for (std::size_t j = 0; j < block_keys; ++j, to += panel<T>)
      HWY_UNROLL(2)
      for (std::size_t n = 0; n < panel<T>; n += 2 * lanes<T>) {
        const auto x = hn::LoadU(d, rows[j] + from + n), y = hn::LoadU(d, rows[j] + from + n + lanes<T>);
        seen.look(x, y);
        hn::Store(x, d, to + n);
        hn::Store(y, d, to + n + lanes<T>);
      }
    return;
  }
  for (std::size_t j = 0; j < block_keys; ++j) look_at_row(rows[j] + from, width, seen);
  for (std::size_t j = 0; j < block_keys; ++j, to += stride) {
    const T* row = rows[j] + from;
    std::size_t n = 0;
    for (; n + lanes<T> <= width; n += lanes<T>) hn::Store(hn::LoadU(d, row + n), d, to + n);
    for (; n < stride; ++n) to[n] = n < width ? row[n] : T(0);
  }
}

/// The same from patterns, of whole vectors; zeros beyond the keys that are there. Returns the largest |k|.
inline double pack_narrow_keys(const narrow_rows& k, std::size_t first, std::size_t there, std::size_t width,
                               double* HWY_RESTRICT to) {
  const std::uint16_t* data = k.data + static_cast<std::ptrdiff_t>(first) * k.row;
  return with_format(k.format, [&](auto convert) HWY_ATTR {
    magnitude<double> seen;
#if HWY_TARGET == HWY_AVX3
    const std::vector<std::uint16_t> zeros(there < block_keys ? width : 0);
    pack_keys_by_squares(width, to, seen, [&](std::size_t j, std::size_t c) HWY_ATTR {
      const std::uint16_t* row = j < there ? data + static_cast<std::ptrdiff_t>(j) * k.row : zeros.data();
      return load_narrow(convert, row + c);
    });
#else
    const tag<double> d;
    const vector_memory<double> numbers(block_keys * width);
    const double* rows[block_keys];
    for (std::size_t j = 0; j < block_keys; ++j) {
      double* row = numbers.get() + j * width;
      rows[j] = row;
      if (j >= there) std::fill_n(row, width, 0.0);
      for (std::size_t c = 0; c < width && j < there; c += lanes<double>)
        hn::StoreU(load_narrow(convert, data + static_cast<std::ptrdiff_t>(j) * k.row + c), d, row + c);
    }
    pack_keys(rows, width, to, seen);
#endif
    return seen.value();
  });
}

template <class T, class Keys>
packed_values<T> pack_block(const Keys& k, const strided_rows<T>& v, std::size_t first, std::size_t there,
                            std::size_t key_width, std::size_t value_width, std::size_t padded_value_width,
                            bool values_in_place, T* keys, T* values) {
  const std::size_t width = std::max(key_width, value_width);
  constexpr bool narrow = std::is_same_v<Keys, narrow_rows>;
  bool gather = v.coordinate != 1;
  if constexpr (!narrow) gather = gather || k.coordinate != 1;
  const std::vector<T> zeros(width);
  const vector_memory<T> gathered(gather ? block_keys * width : 0);
  const T* rows[block_keys];
  packed_values<T> result;
  const auto pack = [&](const strided_rows<T>& from, std::size_t row_width, auto put) HWY_ATTR {
    block_pointers(from, first, there, row_width, gathered.get(), zeros.data(), rows);
    magnitude<T> seen;
    put(seen);
    if (std::isfinite(seen.value())) return seen.value();
    result.all_finite = false;
    const T largest = drop_rows(row_width, zeros.data(), rows);
    put(seen);
    return largest;
  };
  if constexpr (narrow)
    result.largest_key = pack_narrow_keys(k, first, there, key_width, keys);
  else
    result.largest_key =
        pack(k, key_width, [&](auto& seen) HWY_ATTR { pack_keys(rows, key_width, keys, seen); });
  // Panels of wider rows would meet in few sets of the first cache.
  constexpr std::size_t line = 64 / sizeof(T);
  const auto value_stride = static_cast<std::size_t>(v.row);
  if (values_in_place && v.coordinate == 1 && v.row > 0 && value_width % line == 0 && value_stride <= 8 * line) {
    magnitude<T> seen;
    const T* values_there = v.data + static_cast<std::ptrdiff_t>(first) * v.row;
    for (std::size_t j = 0; j < there; ++j) look_at_row(values_there + j * value_stride, value_width, seen);
    if (std::isfinite(seen.value())) {
      result.largest_value = seen.value();
      result.values = values_there;
      result.value_stride = value_stride;
      return result;
    }
  }
  result.largest_value = pack(v, value_width, [&](auto& seen) HWY_ATTR {
    for (std::size_t c = 0; c < value_width; c += panel<T>)
      copy_columns(rows, c, std::min(panel<T>, value_width - c), std::min(panel<T>, padded_value_width - c),
                   values + c * block_keys, seen);
  });
  return result;
}

// --- few rows, keys that are not packed ----------------------------------------------------------------------------

/// Σ q_c k_c, restarted every 16 coordinates.
template <class T>
HWY_INLINE T dot(const T* HWY_RESTRICT q, const T* HWY_RESTRICT k, std::size_t width) {
  const tag<T> d;
  auto sum = hn::Zero(d);
  std::size_t c = 0;
  while (c + lanes<T> <= width) {
    const std::size_t end = std::min(c + chunk_width, width);
    auto part = hn::Mul(hn::Load(d, q + c), hn::LoadU(d, k + c));
    for (c += lanes<T>; c + lanes<T> <= end; c += lanes<T>)
      part = hn::MulAdd(hn::Load(d, q + c), hn::LoadU(d, k + c), part);
    sum = hn::Add(sum, part);
  }
  T rest = 0;
  for (; c < width; ++c) rest += q[c] * k[c];
  return hn::GetLane(hn::SumOfLanes(d, sum)) + rest;
}

template <class T>
class few_rows_evaluation {
 public:
  few_rows_evaluation(const strided_rows<T>& k, const strided_rows<T>& v, std::size_t key_width,
                      std::size_t value_width, const score_steps<T>* steps, const query_row<T>* rows,
                      std::size_t count, bool headroom, scratch<T>& memory)
      : k_(k),
        v_(v),
        key_width_(key_width),
        value_width_(value_width),
        value_stride_((value_width + 31) / 32 * 32),
        steps_(steps),
        w_(memory, key_width, value_width) {
    w_.rows = rows;
    w_.count = count;
    w_.scaled = false;
    w_.headroom = headroom ? constants<T>::headroom : T(0);
    magnitude<T> ignored;
    for (std::size_t i = 0; i < count; ++i)
      copy_row(rows[i].q, rows[i].q_stride, key_width, std::copysign(T(1), steps[i].scale),
               w_.q + i * w_.q_stride, ignored);
    w_.fresh = 0;
    std::fill_n(w_.sum, w_.tiles() * tile_rows * w_.sum_stride, T(0));
    std::fill_n(w_.weights, w_.tiles() * tile_rows * score_stride<T>, T(0));
    std::fill_n(w_.total, count * lanes<T>, T(0));
    std::fill_n(w_.maximum, count, -std::numeric_limits<T>::infinity());
  }

  std::optional<overflow> run(std::size_t first_key, std::size_t last_key, partial_row<T>* results) {
    last_key_ = last_key;
    for (std::size_t block = first_key / block_keys; block * block_keys < last_key; ++block) {
      if (!look(w_, block)) continue;
      if (const auto bad = scores(block)) return bad;
      for (std::size_t tile = 0; tile < w_.tiles(); ++tile)
        if (w_.visible_to(tile) != 0) softmax_step(w_, tile);
      add_values(block);
    }
    for (std::size_t i = 0; i < w_.count; ++i) {
      results[i].maximum = w_.maximum[i];
      results[i].total = add_lanes(w_.total + i * lanes<T>);
      std::copy_n(w_.sum + i * w_.sum_stride, value_width_, results[i].sum);
    }
    return std::nullopt;
  }

 private:
  std::uint64_t visible() const { return w_.visible_to(0) | (w_.tiles() > 1 ? w_.visible_to(1) : 0); }

  /// The scores of a block fetch its values and a few keys ahead, and its values the keys of the next: memory
  /// never waits.
  HWY_INLINE void fetch(const strided_rows<T>& rows, std::size_t width, std::size_t j) const {
    if (j >= last_key_ || rows.coordinate != 1) return;
    const T* row = rows.data + static_cast<std::ptrdiff_t>(j) * rows.row;
    for (std::size_t c = 0; c < width; c += 64 / sizeof(T)) hwy::Prefetch(row + c);
  }

  std::optional<overflow> scores(std::size_t block) {
    const std::uint64_t any = visible();
    for (auto j = static_cast<std::size_t>(std::countr_zero(any));
         j < block_keys - static_cast<std::size_t>(std::countl_zero(any)); ++j) {
      const T* key = k_.data + static_cast<std::ptrdiff_t>(block * block_keys + j) * k_.row;
      if (k_.coordinate != 1) {
        gathered_.resize(key_width_);
        for (std::size_t c = 0; c < key_width_; ++c)
          gathered_[c] = key[static_cast<std::ptrdiff_t>(c) * k_.coordinate];
        key = gathered_.data();
      }
      fetch(v_, value_width_, block * block_keys + j);
      fetch(k_, key_width_, block * block_keys + j + 16);
      for (std::size_t i = 0; i < w_.count; ++i)
        w_.scores_of(i)[j] = dot(w_.q + i * w_.q_stride, key, key_width_);
    }
    for (std::size_t i = 0; i < w_.count; ++i) {
      const std::size_t bad =
          finish_scores(w_.scores_of(i), w_.visible[i], w_.rows[i], steps_[i], block);
      if (bad != nothing) return overflow{overflow::what::score, i, bad};
    }
    return std::nullopt;
  }

  void add_values(std::size_t block) {
    const std::uint64_t any = visible();
    if (any == 0) return;  // a bias has hidden them all
    const auto first = static_cast<std::size_t>(std::countr_zero(any));
    const auto last = block_keys - static_cast<std::size_t>(std::countl_zero(any));
    const T* values = v_.data + static_cast<std::ptrdiff_t>(block * block_keys + first) * v_.row;
    auto stride = static_cast<std::size_t>(v_.row);
    // Rows between that nobody sees may hold anything, and a vector must not reach beyond the last row.
    const bool as_it_is = v_.coordinate == 1 && v_.row >= 0 && value_width_ % lanes<T> == 0 &&
                          static_cast<std::size_t>(std::popcount(any)) == last - first;
    if (!as_it_is) {
      copied_.resize(block_keys * value_stride_);
      stride = value_stride_;
      for (std::size_t j = first; j < last; ++j) {
        T* to = copied_.data() + (j - first) * stride;
        const T* from = v_.data + static_cast<std::ptrdiff_t>(block * block_keys + j) * v_.row;
        for (std::size_t c = 0; c < value_width_; ++c)
          to[c] = (any >> j & 1) != 0 ? from[static_cast<std::ptrdiff_t>(c) * v_.coordinate] : T(0);
      }
      values = copied_.data();
    }
    const std::size_t width = (value_width_ + lanes<T> - 1) / lanes<T> * lanes<T>;
    const std::size_t next = (block + 1) * block_keys;
    if (w_.count == 1) {
      std::size_t c = 0;
      const auto add = [&](auto vectors) HWY_ATTR {
        for (; c + vectors() * lanes<T> <= width; c += vectors() * lanes<T>)
          multiply_tile<1, vectors()>(w_.weights + first, score_stride<T>, values + c, stride, last - first,
                                      w_.sum + c, w_.sum_stride, true, [&](std::size_t j) HWY_ATTR {
                                        if (c == 0) fetch(k_, key_width_, next + j);
                                      });
      };
      add(std::integral_constant<std::size_t, 8>());
      add(std::integral_constant<std::size_t, 1>());
      return;
    }
    for (std::size_t j = 0; j < block_keys; ++j) fetch(k_, key_width_, next + j);
    for (std::size_t tile = 0; tile < w_.tiles(); ++tile) {
      const std::uint64_t seen = w_.visible_to(tile);
      if (seen == 0) continue;
      const auto from = static_cast<std::size_t>(std::countr_zero(seen));
      const auto to = block_keys - static_cast<std::size_t>(std::countl_zero(seen));
      for (std::size_t c = 0; c < width; c += panel<T>)
        multiply<tile_rows>(std::min(tile_vectors, (width - c) / lanes<T>),
                            w_.weights_of(tile * tile_rows) + from, score_stride<T>,
                            values + (from - first) * stride + c, stride, to - from,
                            w_.sum + tile * tile_rows * w_.sum_stride + c, w_.sum_stride, true);
    }
  }

  const strided_rows<T>& k_;
  const strided_rows<T>& v_;
  std::size_t key_width_, value_width_, value_stride_;
  std::size_t last_key_ = 0;
  const score_steps<T>* steps_;
  row_block<T> w_;
  std::vector<T> gathered_, copied_;
};

// --- what is exported --------------------------------------------------------------------------------------------

packed_values<double> pack_double(const strided_rows<double>& k, const strided_rows<double>& v, std::size_t first,
                        std::size_t there, std::size_t key_width, std::size_t value_width,
                        std::size_t padded_value_width, bool values_in_place, double* keys, double* values) {
  return pack_block(k, v, first, there, key_width, value_width, padded_value_width, values_in_place, keys, values);
}
packed_values<float> pack_float(const strided_rows<float>& k, const strided_rows<float>& v, std::size_t first,
                        std::size_t there, std::size_t key_width, std::size_t value_width,
                        std::size_t padded_value_width, bool values_in_place, float* keys, float* values) {
  return pack_block(k, v, first, there, key_width, value_width, padded_value_width, values_in_place, keys, values);
}
packed_values<double> pack_narrow(const narrow_rows& k, const strided_rows<double>& v, std::size_t first,
                                  std::size_t there, std::size_t key_width, std::size_t value_width,
                                  std::size_t padded_value_width, bool values_in_place, double* keys,
                                  double* values) {
  return pack_block(k, v, first, there, key_width, value_width, padded_value_width, values_in_place, keys, values);
}
std::optional<overflow> evaluate_double(const packed_head<double>& head, const score_steps<double>& steps,
                                        const query_row<double>* rows, const row_results<double>* results,
                                        std::size_t count, scratch<double>& memory) {
  return evaluation<double>(head, steps, rows, results, count, memory).run();
}
std::optional<overflow> evaluate_float(const packed_head<float>& head, const score_steps<float>& steps,
                                       const query_row<float>* rows, const row_results<float>* results,
                                       std::size_t count, scratch<float>& memory) {
  return evaluation<float>(head, steps, rows, results, count, memory).run();
}

std::optional<overflow> few_double(const strided_rows<double>& k, const strided_rows<double>& v,
                                   std::size_t key_width, std::size_t value_width, std::size_t first_key,
                                   std::size_t last_key, const score_steps<double>* steps,
                                   const query_row<double>* rows, std::size_t count, bool headroom,
                                   partial_row<double>* results, scratch<double>& memory) {
  return few_rows_evaluation<double>(k, v, key_width, value_width, steps, rows, count, headroom, memory)
      .run(first_key, last_key, results);
}
std::optional<overflow> few_float(const strided_rows<float>& k, const strided_rows<float>& v,
                                  std::size_t key_width, std::size_t value_width, std::size_t first_key,
                                  std::size_t last_key, const score_steps<float>* steps,
                                  const query_row<float>* rows, std::size_t count, bool headroom,
                                  partial_row<float>* results, scratch<float>& memory) {
  return few_rows_evaluation<float>(k, v, key_width, value_width, steps, rows, count, headroom, memory)
      .run(first_key, last_key, results);
}

}  // namespace HWY_NAMESPACE
}  // namespace attest::kernel::fused_head
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attest::kernel::fused_head {

HWY_EXPORT(pack_double);
HWY_EXPORT(pack_float);
HWY_EXPORT(pack_narrow);
HWY_EXPORT(evaluate_double);
HWY_EXPORT(evaluate_float);
HWY_EXPORT(few_double);
HWY_EXPORT(few_float);

template <class T>
packed_head<T>::packed_head(std::size_t keys, std::size_t key_width, std::size_t value_width)
    : keys_(keys),
      key_width_(key_width),
      value_width_(value_width),
      k_(blocks() * block_keys * key_width),
      v_(blocks() * block_keys * padded_value_width()),
      packed_(blocks()) {}

template <class T>
void packed_head<T>::pack(std::size_t block, const strided_rows<T>& k, const strided_rows<T>& v) {
  const std::size_t first = block * block_keys;
  const std::size_t there = std::min(block_keys, keys_ - first);
  const auto pack_it = [&] {
    if constexpr (std::is_same_v<T, double>)
      return HWY_DYNAMIC_DISPATCH(pack_double);
    else
      return HWY_DYNAMIC_DISPATCH(pack_float);
  }();
  packed_[block] = pack_it(k, v, first, there, key_width_, value_width_, padded_value_width(), values_in_place_,
                           key_block(block), value_block(block));
}

template <>
void packed_head<double>::pack_all(const narrow_rows& k, const strided_rows<double>& v) {
  for (std::size_t block = 0; block < blocks(); ++block) {
    const std::size_t first = block * block_keys;
    packed_[block] = HWY_DYNAMIC_DISPATCH(pack_narrow)(
        k, v, first, std::min(block_keys, keys_ - first), key_width_, value_width_, padded_value_width(),
        values_in_place_, key_block(block), value_block(block));
  }
}

template <class T>
T packed_head<T>::largest_key() const {
  T largest = 0;
  for (const auto& block : packed_) largest = std::max(largest, block.largest_key);
  return largest;
}

template <class T>
T packed_head<T>::largest_value() const {
  T largest = 0;
  for (const auto& block : packed_) largest = std::max(largest, block.largest_value);
  return largest;
}

template <class T>
bool packed_head<T>::all_finite() const {
  return std::all_of(packed_.begin(), packed_.end(), [](const auto& block) { return block.all_finite; });
}

template <class T>
void scratch<T>::reserve(std::size_t wanted_key_width, std::size_t wanted_value_width) {
  if (memory.get() != nullptr && wanted_key_width <= key_width && wanted_value_width <= value_width) return;
  key_width = std::max(key_width, wanted_key_width);
  value_width = std::max(value_width, wanted_value_width);
  const std::size_t row = (key_width + 15) / 16 * 16 + 2 * (block_keys + 64 / sizeof(T)) +
                          (value_width + 31) / 32 * 32 + 16 + 1 + 8 / sizeof(T);
  memory = vector_memory<T>(block_rows * row);
}

template <class T>
std::optional<overflow> evaluate(const packed_head<T>& head, const score_steps<T>& steps,
                                 const query_row<T>* rows, const row_results<T>* results, std::size_t count,
                                 scratch<T>& memory) {
  memory.reserve(head.key_width(), head.value_width());
  if constexpr (std::is_same_v<T, double>)
    return HWY_DYNAMIC_DISPATCH(evaluate_double)(head, steps, rows, results, count, memory);
  else
    return HWY_DYNAMIC_DISPATCH(evaluate_float)(head, steps, rows, results, count, memory);
}

template <class T>
std::optional<overflow> evaluate_few(const strided_rows<T>& k, const strided_rows<T>& v, std::size_t key_width,
                                     std::size_t value_width, std::size_t first_key, std::size_t last_key,
                                     const score_steps<T>* steps, const query_row<T>* rows, std::size_t count,
                                     bool headroom, partial_row<T>* results, scratch<T>& memory) {
  memory.reserve(key_width, value_width);
  const auto evaluate_it = [] {
    if constexpr (std::is_same_v<T, double>)
      return HWY_DYNAMIC_DISPATCH(few_double);
    else
      return HWY_DYNAMIC_DISPATCH(few_float);
  }();
  return evaluate_it(k, v, key_width, value_width, first_key, last_key, steps, rows, count, headroom, results,
                     memory);
}

template class packed_head<double>;
template class packed_head<float>;
template struct scratch<double>;
template struct scratch<float>;
template std::optional<overflow> evaluate(const packed_head<double>&, const score_steps<double>&,
                                          const query_row<double>*, const row_results<double>*, std::size_t,
                                          scratch<double>&);
template std::optional<overflow> evaluate(const packed_head<float>&, const score_steps<float>&,
                                          const query_row<float>*, const row_results<float>*, std::size_t,
                                          scratch<float>&);
template std::optional<overflow> evaluate_few(const strided_rows<double>&, const strided_rows<double>&,
                                              std::size_t, std::size_t, std::size_t, std::size_t,
                                              const score_steps<double>*, const query_row<double>*, std::size_t,
                                              bool, partial_row<double>*, scratch<double>&);
template std::optional<overflow> evaluate_few(const strided_rows<float>&, const strided_rows<float>&,
                                              std::size_t, std::size_t, std::size_t, std::size_t,
                                              const score_steps<float>*, const query_row<float>*, std::size_t,
                                              bool, partial_row<float>*, scratch<float>&);

}  // namespace attest::kernel::fused_head
#endif
