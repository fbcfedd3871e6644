#pragma once

#include <cmath>

#ifdef __FAST_MATH__
#error "error-free transforms mean nothing under -ffast-math: compile this file without it"
#endif

// Error-free transforms of doubles, rounding to nearest: the rounded result and what the rounding left out,
// exactly, as long as nothing overflows and products do not underflow. Sums and differences are error-free
// for subnormal numbers too. M. Joldes, J.-M. Muller, V. Popescu, "Tight and rigorous error bounds for basic
// building blocks of double-word arithmetic", ACM Trans. Math. Software 44 (2017), algorithms 1 to 3.
namespace attest::error_free {

struct pair {
  double high;
  double low;
};

/// a + b.
inline pair two_sum(double a, double b) {
  const double s = a + b;
  const double a1 = s - b;
  const double b1 = s - a1;
  return {s, (a - a1) + (b - b1)};
}

/// a + b, where a = 0, |a| >= |b| or a is a multiple of the last place of b.
inline pair fast_two_sum(double a, double b) {
  const double s = a + b;
  return {s, b - (s - a)};
}

/// a · b. std::fma is correctly rounded on every machine, if slow where it is not an instruction.
inline pair two_product(double a, double b) {
  const double p = a * b;
  return {p, std::fma(a, b, -p)};
}

}  // namespace attest::error_free
