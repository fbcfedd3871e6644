#include "vectors.hpp"

#include "kernel/fused_exp.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "arrays/vectors.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace bench {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using attest::kernel::fused_exp::constants;

template <class T>
double multiply_add(double count) {
  const hn::ScalableTag<T> d;
  // Twelve chains, as many as hide the latency of two units, and no more than there are registers. They begin with numbers
  // that the compiler does not know: it would calculate equal ones once.
  volatile T unknown = static_cast<T>(0.5);
  const auto begin = [&](int i) { return hn::Set(d, unknown + static_cast<T>(i)); };
  const auto a = begin(0), b = begin(1);
  auto x0 = begin(2), x1 = begin(3), x2 = begin(4), x3 = begin(5), x4 = begin(6), x5 = begin(7), x6 = begin(8), x7 = begin(9),
       x8 = begin(10), x9 = begin(11), x10 = begin(12), x11 = begin(13);
  const auto rounds = static_cast<std::size_t>(count / (12.0 * static_cast<double>(hn::Lanes(d)))) + 1;
  for (std::size_t i = 0; i < rounds; ++i) {
    x0 = hn::MulAdd(x0, a, b), x1 = hn::MulAdd(x1, a, b), x2 = hn::MulAdd(x2, a, b), x3 = hn::MulAdd(x3, a, b);
    x4 = hn::MulAdd(x4, a, b), x5 = hn::MulAdd(x5, a, b), x6 = hn::MulAdd(x6, a, b), x7 = hn::MulAdd(x7, a, b);
    x8 = hn::MulAdd(x8, a, b), x9 = hn::MulAdd(x9, a, b), x10 = hn::MulAdd(x10, a, b), x11 = hn::MulAdd(x11, a, b);
  }
  const auto sum = hn::Add(hn::Add(hn::Add(x0, x1), hn::Add(x2, x3)),
                           hn::Add(hn::Add(hn::Add(x4, x5), hn::Add(x6, x7)), hn::Add(hn::Add(x8, x9), hn::Add(x10, x11))));
  volatile T keep = hn::GetLane(sum);
  (void)keep;
  return static_cast<double>(rounds) * 12.0 * static_cast<double>(hn::Lanes(d));
}
double multiply_add_double(double count) { return multiply_add<double>(count); }
double multiply_add_float(double count) { return multiply_add<float>(count); }

// Two streams, as keys and values are.
double read_all(const double* data, std::size_t count) {
  const hn::ScalableTag<double> d;
  const std::size_t lanes = hn::Lanes(d);
  const double* const second = data + count / 2;
  auto x0 = hn::Zero(d), x1 = x0, x2 = x0, x3 = x0, y0 = x0, y1 = x0, y2 = x0, y3 = x0;
  for (std::size_t i = 0; i + 4 * lanes <= count / 2; i += 4 * lanes) {
    x0 = hn::Add(x0, hn::LoadU(d, data + i)), x1 = hn::Add(x1, hn::LoadU(d, data + i + lanes));
    x2 = hn::Add(x2, hn::LoadU(d, data + i + 2 * lanes)), x3 = hn::Add(x3, hn::LoadU(d, data + i + 3 * lanes));
    y0 = hn::Add(y0, hn::LoadU(d, second + i)), y1 = hn::Add(y1, hn::LoadU(d, second + i + lanes));
    y2 = hn::Add(y2, hn::LoadU(d, second + i + 2 * lanes)), y3 = hn::Add(y3, hn::LoadU(d, second + i + 3 * lanes));
  }
  const auto sum = hn::Add(hn::Add(hn::Add(x0, x1), hn::Add(x2, x3)), hn::Add(hn::Add(y0, y1), hn::Add(y2, y3)));
  return hn::GetLane(sum);
}

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86_64
inline constexpr int index_bits = 4;
#else
inline constexpr int index_bits = 0;
#endif

template <class T, std::size_t N>
HWY_INLINE auto polynomial(const T (&coefficients)[N], hn::Vec<hn::ScalableTag<T>> x) {
  const hn::ScalableTag<T> d;
  auto sum = hn::Set(d, coefficients[N - 1]);
  for (std::size_t k = N - 1; k-- > 0;) sum = hn::MulAdd(sum, x, hn::Set(d, coefficients[k]));
  return sum;
}

