// Rows read at once against their elements one by one; which patterns of 16 bits are finite.
#include "../../src/problem/rows.hpp"

#include "../../src/problem/finite.hpp"
#include "catch.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace {

using attest::any_tensor;
using attest::dtype;
using attest::layout;

bool same(double x, double y) {
  return std::isnan(x) ? std::isnan(y) : std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
}

/// Reads a part of the last row and compares it with its elements one by one.
bool reads_row(const any_tensor& array, std::size_t first, std::size_t count) {
  const std::size_t row = array.where().extents[2] - 1;
  std::vector<double> out(count + 1, -7.5);
  attest::read_row(array, 0, 0, row, first, count, out.data());
  bool good = out[count] == -7.5;
  for (std::size_t c = 0; c < count; ++c) good = good && same(out[c], array(0, 0, row, first + c));
  return good;
}

const dtype types[] = {dtype::boolean,         dtype::int8,        dtype::int16,
                       dtype::int32,           dtype::int64,       dtype::uint8,
                       dtype::uint16,          dtype::uint32,      dtype::uint64,
                       dtype::float8_e4m3fn,   dtype::float8_e5m2, dtype::float8_e4m3fnuz,
                       dtype::float8_e5m2fnuz, dtype::bfloat16,    dtype::binary16,
                       dtype::binary32,        dtype::binary64};

}  // namespace

TEST_CASE("a row read at once is its elements: every pattern of 8 and 16 bits") {
  std::vector<std::uint16_t> patterns(1 << 16);
  for (std::size_t n = 0; n < patterns.size(); ++n) patterns[n] = static_cast<std::uint16_t>(n);
  for (const dtype type : types) {
    INFO(to_string(type));
    if (attest::size_of(type) > 2) continue;
    // As bytes, the patterns are every pair of bytes.
    const std::size_t count = 2 * patterns.size() / attest::size_of(type);
    CHECK(reads_row({patterns.data(), type, layout{1, count}}, 0, count));
  }
}

TEST_CASE("a row read at once is its elements: strides, ends and places in memory") {
  std::mt19937_64 random(3);
  std::vector<std::uint64_t> memory(600);
  for (auto& x : memory) x = random();
  for (const dtype type : types) {
    const std::size_t bytes = attest::size_of(type);
    for (const std::size_t shift : {std::size_t{0}, bytes, std::size_t{1}}) {
      const unsigned char* data = reinterpret_cast<const unsigned char*>(memory.data()) + shift;
      for (std::size_t count = 0; count <= 40; ++count) {
        INFO(to_string(type) << ", " << shift << " bytes off, " << count << " elements");
        CHECK(reads_row({data, type, layout{2, 50}}, 3, count));
        CHECK(reads_row({data, type, layout({2, 50}, {1, 2})}, 5, count));
        CHECK(reads_row({data + 60 * bytes, type, layout({2, 50}, {7, -1})}, 5, count));
        CHECK(reads_row({data, type, layout({1, 50}, {0, 0})}, 0, count));
      }
    }
  }
}

TEST_CASE("numbers of 16 bits that are not finite are found wherever they are") {
  const auto check = [](dtype type, std::uint16_t infinity) {
    std::size_t wrong = 0;
    std::vector<std::uint16_t> row(70, 0x8001);
    for (unsigned pattern = 0; pattern < 1u << 16; ++pattern) {
      const std::size_t at = pattern % row.size();
      row[at] = static_cast<std::uint16_t>(pattern);
      const double value = any_tensor(row.data(), type, layout{1, row.size()})(0, 0, 0, at);
      wrong += attest::all_finite(row.data(), row.size(), infinity) != std::isfinite(value);
      wrong += attest::all_below_infinity(row.data(), row.size(), infinity) !=
               (value < std::numeric_limits<double>::infinity());
      row[at] = 0x8001;
    }
    CHECK(wrong == 0);
    row[3] = infinity;  // one bad element at every place, and beyond the end
    for (std::size_t size = 0; size <= row.size(); ++size) {
      CHECK(attest::all_finite(row.data(), size, infinity) == (size <= 3));
      CHECK(attest::all_below_infinity(row.data(), size, infinity) == (size <= 3));
    }
  };
  check(dtype::binary16, 0x7c00);
  check(dtype::bfloat16, 0x7f80);
}
