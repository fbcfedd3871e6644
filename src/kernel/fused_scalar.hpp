#pragma once

#include <attest/problem/options.hpp>

#include <cmath>
#include <limits>
#include <type_traits>

// The steps of the fused kernel that happen once for a row.
namespace attest::kernel::fused_head {

/// 2^n for an integer n <= 0; 0 for what no number of the format comes near.
template <class T>
T power_of_two(T n) {
  constexpr T least = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
  return n < least ? T(0) : std::ldexp(T(1), static_cast<int>(n));
}

/// maximum + log2 total, in the base that is wanted.
template <class T>
T log_sum_exp_of(T maximum, T total, log_sum_exp_base base) {
  if (base == log_sum_exp_base::two) return maximum + std::log2(total);
  // ln 2 in two parts, the first of few bits: its product with a small maximum is exact.
  constexpr T high = static_cast<T>(std::is_same_v<T, double> ? 0x1.62e42fefap-1 : 0x1.62ep-1);
  constexpr T low = static_cast<T>(std::is_same_v<T, double> ? 0x1.cf79abc9e3b3ap-40 : 0x1.0bfbe8e7bcd5ep-15);
  return maximum * high + (maximum * low + std::log(total));
}

}  // namespace attest::kernel::fused_head
