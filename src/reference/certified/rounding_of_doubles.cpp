#include "reference/certified/rounding_of_doubles.hpp"

#include <attest/rounding/round.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "problem/vector_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/certified/rounding_of_doubles.cpp"
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
pick pick_of(rounding direction) {
  if (direction == rounding::toward_zero) return {0, 0};
  if (direction == rounding::up) return {2, 0};
  if (direction == rounding::down) return {0, 2};
  return {1, 1};  // to nearest: the midpoint's side
}

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
class float_rounding;

/// Vectors of doubles with one error, rounded to a format of patterns Out.
template <class Out>
class step_rounding {
 public:
  using tag = hn::ScalableTag<double>;
  using narrow_tag = hn::Rebind<Out, tag>;
  using natural_tag = hn::RebindToUnsigned<tag>;

  // The half step below a normal magnitude is its number without the last bits. Decided are those from that
  // of `least` on, which is so large that the error is at most a quarter, to the last one below the largest
  // number. The bits of a negative number, infinity or NaN are larger than any.
  HWY_INLINE step_rounding(double error, const format& f, rounding direction)
      : shift_(52 - f.precision),
        error_(error),
        smallest_(std::ldexp(1.0, f.min_exponent)),
        unit_(std::ldexp(1.0, f.min_unit())) {
    const pick add = pick_of(direction);
    const double least = 4 * error > smallest_ ? 4 * error : smallest_;
    const std::uint64_t zero = static_cast<std::uint64_t>(1023 + f.min_exponent - 1) << f.precision;
    const std::uint64_t first = (bits_of(least) >> shift_) + (least == smallest_ ? 0 : 1);
    const std::uint64_t last = zero + 2 * f.largest;
    first_ = first;
    count_ = error <= 0x1p1000 && first < last ? last - first : 0;
    zero_less_positive_ = zero - add.positive;
    zero_less_negative_ = zero - add.negative;
    sign_shift_ = 64 - f.storage_bits;
    sign_bit_ = f.sign_bit();
  }

  /// The half steps below the ends of v's interval, and the pattern that the first of them leads to.
  template <class V, class N>
  HWY_INLINE void ends(V v, N& from, N& to) const {
    const natural_tag du;
    const auto magnitude = hn::Abs(v);
    const auto e = error_of(magnitude);
    from = hn::ShiftRightSame(hn::BitCast(du, hn::Sub(magnitude, e)), shift_);
    to = hn::ShiftRightSame(hn::BitCast(du, hn::Add(magnitude, e)), shift_);
  }
  template <class V, class N>
  HWY_INLINE hn::Vec<narrow_tag> pattern(V v, N step) const {
    const tag d;
    const natural_tag du;
    auto less = hn::Set(du, zero_less_positive_);
    if (zero_less_positive_ != zero_less_negative_)
      less =
          hn::IfThenElse(hn::RebindMask(du, hn::Lt(v, hn::Zero(d))), hn::Set(du, zero_less_negative_), less);
    const auto pattern = hn::ShiftRight<1>(hn::Sub(step, less));
    const auto sign = hn::And(hn::ShiftRightSame(hn::BitCast(du, v), sign_shift_), hn::Set(du, sign_bit_));
    return hn::TruncateTo(narrow_tag(), hn::Or(pattern, sign));
  }
  template <class N>
  HWY_INLINE auto in_range(N step) const {
    const natural_tag du;
    return hn::Lt(hn::Sub(step, hn::Set(du, first_)), hn::Set(du, count_));
  }

  template <class V>
  HWY_INLINE hn::Vec<narrow_tag> operator()(V v, hn::Mask<natural_tag>& decided) const {
    const natural_tag du;
    auto from = hn::Zero(du), to = hn::Zero(du);
    ends(v, from, to);
    decided = hn::And(hn::Eq(from, to), in_range(from));
    if (HWY_UNLIKELY(!hn::AllTrue(du, decided))) add_subnormal(hn::Abs(v), from, decided);
    return pattern(v, from);
  }

