#pragma once

#include <attest/enclosure/fixed_point.hpp>

#include <climits>
#include <concepts>

// Intervals in midpoint-radius form, after the ball arithmetic of Arb (F. Johansson, "Arb: efficient
// arbitrary-precision midpoint-radius interval arithmetic", IEEE Trans. Computers 66, 2017). Every operation
// returns an interval that contains all values of the operation on members of its arguments.
namespace attest {

/// The real numbers x with |x - (+-midpoint * 2^exponent)| <= radius * 2^exponent. Fixed storage holds
/// midpoints of at most Capacity - 1 limbs, so that the ends fit Capacity limbs.
template <std::size_t Capacity>
struct interval {
  natural<Capacity> midpoint;
  bool negative = false;  // false when the midpoint is zero
  std::uint64_t radius = 0;
  std::int64_t exponent = 0;

  /// The interval that holds n * 2^exponent alone. An n whose bits from the first to the last that is set
  /// need more than Capacity - 1 limbs calls error::precision_exhausted().
  template <class Integer>
  requires exact_integer<Integer> || std::integral<Integer>
  static constexpr interval exact(Integer n, std::int64_t exponent = 0);

  /// n / d in an interval of relative width <= 2^-(bits - 6); d = 0 is error::zero_denominator(). The
  /// quotient is exact if it is a dyadic number of at most `bits` bits.
  template <class Numerator, class Denominator>
  static constexpr interval ratio(Numerator n, Denominator d, unsigned bits);
};

/// One end of an interval, exactly: +-magnitude * 2^exponent.
template <std::size_t Capacity>
struct interval_end {
  natural<Capacity> magnitude;
  bool negative = false;
  std::int64_t exponent = 0;
};

namespace detail {

/// The precision that an interval of this capacity can have: one limb is left for the carry of an end.
template <std::size_t Capacity>
constexpr void check_precision(unsigned bits) {
  if (bits == 0) error::precision_exhausted();
  if constexpr (Capacity != growing)
    if (std::size_t{bits} + 64 > 64 * Capacity) error::precision_exhausted();
}

/// An upper bound mantissa * 2^exponent of an error; 2^31 <= mantissa < 2^32, or 0. Each operation rounds up,
/// by at most a part in 2^30.
struct magnitude {
  std::uint64_t mantissa = 0;
  std::int64_t exponent = 0;
};

/// The least magnitude >= value * 2^exponent.
constexpr magnitude at_least(std::uint64_t value, std::int64_t exponent) {
  if (value == 0) return {};
  const int width = static_cast<int>(std::bit_width(value));
  if (width <= 32) return {value << (32 - width), exponent - (32 - width)};
  const int shift = width - 32;
  const std::uint64_t rounded = (value + ((std::uint64_t{1} << shift) - 1) < value)
                                    ? std::uint64_t{1} << 32
                                    : (value + ((std::uint64_t{1} << shift) - 1)) >> shift;
  if (rounded >> 32 != 0) return {std::uint64_t{1} << 31, exponent + shift + 1};
  return {rounded, exponent + shift};
}

/// A magnitude >= a * 2^exponent.
template <std::size_t Capacity>
constexpr magnitude at_least(const natural<Capacity>& a, std::int64_t exponent) {
  if (a.size == 0) return {};
  if (a.size == 1) return at_least(a.limbs[0], exponent);
  const auto length = static_cast<std::int64_t>(bit_length(a));
  const natural<Capacity> top = shifted<Capacity>(a, 32 - length);
  return at_least(top.limbs[0] + 1, exponent + length - 32);
}

/// A magnitude <= a * 2^exponent, for a > 0: the one bound that is rounded down.
template <std::size_t Capacity>
constexpr magnitude at_most(const natural<Capacity>& a, std::int64_t exponent) {
  const auto length = static_cast<std::int64_t>(bit_length(a));
  const natural<Capacity> top = shifted<Capacity>(a, 32 - length);
  return {top.limbs[0], exponent + length - 32};
}

constexpr magnitude operator+(magnitude a, magnitude b) {
  if (a.mantissa == 0) return b;
  if (b.mantissa == 0) return a;
  if (a.exponent < b.exponent) {
    const magnitude larger = b;
    b = a;
    a = larger;
  }
  const std::int64_t gap = a.exponent - b.exponent;
  const std::uint64_t small = gap == 0 ? b.mantissa : gap < 32 ? (b.mantissa >> gap) + 1 : 1;
  return at_least(a.mantissa + small, a.exponent);
}

constexpr magnitude operator*(magnitude a, magnitude b) {
  return at_least(a.mantissa * b.mantissa, a.exponent + b.exponent);
}

/// >= a / b for every divisor that is at least b > 0.
constexpr magnitude operator/(magnitude a, magnitude b) {
  if (a.mantissa == 0) return {};
  return at_least((a.mantissa << 31) / b.mantissa + 1, a.exponent - b.exponent - 31);
}

/// The `cut` lowest bits of m in units of 2^(cut - 32), rounded up: at most 2^32.
template <std::size_t Capacity>
constexpr std::uint64_t rest_of(const natural<Capacity>& m, std::size_t cut) {
  constexpr std::uint64_t word = 0xFFFFFFFF;
  if (cut < 32) return m.size == 0 ? 0 : (m.limbs[0] << (32 - cut)) & word;
  const std::size_t low = cut - 32;
  const std::size_t index = low / 64;
  const unsigned part = static_cast<unsigned>(low % 64);
  std::uint64_t rest = index < m.size ? m.limbs[index] >> part : 0;
  if (part > 32 && index + 1 < m.size) rest |= m.limbs[index + 1] << (64 - part);
  return (rest & word) + (any_bit_below(m, low) ? 1 : 0);
}

/// An interval of midpoint precision `bits` that contains all x with |x - (+-m * 2^exponent)| <= bound.
///
/// The bits of m below the unit u of the result are cut: m = m' u + rest, so |x - m' u| <= rest + bound, and
/// the radius is that sum, taken up to multiples of 2^-32 u, rounded up to a multiple of u. u is at least so
/// large that the bound's part has 32 bits. Where the bound is less than one unit of a short m, m is extended
/// with zeros instead, so that rounding the radius up does not widen it.
template <std::size_t Capacity, std::size_t Wide>
constexpr interval<Capacity> enclose(bool negative, const natural<Wide>& m, std::int64_t exponent,
                                     magnitude bound, unsigned bits) {
  constexpr std::int64_t exponent_limit = std::int64_t{1} << 61;
  std::int64_t cut = static_cast<std::int64_t>(bit_length(m)) - static_cast<std::int64_t>(bits);
  if (bound.mantissa == 0) {
    if (m.size == 0) return {};
    if (cut < 0) cut = 0;
  } else {
    const std::int64_t radius_unit = bound.exponent - exponent;  // there the radius has exactly 32 bits
    if (cut < 0) {
      // Where the radius has 16 bits, rounding it up costs a part in 2^15.
      const std::int64_t finer = radius_unit + 16;
      cut = finer < cut ? cut : finer < 0 ? finer : 0;
    }
    if (cut < radius_unit) cut = radius_unit;
  }
  interval<Capacity> r;
  r.exponent = exponent + cut;
  if (r.exponent > exponent_limit || r.exponent < -exponent_limit) error::precision_exhausted();
  r.midpoint = shifted<Capacity>(m, -cut);
  r.negative = negative && r.midpoint.size != 0;
  std::uint64_t fraction = cut > 0 ? rest_of(m, static_cast<std::size_t>(cut)) : 0;
  if (bound.mantissa != 0) {
    const std::int64_t right = r.exponent - bound.exponent;
    if (right < 32) {
      r.radius = bound.mantissa >> right;
      fraction += (bound.mantissa << (32 - right)) & 0xFFFFFFFF;
    } else {
      fraction += right < 64 ? (bound.mantissa >> (right - 32)) + 1 : 1;
    }
  }
  r.radius += (fraction + 0xFFFFFFFF) >> 32;
  return r;
}

template <class Integer>
constexpr bool is_negative(const Integer& n) {
  if constexpr (exact_integer<Integer>)
    return n.sign() < 0;
  else
    return n < 0;
}

/// |n| for the built-in integers.
template <std::integral Integer>
constexpr std::uint64_t absolute(Integer n) {
  if (is_negative(n)) return ~static_cast<std::uint64_t>(n) + 1;
  return static_cast<std::uint64_t>(n);
}

/// n truncated to the capacity, or to `bits` bits if n is longer than that and does not fit.
template <std::size_t Capacity, class Integer>
constexpr interval<Capacity> enclose_integer(const Integer& n, unsigned bits) {
  interval<Capacity> r;
  if constexpr (exact_integer<Integer>) {
    std::size_t shift = 0;
    if constexpr (Capacity != growing) {
      const std::size_t length = length_of(n);
      if (length > 64 * (Capacity - 1)) {
        shift = length - bits;
        for (std::size_t i = 0; i < shift && r.radius == 0; i += 64) {
          const std::uint64_t word = limb_of(n, i / 64);
          if ((shift - i >= 64 ? word : word << (64 - (shift - i))) != 0) r.radius = 1;
        }
      }
    }
    r.midpoint = magnitude_of<Capacity>(n, shift);
    r.exponent = static_cast<std::int64_t>(shift);
  } else {
    r.midpoint = attest::to_natural<Capacity>(absolute(n));
  }
  r.negative = is_negative(n) && r.midpoint.size != 0;
  return r;
}

}  // namespace detail

/// Whether the interval holds one number only.
template <std::size_t Capacity>
constexpr bool is_exact(const interval<Capacity>& x) {
  return x.radius == 0;
}

/// +1 or -1 if every member has that sign, else 0: also when zero is only an end.
template <std::size_t Capacity>
constexpr int sign(const interval<Capacity>& x) {
  if (x.midpoint.size == 0) return 0;
  if (x.midpoint.size == 1 && x.midpoint.limbs[0] <= x.radius) return 0;
  return x.negative ? -1 : 1;
}

namespace detail {

/// +-midpoint + radius (or - radius, if `down`), in units of 2^exponent.
template <std::size_t Capacity>
constexpr interval_end<Capacity> end_of(const interval<Capacity>& x, bool down) {
  interval_end<Capacity> r;
  r.exponent = x.exponent;
  if (x.negative == down) {
    r.magnitude = attest::add(x.midpoint, x.radius);
    r.negative = down && r.magnitude.size != 0;
  } else if (x.midpoint.size > 1 || (x.midpoint.size == 1 && x.midpoint.limbs[0] >= x.radius)) {
    r.magnitude = attest::subtract(x.midpoint, x.radius);
    r.negative = x.negative && r.magnitude.size != 0;
  } else {
    r.magnitude = attest::to_natural<Capacity>(x.radius - (x.midpoint.size == 0 ? 0 : x.midpoint.limbs[0]));
    r.negative = down;
  }
  return r;
}

}  // namespace detail

/// The least member.
template <std::size_t Capacity>
constexpr interval_end<Capacity> lower(const interval<Capacity>& x) {
  return detail::end_of(x, true);
}

/// The greatest member.
template <std::size_t Capacity>
constexpr interval_end<Capacity> upper(const interval<Capacity>& x) {
  return detail::end_of(x, false);
}

/// The smallest k with upper - lower <= 2^k; LONG_MIN for an exact interval.
template <std::size_t Capacity>
constexpr std::int64_t width_exponent(const interval<Capacity>& x) {
  if (x.radius == 0) return LONG_MIN;
  return x.exponent + 1 + static_cast<std::int64_t>(std::bit_width(x.radius - 1));
}

template <std::size_t Capacity>
constexpr interval<Capacity> negate(interval<Capacity> x) {
  x.negative = !x.negative && x.midpoint.size != 0;
  return x;
}

/// x * 2^k.
template <std::size_t Capacity>
constexpr interval<Capacity> scale_by_power_of_two(interval<Capacity> x, std::int64_t k) {
  constexpr std::int64_t limit = std::int64_t{1} << 61;
  if (k > limit || k < -limit || x.exponent + k > limit || x.exponent + k < -limit)
    error::precision_exhausted();
  if (x.midpoint.size != 0 || x.radius != 0) x.exponent += k;
  return x;
}

/// x with its midpoint cut to `bits` bits and the radius widened by what was cut.
template <std::size_t To, std::size_t Capacity>
constexpr interval<To> round_to(const interval<Capacity>& x, unsigned bits) {
  detail::check_precision<To>(bits);
  return detail::enclose<To>(x.negative, x.midpoint, x.exponent, detail::at_least(x.radius, x.exponent),
                             bits);
}

namespace detail {

/// x + y, or x - y if y_negative is the opposite of y's sign.
///
/// Both midpoints are brought to one unit u = 2^unit. Where it is coarser than an operand's own, that operand
/// is cut, an error of less than 1 u each; u is at most 2^-(bits + 4) of the larger operand, so the two cuts
/// together stay below 2^-2 of a unit of the result, unless the midpoints cancel. Cancellation needs opposite
/// signs and neighbouring leading bits; then everything is kept (as far as the storage goes), and the sum is
/// exact. The radii add up.
template <std::size_t Capacity>
constexpr interval<Capacity> sum(const interval<Capacity>& x, const interval<Capacity>& y, bool y_negative,
                                 unsigned bits) {
  check_precision<Capacity>(bits);
  const std::int64_t x_top = x.exponent + static_cast<std::int64_t>(bit_length(x.midpoint));
  const std::int64_t y_top = y.exponent + static_cast<std::int64_t>(bit_length(y.midpoint));
  const magnitude x_bound = at_least(x.radius, x.exponent);
  const magnitude y_bound = at_least(y.radius, y.exponent);
  if (x.midpoint.size == 0)
    return enclose<Capacity>(y_negative, y.midpoint, y.exponent, x_bound + y_bound, bits);
  if (y.midpoint.size == 0)
    return enclose<Capacity>(x.negative, x.midpoint, x.exponent, x_bound + y_bound, bits);
  const std::int64_t top = x_top > y_top ? x_top : y_top;
  const std::int64_t low = x.exponent < y.exponent ? x.exponent : y.exponent;
  std::int64_t window = std::int64_t{bits} + 4;
  if (x.negative != y_negative && x_top - y_top <= 1 && y_top - x_top <= 1)
    window = Capacity == growing ? top - low : static_cast<std::int64_t>(64 * Capacity);
  const std::int64_t unit = low > top - window ? low : top - window;
  constexpr std::size_t wide = extended<Capacity, 1>;
  const natural<wide> a = shifted<wide>(x.midpoint, x.exponent - unit);
  const natural<wide> b = shifted<wide>(y.midpoint, y.exponent - unit);
  std::uint64_t cuts = 0;
  if (x.exponent < unit && any_bit_below(x.midpoint, static_cast<std::size_t>(unit - x.exponent))) ++cuts;
  if (y.exponent < unit && any_bit_below(y.midpoint, static_cast<std::size_t>(unit - y.exponent))) ++cuts;
  const magnitude bound = x_bound + y_bound + at_least(cuts, unit);
  if (x.negative == y_negative) return enclose<Capacity>(x.negative, attest::add(a, b), unit, bound, bits);
  if (compare(a, b) >= 0) return enclose<Capacity>(x.negative, attest::subtract(a, b), unit, bound, bits);
  return enclose<Capacity>(y_negative, attest::subtract(b, a), unit, bound, bits);
}

}  // namespace detail

/// x + y. Error: detail::sum.
template <std::size_t Capacity>
constexpr interval<Capacity> add(const interval<Capacity>& x, const interval<Capacity>& y, unsigned bits) {
  return detail::sum(x, y, y.negative, bits);
}

/// x - y. Error: detail::sum.
template <std::size_t Capacity>
constexpr interval<Capacity> subtract(const interval<Capacity>& x, const interval<Capacity>& y,
                                      unsigned bits) {
  return detail::sum(x, y, !y.negative, bits);
}

/// x * y. With x = a + s, |s| <= r and y = b + t, |t| <= q: |x y - a b| = |a t + b s + s t| <= |a| q + |b| r
/// + r q.
template <std::size_t Capacity>
constexpr interval<Capacity> multiply(const interval<Capacity>& x, const interval<Capacity>& y,
                                      unsigned bits) {
  detail::check_precision<Capacity>(bits);
  detail::magnitude bound;
  if (x.radius != 0 || y.radius != 0) {
    const detail::magnitude r = detail::at_least(x.radius, x.exponent);
    const detail::magnitude q = detail::at_least(y.radius, y.exponent);
    bound =
        detail::at_least(x.midpoint, x.exponent) * q + detail::at_least(y.midpoint, y.exponent) * r + r * q;
  }
  return detail::enclose<Capacity>(x.negative != y.negative, multiply_wide(x.midpoint, y.midpoint),
                                   x.exponent + y.exponent, bound, bits);
}

/// x / y; a y that contains zero is error::interval_contains_zero(). With x = a + s, |s| <= r and y = b + t,
/// |t| <= q < |b|: |x/y - a/b| = |s - (a/b) t| / |b + t| <= (r + |a/b| q) / (|b| - q). The midpoint is
/// floor(|a| 2^k / |b|), k such that it has at least bits + 2 bits; an error of less than 2^-k when the
/// division leaves a remainder.
template <std::size_t Capacity>
constexpr interval<Capacity> divide(const interval<Capacity>& x, const interval<Capacity>& y, unsigned bits) {
  detail::check_precision<Capacity>(bits);
  if (sign(y) == 0) error::interval_contains_zero();
  const auto x_length = static_cast<std::int64_t>(bit_length(x.midpoint));
  const auto y_length = static_cast<std::int64_t>(bit_length(y.midpoint));
  std::int64_t k = std::int64_t{bits} + 3 + y_length - x_length;
  if (k < 0 || x_length == 0) k = 0;
  constexpr std::size_t wide = extended<product_capacity<Capacity, Capacity>, 1>;
  const auto q = attest::divide(shifted<wide>(x.midpoint, k), y.midpoint);
  const std::int64_t exponent = x.exponent - y.exponent - k;
  detail::magnitude bound;
  if (x.radius != 0 || y.radius != 0) {
    const detail::magnitude quotient =
        detail::at_least(q.quotient, exponent) + detail::at_least(q.exact() ? 0 : 1, exponent);
    const detail::magnitude error =
        detail::at_least(x.radius, x.exponent) + quotient * detail::at_least(y.radius, y.exponent);
    bound = error / detail::at_most(attest::subtract(y.midpoint, y.radius), y.exponent);
  }
  if (!q.exact()) bound = bound + detail::at_least(1, exponent);
  return detail::enclose<Capacity>(x.negative != y.negative, q.quotient, exponent, bound, bits);
}

/// The smallest interval, but for rounding, that contains both x and y, where no member of x exceeds the
/// greatest of y. Let l and u be its ends: the midpoint is m with |m - (l + u)/2| <= e, e the rounding error
/// of the sum, and the radius (u - l)/2 + e.
template <std::size_t Capacity>
constexpr interval<Capacity> hull(const interval<Capacity>& x, const interval<Capacity>& y, unsigned bits) {
  const interval_end<Capacity> low = lower(x);
  const interval_end<Capacity> high = upper(y);
  const interval<Capacity> l{low.magnitude, low.negative, 0, low.exponent};
  const interval<Capacity> u{high.magnitude, high.negative, 0, high.exponent};
  const interval<Capacity> m = scale_by_power_of_two(add(l, u, bits), -1);
  const interval_end<Capacity> width = upper(subtract(u, l, bits));
  const detail::magnitude bound =
      detail::at_least(width.magnitude, width.exponent - 1) + detail::at_least(m.radius, m.exponent);
  return detail::enclose<Capacity>(m.negative, m.midpoint, m.exponent, bound, bits);
}

template <std::size_t Capacity>
template <class Integer>
requires exact_integer<Integer> || std::integral<Integer>
constexpr interval<Capacity> interval<Capacity>::exact(Integer n, std::int64_t exponent) {
  interval r;
  if constexpr (exact_integer<Integer>) {
    std::size_t zeros = 0;
    if constexpr (Capacity != growing) {
      if (detail::length_of(n) > 64 * (Capacity - 1)) {
        while (detail::limb_of(n, zeros / 64) == 0) zeros += 64;
        zeros += static_cast<std::size_t>(std::countr_zero(detail::limb_of(n, zeros / 64)));
        if (detail::length_of(n) - zeros > 64 * (Capacity - 1)) error::precision_exhausted();
      }
    }
    r.midpoint = detail::magnitude_of<Capacity>(n, zeros);
    r.exponent = r.midpoint.size == 0 ? 0 : static_cast<std::int64_t>(zeros);
  } else {
    r.midpoint = to_natural<Capacity>(detail::absolute(n));
  }
  r.negative = detail::is_negative(n) && r.midpoint.size != 0;
  return scale_by_power_of_two(r, exponent);
}

template <std::size_t Capacity>
template <class Numerator, class Denominator>
constexpr interval<Capacity> interval<Capacity>::ratio(Numerator n, Denominator d, unsigned bits) {
  // Operands that do not fit are cut to `bits` bits each, a relative error of 2^-(bits - 1) each; the
  // division adds 2^-bits, and cutting the quotient 2^-(bits - 1).
  detail::check_precision<Capacity>(bits);
  const interval denominator = detail::enclose_integer<Capacity>(d, bits);
  if (denominator.midpoint.size == 0) error::zero_denominator();
  return divide(detail::enclose_integer<Capacity>(n, bits), denominator, bits);
}

}  // namespace attest
