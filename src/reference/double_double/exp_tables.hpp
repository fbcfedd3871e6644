#pragma once

// Written by tests/reference/exp_tables_generator.hpp; do not edit. A pair is the number rounded to binary64 and
// the rest rounded to binary64.
namespace attest::exp_tables {

// 2^(i/16) and 2^(i/256) for i < 16: rounded to binary64, and the rest divided by that.
alignas(64) inline constexpr double sixteenths_high[16] = {
    0x1p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0,
    0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0,
    0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f09p+0,
    0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0
};
alignas(64) inline constexpr double sixteenths_rest[16] = {
    0x0p+0, 0x1.79aa65d837b6dp-54, -0x1.01b15eaa59348p-55, 0x1.68efde3a8a894p-54,
    0x1.34d754db0abb6p-55, 0x1.59f48a72a4c6dp-55, 0x1.690cebb7aafbp-56, 0x1.063e1e21c5409p-54,
    -0x1.3b3efbf5e2228p-54, -0x1.b32dcb94da51dp-56, 0x1.db72fc1f0eab4p-55, 0x1.1affc2b91ce27p-56,
    0x1.c1a7792cb3387p-55, 0x1.36eae30af0cb3p-56, 0x1.4a385a63d07a7p-56, -0x1.ff7128fd391fp-55
};
alignas(64) inline constexpr double small_high[16] = {
    0x1p+0, 0x1.00b1afa5abcbfp+0, 0x1.0163da9fb3335p+0, 0x1.02168143b0281p+0,
    0x1.02c9a3e778061p+0, 0x1.037d42e11bbccp+0, 0x1.04315e86e7f85p+0, 0x1.04e5f72f654b1p+0,
    0x1.059b0d3158574p+0, 0x1.0650a0e3c1f89p+0, 0x1.0706b29ddf6dep+0, 0x1.07bd42b72a836p+0,
    0x1.0874518759bc8p+0, 0x1.092bdf66607ep+0, 0x1.09e3ecac6f383p+0, 0x1.0a9c79b1f3919p+0
};
alignas(64) inline constexpr double small_rest[16] = {
    0x0p+0, -0x1.4e82fc61851acp-55, 0x1.b3b4f1a88bf6ep-54, -0x1.2985dd8521d32p-55,
    -0x1.160139cd8dc5dp-56, 0x1.51e617061bfbdp-57, -0x1.05e7a108766d1p-54, 0x1.45fad437fa426p-55,
    0x1.cd2523567f613p-55, -0x1.54529642b232fp-54, -0x1.bce8023f98efap-55, 0x1.293708ef5c32ep-55,
    0x1.0f74e61e6c861p-57, -0x1.5b9280905b2a4p-54, 0x1.0a3e45b33d399p-54, 0x1.4f31f32c4b7e7p-55
};

// 2^(r/256) - 1 = c1 r + c2 r^2 + ... + c7 r^7 for |r| <= 0.502: the Taylor polynomial, its term of degree 8
// replaced by the polynomial of degree 7 that differs from it by a Chebyshev polynomial (whose constant is dropped).
inline constexpr double c1_high = 0x1.62e42fefa39efp-9;
inline constexpr double c1_low = 0x1.abc9e3b39803fp-64;
inline constexpr double c2_high = 0x1.ebfbdff82c58fp-19;
inline constexpr double c2_low = -0x1.5e4377d310959p-73;
inline constexpr double c3_high = 0x1.c6b08d704a0cp-29;
inline constexpr double c3_low = -0x1.d331627513351p-83;
inline constexpr double c4 = 0x1.3b2ab6fba4e69p-39;
inline constexpr double c5 = 0x1.5d87fe78a6731p-50;
inline constexpr double c6 = 0x1.4309145e04962p-61;
inline constexpr double c7 = 0x1.ffcbfc588b0c7p-73;

// 256 log2(e), and log(2).
inline constexpr double log2e_256_high = 0x1.71547652b82fep+8;
inline constexpr double log2e_256_low = 0x1.777d0ffda0d24p-48;
inline constexpr double ln2_high = 0x1.62e42fefa39efp-1;
inline constexpr double ln2_low = 0x1.abc9e3b39803fp-56;

}  // namespace attest::exp_tables