 private:
  /// Between 0 and the smallest normal number s, half steps are as far from each other as above it: there the
  /// half step below x + s is that below x, and s. Both sums are off by at most 2^-53 s, which are added to
  /// the error. What may round to 0 stays open: not every format has a negative zero.
  template <class V, class N>
  HWY_INLINE void add_subnormal(V magnitude, N& step, hn::Mask<natural_tag>& decided) const {
    const tag d;
    const natural_tag du;
    const auto s = hn::Set(d, smallest_);
    const auto wider = hn::Add(error_of(magnitude), hn::Set(d, smallest_ * 0x1p-52));
    const auto low = hn::Sub(magnitude, wider);
    const auto least = hn::Max(hn::Set(d, 4 * error_), hn::Set(d, unit_));
    const auto small = hn::RebindMask(du, hn::And(hn::Lt(magnitude, s), hn::Ge(low, least)));
    const auto one = hn::Set(du, std::uint64_t{1} << (52 - shift_));  // half steps from 0 to s
    const auto from = hn::Sub(hn::ShiftRightSame(hn::BitCast(du, hn::Add(low, s)), shift_), one);
    const auto to =
        hn::Sub(hn::ShiftRightSame(hn::BitCast(du, hn::Add(hn::Add(magnitude, wider), s)), shift_), one);
    decided = hn::Or(decided, hn::And(small, hn::Eq(from, to)));
    step = hn::IfThenElse(small, from, step);
  }

  template <class V>
  HWY_INLINE V error_of(V magnitude) const {
    const tag d;
    return hn::MulAdd(magnitude, hn::Set(d, 0x1p-51), hn::Set(d, error_));
  }
  static HWY_INLINE std::uint64_t bits_of(double x) {
    std::uint64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
  }

  int shift_, sign_shift_;
  double error_, smallest_, unit_;  // unit_: the smallest number
  std::uint64_t first_, count_, zero_less_positive_, zero_less_negative_, sign_bit_;

  friend class float_rounding<Out>;
};

#if HWY_TARGET != HWY_SCALAR
/// The same in lanes of binary32, twice as many a vector, for formats of at most 11 bits and no larger range
/// than its own.
///
/// Proof: F is the pattern of |v| rounded to binary32, so |v| lies strictly between the numbers of F - 1 and
/// F + 1. From first_ on, the numbers of neighbouring patterns differ by the error or more, so that |x| lies
/// strictly between those of G = F - 2 and G + 4. Half steps are the numbers whose patterns are multiples of
/// H = 2^shift, and no such pattern is G + 1, G + 2 or G + 3 where G mod H <= H - 4: the half step below is
/// that of G without its last bits.
template <class Out>
class float_rounding {
 public:
  float_rounding(const step_rounding<Out>& round, const format& f) : shift_(23 - f.precision) {
    // An ulp of y is more than 2^-24 y.
    const double least = std::max(0x1p24 * round.error_, round.smallest_);
    const std::uint64_t first =
        std::max(round.first_, (round.bits_of(least) >> round.shift_) + (least == round.smallest_ ? 0 : 1));
    const std::uint64_t last = round.first_ + round.count_;
    const auto pattern = [&](std::uint64_t step) {
      return static_cast<std::uint32_t>((step - (std::uint64_t{1023 - 127} << f.precision)) << shift_);
    };
    first_ = pattern(first);
    count_ = least < 0x1p127 && first < last ? pattern(last) - first_ : 0;
    less_positive_ = pattern(round.zero_less_positive_);
    less_negative_ = pattern(round.zero_less_negative_);
    sign_bit_ = static_cast<std::uint32_t>(round.sign_bit_);
  }

