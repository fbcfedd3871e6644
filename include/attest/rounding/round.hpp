#pragma once

#include <attest/enclosure/interval.hpp>
#include <attest/rounding/direction.hpp>
#include <attest/rounding/format.hpp>

// Rounding of exact numbers and of enclosures to bit patterns. IEEE 754-2019, sections 4.3 and 7.4: an exact
// zero is +0 (-0 rounding down), a nonzero number keeps its sign when it rounds to zero (where the format has a
// -0), overflow follows the direction.
namespace attest {

namespace detail {

/// Where a magnitude lies among the numbers of a format: `index` counts half steps between neighbours from
/// zero (so an even index is the bit pattern 2 * pattern, an odd one the midpoint above it), and `exact`
/// tells whether the magnitude is that point or lies between it and the next. Everything past the midpoint
/// above the largest number is there, inexact; that midpoint itself is exact.
struct half_step {
  std::uint64_t index = 0;
  bool exact = true;
};

/// Position of m * 2^exponent, or of a number in the open interval between that and the next point if `more`.
template <std::size_t Capacity>
constexpr half_step position(const natural<Capacity>& m, std::int64_t exponent, bool more, const format& f) {
  if (m.size == 0) return {0, !more};
  const auto length = static_cast<std::int64_t>(bit_length(m));
  const std::int64_t top = exponent + length - 1;
  const std::uint64_t end = 2 * f.largest + 1;
  if (top > f.max_exponent() + 1) return {end, false};
  const std::int64_t binade = top < f.min_exponent ? f.min_exponent : top;
  const std::int64_t half_unit = binade - f.fraction_bits() - 1;
  const std::int64_t shift = exponent - half_unit;
  half_step r;
  r.exact = !more && (shift >= 0 || !any_bit_below(m, static_cast<std::size_t>(-shift)));
  // m / half_unit < 2^(precision + 1): the significand with one bit more, in one word for every precision up
  // to 63.
  const natural<extended<Capacity, 1>> halves = shifted<extended<Capacity, 1>>(m, shift);
  const std::uint64_t significand = halves.size == 0 ? 0 : halves.limbs[0];
  // The biased exponent is added to a significand whose hidden bit adds the missing 1; twice, since these are
  // halves.
  r.index = significand + (static_cast<std::uint64_t>(binade - f.min_exponent) << f.precision);
  if (r.index > end) return {end, false};
  return r;
}

/// The magnitude's pattern when a number at this position is rounded. `away`: a directed rounding that
/// increases it.
constexpr std::uint64_t round_position(half_step at, bool away, bool nearest, bool odd, const format& f) {
  const std::uint64_t below = at.index / 2;
  const bool at_midpoint_or_above = at.index % 2 != 0;
  if (at.exact && !at_midpoint_or_above) return below;
  bool increase = away;
  if (nearest) increase = at_midpoint_or_above && (!at.exact || below % 2 != 0);
  if (odd) increase = below % 2 == 0 && below < f.largest;
  if (!increase) return below;
  return below == f.largest ? f.infinity : below + 1;
}

constexpr std::uint64_t round_signed(bool negative, half_step at, const format& f, rounding mode) {
  const std::uint64_t negative_zero = f.has_negative_zero ? f.sign_bit() : 0;
  if (at.index == 0 && at.exact) return mode == rounding::down ? negative_zero : 0;
  const bool away = negative ? mode == rounding::down : mode == rounding::up;
  const std::uint64_t magnitude =
      round_position(at, away, mode == rounding::nearest_even, mode == rounding::to_odd, f);
  if (negative && magnitude == 0) return negative_zero;
  return negative ? magnitude | f.sign_bit() : magnitude;
}

}  // namespace detail

/// The bit pattern of (-1)^negative * m * 2^exponent, rounded; with `more`, of a number that exceeds it in
/// magnitude by less than reaches the next number or midpoint of the format.
template <std::size_t Capacity>
constexpr std::uint64_t round_exact(bool negative, const natural<Capacity>& m, std::int64_t exponent,
                                    bool more, const format& f, rounding mode) {
  return detail::round_signed(negative, detail::position(m, exponent, more, f), f, mode);
}

/// A point where the rounding changes: (-1)^negative * significand * 2^exponent.
struct rounding_boundary {
  bool negative = false;
  std::uint64_t significand = 0;
  int exponent = 0;
  std::uint64_t below = 0;  // the pattern of numbers just below it,
  std::uint64_t at = 0;     // of the boundary itself,
  std::uint64_t above = 0;  // and of numbers just above
};

enum class rounding_outcome {
  settled,   // every member rounds to `pattern`
  boundary,  // exactly one boundary lies in the interval: the number's side of it decides
  narrower   // more than one does: the interval must become narrower
};

struct interval_rounding {
  rounding_outcome outcome = rounding_outcome::narrower;
  std::uint64_t pattern = 0;
  rounding_boundary boundary;
};

namespace detail {

__extension__ typedef __int128 signed_index;

/// A position with its sign: the point -index (or +index), or the open step next to it away from zero.
struct signed_step {
  bool negative = false;
  half_step at;
};

/// Distance of boundaries in half steps, and the residue of their indices; zero is a boundary as well.
struct boundary_grid {
  std::uint64_t step = 2;
  std::uint64_t residue = 0;
  std::uint64_t last = 0;  // index of the boundary of greatest magnitude
};

/// nearest: the midpoints; directed: the numbers; to odd: the numbers of even pattern. (To odd, both
/// neighbourhoods of a number of odd pattern round to it.)
constexpr boundary_grid grid_of(const format& f, rounding mode) {
  boundary_grid g;
  if (mode == rounding::nearest_even) {
    g.residue = 1;
    g.last = 2 * f.largest + 1;
  } else if (mode == rounding::to_odd) {
    g.step = 4;
    g.last = 2 * (f.largest - f.largest % 2);
  } else {
    g.last = 2 * f.largest;
  }
  return g;
}

/// The greatest boundary index <= the magnitude at this position; 0 if there is none but zero. (It never
/// exceeds g.last, since a position goes no further than the midpoint above the largest number.)
constexpr std::uint64_t boundary_at_or_below(half_step at, const boundary_grid& g) {
  if (at.index < g.residue) return 0;
  return at.index - (at.index - g.residue) % g.step;
}

/// The least boundary index >= the magnitude at this position, or g.last + 1 where there is none.
constexpr std::uint64_t boundary_at_or_above(half_step at, const boundary_grid& g) {
  if (at.index == 0 && at.exact) return 0;
  const std::uint64_t from = at.exact ? at.index : at.index + 1;
  const std::uint64_t past = from % g.step;
  const std::uint64_t index = from + (g.residue + g.step - past) % g.step;
  return index <= g.last ? index : g.last + 1;
}

}  // namespace detail

/// Rounds an enclosed number. Rounding is monotone, so where both ends agree every member does; otherwise the
/// boundaries in the interval are counted on their grid.
template <std::size_t Capacity>
constexpr interval_rounding round_interval(const interval<Capacity>& x, const format& f, rounding mode) {
  const interval_end<Capacity> low = lower(x);
  const interval_end<Capacity> high = upper(x);
  const detail::half_step low_at = detail::position(low.magnitude, low.exponent, false, f);
  const detail::half_step high_at = detail::position(high.magnitude, high.exponent, false, f);
  interval_rounding r;
  r.pattern = detail::round_signed(low.negative, low_at, f, mode);
  if (r.pattern == detail::round_signed(high.negative, high_at, f, mode)) {
    r.outcome = rounding_outcome::settled;
    return r;
  }
  const detail::boundary_grid g = detail::grid_of(f, mode);
  const detail::signed_index first = low.negative
                                         ? -detail::signed_index{detail::boundary_at_or_below(low_at, g)}
                                         : detail::signed_index{detail::boundary_at_or_above(low_at, g)};
  const detail::signed_index last = high.negative
                                        ? -detail::signed_index{detail::boundary_at_or_above(high_at, g)}
                                        : detail::signed_index{detail::boundary_at_or_below(high_at, g)};
  if (first != last) return r;
  r.outcome = rounding_outcome::boundary;
  const bool negative = first < 0;
  const auto index = static_cast<std::uint64_t>(negative ? -first : first);
  const decoded number = decode(index / 2, f);
  r.boundary.negative = negative;
  r.boundary.significand = index % 2 == 0 ? number.significand : 2 * number.significand + 1;
  r.boundary.exponent = index % 2 == 0 ? number.exponent : number.exponent - 1;
  r.boundary.at = detail::round_signed(negative, {index, true}, f, mode);
  const std::uint64_t outside = detail::round_signed(negative, {index, false}, f, mode);
  const std::uint64_t inside = index == 0 ? detail::round_signed(true, {0, false}, f, mode)
                                          : detail::round_signed(negative, {index - 1, false}, f, mode);
  r.boundary.below = negative ? outside : inside;
  r.boundary.above = negative ? inside : outside;
  return r;
}

}  // namespace attest
