#pragma once

#include "exact_accumulator.hpp"

#include <attest/enclosure/interval.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

// Sums of elements of an array times enclosed weights, in integers of fixed length: what an interval of
// growing storage does in 300 ns a term takes 5 here, or 10 where elements have more than 64 bits.
namespace attest {

/// [lower, lower + width] · 2^-126, not below 0.
struct fixed_weight {
  std::array<std::uint64_t, 2> lower{};
  std::uint64_t width = 0;
};

/// Contains the members of x that are not negative. Nothing where these reach 2, or a width of 2^62 units.
template <std::size_t Capacity>
std::optional<fixed_weight> fixed_weight_of(const interval<Capacity>& x) {
  constexpr std::size_t room = extended<Capacity, 2>;  // for 2^127 + 1
  const interval_end<Capacity> least = attest::lower(x);
  const interval_end<Capacity> greatest = attest::upper(x);
  if (greatest.negative) return std::nullopt;
  const auto top = greatest.exponent + static_cast<std::int64_t>(bit_length(greatest.magnitude));
  if (top > 1) return std::nullopt;
  natural<room> from;
  if (!least.negative) from = shifted<room>(least.magnitude, least.exponent + 126);
  // Rounded up: one more than the floor is never too little.
  const natural<room> to = attest::add(shifted<room>(greatest.magnitude, greatest.exponent + 126), 1);
  const natural<room> width = attest::subtract(to, from);
  if (bit_length(width) > 62) return std::nullopt;
  fixed_weight w;
  for (std::size_t i = 0; i < from.size; ++i) w.lower[i] = from.limbs[i];
  w.width = width.size == 0 ? 0 : width.limbs[0];
  return w;
}

/// The largest k for which x is a multiple of 2^k, x not 0.
inline int lowest_bit(const input_number& x) { return x.exponent + std::countr_zero(x.magnitude); }

/// Σ v_j w_j for elements that are multiples of one unit 2^unit and below 2^127 units. Fewer than 2^60 terms.
class weighted_sum {
 public:
  explicit weighted_sum(int unit) : unit_(unit) {}

  /// Whether an element fits.
  static bool fits(const input_number& v, int unit) {
    return v.magnitude == 0 || (lowest_bit(v) >= unit &&
                                v.exponent - unit <= 127 - static_cast<int>(std::bit_width(v.magnitude)));
  }

  void add(const input_number& v, const fixed_weight& w) {
    if (v.magnitude == 0) return;
    const int shift = v.exponent - unit_;
    const wide units = shift >= 0 ? wide{v.magnitude} << shift : wide{v.magnitude >> -shift};
    side& s = sides_[v.negative ? 1 : 0];
    add_part<0>(s, static_cast<std::uint64_t>(units), w);
    if (const auto high = static_cast<std::uint64_t>(units >> 64); high != 0) add_part<1>(s, high, w);
  }

  /// Contains the sum for all members of the weights. With l and d the sums of lower and of width, for
  /// positive and negative elements, the sum is in [l⁺ - l⁻ - d⁻, l⁺ - l⁻ + d⁺] units of 2^(unit - 126).
  interval<growing> value(unsigned bits) const {
    const std::int64_t exponent = std::int64_t{unit_} - 126;
    const auto exactly = [&](const auto& limbs) {
      interval<growing> x;
      detail::make_room(x.midpoint, limbs.size());
      for (std::size_t i = 0; i < limbs.size(); ++i) x.midpoint.limbs[i] = limbs[i];
      detail::trim(x.midpoint, limbs.size());
      x.exponent = exponent;
      return x;
    };
    interval<growing> low = subtract(exactly(sides_[0].lower), exactly(sides_[1].lower), bits);
    if (low.midpoint.size == 0) low.exponent = exponent;  // the unit of a radius beside 0
    const natural<growing> up = exactly(sides_[0].width).midpoint;
    const natural<growing> down = exactly(sides_[1].width).midpoint;
    return detail::enclose<growing>(low.negative, low.midpoint, low.exponent,
                                    detail::at_least(low.radius, low.exponent) +
                                        detail::at_least(compare(up, down) < 0 ? down : up, exponent),
                                    bits);
  }

 private:
  __extension__ typedef unsigned __int128 wide;

  struct side {
    std::array<std::uint64_t, 5> lower{};  // terms below 2^127 · 2^127
    std::array<std::uint64_t, 4> width{};  // terms below 2^127 · 2^62
  };

  /// Adds part · 2^(64 at) units of the value times the weight.
  template <std::size_t at>
  static void add_part(side& s, std::uint64_t part, const fixed_weight& w) {
    wide t = wide{part} * w.lower[0] + s.lower[at];
    s.lower[at] = static_cast<std::uint64_t>(t);
    t = wide{part} * w.lower[1] + s.lower[at + 1] + (t >> 64);
    s.lower[at + 1] = static_cast<std::uint64_t>(t);
    carry<at + 2>(s.lower, static_cast<std::uint64_t>(t >> 64));
    t = wide{part} * w.width + s.width[at];
    s.width[at] = static_cast<std::uint64_t>(t);
    carry<at + 1>(s.width, static_cast<std::uint64_t>(t >> 64));
  }
  /// Adds to limb `at` and the higher ones.
  template <std::size_t at, std::size_t size>
  static void carry(std::array<std::uint64_t, size>& to, std::uint64_t more) {
    to[at] += more;
    bool over = to[at] < more;
    for (std::size_t i = at + 1; over && i < size; ++i) over = ++to[i] == 0;
  }

  int unit_;
  side sides_[2];  // of the positive and of the negative elements
};

}  // namespace attest