  /// Rounds pairs of vectors of doubles; calls rest(i, n) for the n elements from i on that are not all
  /// decided, and for those at the end that are fewer than a pair.
  template <class Rest>
  HWY_INLINE void operator()(std::size_t count, const double* HWY_RESTRICT value, Out* HWY_RESTRICT out,
                             Rest rest) const {
    const hn::ScalableTag<double> d;
    const hn::ScalableTag<float> df;
    const hn::Rebind<float, decltype(d)> half;
    const hn::RebindToUnsigned<decltype(df)> du;
    const hn::Rebind<Out, decltype(df)> dout;
    const std::size_t lanes = hn::Lanes(d);
    const auto two = hn::Set(du, 2);
    const auto magnitude_bits = hn::Set(du, 0x7fffffff);
    const auto last_bits = hn::Set(du, (1u << shift_) - 1);
    const auto undecided_bits = hn::Set(du, (1u << shift_) - 3);
    const auto first = hn::Set(du, first_);
    const auto limit = hn::Set(du, count_);
    const auto less_positive = hn::Set(du, less_positive_);
    const auto less_negative = hn::Set(du, less_negative_);
    const auto sign_bit = hn::Set(du, sign_bit_);
    std::size_t i = 0;
    for (; i + 2 * lanes <= count; i += 2 * lanes) {
      const auto low = hn::DemoteTo(half, hn::LoadU(d, value + i));
      const auto high = hn::DemoteTo(half, hn::LoadU(d, value + i + lanes));
      const auto all = hn::BitCast(du, hn::Combine(df, high, low));
      const auto below = hn::Sub(hn::And(all, magnitude_bits), two);
      const auto decided =
          hn::And(hn::Lt(hn::And(below, last_bits), undecided_bits), hn::Lt(hn::Sub(below, first), limit));
      if (HWY_UNLIKELY(!hn::AllTrue(du, decided))) {
        rest(i, 2 * lanes);
        continue;
      }
      const auto less = hn::IfThenElse(hn::Gt(all, magnitude_bits), less_negative, less_positive);
      const auto pattern = hn::ShiftRightSame(hn::Sub(below, less), shift_ + 1);
      const auto sign = hn::And(hn::ShiftRight<32 - 8 * sizeof(Out)>(all), sign_bit);
      hn::StoreU(hn::TruncateTo(dout, hn::Or(pattern, sign)), dout, out + i);
    }
    if (i < count) rest(i, count - i);
  }

 private:
  int shift_;
  std::uint32_t first_, count_, less_positive_, less_negative_, sign_bit_;
};
#endif

/// Calls f(decided, i, here) for the vectors of a row, of which the first `here` lanes count.
template <class Out, class F>
HWY_INLINE void round_row(const step_rounding<Out>& round, std::size_t count,
                          const double* HWY_RESTRICT value, Out* HWY_RESTRICT out, F f) {
  const typename step_rounding<Out>::tag d;
  const typename step_rounding<Out>::narrow_tag dout;
  const std::size_t lanes = hn::Lanes(d);
  hn::Mask<typename step_rounding<Out>::natural_tag> decided;
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(round(hn::LoadU(d, value + i), decided), dout, out + i);
    f(decided, i, lanes);
  }
  if (i == count) return;
  HWY_ALIGN double rest[HWY_MAX_BYTES / sizeof(double)];
  HWY_ALIGN Out rest_out[HWY_MAX_BYTES / sizeof(double)];
  hn::Store(hn::Set(d, value[i]), d, rest);
  std::memcpy(rest, value + i, (count - i) * sizeof(double));
  hn::StoreU(round(hn::Load(d, rest), decided), dout, rest_out);
  std::memcpy(out + i, rest_out, (count - i) * sizeof(Out));
  f(decided, i, count - i);
}

/// Whether all of a row of normal numbers is decided, in the fewest instructions. Of others nothing is known.
template <class Out>
HWY_INLINE bool round_plain_row(const step_rounding<Out>& round, std::size_t count,
                                const double* HWY_RESTRICT value, Out* HWY_RESTRICT out) {
  const typename step_rounding<Out>::tag d;
  const typename step_rounding<Out>::natural_tag du;
  const typename step_rounding<Out>::narrow_tag dout;
  const std::size_t lanes = hn::Lanes(d);
  if (count % lanes != 0 || count == 0) return false;
  auto from = hn::Zero(du), to = hn::Zero(du);
  round.ends(hn::LoadU(d, value), from, to);
  auto least = from, greatest = from;
  auto differences = hn::Zero(du);
  for (std::size_t i = 0; i < count; i += lanes) {
    const auto v = hn::LoadU(d, value + i);
    round.ends(v, from, to);
    differences = hn::Or(differences, hn::Xor(from, to));
    least = hn::Min(least, from);
    greatest = hn::Max(greatest, from);
    hn::StoreU(round.pattern(v, from), dout, out + i);
  }
  return hn::AllTrue(du, hn::And(hn::Eq(differences, hn::Zero(du)),
                                 hn::And(round.in_range(least), round.in_range(greatest))));
}

