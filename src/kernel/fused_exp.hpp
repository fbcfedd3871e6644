#pragma once

#include <cstdint>

// Constants of the base-two exponential of the fused kernel: polynomials q with 1 + r·q(r) close to 2^r,
// lowest coefficient first. They interpolate (2^r - 1)/r at the Chebyshev nodes of the interval and are
// rounded to the format; tests/kernel/fused_exp_test.cpp bounds their error over the whole interval.
namespace attest::kernel::fused_exp {

/// The running maximum stays where it is until a score exceeds it by more: few blocks have to be rescaled then.
inline constexpr int slack = 4;

template <class T>
struct constants;

template <>
struct constants<double> {
  /// |r| <= 1/2: relative error below 2^-55.4.
  static constexpr double whole[11] = {
      0x1.62e42fefa39efp-1,  0x1.ebfbdff82c598p-3,  0x1.c6b08d704a0c2p-5,  0x1.3b2ab6fba1ddap-7,
      0x1.5d87fe78a5276p-10, 0x1.430913096fd9fp-13, 0x1.ffcbfc670dcd4p-17, 0x1.62bfd47773353p-20,
      0x1.b524fae627834p-24, 0x1.e6063f7217bc6p-28, 0x1.e9d3fe3952179p-32};
  /// |r| <= 1/32: below 2^-55.8.
  static constexpr double sixteenth[6] = {0x1.62e42fefa39f3p-1, 0x1.ebfbdff82c590p-3, 0x1.c6b08d6f2a289p-5,
                                          0x1.3b2ab6fb41213p-7, 0x1.5d897e525c216p-10, 0x1.430a1d08ec681p-13};
  /// 2^(i/16), rounded to nearest.
  static constexpr double roots[16] = {
      0x1.0000000000000p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0,
      0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0,
      0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0,
      0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0};
  /// Smaller powers of two than 2^-cut are taken for 0.
  static constexpr double cut = 1000;
  /// Subtracted from the exponents where the sums would overflow.
  static constexpr double headroom = 40;
  /// Below it a score in base two is reduced together with the maximum, exactly.
  static constexpr double largest_small = 0x1p30;
  /// Keys whose magnitudes add up to less make nothing of the underflow of scaled queries.
  static constexpr double largest_key_sum = 0x1p900;
};

template <>
struct constants<float> {
  /// |r| <= 1/2: below 2^-26.6.
  static constexpr float whole[6] = {0x1.62e430p-1f, 0x1.ebfbe0p-3f,  0x1.c6af6cp-5f,
                                     0x1.3b2a54p-7f, 0x1.5f0890p-10f, 0x1.44138ap-13f};
  /// |r| <= 1/32: below 2^-28.6.
  static constexpr float sixteenth[3] = {0x1.62e430p-1f, 0x1.ebff92p-3f, 0x1.c6b29ap-5f};
  static constexpr float roots[16] = {
      0x1.000000p+0f, 0x1.0b5586p+0f, 0x1.172b84p+0f, 0x1.2387a6p+0f, 0x1.306fe0p+0f, 0x1.3dea64p+0f,
      0x1.4bfdaep+0f, 0x1.5ab07ep+0f, 0x1.6a09e6p+0f, 0x1.7a1148p+0f, 0x1.8ace54p+0f, 0x1.9c4918p+0f,
      0x1.ae89fap+0f, 0x1.c199bep+0f, 0x1.d5818ep+0f, 0x1.ea4afap+0f};
  static constexpr float cut = 120;
  static constexpr float headroom = 26;
  static constexpr double largest_small = 0x1p16;
  static constexpr double largest_key_sum = 0x1p60;
};

}  // namespace attest::kernel::fused_exp
