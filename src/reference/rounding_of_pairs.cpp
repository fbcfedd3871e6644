#include "reference/rounding_of_pairs.hpp"

#include "reference/vector_targets.hpp"

#include "reference/error_free.hpp"

#include <cstring>

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

/// 1.0 in the lanes that are not decided, 0 in the others.
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
  const auto decided = hn::And(hn::Eq(up, down), hn::And(hn::Ge(size, hn::Set(d, 0x1p-960)), hn::Lt(size, hn::Set(d, 0x1p1022))));
  const auto zero = hn::Eq(hn::Add(size, hn::Add(hn::Abs(l), error)), hn::Zero(d));
  rounded = hn::IfThenElse(zero, hn::Zero(d), up);
  return hn::IfThenElse(hn::Or(decided, zero), hn::Zero(d), one);
}

std::size_t to_binary64(std::size_t count, const double* high, const double* low, const double* error, double* rounded,
                        unsigned char* undecided) {
  const D d;
  std::size_t total = 0;
  alignas(64) double doubt[lanes];
  std::size_t i = 0;
  // Nearly always all are decided.
  const auto flags = [&](V doubts, std::size_t n) HWY_ATTR {
    if (hn::AllTrue(d, hn::Eq(doubts, hn::Zero(d)))) {
      std::memset(undecided + i, 0, n);
      return;
    }
    hn::Store(doubts, d, doubt);
    for (std::size_t x = 0; x < n; ++x) {
      const auto flag = static_cast<unsigned char>(doubt[x] != 0);
      undecided[i + x] = flag;
      total += flag;
    }
  };
  for (; i + lanes <= count; i += lanes) {
    V r;
    const V doubts = round_vector(hn::LoadU(d, high + i), hn::LoadU(d, low + i), hn::LoadU(d, error + i), r);
    hn::StoreU(r, d, rounded + i);
    flags(doubts, lanes);
  }
  if (i < count) {
    double rest[3][lanes] = {};
    for (std::size_t x = 0; x < count - i; ++x) {
      rest[0][x] = high[i + x];
      rest[1][x] = low[i + x];
      rest[2][x] = error[i + x];
    }
    V r;
    const V doubts = round_vector(hn::LoadU(d, rest[0]), hn::LoadU(d, rest[1]), hn::LoadU(d, rest[2]), r);
    hn::StoreU(r, d, rest[0]);
    for (std::size_t x = 0; x < count - i; ++x) rounded[i + x] = rest[0][x];
    flags(doubts, count - i);
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