template <class Out>
std::size_t round_between_steps_to(std::size_t count, const double* value, double error, const format& f,
                                   rounding direction, Out* out, unsigned char* open) {
  const step_rounding<Out> round(error, f, direction);
  const typename step_rounding<Out>::natural_tag d;
  std::size_t total = 0;
  round_row(round, count, value, out, [&](auto decided, std::size_t i, std::size_t here) HWY_ATTR {
    total += note_open(d, decided, here, open + i);
  });
  return total;
}

template <class Out>
std::size_t round_rows_between_steps_to(std::size_t rows, std::size_t count, const double* values,
                                        double error, const format& f, rounding direction, void* const* out,
                                        unsigned char* open_rows) {
  const step_rounding<Out> round(error, f, direction);
  const typename step_rounding<Out>::natural_tag d;
  const auto rows_by = [&](auto round_plain) HWY_ATTR {
    std::size_t total = 0;
    for (std::size_t r = 0; r < rows; ++r) {
      const double* row = values + r * count;
      Out* to = static_cast<Out*>(out[r]);
      bool all = true;
      round_plain(row, to, [&](std::size_t first, std::size_t size) HWY_ATTR {
        round_row(round, size, row + first, to + first, [&](auto decided, std::size_t, std::size_t) HWY_ATTR {
          all = all && hn::AllTrue(d, decided);
        });
      });
      open_rows[r] = all ? 0 : 1;
      total += open_rows[r];
    }
    return total;
  };
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(Out) <= 2)
    if (f.precision <= 11) {
      const float_rounding<Out> in_floats(round, f);
      return rows_by([&](const double* row, Out* to, auto rest)
                         HWY_ATTR { in_floats(count, row, to, rest); });
    }
#endif
  return rows_by([&](const double* row, Out* to, auto rest) HWY_ATTR {
    if (!round_plain_row(round, count, row, to)) rest(std::size_t{0}, count);
  });
}

std::size_t round_between_steps_here(std::size_t count, const double* value, double error, const format& f,
                                     rounding direction, void* out, unsigned char* open) {
  switch (f.storage_bits) {
    case 8:
      return round_between_steps_to(count, value, error, f, direction, static_cast<std::uint8_t*>(out), open);
    case 16:
      return round_between_steps_to(count, value, error, f, direction, static_cast<std::uint16_t*>(out),
                                    open);
    default:
      return round_between_steps_to(count, value, error, f, direction, static_cast<std::uint32_t*>(out),
                                    open);
  }
}

