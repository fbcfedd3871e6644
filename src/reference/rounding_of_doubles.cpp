#include "reference/rounding_of_doubles.hpp"

#include <attest/rounding/round.hpp>

#include <cmath>
#include <cstring>

#include "reference/vector_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/rounding_of_doubles.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attest::certified {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// How a direction picks a number from the half step below the magnitude: (step + add_positive or
/// add_negative) / 2, where adding 2 takes the number above.
struct pick {
  std::uint64_t positive;
  std::uint64_t negative;
};

/// Writes 1 for each of the first `count` lanes that is not decided; their number.
template <class D>
HWY_INLINE std::size_t note_open(D d, hn::Mask<D> decided, std::size_t count, unsigned char* open) {
  std::memset(open, 0, count);
  if (hn::AllTrue(d, decided)) return 0;
  unsigned char bits[8] = {};
  hn::StoreMaskBits(d, decided, bits);
  std::size_t total = 0;
  for (std::size_t k = 0; k < count; ++k) {
    open[k] = (bits[k / 8] >> (k % 8) & 1) != 0 ? 0 : 1;
    total += open[k];
  }
  return total;
}

template <class Out>
std::size_t round_between_steps_to(std::size_t count, const double* HWY_RESTRICT value, double error,
                                   const format& f, pick add, Out* HWY_RESTRICT out,
                                   unsigned char* HWY_RESTRICT open) {
  const hn::ScalableTag<double> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const hn::Rebind<Out, decltype(d)> dout;
  const std::size_t lanes = hn::Lanes(d);
  const int shift = 52 - f.precision;
  const auto bound = hn::Set(d, error);
  const auto slack = hn::Set(d, 0x1p-51);
  const auto half = hn::Set(d, 0.5);
  const auto smallest = hn::Set(d, std::ldexp(1.0, f.min_exponent));
  const auto bias = hn::Set(du, static_cast<std::uint64_t>(1023 + f.min_exponent - 1) << f.precision);
  const auto last = hn::Set(du, 2 * f.largest);
  const auto add_positive = hn::Set(du, add.positive);
  const auto add_negative = hn::Set(du, add.negative);
  const auto sign_bit = hn::Set(du, f.sign_bit());
  const auto zero = hn::Zero(d);
  std::size_t total = 0;
  HWY_ALIGN double rest[HWY_MAX_BYTES / sizeof(double)];
  HWY_ALIGN Out rest_out[HWY_MAX_BYTES / sizeof(double)];
  for (std::size_t i = 0; i < count; i += lanes) {
    const std::size_t here = count - i < lanes ? count - i : lanes;
    auto v = hn::Undefined(d);
    if (here == lanes) {
      v = hn::LoadU(d, value + i);
    } else {
      hn::Store(hn::Set(d, 1.5), d, rest);
      std::memcpy(rest, value + i, here * sizeof(double));
      v = hn::Load(d, rest);
    }
    const auto magnitude = hn::Abs(v);
    const auto e = hn::MulAdd(magnitude, slack, bound);
    const auto low = hn::Sub(magnitude, e);
    const auto high = hn::Add(magnitude, e);
    const auto step = hn::ShiftRightSame(hn::BitCast(du, low), shift);
    const auto same = hn::Eq(step, hn::ShiftRightSame(hn::BitCast(du, high), shift));
    const auto index = hn::Sub(step, bias);
    // NaN fails every comparison, and infinity the one with the largest number.
    const auto decided = hn::And(hn::And(hn::RebindMask(d, same), hn::Le(e, hn::Mul(magnitude, half))),
                                 hn::And(hn::Ge(low, smallest), hn::RebindMask(d, hn::Lt(index, last))));
    const auto negative = hn::RebindMask(du, hn::Lt(v, zero));
    const auto picked = hn::Add(index, hn::IfThenElse(negative, add_negative, add_positive));
    const auto pattern = hn::Or(hn::ShiftRight<1>(picked), hn::IfThenElseZero(negative, sign_bit));
    const auto narrow = hn::TruncateTo(dout, pattern);
    if (here == lanes) {
      hn::StoreU(narrow, dout, out + i);
    } else {
      hn::StoreU(narrow, dout, rest_out);
      std::memcpy(out + i, rest_out, here * sizeof(Out));
    }
    total += note_open(d, decided, here, open + i);
  }
  return total;
}

std::size_t round_between_steps_here(std::size_t count, const double* value, double error, const format& f,
                                     rounding direction, void* out, unsigned char* open) {
  pick add{1, 1};  // to nearest: the midpoint's side
  if (direction == rounding::toward_zero) add = {0, 0};
  if (direction == rounding::up) add = {2, 0};
  if (direction == rounding::down) add = {0, 2};
  switch (f.storage_bits) {
    case 8:
      return round_between_steps_to(count, value, error, f, add, static_cast<std::uint8_t*>(out), open);
    case 16:
      return round_between_steps_to(count, value, error, f, add, static_cast<std::uint16_t*>(out), open);
    default:
      return round_between_steps_to(count, value, error, f, add, static_cast<std::uint32_t*>(out), open);
  }
}

