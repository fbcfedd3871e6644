// Inputs of 16 bits, which the double kernel reads as they are where it can: what comes out, and by which
// tier, is what the same numbers give as doubles.
#include "catch.hpp"

#include <attest/reference/certified_attention.hpp>
#include <attest/rounding/format.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

using attest::any_result;
using attest::any_tensor;
using attest::attention_options;
using attest::dtype;
using attest::layout;

namespace {

struct narrow_array {
  std::vector<std::uint16_t> patterns;  // rows with a gap after each
  std::vector<double> numbers;          // without
  std::size_t rows, width, gap;
  dtype type;

  any_tensor narrow() const {
    return {patterns.data(), type, layout({rows, width}, {static_cast<std::ptrdiff_t>(width + gap), 1})};
  }
  any_tensor doubles() const { return {numbers.data(), dtype::binary64, layout{rows, width}}; }

  void set(std::size_t row, std::size_t column, std::uint64_t pattern) {
    const attest::decoded x = attest::decode(pattern, *attest::format_of(type));
    const double magnitude = x.kind == attest::number_kind::finite
                                 ? std::ldexp(static_cast<double>(x.significand), x.exponent)
                                 : std::numeric_limits<double>::quiet_NaN();
    patterns[row * (width + gap) + column] = static_cast<std::uint16_t>(pattern);
    numbers[row * width + column] = x.negative ? -magnitude : magnitude;
  }
};

/// Numbers of magnitude 2^-4 to 2, which the gaps are not.
narrow_array numbers_of(dtype type, std::size_t rows, std::size_t width, std::size_t gap,
                        std::mt19937_64& g) {
  narrow_array a{std::vector<std::uint16_t>(rows * (width + gap), 0x7fff),
                 std::vector<double>(rows * width),
                 rows,
                 width,
                 gap,
                 type};
  const attest::format& f = *attest::format_of(type);
  const std::uint64_t one = static_cast<std::uint64_t>(-f.min_exponent + 1) << f.fraction_bits();
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < width; ++c)
      a.set(r, c, one - (g() % 4 << f.fraction_bits()) + g() % f.hidden_bit() + (g() % 2 << 15));
  return a;
}

struct outcome {
  std::vector<unsigned char> output;
  std::array<std::size_t, attest::reference_tiers> settled;
  bool operator==(const outcome&) const = default;
};

outcome evaluated(const any_tensor& q, const any_tensor& k, const any_tensor& v, const attention_options& o,
                  dtype type) {
  const layout where{q.where().extents[2], v.where().extents[3]};
  outcome result{std::vector<unsigned char>(where.extents[2] * where.extents[3] * attest::size_of(type)), {}};
  result.settled =
      certified_attention({q, k, v}, o, {any_result(result.output.data(), type, where)}, {}).settled;
  return result;
}

void check_all(attention_options o, void (*change)(narrow_array& q, narrow_array& k),
               bool last_key_hidden = false) {
  std::mt19937_64 g(7);
  for (const dtype type : {dtype::binary16, dtype::bfloat16})
    for (const std::size_t width : {1u, 7u, 8u, 12u, 16u, 64u})
      for (const std::size_t gap : {0u, 5u})
        for (const std::size_t keys : {4u, 67u}) {
          narrow_array q = numbers_of(type, 9, width, gap, g), k = numbers_of(type, keys, width, gap, g);
          const narrow_array v = numbers_of(type, keys, 5, gap, g);
          change(q, k);
          if (last_key_hidden) o.key_lengths = {keys - 1};
          for (const dtype out : {dtype::binary16, dtype::bfloat16, dtype::binary32, dtype::binary64}) {
            CAPTURE(to_string(type), width, gap, keys, to_string(out));
            CHECK(evaluated(q.narrow(), k.narrow(), v.narrow(), o, out) ==
                  evaluated(q.doubles(), k.doubles(), v.doubles(), o, out));
          }
        }
}

/// A coordinate that adds the same to all scores of a row, much more than all others.
void add_large_coordinate(narrow_array& q, narrow_array& k) {
  const attest::format& f = *attest::format_of(q.type);
  const std::uint64_t large = f.largest / 4 * 3 & ~(f.hidden_bit() - 1);
  for (std::size_t r = 0; r < q.rows; ++r) q.set(r, 0, large);
  for (std::size_t r = 0; r < k.rows; ++r) k.set(r, 0, large);
}
void leave(narrow_array&, narrow_array&) {}
/// The last key, which nobody is to see.
void spoil_last_key(narrow_array&, narrow_array& k) { k.set(k.rows - 1, 0, 0x7fff); }
void zero_queries(narrow_array& q, narrow_array&) {
  for (std::size_t r = 0; r < q.rows; r += 2)
    for (std::size_t c = 0; c < q.width; ++c) q.set(r, c, c % 2 << 15);
}
void one_key(narrow_array&, narrow_array& k) {
  for (std::size_t r = 1; r < k.rows; ++r)
    for (std::size_t c = 0; c < k.width; ++c) k.set(r, c, k.patterns[c]);
}
/// Zeros of both signs are the same key.
void one_key_of_both_zeros(narrow_array& q, narrow_array& k) {
  one_key(q, k);
  for (std::size_t r = 0; r < k.rows; ++r) k.set(r, 0, r % 2 << 15);
}

}  // namespace

TEST_CASE("Narrow inputs: plain rows, and rows that see some keys") {
  attention_options o;
  o.scale = 0.25;
  check_all(o, leave);
  o.causal = true;
  o.corner = attest::causal_corner::top_left;
  check_all(o, leave);
}

TEST_CASE("Narrow inputs: scores whose error is large") {
  attention_options o;
  o.scale = 0.25;
  check_all(o, add_large_coordinate);
}

TEST_CASE("Narrow inputs: NaN in a key that nobody sees") {
  attention_options o;
  o.scale = 0.25;
  check_all(o, spoil_last_key, true);
}

TEST_CASE("Narrow inputs: queries of zeros, and keys that are all the same") {
  attention_options o;
  o.scale = 0.25;
  check_all(o, zero_queries);
  check_all(o, one_key);
  check_all(o, one_key_of_both_zeros);
}
