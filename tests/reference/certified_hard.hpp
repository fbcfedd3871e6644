#pragma once

#include "certified_cases.hpp"

#include <algorithm>

// Rows whose outputs lie extremely close to a rounding boundary, with the right answer by arithmetic, not by
// evaluation. All have d = 1, q = 1 or 2^-1074 and the default scale 1, so that a key is its score.
namespace certified_hard {

using namespace certified_cases;

struct row {
  head h;  // one query, one column
  request r;
  std::uint64_t expected = 0;  // the output's pattern
  certificate how = certificate::certified;
};

inline double value(std::uint64_t pattern, const attest::format& f) {
  const attest::decoded d = attest::decode(pattern, f);
  return std::ldexp(static_cast<double>(d.significand), d.exponent) * (d.negative ? -1 : 1);
}

/// The pattern of a number just above a (side > 0) or just below (side < 0), or a itself, rounded in the
/// direction. a is the positive number of the pattern, and not the format's smallest or largest.
inline std::uint64_t beside(std::uint64_t a, int side, rounding direction) {
  if (direction == rounding::up && side > 0) return a + 1;
  if ((direction == rounding::down || direction == rounding::toward_zero) && side < 0) return a - 1;
  return a;
}

inline constexpr dtype types[] = {dtype::binary64, dtype::binary64,      dtype::binary32,   dtype::binary16,
                                  dtype::bfloat16, dtype::float8_e4m3fn, dtype::float8_e5m2};
inline constexpr rounding directions[] = {rounding::nearest_even, rounding::nearest_even, rounding::up,
                                          rounding::down, rounding::toward_zero};

/// A positive normal number of the format away from its ends, with a successor.
inline std::uint64_t some_pattern(const attest::format& f, generator& g) {
  const std::uint64_t fifth = (f.largest >> f.fraction_bits()) / 5;  // of the binades
  const std::uint64_t first = f.hidden_bit() * fifth;
  const std::uint64_t last = f.largest - f.hidden_bit() * fifth;
  return first + g() % (last - first);
}

/// Far exponents: the two top scores are equal, and the mean of their values is the boundary b: the midpoint
/// of neighbours to nearest, a number otherwise. A third key, lower by 40 to 10^15, has the value c. The
/// output is b + w (c - b) with a weight w > 0 as small as 2^-10^15: its side is that of c, and where c = b
/// it is b.
inline row far(generator& g) {
  row x;
  x.r.type = types[g() % 7];
  x.r.direction = directions[g() % 5];
  const attest::format& f = *attest::format_of(x.r.type);
  const std::uint64_t a = some_pattern(f, g);
  const double drops[] = {40, 700, 1e4, 1e6, 1e9, 1e15};
  const double drop = -drops[g() % 6] - static_cast<double>(g() % 1000) / 8;
  x.h.keys = 3;
  x.h.q = {1};
  x.h.k = {0, 0, drop};
  const int side = static_cast<int>(g() % 3) - 1;
  const double distance = std::ldexp(value(a, f), -static_cast<int>(g() % 40));
  if (x.r.direction == rounding::nearest_even) {
    const double low = value(a, f), high = value(a + 1, f);
    const double middle = low + (high - low) / 2;  // exact, but in binary64
    if (x.r.type == dtype::binary64 && side == 0) {
      // The third value cannot be the midpoint: two keys of the third score are, on average.
      x.h.keys = 4;
      x.h.k.push_back(drop);
      x.h.v = {low, high, high, low};
    } else if (side == 0) {
      x.h.v = {low, high, middle};
    } else {
      x.h.v = {low, high, side > 0 ? high + distance : low - distance};
    }
    x.expected = side > 0 ? a + 1 : side < 0 ? a : a + a % 2;
  } else {
    const double b = value(a, f);
    x.h.v = {b, b, side > 0 ? b + distance : side < 0 ? b - distance : b};
    if (x.h.v[2] == b && side != 0) x.h.v[2] = side > 0 ? 2 * b : b / 2;
    x.expected = beside(a, side, x.r.direction);
  }
  if (side == 0) x.how = certificate::exact;
  return x;
}

/// Close exponents: scores 0, δ, 2δ, ... nδ, where binomial(n, m) keys have the score mδ and the values b + h
/// (-1)^m, which average to b. The output's distance from b has the sign of h Σ (-1)^m binomial(n, m) e^(mδ)
/// = h (1 - e^δ)^n: it is of n-th order in δ, down to 2^-2148 for n = 1. |δ|^n < 2^-64, so that the distance
/// is less than any step of a format. In every fourth row there is a limit of bits, far off: it leaves the
/// answer to enclosures.
inline row close(generator& g) {
  row x;
  x.r.type = types[g() % 7];
  x.r.direction = directions[g() % 5];
  const attest::format& f = *attest::format_of(x.r.type);
  const std::uint64_t a = some_pattern(f, g);
  const bool nearest = x.r.direction == rounding::nearest_even;
  const int n = 1 + static_cast<int>(g() % 8);
  if (g() % 4 == 0) x.r.max_bits = 1u << 16;
  const bool smallest = n <= 2 && g() % 4 == 0;
  const int k = smallest ? 1074 : 64 / n + 4 + static_cast<int>(g() % (1000 / static_cast<unsigned>(n)));
  const double delta = (g() % 2 == 0 ? 1 : -1) * std::ldexp(1.0, -k);
  x.h.q = {smallest ? 0x1p-1074 : 1};
  const bool positive_first = g() % 2 == 0;
  double plus, minus;
  if (nearest) {
    plus = value(a + 1, f);
    minus = value(a, f);
  } else {
    const double step = value(a, f) / 8;
    plus = value(a, f) + step;  // exact: a is no subnormal number
    minus = value(a, f) - step;
    if (plus - value(a, f) != value(a, f) - minus) {
      plus = value(a + 1, f);
      minus = 2 * value(a, f) - plus;
    }
  }
  std::size_t binomial = 1;
  for (int m = 0; m <= n; ++m) {
    for (std::size_t copy = 0; copy < binomial; ++copy) {
      x.h.k.push_back(m * delta);
      x.h.v.push_back((m % 2 == 0) == positive_first ? plus : minus);
    }
    binomial = binomial * static_cast<std::size_t>(n - m) / static_cast<std::size_t>(m + 1);
  }
  x.h.keys = x.h.k.size();
  int side = positive_first ? 1 : -1;
  if (delta > 0 && n % 2 != 0) side = -side;
  x.expected = nearest ? (side > 0 ? a + 1 : a) : beside(a, side, x.r.direction);
  return x;
}

/// Whether certified_attention() answers a row as it has to.
inline bool right(const row& x) {
  const answer a = ask(x.h, x.r);
  return pattern_at(a.output, 0, x.r.type) == x.expected && a.output_certificates[0] == x.how;
}

}  // namespace certified_hard