std::size_t round_rows_between_steps_here(std::size_t rows, std::size_t count, const double* values,
                                          double error, const format& f, rounding direction, void* const* out,
                                          unsigned char* open_rows) {
  switch (f.storage_bits) {
    case 8:
      return round_rows_between_steps_to<std::uint8_t>(rows, count, values, error, f, direction, out,
                                                       open_rows);
    case 16:
      return round_rows_between_steps_to<std::uint16_t>(rows, count, values, error, f, direction, out,
                                                        open_rows);
    default:
      return round_rows_between_steps_to<std::uint32_t>(rows, count, values, error, f, direction, out,
                                                        open_rows);
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

HWY_INLINE std::size_t round_pair_rows(std::size_t rows, std::size_t count, const double* values,
                                       std::size_t stride, rounding direction, void* const* out,
                                       unsigned char* open_rows) {
  const hn::ScalableTag<double> d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t whole = count % lanes == 0 ? count : 0;
  std::size_t total = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    const double* HWY_RESTRICT high = values + r * stride;
    double* HWY_RESTRICT place = static_cast<double*>(out[r]);
    auto all = hn::Eq(hn::Zero(d), hn::Zero(d));
    for (std::size_t i = 0; i < whole; i += lanes) {
      auto rounded = hn::Zero(d);
      auto to_nearest = hn::Lt(rounded, rounded);
      all = hn::And(all, round_pairs(d, hn::LoadU(d, high + i), hn::LoadU(d, high + count + i),
                                     hn::LoadU(d, high + 2 * count + i), direction, rounded, to_nearest));
      hn::StoreU(rounded, d, place + i);
    }
    open_rows[r] = whole == count && hn::AllTrue(d, all) ? 0 : 1;
    total += open_rows[r];
  }
  return total;
}

std::size_t round_pair_rows_between_steps_here(std::size_t rows, std::size_t count, const double* values,
                                               std::size_t stride, rounding direction, void* const* out,
                                               unsigned char* open_rows) {
  // Without the steps that other directions take.
  if (direction == rounding::nearest_even)
    return round_pair_rows(rows, count, values, stride, rounding::nearest_even, out, open_rows);
  return round_pair_rows(rows, count, values, stride, direction, out, open_rows);
}

template <class D>
HWY_INLINE double squares_of(D d, std::size_t count, const double* HWY_RESTRICT x) {
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

double sum_of_squares_here(std::size_t count, const double* x) {
  return squares_of(hn::ScalableTag<double>(), count, x);
}
double largest_sum_of_squares_here(std::size_t rows, std::size_t count, const double* x, std::size_t stride) {
  double largest = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    const double squares = squares_of(hn::ScalableTag<double>(), count, x + r * stride);
    largest = squares > largest ? squares : largest;
  }
  return largest;
}

double largest_magnitude_here(std::size_t count, const double* HWY_RESTRICT x) {
  const hn::ScalableTag<double> d;
  const std::size_t lanes = hn::Lanes(d);
  auto a = hn::Zero(d);
  auto b = hn::Zero(d);
  std::size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    a = hn::Max(a, hn::Abs(hn::LoadU(d, x + i)));
    b = hn::Max(b, hn::Abs(hn::LoadU(d, x + i + lanes)));
  }
  double largest = hn::GetLane(hn::MaxOfLanes(d, hn::Max(a, b)));
  for (; i < count; ++i) largest = std::fabs(x[i]) > largest ? std::fabs(x[i]) : largest;
  return largest;
}

template <class Change>
HWY_INLINE void convert_to_floats(std::size_t count, const double* HWY_RESTRICT x, float* HWY_RESTRICT out,
                                  Change change) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> single;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(change(hn::DemoteTo(single, hn::LoadU(d, x + i))), single, out + i);
  HWY_ALIGN double rest[HWY_MAX_BYTES / sizeof(double)] = {};
  HWY_ALIGN float rest_out[HWY_MAX_BYTES / sizeof(double)];
  std::memcpy(rest, x + i, (count - i) * sizeof(double));
  hn::StoreU(change(hn::DemoteTo(single, hn::Load(d, rest))), single, rest_out);
  std::memcpy(out + i, rest_out, (count - i) * sizeof(float));
}
void to_floats_here(std::size_t count, const double* x, float* out) {
  convert_to_floats(count, x, out, [](auto v) HWY_ATTR { return v; });
}
void magnitudes_to_floats_here(std::size_t count, const double* x, float* out) {
  convert_to_floats(count, x, out, [](auto v) HWY_ATTR { return hn::Abs(v); });
}

