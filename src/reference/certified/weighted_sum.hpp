#pragma once

#include "exact_accumulator.hpp"

#include <attest/enclosure/interval.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

// Sums of elements of an array times enclosed weights, in integers of fixed length: what an interval of
// growing storage does in 300 ns a term takes 5 here.
namespace attest {

/// [lower, lower + width] · 2^-160, not below 0.
struct fixed_weight {
  std::array<std::uint64_t, 3> lower{};
  std::uint64_t width = 0;
};

/// Contains the members of x that are not negative. Nothing where that takes more than 2^190, or a width of
/// 2^62.
inline std::optional<fixed_weight> fixed_weight_of(const interval<growing>& x) {
  const interval_end<growing> least = attest::lower(x);
  const interval_end<growing> greatest = attest::upper(x);
  if (greatest.negative) return std::nullopt;
  const auto top = greatest.exponent + static_cast<std::int64_t>(bit_length(greatest.magnitude));
  if (top > 29) return std::nullopt;
  natural<growing> from;
  if (!least.negative) from = shifted<growing>(least.magnitude, least.exponent + 160);
  // Rounded up: one more than the floor is never too little.
  const natural<growing> to = attest::add(shifted<growing>(greatest.magnitude, greatest.exponent + 160), 1);
  const natural<growing> width = attest::subtract(to, from);
  if (bit_length(width) > 62) return std::nullopt;
  fixed_weight w;
  for (std::size_t i = 0; i < from.size; ++i) w.lower[i] = from.limbs[i];
  w.width = width.size == 0 ? 0 : width.limbs[0];
  return w;
}

/// Σ v_j w_j for elements that are multiples of one unit 2^unit and below 2^127 units. Fewer than 2^60 terms.
class weighted_sum {
 public:
  explicit weighted_sum(int unit) : unit_(unit) {}

  /// Whether an element fits.
  static bool fits(const input_number& v, int unit) {
    return v.magnitude == 0 ||
           (v.exponent >= unit && v.exponent - unit <= 127 - static_cast<int>(std::bit_width(v.magnitude)));
  }

  void add(const input_number& v, const fixed_weight& w) {
    if (v.magnitude == 0) return;
    const wide units = wide{v.magnitude} << (v.exponent - unit_);
    const std::uint64_t part[2] = {static_cast<std::uint64_t>(units),
                                   static_cast<std::uint64_t>(units >> 64)};
    side& s = sides_[v.negative ? 1 : 0];
    for (std::size_t i = 0; i < 2; ++i) {
      if (part[i] == 0) continue;
      add_product(s.lower.data() + i, 6 - i, part[i], w.lower.data(), 3);
      add_product(s.width.data() + i, 4 - i, part[i], &w.width, 1);
    }
  }

  /// Contains the sum for all members of the weights. With l and d the sums of lower and of width, for
  /// positive and negative elements, the sum is in [l⁺ - l⁻ - d⁻, l⁺ - l⁻ + d⁺] units of 2^(unit - 160).
  interval<growing> value(unsigned bits) const {
    const std::int64_t exponent = std::int64_t{unit_} - 160;
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
    std::array<std::uint64_t, 6> lower{};  // terms below 2^127 · 2^190
    std::array<std::uint64_t, 4> width{};  // terms below 2^127 · 2^62
  };

  /// to += a · b, where the sum stays within to.
  static void add_product(std::uint64_t* to, std::size_t room, std::uint64_t a, const std::uint64_t* b,
                          std::size_t size) {
    wide t = 0;
    for (std::size_t i = 0; i < size; ++i) {
      t = wide{a} * b[i] + to[i] + (t >> 64);
      to[i] = static_cast<std::uint64_t>(t);
    }
    auto carry = static_cast<std::uint64_t>(t >> 64);
    for (std::size_t i = size; carry != 0 && i < room; ++i) {
      to[i] += carry;
      carry = to[i] < carry ? 1 : 0;
    }
  }

  int unit_;
  side sides_[2];  // of the positive and of the negative elements
};

}  // namespace attest
