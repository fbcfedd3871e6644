#pragma once

#include "reference/double_double/error_free.hpp"

// Numbers as unevaluated sums high + low of two doubles, |low| <= ulp(high)/2: about 106 bits. For the few
// numbers of a row; rows of numbers are in vectors.hpp. u = 2^-53; algorithms and bounds as in the source
// that error_free.hpp names, for operands whose products neither overflow nor underflow.
namespace attest {

using double_double = error_free::pair;

/// Relative error at most 2u^2.
inline double_double sum(double_double a, double b) {
  const auto s = error_free::two_sum(a.high, b);
  return error_free::fast_two_sum(s.high, a.low + s.low);
}

/// Relative error at most 3u^2 (for the sum of numbers of either sign: AccurateDWPlusDW).
inline double_double sum(double_double a, double_double b) {
  const auto s = error_free::two_sum(a.high, b.high);
  const auto t = error_free::two_sum(a.low, b.low);
  const auto v = error_free::fast_two_sum(s.high, s.low + t.high);
  return error_free::fast_two_sum(v.high, t.low + v.low);
}

/// Relative error at most 2u^2.
inline double_double product(double_double a, double b) {
  const auto p = error_free::two_product(a.high, b);
  return error_free::fast_two_sum(p.high, std::fma(a.low, b, p.low));
}

/// Relative error at most 6u^2 (DWTimesDW2).
inline double_double product(double_double a, double_double b) {
  const auto p = error_free::two_product(a.high, b.high);
  const double low = std::fma(a.high, b.low, a.low * b.high);
  return error_free::fast_two_sum(p.high, p.low + low);
}

/// Relative error at most 15u^2 (DWDivDW2).
inline double_double quotient(double_double a, double_double b) {
  const double q = a.high / b.high;
  const auto r = product(b, q);
  const double d = (a.high - r.high) + (a.low - r.low);
  return error_free::fast_two_sum(q, d / b.high);
}

/// 1/√n for 1 <= n < 2^53; relative error at most 14u^2. With h = 1/√n (1 + 2θu) from two roundings, t = 1 -
/// n h^2 has |t| <= 4.1u, and 1/√n = h (1 - t)^(-1/2) = h (1 + t/2 + 3t^2/8 ...), where 3t^2/8 <= 6.4u^2 is
/// dropped. t is calculated with an error of (5.1 + 1 + 4.1)u^2, from the fused operation, the product and
/// the difference; the last product rounds by u · 2.1u.
inline double_double reciprocal_root(double n) {
  const double h = 1 / std::sqrt(n);
  const auto nh = error_free::two_product(n, h);
  const double t = std::fma(-nh.high, h, 1.0) - nh.low * h;
  return error_free::fast_two_sum(h, h * (t / 2));
}

}  // namespace attest