void largest_by_column_here(std::size_t rows, std::size_t count, const double* HWY_RESTRICT x,
                            std::size_t stride, double* HWY_RESTRICT largest) {
  const hn::ScalableTag<double> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t c = 0;
  for (; c + lanes <= count; c += lanes) {
    auto here = hn::Zero(d);
    for (std::size_t r = 0; r < rows; ++r) here = hn::Max(here, hn::Abs(hn::LoadU(d, x + r * stride + c)));
    hn::StoreU(here, d, largest + c);
  }
  for (; c < count; ++c) {
    largest[c] = 0;
    for (std::size_t r = 0; r < rows; ++r)
      largest[c] = std::fabs(x[r * stride + c]) > largest[c] ? std::fabs(x[r * stride + c]) : largest[c];
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace attest::certified
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attest::certified {

HWY_EXPORT(round_between_steps_here);
HWY_EXPORT(round_rows_between_steps_here);
HWY_EXPORT(round_pairs_between_steps_here);
HWY_EXPORT(round_pair_rows_between_steps_here);
HWY_EXPORT(sum_of_squares_here);
HWY_EXPORT(largest_sum_of_squares_here);
HWY_EXPORT(largest_magnitude_here);
HWY_EXPORT(largest_by_column_here);
HWY_EXPORT(to_floats_here);
HWY_EXPORT(magnitudes_to_floats_here);

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
std::size_t round_rows_between_steps(std::size_t rows, std::size_t count, const double* values, double error,
                                     const format& f, rounding direction, void* const* out,
                                     unsigned char* open_rows) {
  if (direction == rounding::to_odd) return all_open(rows, open_rows);
  return HWY_DYNAMIC_DISPATCH(round_rows_between_steps_here)(rows, count, values, error, f, direction, out,
                                                             open_rows);
}
std::size_t round_pairs_between_steps(std::size_t count, const double* high, const double* low,
                                      const double* error, rounding direction, double* out,
                                      unsigned char* open) {
  if (direction == rounding::to_odd) return all_open(count, open);
  return HWY_DYNAMIC_DISPATCH(round_pairs_between_steps_here)(count, high, low, error, direction, out, open);
}
std::size_t round_pair_rows_between_steps(std::size_t rows, std::size_t count, const double* values,
                                          std::size_t stride, rounding direction, void* const* out,
                                          unsigned char* open_rows) {
  if (direction == rounding::to_odd) return all_open(rows, open_rows);
  return HWY_DYNAMIC_DISPATCH(round_pair_rows_between_steps_here)(rows, count, values, stride, direction, out,
                                                                  open_rows);
}
double sum_of_squares(std::size_t count, const double* x) {
  return HWY_DYNAMIC_DISPATCH(sum_of_squares_here)(count, x);
}
double largest_sum_of_squares(std::size_t rows, std::size_t count, const double* x, std::size_t stride) {
  return HWY_DYNAMIC_DISPATCH(largest_sum_of_squares_here)(rows, count, x, stride);
}
double largest_magnitude(std::size_t count, const double* x) {
  return HWY_DYNAMIC_DISPATCH(largest_magnitude_here)(count, x);
}
double largest_magnitude(std::size_t rows, std::size_t count, const double* x, std::size_t stride) {
  if (stride == count) return largest_magnitude(rows * count, x);
  double largest = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    const double here = largest_magnitude(count, x + r * stride);
    largest = here > largest ? here : largest;
  }
  return largest;
}

void largest_by_column(std::size_t rows, std::size_t count, const double* x, std::size_t stride,
                       double* largest) {
  HWY_DYNAMIC_DISPATCH(largest_by_column_here)(rows, count, x, stride, largest);
}

void to_floats(std::size_t count, const double* x, float* out) {
  HWY_DYNAMIC_DISPATCH(to_floats_here)(count, x, out);
}
void magnitudes_to_floats(std::size_t count, const double* x, float* out) {
  HWY_DYNAMIC_DISPATCH(magnitudes_to_floats_here)(count, x, out);
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
    // The next after the lower end, which is no member itself: it was moved outward.
    const std::uint64_t index = first.index + 1;
    const decoded number = decode(index / 2, f);
    r.step = sign * (std::ldexp(static_cast<double>(number.significand), number.exponent) +
                     (index % 2 != 0 ? std::ldexp(0.5, number.exponent) : 0.0));
  }
  return r;
}

}  // namespace attest::certified
#endif
