// Keys and queries that the double kernel reads as patterns of 16 bits: the bits of the same numbers as
// doubles.
#include "kernel/fused.hpp"

#include "catch.hpp"
#include "fused_targets.hpp"

#include <attest/rounding/format.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace fused = attest::kernel::fused_head;
using fused::narrow_format;

namespace {

const attest::format& rounding_format(narrow_format f) {
  return f == narrow_format::binary16 ? attest::formats::binary16 : attest::formats::bfloat16;
}

/// Patterns of finite numbers in rows with a gap after each, and the numbers.
struct narrow_array {
  narrow_array(narrow_format f, std::size_t rows, std::size_t width, std::mt19937_64& g)
      : format(f), row(width + 3), patterns(rows * row), numbers(rows * width) {
    const attest::format& of = rounding_format(f);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t c = 0; c < width; ++c) {
        std::uint64_t pattern = g() & 0xffff;
        while ((pattern & 0x7fff) > of.largest) pattern = g() & 0xffff;
        // Many of a size at which the weights are neither 0 nor 1.
        if (g() % 2 == 0) pattern = (pattern & 0x83ff) | of.largest / 2;
        const attest::decoded number = attest::decode(pattern, of);
        const double magnitude = std::ldexp(static_cast<double>(number.significand), number.exponent);
        patterns[i * row + c] = static_cast<std::uint16_t>(pattern);
        numbers[i * width + c] = number.negative ? -magnitude : magnitude;
      }
  }
  double largest() const {
    double result = 0;
    for (const double x : numbers) result = std::max(result, std::fabs(x));
    return result;
  }
  fused::narrow_rows narrow() const { return {patterns.data(), static_cast<std::ptrdiff_t>(row), format}; }

  narrow_format format;
  std::size_t row;
  std::vector<std::uint16_t> patterns;
  std::vector<double> numbers;
};

struct outcome {
  std::vector<std::uint64_t> outputs;
  bool overflow;
  double largest_key, largest_query;
  bool operator==(const outcome&) const = default;
};

outcome evaluate(const fused::packed_head<double>& head, const std::vector<fused::query_row<double>>& rows,
                 std::optional<narrow_format> queries) {
  auto steps = fused::score_steps<double>::of_scale(std::nullopt, head.key_width());
  steps.queries = queries;
  std::vector<double> outputs(rows.size() * head.value_width());
  std::vector<fused::row_results<double>> results;
  for (std::size_t i = 0; i < rows.size(); ++i) results.push_back({&outputs[i * head.value_width()]});
  fused::scratch<double> memory;
  outcome o;
  o.overflow = fused::evaluate(head, steps, rows.data(), results.data(), rows.size(), memory).has_value();
  for (const double x : outputs) o.outputs.push_back(std::bit_cast<std::uint64_t>(x));
  o.largest_key = head.largest_key();
  o.largest_query = memory.largest_query;
  return o;
}

}  // namespace

TEST_CASE("fused: narrow keys and queries give the bits of the same doubles, on every instruction set") {
  testing::for_each_target([](const std::string& target) {
    std::mt19937_64 g(5);
    for (const narrow_format format : {narrow_format::binary16, narrow_format::bfloat16})
      for (const std::size_t width : {8u, 24u, 64u, 136u})
        for (const std::size_t keys : {2u, 63u, 64u, 65u, 130u})
          for (const std::size_t count : {1u, 6u, 64u}) {
            CAPTURE(target, format == narrow_format::binary16, width, keys, count);
            const narrow_array q(format, count, width, g), k(format, keys, width, g);
            const std::size_t value_width = 9;
            std::vector<double> v(keys * value_width);
            for (double& x : v) x = std::ldexp(static_cast<double>(g() >> 11), -53) - 0.5;
            const fused::strided_rows<double> values{v.data(), value_width, 1};
            fused::packed_head<double> of_doubles(keys, width, value_width),
                of_patterns(keys, width, value_width);
            of_doubles.pack_all({k.numbers.data(), static_cast<std::ptrdiff_t>(width), 1}, values);
            of_patterns.pack_all(k.narrow(), values);
            std::vector<fused::query_row<double>> doubles(count), patterns(count);
            for (std::size_t i = 0; i < count; ++i) {
              doubles[i].q = &q.numbers[i * width];
              patterns[i].narrow = &q.patterns[i * q.row];
              doubles[i].last_key = patterns[i].last_key = keys - i % 2;
            }
            const outcome expected = evaluate(of_doubles, doubles, std::nullopt);
            CHECK(expected.largest_key == k.largest());
            CHECK(expected.largest_query == q.largest());
            CHECK(evaluate(of_patterns, patterns, format) == expected);
            CHECK(evaluate(of_doubles, patterns, format) == expected);
          }
  });
}
