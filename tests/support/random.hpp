#pragma once

#include <attest/exact/dyadic.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>

namespace testing {

/// Random exact inputs, the same on every machine: the engine is specified bit for bit, the standard
/// distributions are not and so are not used.
class random_source {
 public:
  explicit random_source(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t word() { return engine_(); }
  /// An integer in [least, greatest].
  long between(long least, long greatest) {
    return least + static_cast<long>(engine_() % static_cast<std::uint64_t>(greatest - least + 1));
  }
  /// Any finite double: all exponents, subnormal ones included, are equally likely.
  double any_double() {
    for (;;) {
      const auto x = std::bit_cast<double>(engine_());
      if (std::isfinite(x)) return x;
    }
  }
  float any_float() {
    for (;;) {
      const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(engine_() >> 32));
      if (std::isfinite(x)) return x;
    }
  }
  /// A double of full precision with 2^least <= |x| < 2^(greatest + 1).
  double double_between(int least, int greatest) {
    const double fraction = 1 + std::ldexp(static_cast<double>(engine_() >> 12), -52);
    const double x = std::ldexp(fraction, static_cast<int>(between(least, greatest)));
    return engine_() % 2 == 0 ? x : -x;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace testing
