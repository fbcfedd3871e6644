#pragma once

#include <attest/enclosure/elementary.hpp>
#include <attest/exact/matrix.hpp>
#include <attest/rounding/round.hpp>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>

// NumPy's legacy seeded stream: np.random.seed(s), then random_sample and randn. The generator is MT19937 (M.
// Matsumoto, T. Nishimura, "Mersenne Twister", ACM TOMACS 8, 1998), seeded by its init_genrand; randn is the
// polar method (G. Marsaglia, T. A. Bray, "A convenient method for generating normal variables", SIAM Review
// 6, 1964), which makes two values at a time and keeps one for the next call.
//
// NumPy takes its logarithm from the C library, so its own stream is the same only where that is. Here every
// operation, the logarithm too, is correctly rounded (to nearest, ties to even), in integers: one stream on
// every machine, and in the compiler. What a machine's NumPy computes is in numpy_stream.hpp.
namespace attest {

namespace error {

[[noreturn]] inline void seed_out_of_range() { throw std::out_of_range("a seed is between 0 and 2^32 - 1"); }

}  // namespace error

/// MT19937, a stream of 32-bit words.
class mersenne_twister {
 public:
  constexpr explicit mersenne_twister(std::uint32_t seed) {
    for (std::uint32_t i = 0; i < size; ++i) {
      state_[i] = seed;
      seed = 1812433253u * (seed ^ (seed >> 30)) + i + 1;
    }
  }

  constexpr std::uint32_t operator()() {
    if (next_ == size) twist();
    std::uint32_t word = state_[next_++];
    word ^= word >> 11;
    word ^= (word << 7) & 0x9d2c5680u;
    word ^= (word << 15) & 0xefc60000u;
    return word ^ (word >> 18);
  }

 private:
  static constexpr std::size_t size = 624;
  static constexpr std::size_t shift = 397;

  static constexpr std::uint32_t twisted(std::uint32_t high, std::uint32_t low) {
    return (((high & 0x80000000u) | (low & 0x7fffffffu)) >> 1) ^ ((low & 1) != 0 ? 0x9908b0dfu : 0u);
  }
  constexpr void twist() {
    for (std::size_t i = 0; i < size - shift; ++i)
      state_[i] = state_[i + shift] ^ twisted(state_[i], state_[i + 1]);
    for (std::size_t i = size - shift; i < size - 1; ++i)
      state_[i] = state_[i + shift - size] ^ twisted(state_[i], state_[i + 1]);
    state_[size - 1] = state_[shift - 1] ^ twisted(state_[size - 1], state_[0]);
    next_ = 0;
  }

  std::uint32_t state_[size]{};
  std::size_t next_ = size;
};

/// Two values of the polar method, in the order in which NumPy hands them out.
struct normal_pair {
  double first;
  double second;
};

namespace detail {

// m * 2^exponent, or a number a bit larger if `more`, as the nearest binary64.
template <std::size_t Capacity>
constexpr decoded nearest_binary64(const natural<Capacity>& m, std::int64_t exponent, bool more = false) {
  return decode(round_exact(false, m, exponent, more, formats::binary64, rounding::nearest_even),
                formats::binary64);
}

/// -ln x, correctly rounded, for a binary64 x in (0, 1). No tie is possible, since ln x is transcendental, so
/// a narrower enclosure settles it in the end; 118 bits are enough for every binary64 (V. Lefèvre, J.-M.
/// Muller, "Worst cases for correct rounding of the elementary functions in double precision", ARITH 15,
/// 2001).
constexpr decoded minus_log(const decoded& x) {
  for (unsigned bits = 88;; bits *= 2) {  // at 352 storage is exhausted, which is an error
    const interval<4> logarithm = log(interval<4>::exact(x.significand, x.exponent), bits);
    const interval_rounding r = round_interval(negate(logarithm), formats::binary64, rounding::nearest_even);
    if (r.outcome == rounding_outcome::settled) return decode(r.pattern, formats::binary64);
  }
}

}  // namespace detail

/// The polar method in correctly rounded binary64 arithmetic, operation by operation as NumPy orders them.
struct correctly_rounded {
  /// For the point (x, y) = (u, v) / 2^52 of the square [-1, 1)²: f y and f x, f = sqrt(-2 ln(r) / r), r = x²
  /// + y². Returns false where r is not between 0 and 1 and the point is to be drawn again.
  constexpr bool polar(std::int64_t u, std::int64_t v, normal_pair& result) const {
    const natural<1> x = to_natural<1>(detail::absolute(u));
    const natural<1> y = to_natural<1>(detail::absolute(v));
    // Squares are multiples of 2^-104, and so are their roundings: binary64s of 53 bits with nothing below
    // that unit.
    const auto rounded_square = [](const natural<1>& n) {
      const decoded square = detail::nearest_binary64(multiply_wide(n, n), -104);
      return shifted<2>(to_natural<1>(square.significand), square.exponent + 104);
    };
    const decoded r = detail::nearest_binary64(add(rounded_square(x), rounded_square(y)), -104);
    const auto top = static_cast<int>(std::bit_width(r.significand)) + r.exponent;  // r < 2^top
    if (r.significand == 0 || top > 0) return false;

    const decoded logarithm = detail::minus_log(r);
    const auto ratio = divide(shifted<2>(to_natural<1>(logarithm.significand), 64), r.significand);
    const decoded square = detail::nearest_binary64(ratio.quotient, logarithm.exponent + 1 - r.exponent - 64,
                                                    ratio.remainder != 0);
    // An even power of two goes in front of the root, and 36 bits more than the integer part come out of it.
    const int odd = square.exponent & 1;
    const auto root = floor_square_root(shifted<2>(to_natural<1>(square.significand), 72 + odd));
    const decoded f = detail::nearest_binary64(root.floor, (square.exponent - odd) / 2 - 36, !root.exact);

    const auto product = [&f](const natural<1>& n, bool negative) {
      const std::uint64_t pattern =
          round_exact(negative, multiply_wide(to_natural<1>(f.significand), n), f.exponent - 52, false,
                      formats::binary64, rounding::nearest_even);
      return std::bit_cast<double>(pattern);
    };
    result = {product(y, v < 0), product(x, u < 0)};
    return true;
  }
};

/// np.random.seed(seed), and the values drawn after it. Arithmetic has the polar method.
template <class Arithmetic>
class basic_numpy_random {
 public:
  /// Another seed than 0 to 2^32 - 1 is error::seed_out_of_range(), as it is an error in NumPy.
  template <std::integral Integer>
  constexpr explicit basic_numpy_random(Integer seed, Arithmetic arithmetic = Arithmetic())
      : words_(checked(seed)), arithmetic_(arithmetic) {}

