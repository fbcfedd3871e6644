#pragma once

#include <mpfr.h>

#include <cstdio>
#include <string>

// Writes src/reference/double_double/exp_tables.hpp. double_double_exp_test.cpp compares the file with this text, and its hidden case
// "write exp_tables.hpp" replaces it.
namespace attest_testing {

class exp_tables_generator {
 public:
  static constexpr mpfr_prec_t precision = 400;

  exp_tables_generator() { mpfr_inits2(precision, x_, y_, low_, nullptr); }
  ~exp_tables_generator() { mpfr_clears(x_, y_, low_, nullptr); }
  exp_tables_generator(const exp_tables_generator&) = delete;
  exp_tables_generator& operator=(const exp_tables_generator&) = delete;

  std::string text() {
    std::string t =
        "#pragma once\n\n"
        "// Written by tests/reference/exp_tables_generator.hpp; do not edit. A pair is the number rounded to binary64 and\n"
        "// the rest rounded to binary64.\n"
        "namespace attest::exp_tables {\n\n"
        "// 2^(i/16) and 2^(i/256) for i < 16: rounded to binary64, and the rest divided by that.\n";
    table(t, "sixteenths", 16);
    table(t, "small", 256);
    t += "\n// 2^(r/256) - 1 = c1 r + c2 r^2 + ... + c7 r^7 for |r| <= 0.502: the Taylor polynomial, its term of degree 8\n"
         "// replaced by the polynomial of degree 7 that differs from it by a Chebyshev polynomial (whose constant is dropped).\n";
    for (int k = 1; k <= 7; ++k) {
      coefficient(k);
      const std::string name = "c" + std::to_string(k);
      constant(t, name + (k <= 3 ? "_high" : ""), true);
      if (k <= 3) constant(t, name + "_low", false);
    }
    t += "\n// 256 log2(e), and log(2).\n";
    mpfr_const_log2(x_, MPFR_RNDN);
    mpfr_ui_div(x_, 256, x_, MPFR_RNDN);
    constant(t, "log2e_256_high", true);
    constant(t, "log2e_256_low", false);
    mpfr_const_log2(x_, MPFR_RNDN);
    constant(t, "ln2_high", true);
    constant(t, "ln2_low", false);
    t += "\n}  // namespace attest::exp_tables\n";
    return t;
  }

  /// The coefficient of degree k into x_, before it is rounded.
  void coefficient(int k) {
    taylor(x_, k);
    // x^8 = (256 x^6 - 160 x^4 + 32 x^2 - 1)/128 + T8(x)/128 with x = r/h.
    const long share = k == 6 ? 256 : k == 4 ? -160 : k == 2 ? 32 : 0;
    if (share == 0) return;
    taylor(y_, 8);
    mpfr_t h;
    mpfr_init2(h, precision);
    mpfr_set_str(h, "0.502", 10, MPFR_RNDN);
    mpfr_pow_ui(h, h, static_cast<unsigned long>(8 - k), MPFR_RNDN);
    mpfr_mul(y_, y_, h, MPFR_RNDN);
    mpfr_clear(h);
    mpfr_mul_si(y_, y_, share, MPFR_RNDN);
    mpfr_div_ui(y_, y_, 128, MPFR_RNDN);
    mpfr_add(x_, x_, y_, MPFR_RNDN);
  }

 private:
  /// (log(2)/256)^k / k!
  static void taylor(mpfr_ptr result, int k) {
    mpfr_const_log2(result, MPFR_RNDN);
    mpfr_div_ui(result, result, 256, MPFR_RNDN);
    mpfr_pow_ui(result, result, static_cast<unsigned long>(k), MPFR_RNDN);
    for (int i = 2; i <= k; ++i) mpfr_div_ui(result, result, static_cast<unsigned long>(i), MPFR_RNDN);
  }

  /// The high or the low word of x_.
  double word(bool high) {
    const double h = mpfr_get_d(x_, MPFR_RNDN);
    if (high) return h;
    mpfr_sub_d(low_, x_, h, MPFR_RNDN);
    return mpfr_get_d(low_, MPFR_RNDN);
  }

  static std::string hexadecimal(double x) {
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, "%a", x);
    return buffer;
  }

  void constant(std::string& t, const std::string& name, bool high) {
    t += "inline constexpr double " + name + " = " + hexadecimal(word(high)) + ";\n";
  }

  void table(std::string& t, const std::string& name, long divisor) {
    for (const bool high : {true, false}) {
      t += "alignas(64) inline constexpr double " + name + (high ? "_high" : "_rest") + "[16] = {\n";
      for (long i = 0; i < 16; ++i) {
        mpfr_set_si(x_, i, MPFR_RNDN);
        mpfr_div_si(x_, x_, divisor, MPFR_RNDN);
        mpfr_exp2(x_, x_, MPFR_RNDN);
        if (!high) {
          mpfr_div_d(x_, x_, word(true), MPFR_RNDN);
          mpfr_sub_ui(x_, x_, 1, MPFR_RNDN);
        }
        t += (i % 4 == 0 ? "    " : " ") + hexadecimal(word(true)) + (i == 15 ? "" : ",") + (i % 4 == 3 ? "\n" : "");
      }
      t += "};\n";
    }
  }

  mpfr_t x_, y_, low_;
};

}  // namespace attest_testing
