#include "reference/rounding_of_pairs.hpp"

#include "reference/vector_targets.hpp"

#include "reference/error_free.hpp"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/rounding_of_pairs.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attest::rounding_of_pairs {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<double, 8>;
using V = hn::Vec<D>;
constexpr std::size_t lanes = hn::MaxLanes(D());

/// 0 in the lanes that are decided, 1.0 in the others.
HWY_INLINE V round_vector(V high, V low, V error, V& rounded) {
  const D d;
  const V one = hn::Set(d, 1.0);
  const V h = hn::Add(high, low);
  const V a = hn::Sub(h, low);
  const V l = hn::Add(hn::Sub(high, a), hn::Sub(low, hn::Sub(h, a)));
  const V bound = hn::Add(hn::Add(hn::Mul(error, hn::Set(d, 1 + 0x1p-50)), hn::Mul(hn::Abs(l), hn::Set(d, 0x1p-51))),
                          hn::Set(d, 0x1p-1020));
  const V up = hn::Add(h, hn::Add(l, bound));
  const V down = hn::Add(h, hn::Sub(l, bound));
  const V size = hn::Abs(h);
  const auto large_enough = hn::Ge(size, hn::Set(d, 0x1p-960));
  const auto small_enough = hn::Lt(size, hn::Set(d, 0x1p1022));
  const V doubt = hn::IfThenElse(hn::Eq(up, down), hn::Zero(d), one);
  const V out_of_range = hn::IfThenElse(large_enough, hn::IfThenElse(small_enough, hn::Zero(d), one), one);
  const V not_zero = hn::IfThenElse(hn::Eq(hn::Add(size, hn::Add(hn::Abs(l), error)), hn::Zero(d)), hn::Zero(d), one);
  rounded = hn::Add(hn::IfThenElse(hn::Eq(not_zero, one), up, hn::Zero(d)), hn::Zero(d));
  return hn::Mul(hn::Max(doubt, out_of_range), not_zero);
}

std::size_t to_binary64(std::size_t count, const double* high, const double* low, const double* error, double* rounded,
                        unsigned char* undecided) {
  const D d;
  std::size_t total = 0;
  double doubt[lanes];
  std::size_t i = 0;
  const auto flags = [&](std::size_t n) HWY_ATTR {
    for (std::size_t x = 0; x < n; ++x) {
      const auto flag = static_cast<unsigned char>(doubt[x] != 0);
      undecided[i + x] = flag;
      total += flag;
    }
  };
  for (; i + lanes <= count; i += lanes) {
    V r;
    hn::StoreU(round_vector(hn::LoadU(d, high + i), hn::LoadU(d, low + i), hn::LoadU(d, error + i), r), d, doubt);
    hn::StoreU(r, d, rounded + i);
    flags(lanes);
  }
  if (i < count) {
    double rest[3][lanes] = {};
    for (std::size_t x = 0; x < count - i; ++x) {
      rest[0][x] = high[i + x];
      rest[1][x] = low[i + x];
      rest[2][x] = error[i + x];
    }
    V r;
    hn::StoreU(round_vector(hn::LoadU(d, rest[0]), hn::LoadU(d, rest[1]), hn::LoadU(d, rest[2]), r), d, doubt);
    hn::StoreU(r, d, rest[0]);
    for (std::size_t x = 0; x < count - i; ++x) rounded[i + x] = rest[0][x];
    flags(count - i);
  }
  return total;
}

}  // namespace HWY_NAMESPACE
}  // namespace attest::rounding_of_pairs
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attest::rounding_of_pairs {

HWY_EXPORT(to_binary64);

std::size_t to_binary64(std::size_t count, const double* high, const double* low, const double* error, double* rounded,
                        unsigned char* undecided) {
  return HWY_DYNAMIC_DISPATCH(to_binary64)(count, high, low, error, rounded, undecided);
}

}  // namespace attest::rounding_of_pairs
#endif
