#pragma once

#include <cstdint>

// Floating-point formats as data. A value is (-1)^s * significand * 2^exponent; its bit pattern is sign,
// biased exponent, fraction, in that order, so that the patterns of the non-negative values ascend with the
// values.
namespace attest {

/// A binary floating-point format with subnormals. `largest`, `infinity` and `quiet_nan` are bit patterns of
/// positive sign: they are what tells an IEEE 754 format from one that spends its top exponent on numbers.
/// (The NaN of a format without a negative zero is that zero's pattern.)
struct format {
  const char* name;
  int storage_bits;
  int precision;     // of the significand, the hidden bit included
  int min_exponent;  // 2^min_exponent is the smallest normal number
  std::uint64_t largest;
  bool has_infinity;
  std::uint64_t infinity;  // what lies beyond `largest`: infinity, or what the format has in its place
  std::uint64_t quiet_nan;
  /// Without it the pattern of a negative zero is the only NaN, and every zero is +0.
  bool has_negative_zero = true;

  constexpr int fraction_bits() const { return precision - 1; }
  constexpr std::uint64_t sign_bit() const { return std::uint64_t{1} << (storage_bits - 1); }
  constexpr std::uint64_t hidden_bit() const { return std::uint64_t{1} << (precision - 1); }
  /// 2^max_exponent is the largest power of two that is a number.
  constexpr int max_exponent() const {
    return static_cast<int>(largest >> fraction_bits()) - 1 + min_exponent;
  }
  /// Exponent of the smallest subnormal number, and the unit of every subnormal.
  constexpr int min_unit() const { return min_exponent - fraction_bits(); }
};

/// An IEEE 754 interchange format, or one built like it: the top exponent holds infinity and the NaNs.
constexpr format ieee_format(const char* name, int storage_bits, int precision) {
  const int exponent_bits = storage_bits - precision;
  const int fraction_bits = precision - 1;
  const std::uint64_t infinity = ((std::uint64_t{1} << exponent_bits) - 1) << fraction_bits;
  return {name,         storage_bits, precision, 2 - (1 << (exponent_bits - 1)),
          infinity - 1, true,         infinity,  infinity | (std::uint64_t{1} << (fraction_bits - 1)),
          true};
}

namespace formats {

inline constexpr format binary64 = ieee_format("binary64", 64, 53);
inline constexpr format binary32 = ieee_format("binary32", 32, 24);
inline constexpr format binary16 = ieee_format("binary16", 16, 11);
inline constexpr format bfloat16 = ieee_format("bfloat16", 16, 8);

/// OCP 8-bit Floating Point Specification (OFP8), revision 1.0, section 5: E5M2 is built like binary16; E4M3 has no
/// infinity and one NaN of each sign, where all bits are set, so that its largest number is 1.75 * 2^8 = 448.
inline constexpr format float8_e5m2 = ieee_format("float8_e5m2", 8, 3);
inline constexpr format float8_e4m3fn{"float8_e4m3fn", 8, 4, -6, 0x7E, false, 0x7F, 0x7F};
/// "Finite, unsigned zero" (B. Noune et al., 8-bit Numerical Formats for Deep Neural Networks, arXiv 2206.02915): no
/// infinity, no -0, whose pattern 0x80 is the only NaN, and a bias greater by 1. What overflows has only the NaN to go to.
inline constexpr format float8_e5m2fnuz{"float8_e5m2fnuz", 8, 3, -15, 0x7F, false, 0x80, 0x80, false};
inline constexpr format float8_e4m3fnuz{"float8_e4m3fnuz", 8, 4, -7, 0x7F, false, 0x80, 0x80, false};

}  // namespace formats

enum class number_kind { finite, infinite, not_a_number };

/// What a bit pattern stands for: if finite, (-1)^negative * significand * 2^exponent, exactly.
struct decoded {
  number_kind kind = number_kind::finite;
  bool negative = false;
  std::uint64_t significand = 0;
  int exponent = 0;
};

/// The value of a bit pattern. Bits above the format's storage are ignored; zeros are finite and keep their
/// sign.
constexpr decoded decode(std::uint64_t pattern, const format& f) {
  const std::uint64_t magnitude = pattern & (f.sign_bit() - 1);
  decoded r;
  r.negative = (pattern & f.sign_bit()) != 0;
  if (r.negative && magnitude == 0 && !f.has_negative_zero) {
    r.kind = number_kind::not_a_number;
    return r;
  }
  if (magnitude > f.largest) {
    r.kind = f.has_infinity && magnitude == f.infinity ? number_kind::infinite : number_kind::not_a_number;
    return r;
  }
  const std::uint64_t fraction = magnitude & (f.hidden_bit() - 1);
  const int biased = static_cast<int>(magnitude >> f.fraction_bits());
  r.significand = biased == 0 ? fraction : fraction | f.hidden_bit();
  r.exponent = f.min_unit() + (biased == 0 ? 0 : biased - 1);
  return r;
}

}  // namespace attest
