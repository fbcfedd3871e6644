// The floats of eight bits: every pattern's value.
// - against tables of all magnitudes, in units of the smallest subnormal number, as ml_dtypes 0.6 (the
// formats of JAX and
//   PyTorch in NumPy) reads the bytes 0x00 to 0x7F
// - what is no number: E5M2 has the infinity 0x7C and the NaNs 0x7D to 0x7F, E4M3 the NaN 0x7F, with either
// sign (OFP8,
//   section 5); the "fnuz" formats have the NaN 0x80 alone
// - the ends of each format, as its specification prints them
#include "catch.hpp"

#include <attest/problem/tensor.hpp>
#include <attest/rounding/format.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

namespace {

using attest::dtype;

constexpr std::uint64_t e4m3_units[128] = {
    0,      1,      2,      3,      4,      5,      6,      7,      8,      9,      10,    11,    12,
    13,     14,     15,     16,     18,     20,     22,     24,     26,     28,     30,    32,    36,
    40,     44,     48,     52,     56,     60,     64,     72,     80,     88,     96,    104,   112,
    120,    128,    144,    160,    176,    192,    208,    224,    240,    256,    288,   320,   352,
    384,    416,    448,    480,    512,    576,    640,    704,    768,    832,    896,   960,   1024,
    1152,   1280,   1408,   1536,   1664,   1792,   1920,   2048,   2304,   2560,   2816,  3072,  3328,
    3584,   3840,   4096,   4608,   5120,   5632,   6144,   6656,   7168,   7680,   8192,  9216,  10240,
    11264,  12288,  13312,  14336,  15360,  16384,  18432,  20480,  22528,  24576,  26624, 28672, 30720,
    32768,  36864,  40960,  45056,  49152,  53248,  57344,  61440,  65536,  73728,  81920, 90112, 98304,
    106496, 114688, 122880, 131072, 147456, 163840, 180224, 196608, 212992, 229376, 245760};
constexpr std::uint64_t e5m2_units[128] = {
    0,          1,          2,          3,          4,          5,          6,          7,
    8,          10,         12,         14,         16,         20,         24,         28,
    32,         40,         48,         56,         64,         80,         96,         112,
    128,        160,        192,        224,        256,        320,        384,        448,
    512,        640,        768,        896,        1024,       1280,       1536,       1792,
    2048,       2560,       3072,       3584,       4096,       5120,       6144,       7168,
    8192,       10240,      12288,      14336,      16384,      20480,      24576,      28672,
    32768,      40960,      49152,      57344,      65536,      81920,      98304,      114688,
    131072,     163840,     196608,     229376,     262144,     327680,     393216,     458752,
    524288,     655360,     786432,     917504,     1048576,    1310720,    1572864,    1835008,
    2097152,    2621440,    3145728,    3670016,    4194304,    5242880,    6291456,    7340032,
    8388608,    10485760,   12582912,   14680064,   16777216,   20971520,   25165824,   29360128,
    33554432,   41943040,   50331648,   58720256,   67108864,   83886080,   100663296,  117440512,
    134217728,  167772160,  201326592,  234881024,  268435456,  335544320,  402653184,  469762048,
    536870912,  671088640,  805306368,  939524096,  1073741824, 1342177280, 1610612736, 1879048192,
    2147483648, 2684354560, 3221225472, 3758096384, 4294967296, 5368709120, 6442450944, 7516192768};

struct described {
  dtype type;
  const attest::format* format;
  const std::uint64_t* units;
  int unit_exponent;      // the smallest subnormal number is 2^unit_exponent
  unsigned numbers;       // magnitudes that are numbers, from 0
  bool infinity_follows;  // whether the next pattern is infinity
  bool signed_zero;
};

// bias 7, 15, 8 and 16: 2^(1 - bias - fraction bits)
const described formats[] = {
    {dtype::float8_e4m3fn, &attest::formats::float8_e4m3fn, e4m3_units, 1 - 7 - 3, 0x7F, false, true},
    {dtype::float8_e5m2, &attest::formats::float8_e5m2, e5m2_units, 1 - 15 - 2, 0x7C, true, true},
    {dtype::float8_e4m3fnuz, &attest::formats::float8_e4m3fnuz, e4m3_units, 1 - 8 - 3, 0x80, false, false},
    {dtype::float8_e5m2fnuz, &attest::formats::float8_e5m2fnuz, e5m2_units, 1 - 16 - 2, 0x80, false, false},
};

double value_of(const attest::decoded& d) {
  if (d.kind == attest::number_kind::not_a_number) return std::numeric_limits<double>::quiet_NaN();
  const double magnitude = d.kind == attest::number_kind::infinite
                               ? std::numeric_limits<double>::infinity()
                               : std::ldexp(static_cast<double>(d.significand), d.exponent);
  return d.negative ? -magnitude : magnitude;
}

double right_value(const described& f, unsigned pattern) {
  const unsigned magnitude = pattern & 0x7F;
  double value = std::numeric_limits<double>::quiet_NaN();
  if (pattern == 0x80 && !f.signed_zero) return value;
  if (magnitude < f.numbers) value = std::ldexp(static_cast<double>(f.units[magnitude]), f.unit_exponent);
  if (magnitude == f.numbers && f.infinity_follows) value = std::numeric_limits<double>::infinity();
  return pattern < 0x80 ? value : -value;
}

bool identical(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

}  // namespace

TEST_CASE("every pattern of every format of eight bits") {
  for (const described& f : formats) {
    unsigned right = 0;
    for (unsigned pattern = 0; pattern < 256; ++pattern) {
      const auto byte = static_cast<std::uint8_t>(pattern);
      const double wanted = right_value(f, pattern);
      const double in_array = attest::any_tensor(&byte, f.type, attest::layout{1, 1})(0, 0, 0, 0);
      const double decoded = value_of(decode(pattern, *f.format));
      CAPTURE(f.format->name, pattern, wanted, in_array, decoded);
      if (identical(in_array, wanted) && identical(decoded, wanted))
        ++right;
      else
        CHECK(false);
    }
    CHECK(right == 256);
  }
}

TEST_CASE("the ends of the formats of eight bits") {
  const auto value = [](unsigned pattern, const attest::format& f) { return value_of(decode(pattern, f)); };
  using namespace attest::formats;
  CHECK(value(float8_e4m3fn.largest, float8_e4m3fn) == 448);
  CHECK(value(float8_e5m2.largest, float8_e5m2) == 57344);
  CHECK(value(float8_e4m3fnuz.largest, float8_e4m3fnuz) == 240);
  CHECK(value(float8_e5m2fnuz.largest, float8_e5m2fnuz) == 57344);
  CHECK(value(8, float8_e4m3fn) == 0x1p-6);  // the smallest normal numbers
  CHECK(value(4, float8_e5m2) == 0x1p-14);
  CHECK(value(8, float8_e4m3fnuz) == 0x1p-7);
  CHECK(value(4, float8_e5m2fnuz) == 0x1p-15);
  for (const described& f : formats) {
    CHECK(std::isnan(value(static_cast<unsigned>(f.format->quiet_nan), *f.format)));
    CHECK(f.format->has_infinity == std::isinf(value(static_cast<unsigned>(f.format->infinity), *f.format)));
    CHECK(f.format->min_unit() == f.unit_exponent);
    CHECK(f.format->has_negative_zero == f.signed_zero);
    CHECK(attest::format_of(f.type) == f.format);
    CHECK(attest::size_of(f.type) == 1);
    CHECK(to_string(f.type) == f.format->name);
  }
}

TEST_CASE("unsigned integers, sizes and formats of dtypes") {
  const std::uint8_t u8 = 255;
  const std::uint16_t u16 = 65535;
  const std::uint32_t u32 = 4294967295;
  const std::uint64_t u64 = std::uint64_t{1} << 63;
  CHECK(attest::any_tensor(&u8, dtype::uint8, attest::layout{1, 1})(0, 0, 0, 0) == 255);
  CHECK(attest::any_tensor(attest::tensor<const std::uint16_t>(&u16, {1, 1}))(0, 0, 0, 0) == 65535);
  CHECK(attest::any_tensor(attest::tensor<const std::uint32_t>(&u32, {1, 1}))(0, 0, 0, 0) == 4294967295.0);
  CHECK(attest::any_tensor(attest::tensor<const std::uint64_t>(&u64, {1, 1}))(0, 0, 0, 0) == 0x1p63);
  CHECK(attest::size_of(dtype::boolean) == 1);
  CHECK(attest::size_of(dtype::bfloat16) == 2);
  CHECK(attest::size_of(dtype::uint32) == 4);
  CHECK(attest::size_of(dtype::int64) == 8);
  CHECK(attest::format_of(dtype::uint64) == nullptr);
  CHECK(attest::format_of(dtype::binary16) == &attest::formats::binary16);
}
