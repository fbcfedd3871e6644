#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

// Powers of two and exponents of doubles, by their bits.
namespace attest::double_double_tier {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// A power of two that is not below x; 2^-200 at least, 2^1000 at most.
inline double power_of_two_above(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t up = (bits + 0xfffffffffffffu) & 0x7ff0000000000000u;
  return std::clamp(std::bit_cast<double>(up), 0x1p-200, 0x1p1000);
}

/// The least e with x < 2^e, for normal x > 0; -1022 below.
inline int exponent_above(double x) {
  return static_cast<int>(std::bit_cast<std::uint64_t>(x) >> 52 & 0x7ff) - 1022;
}

/// 2^e for -1074 <= e <= 1023.
inline double power_of_two(int e) {
  return e >= -1022 ? std::bit_cast<double>(static_cast<std::uint64_t>(e + 1023) << 52)
                    : std::bit_cast<double>(std::uint64_t{1} << (e + 1074));
}

}  // namespace attest::double_double_tier