/// The rounding of vectors of pairs; where it is certain, and where it is to nearest.
template <class D, class V = hn::Vec<D>>
HWY_INLINE hn::Mask<D> round_pairs(D d, V high, V low, V error, rounding direction, V& out,
                                   hn::Mask<D>& to_nearest) {
  const hn::RebindToUnsigned<D> du;
  const auto h = hn::Add(high, low);
  const auto part = hn::Sub(h, high);
  const auto l = hn::Add(hn::Sub(high, hn::Sub(h, part)), hn::Sub(low, part));
  const auto e = hn::Add(hn::MulAdd(hn::Abs(l), hn::Set(d, 0x1p-51), hn::Mul(error, hn::Set(d, 1 + 0x1p-50))),
                         hn::Set(d, 0x1p-1020));
  const auto above = hn::Add(l, e);
  const auto below = hn::Sub(l, e);
  const auto zero = hn::Zero(d);
  const auto magnitude = hn::Abs(h);
  const auto positive = hn::Gt(below, zero);  // x is above h
  to_nearest =
      hn::And(hn::And(hn::Eq(hn::Add(h, above), h), hn::Eq(hn::Add(h, below), h)),
              hn::And(hn::Ge(magnitude, hn::Set(d, 0x1p-960)), hn::Lt(magnitude, hn::Set(d, 0x1p1022))));
  const auto decided = hn::And(hn::Or(positive, hn::Lt(above, zero)), to_nearest);
  out = h;
  if (direction == rounding::nearest_even) return decided;
  const auto h_negative = hn::Lt(h, zero);
  auto up = hn::Lt(zero, zero);
  if (direction == rounding::up) up = hn::Not(up);
  if (direction == rounding::toward_zero) up = h_negative;
  // The number above h, or the one below: its bits and 1, or less 1, as the sign has it.
  const auto moves = hn::And(decided, hn::Or(hn::And(up, positive), hn::AndNot(up, hn::Not(positive))));
  const auto grows = hn::Xor(up, h_negative);
  const auto one = hn::Set(du, 1);
  const auto step = hn::IfThenElse(hn::RebindMask(du, grows), one, hn::Sub(hn::Zero(du), one));
  out = hn::BitCast(d, hn::Add(hn::BitCast(du, h), hn::IfThenElseZero(hn::RebindMask(du, moves), step)));
  return decided;
}

std::size_t round_pairs_between_steps_here(std::size_t count, const double* HWY_RESTRICT high,
                                           const double* HWY_RESTRICT low, const double* HWY_RESTRICT error,
                                           rounding direction, double* HWY_RESTRICT out,
                                           unsigned char* HWY_RESTRICT open) {
  const hn::ScalableTag<double> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t total = 0;
  HWY_ALIGN double rest[3][HWY_MAX_BYTES / sizeof(double)] = {};
  for (std::size_t i = 0; i < count; i += lanes) {
    const std::size_t here = count - i < lanes ? count - i : lanes;
    const double* from[3] = {high + i, low + i, error + i};
    if (here != lanes)
      for (int part = 0; part < 3; ++part) {
        std::memcpy(rest[part], from[part], here * sizeof(double));
        from[part] = rest[part];
      }
    auto rounded = hn::Zero(d);
    auto to_nearest = hn::Lt(rounded, rounded);
    const auto decided = round_pairs(d, hn::LoadU(d, from[0]), hn::LoadU(d, from[1]), hn::LoadU(d, from[2]),
                                     direction, rounded, to_nearest);
    if (here == lanes) {
      hn::StoreU(rounded, d, out + i);
    } else {
      hn::Store(rounded, d, rest[0]);
      std::memcpy(out + i, rest[0], here * sizeof(double));
    }
    const std::size_t not_decided = note_open(d, decided, here, open + i);
    total += not_decided;
    if (not_decided != 0) {
      unsigned char near[HWY_MAX_BYTES / sizeof(double)];
      note_open(d, to_nearest, here, near);
      for (std::size_t k = 0; k < here; ++k)
        if (open[i + k] != 0 && near[k] == 0) open[i + k] = 2;
    }
  }
  return total;
}

double sum_of_squares_here(std::size_t count, const double* HWY_RESTRICT x) {
  const hn::ScalableTag<double> d;
  const std::size_t lanes = hn::Lanes(d);
  auto a = hn::Zero(d);
  auto b = hn::Zero(d);
  std::size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    const auto first = hn::LoadU(d, x + i);
    const auto second = hn::LoadU(d, x + i + lanes);
    a = hn::MulAdd(first, first, a);
    b = hn::MulAdd(second, second, b);
  }
  double sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(a, b)));
  for (; i < count; ++i) sum += x[i] * x[i];
  return sum;
}