  /// np.random.random_sample(): a multiple of 2^-53 in [0, 1).
  constexpr double random_sample() {
    const std::uint64_t numerator = fraction();
    return std::bit_cast<double>(
        round_exact(false, to_natural<1>(numerator), -53, false, formats::binary64, rounding::nearest_even));
  }

  /// np.random.randn(): normally distributed, mean 0, variance 1.
  constexpr double randn() {
    if (kept_) {
      kept_ = false;
      return pair_.second;
    }
    for (;;) {
      // 2 random_sample() - 1, exactly.
      constexpr std::int64_t one = std::int64_t{1} << 52;
      const std::int64_t u = static_cast<std::int64_t>(fraction()) - one;
      const std::int64_t v = static_cast<std::int64_t>(fraction()) - one;
      if (arithmetic_.polar(u, v, pair_)) break;
    }
    kept_ = true;
    return pair_.first;
  }

 private:
  template <class Integer>
  static constexpr std::uint32_t checked(Integer seed) {
    if (!std::in_range<std::uint32_t>(seed)) error::seed_out_of_range();
    return static_cast<std::uint32_t>(seed);
  }
  /// 53 random bits: 27 of one word above 26 of the next.
  constexpr std::uint64_t fraction() {
    const std::uint64_t high = words_() >> 5;
    return (high << 26) + (words_() >> 6);
  }

  mersenne_twister words_;
  Arithmetic arithmetic_;
  normal_pair pair_{};
  bool kept_ = false;
};

/// The stream that is the same everywhere.
using numpy_random = basic_numpy_random<correctly_rounded>;

namespace detail {

// A piece of a stream that stays well inside the compilers' limits for one constant.
struct randn_chunk {
  static constexpr std::size_t size = 32;
  double values[size]{};
  numpy_random after;

  constexpr explicit randn_chunk(const numpy_random& before) : after(before) {
    for (std::size_t i = 0; i < size; ++i) values[i] = after.randn();
  }
};

template <std::uint32_t Seed, std::size_t Index>
inline constexpr randn_chunk randn_chunks{randn_chunks<Seed, Index - 1>.after};
template <std::uint32_t Seed>
inline constexpr randn_chunk randn_chunks<Seed, 0>{numpy_random(Seed)};

}  // namespace detail

/// np.random.seed(Seed); np.random.randn(Count): the exact values, as a constant [1, Count].
template <std::uint32_t Seed, std::size_t Count>
inline constexpr auto numpy_randn = []<std::size_t... I>(std::index_sequence<I...>) {
  const detail::randn_chunk* const chunks[] = {&detail::randn_chunks<Seed, I>...};
  matrix<dyadic, 1, Count> values;
  for (std::size_t i = 0; i < Count; ++i)
    values(0, i) = exact_value(chunks[i / detail::randn_chunk::size]->values[i % detail::randn_chunk::size]);
  return values;
}(std::make_index_sequence<(Count + detail::randn_chunk::size - 1) / detail::randn_chunk::size>{});

}  // namespace attest
