#include "catch.hpp"

#include <attest/rounding/format.hpp>

#include <bit>
#include <cmath>
#include <limits>

// Formats:
// - the numbers that IEEE 754-2019, table 3.5, and the definition of bfloat16 give
// - decoding every pattern of binary16 and bfloat16, and random ones of binary32 and binary64, against the
//   hardware's own reading of the same bits
// - a format without infinities (the description allows it)

using namespace attest;

namespace {

// ---- the parameters of the standard

static_assert(formats::binary64.precision == 53);
static_assert(formats::binary64.min_exponent == -1022);
static_assert(formats::binary64.max_exponent() == 1023);
static_assert(formats::binary64.min_unit() == -1074);
static_assert(formats::binary64.largest == 0x7FEFFFFFFFFFFFFF);
static_assert(formats::binary64.infinity == 0x7FF0000000000000);
static_assert(formats::binary64.quiet_nan == 0x7FF8000000000000);
static_assert(formats::binary32.precision == 24);
static_assert(formats::binary32.min_exponent == -126);
static_assert(formats::binary32.max_exponent() == 127);
static_assert(formats::binary32.min_unit() == -149);
static_assert(formats::binary32.infinity == 0x7F800000);
static_assert(formats::binary16.precision == 11);
static_assert(formats::binary16.min_exponent == -14);
static_assert(formats::binary16.max_exponent() == 15);
static_assert(formats::binary16.min_unit() == -24);
static_assert(formats::binary16.largest == 0x7BFF);
static_assert(formats::bfloat16.precision == 8);
static_assert(formats::bfloat16.min_exponent == -126);
static_assert(formats::bfloat16.max_exponent() == 127);
static_assert(formats::bfloat16.min_unit() == -133);
static_assert(formats::bfloat16.largest == 0x7F7F);

// ---- decoding in the compiler

constexpr bool decodes(const format& f, std::uint64_t pattern, bool negative, std::uint64_t significand,
                       int exponent) {
  const decoded d = decode(pattern, f);
  return d.kind == number_kind::finite && d.negative == negative && d.significand == significand &&
         d.exponent == exponent;
}
static_assert(decodes(formats::binary64, 0x3FF0000000000000, false, std::uint64_t{1} << 52, -52));
static_assert(decodes(formats::binary64, 0x8000000000000001, true, 1, -1074));
static_assert(decodes(formats::binary16, 0x3555, false, 0x555, -12));  // 0.33325 = 1365 / 4096
static_assert(decodes(formats::bfloat16, 0x8000, true, 0, -133));
static_assert(decode(0x7F80, formats::bfloat16).kind == number_kind::infinite);
static_assert(decode(0xFF80, formats::bfloat16).negative);
static_assert(decode(0x7F81, formats::bfloat16).kind == number_kind::not_a_number);

// ---- E4M3 of the OCP 8-bit specification: no infinity, NaN only where all bits are set

constexpr format e4m3 = formats::float8_e4m3fn;
static_assert(e4m3.max_exponent() == 8);
static_assert(decodes(e4m3, 0x7E, false, 14, 5));  // 448
static_assert(decodes(e4m3, 0x81, true, 1, -9));
static_assert(decode(0x7F, e4m3).kind == number_kind::not_a_number);
static_assert(decode(0x80, e4m3).kind == number_kind::finite);
static_assert(decode(0x80, formats::float8_e4m3fnuz).kind == number_kind::not_a_number);
static_assert(decodes(formats::float8_e4m3fnuz, 0x7F, false, 15, 4));  // 240
static_assert(formats::float8_e5m2fnuz.max_exponent() == 15);

/// The pattern's value by the format's definition, in double.
double value_of(const decoded& d) {
  if (d.kind == number_kind::infinite) return d.negative ? -HUGE_VAL : HUGE_VAL;
  const double magnitude = std::ldexp(static_cast<double>(d.significand), d.exponent);
  return d.negative ? -magnitude : magnitude;
}

bool has_value(std::uint64_t pattern, const format& f, double expected) {
  const decoded d = decode(pattern, f);
  const bool right = std::isnan(expected) ? d.kind == number_kind::not_a_number
                                          : d.kind != number_kind::not_a_number && value_of(d) == expected &&
                                                d.negative == std::signbit(expected) &&
                                                (d.kind == number_kind::infinite) == std::isinf(expected);
  if (!right) {
    CAPTURE(f.name, pattern, expected);
    CHECK(right);
  }
  return right;
}

}  // namespace

TEST_CASE("every bfloat16 pattern is the upper half of a binary32 one", "[format]") {
  int right = 0;
  for (std::uint32_t pattern = 0; pattern < 0x10000; ++pattern)
    right += has_value(pattern, formats::bfloat16, static_cast<double>(std::bit_cast<float>(pattern << 16)));
  CHECK(right == 0x10000);
}

TEST_CASE("every binary16 pattern has the value that its fields say", "[format]") {
  int right = 0;
  for (unsigned pattern = 0; pattern < 0x10000; ++pattern) {
    const unsigned exponent = pattern >> 10 & 31;
    const unsigned fraction = pattern & 1023;
    double x = exponent == 31  ? (fraction == 0 ? HUGE_VAL : std::numeric_limits<double>::quiet_NaN())
               : exponent == 0 ? fraction / 1024.0 / 16384.0
                               : (1 + fraction / 1024.0) * std::ldexp(1.0, static_cast<int>(exponent) - 15);
    if (pattern >> 15 != 0) x = -x;
    right += has_value(pattern, formats::binary16, x);
  }
  CHECK(right == 0x10000);
}

TEST_CASE("binary32 and binary64 patterns are read as the hardware reads them", "[format]") {
  std::uint64_t state = 1;
  int right = 0;
  for (int i = 0; i < 200000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const std::uint64_t wide = state ^ (state >> 29);
    const auto narrow = static_cast<std::uint32_t>(wide);
    const std::uint64_t wide_subnormal = wide & 0x800FFFFFFFFFFFFF;
    const std::uint32_t narrow_subnormal = narrow & 0x807FFFFFu;
    right += has_value(wide, formats::binary64, std::bit_cast<double>(wide));
    right += has_value(wide_subnormal, formats::binary64, std::bit_cast<double>(wide_subnormal));
    right += has_value(narrow, formats::binary32, static_cast<double>(std::bit_cast<float>(narrow)));
    right += has_value(narrow_subnormal, formats::binary32,
                       static_cast<double>(std::bit_cast<float>(narrow_subnormal)));
  }
  CHECK(right == 800000);
}