double largest_magnitude_here(std::size_t count, const double* HWY_RESTRICT x) {
  const hn::ScalableTag<double> d;
  const std::size_t lanes = hn::Lanes(d);
  auto a = hn::Zero(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) a = hn::Max(a, hn::Abs(hn::LoadU(d, x + i)));
  double largest = hn::GetLane(hn::MaxOfLanes(d, a));
  for (; i < count; ++i) largest = std::fabs(x[i]) > largest ? std::fabs(x[i]) : largest;
  return largest;
}

}  // namespace HWY_NAMESPACE
}  // namespace attest::certified
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attest::certified {

HWY_EXPORT(round_between_steps_here);
HWY_EXPORT(round_pairs_between_steps_here);
HWY_EXPORT(sum_of_squares_here);
HWY_EXPORT(largest_magnitude_here);

namespace {

std::size_t all_open(std::size_t count, unsigned char* open) {
  std::memset(open, 1, count);
  return count;
}

}  // namespace

std::size_t round_between_steps(std::size_t count, const double* value, double error, const format& f,
                                rounding direction, void* out, unsigned char* open) {
  if (direction == rounding::to_odd) return all_open(count, open);
  return HWY_DYNAMIC_DISPATCH(round_between_steps_here)(count, value, error, f, direction, out, open);
}
std::size_t round_pairs_between_steps(std::size_t count, const double* high, const double* low,
                                      const double* error, rounding direction, double* out,
                                      unsigned char* open) {
  if (direction == rounding::to_odd) return all_open(count, open);
  return HWY_DYNAMIC_DISPATCH(round_pairs_between_steps_here)(count, high, low, error, direction, out, open);
}
double sum_of_squares(std::size_t count, const double* x) {
  return HWY_DYNAMIC_DISPATCH(sum_of_squares_here)(count, x);
}
double largest_magnitude(std::size_t count, const double* x) {
  return HWY_DYNAMIC_DISPATCH(largest_magnitude_here)(count, x);
}

namespace {

__extension__ typedef __int128 wide_integer;
__extension__ typedef unsigned __int128 wide_natural;

}  // namespace

// With m = RN(high + low) and its exact rest t, both from Knuth's TwoSum, x - m lies in [t - error, t +
// error]. The ends are taken in units of 2^-64 ulp(m) and outward: m is an integer of 53 bits there, shifted
// by 64.
pair_rounding round_pair(double high, double low, double error, const format& f, rounding direction) {
  pair_rounding r;
  const double m = high + low;
  const double part = m - high;
  const double t = (high - (m - part)) + (low - part);
  if (!(std::fabs(m) >= 0x1p-900 && std::fabs(m) < 0x1p1023 && error < 0.5 * std::fabs(m))) return r;
  const int exponent = std::ilogb(m) - 52;
  const double significand = std::ldexp(std::fabs(m), -exponent);  // in [2^52, 2^53)
  const double sign = m < 0 ? -1.0 : 1.0;
  // Subnormal numbers have no relative precision: one unit of theirs is added. t and error are below 2^53
  // ulp(m).
  const double slack = (std::fabs(t) + error) * 0x1p-50 + 0x1p-1074;
  // The unit more is for where m is so large that the rest underflows.
  const double below = std::floor(std::ldexp(sign * t - error - slack, 64 - exponent)) - 1;
  const double above = std::ceil(std::ldexp(sign * t + error + slack, 64 - exponent)) + 1;
  const wide_integer middle = static_cast<wide_integer>(significand) << 64;
  const wide_integer least = middle + static_cast<wide_integer>(below);
  const wide_integer greatest = middle + static_cast<wide_integer>(above);
  if (least <= 0) return r;
  const auto position_of = [&](wide_integer x) {
    natural<2> n;
    n.limbs[0] = static_cast<std::uint64_t>(x);
    n.limbs[1] = static_cast<std::uint64_t>(static_cast<wide_natural>(x) >> 64);
    n.size = n.limbs[1] != 0 ? 2 : 1;
    return detail::position(n, exponent - 64, false, f);
  };
  const detail::half_step first = position_of(least);
  const detail::half_step last = position_of(greatest);
  r.pattern = detail::round_signed(m < 0, first, f, direction);
  r.settled = r.pattern == detail::round_signed(m < 0, last, f, direction);
  r.holds_step = first.index != last.index || first.exact || last.exact;
  if (r.settled && r.holds_step) {
    const std::uint64_t index = first.exact ? first.index : first.index + 1;
    const decoded number = decode(index / 2, f);
    r.step = sign * (std::ldexp(static_cast<double>(number.significand), number.exponent) +
                     (index % 2 != 0 ? std::ldexp(0.5, number.exponent) : 0.0));
  }
  return r;
}

}  // namespace attest::certified
#endif