// 2^x for x in [-1000, 0], float [-120, 0]: exp2_of() of src/kernel/fused_simd.cpp.
template <class T>
HWY_INLINE auto exp2_of(hn::Vec<hn::ScalableTag<T>> x) {
  const hn::ScalableTag<T> d;
  const hn::RebindToUnsigned<hn::ScalableTag<T>> bits;
  constexpr int mantissa_bits = std::numeric_limits<T>::digits - 1;
  const auto magic = hn::Set(d, T(3) * static_cast<T>(std::uint64_t{1} << (mantissa_bits - index_bits - 1)));
  const auto z = hn::Add(x, magic);
  const auto r = hn::Sub(x, hn::Sub(z, magic));
  const auto exponent = hn::ShiftLeft<mantissa_bits - index_bits>(hn::BitCast(bits, z));
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86_64
  using word = hn::TFromD<decltype(bits)>;
  struct alignas(64) table {
    word entries[16];
    constexpr table() : entries{} {
      for (word i = 0; i < 16; ++i)
        entries[i] = std::bit_cast<word>(constants<T>::roots[i]) - (i << (mantissa_bits - 4));
    }
  };
  static constexpr table roots;
  hn::Vec<hn::ScalableTag<T>> root;
  if constexpr (sizeof(T) == 8) {
    const __m512i low = _mm512_load_si512(roots.entries), high = _mm512_load_si512(roots.entries + 8);
    const decltype(hn::Zero(bits)) entry{_mm512_permutex2var_epi64(low, hn::BitCast(bits, z).raw, high)};
    root = hn::BitCast(d, hn::Add(entry, exponent));
  } else {
    const __m512i all = _mm512_load_si512(roots.entries);
    const decltype(hn::Zero(bits)) entry{_mm512_permutexvar_epi32(hn::BitCast(bits, z).raw, all)};
    root = hn::BitCast(d, hn::Add(entry, exponent));
  }
  return hn::MulAdd(root, hn::Mul(r, polynomial<T>(constants<T>::sixteenth, r)), root);
#else
  const auto power = hn::MulAdd(r, polynomial<T>(constants<T>::whole, r), hn::Set(d, T(1)));
  return hn::BitCast(d, hn::Add(hn::BitCast(bits, power), exponent));
#endif
}

template <class T>
T exponentials(T* row, std::size_t count) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t whole = count / (4 * lanes) * 4 * lanes;
  T largest = -std::numeric_limits<T>::infinity();
  if (whole > 0) {
    auto m0 = hn::LoadU(d, row), m1 = m0, m2 = m0, m3 = m0;
    for (std::size_t i = 0; i < whole; i += 4 * lanes) {
      m0 = hn::Max(m0, hn::LoadU(d, row + i)), m1 = hn::Max(m1, hn::LoadU(d, row + i + lanes));
      m2 = hn::Max(m2, hn::LoadU(d, row + i + 2 * lanes)), m3 = hn::Max(m3, hn::LoadU(d, row + i + 3 * lanes));
    }
    largest = hn::GetLane(hn::MaxOfLanes(d, hn::Max(hn::Max(m0, m1), hn::Max(m2, m3))));
  }
  for (std::size_t i = whole; i < count; ++i) largest = std::max(largest, row[i]);
  const auto top = hn::Set(d, largest);
  const auto floor = hn::Set(d, -constants<T>::cut);
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  const auto step = [&](std::size_t i, auto& sum) {
    const auto e = exp2_of<T>(hn::Max(hn::Sub(hn::LoadU(d, row + i), top), floor));
    hn::StoreU(e, d, row + i);
    sum = hn::Add(sum, e);
  };
  for (std::size_t i = 0; i < whole; i += 4 * lanes)
    step(i, s0), step(i + lanes, s1), step(i + 2 * lanes, s2), step(i + 3 * lanes, s3);
  T sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
  for (std::size_t i = whole; i < count; ++i) sum += row[i] = std::exp2(row[i] - largest);
  return sum;
}
double exponentials_double(double* row, std::size_t count) { return exponentials(row, count); }
float exponentials_float(float* row, std::size_t count) { return exponentials(row, count); }

}  // namespace HWY_NAMESPACE
}  // namespace bench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bench {

HWY_EXPORT(multiply_add_double);
HWY_EXPORT(multiply_add_float);
HWY_EXPORT(read_all);
HWY_EXPORT(exponentials_double);
HWY_EXPORT(exponentials_float);

std::vector<instruction_set> instruction_sets() {
  std::vector<instruction_set> all;
  auto rest = static_cast<std::uint64_t>(hwy::SupportedTargets() & HWY_TARGETS);
  for (; rest != 0; rest &= rest - 1) {
    const auto target = static_cast<std::int64_t>(rest & -rest);
    if (target != HWY_EMU128 && target != HWY_SCALAR) all.push_back({hwy::TargetName(target), target});
  }
  if (all.empty()) all.push_back({hwy::TargetName(HWY_STATIC_TARGET), HWY_STATIC_TARGET});
  return all;
}

void use(const instruction_set& one) {
  hwy::SetSupportedTargetsForTest(one.target);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}
void use_best() {
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}
std::string best_instruction_set() { return instruction_sets().front().name; }

template <>
double multiply_add<double>(double count) {
  return HWY_DYNAMIC_DISPATCH(multiply_add_double)(count);
}
template <>
double multiply_add<float>(double count) {
  return HWY_DYNAMIC_DISPATCH(multiply_add_float)(count);
}
double read_all(const double* data, std::size_t count) { return HWY_DYNAMIC_DISPATCH(read_all)(data, count); }

template <>
double exponentials_by_vectors<double>(double* row, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(exponentials_double)(row, count);
}
template <>
float exponentials_by_vectors<float>(float* row, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(exponentials_float)(row, count);
}

template <class T>
T exponentials_by_libm(T* row, std::size_t count) {
  const T largest = *std::max_element(row, row + count);
  T sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += row[i] = std::exp(row[i] - largest);
  return sum;
}
template double exponentials_by_libm<double>(double*, std::size_t);
template float exponentials_by_libm<float>(float*, std::size_t);

}  // namespace bench
#endif
