// The tables and coefficients of the exponential of pairs: they are what their generator writes, the polynomial's error over
// the whole reduced range, every entry of the tables, and the whole function against MPFR.
#include "../../src/reference/double_double/exp_tables.hpp"
#include "../../src/reference/double_double/tier.hpp"
#include "../../src/reference/instruction_sets.hpp"
#include "catch.hpp"
#include "exp_tables_generator.hpp"
#include "support/random.hpp"

#include <mpfr.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace tables = attest::exp_tables;

const std::string path = std::string(ATTEST_SOURCE_DIR) + "/src/reference/double_double/exp_tables.hpp";

class number {
 public:
  explicit number(double x = 0) {
    mpfr_init2(x_, 400);
    mpfr_set_d(x_, x, MPFR_RNDN);
  }
  ~number() { mpfr_clear(x_); }
  number(const number&) = delete;
  number& operator=(const number&) = delete;
  operator mpfr_ptr() { return x_; }

 private:
  mpfr_t x_;
};

struct words {
  double high, low;
};
constexpr words coefficients[7] = {{tables::c1_high, tables::c1_low}, {tables::c2_high, tables::c2_low},
                                   {tables::c3_high, tables::c3_low}, {tables::c4, 0},
                                   {tables::c5, 0},                   {tables::c6, 0},
                                   {tables::c7, 0}};

/// log2 |power(i/divisor) / (high + rest high) - 1|, to see that an entry is right to about 106 bits.
double entry_error(long i, long divisor, double high, double rest) {
  number exact, entry;
  mpfr_set_si(exact, i, MPFR_RNDN);
  mpfr_div_si(exact, exact, divisor, MPFR_RNDN);
  mpfr_exp2(exact, exact, MPFR_RNDN);
  mpfr_set_d(entry, rest, MPFR_RNDN);
  mpfr_add_ui(entry, entry, 1, MPFR_RNDN);
  mpfr_mul_d(entry, entry, high, MPFR_RNDN);
  mpfr_div(entry, entry, exact, MPFR_RNDN);
  mpfr_sub_ui(entry, entry, 1, MPFR_RNDN);
  return mpfr_zero_p(static_cast<mpfr_ptr>(entry)) ? -1000 : std::log2(std::abs(mpfr_get_d(entry, MPFR_RNDN)));
}

}  // namespace

TEST_CASE("exp tables are what their generator writes", "[double_double]") {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  CHECK(text.str() == attest_testing::exp_tables_generator().text());
}

TEST_CASE("write exp_tables.hpp", "[.generate]") { std::ofstream(path) << attest_testing::exp_tables_generator().text(); }

TEST_CASE("exp tables: every entry is right to 2^-105", "[double_double]") {
  for (long i = 0; i < 16; ++i) {
    const auto k = static_cast<std::size_t>(i);
    INFO(i);
    CHECK(entry_error(i, 16, tables::sixteenths_high[k], tables::sixteenths_rest[k]) < -105);
    CHECK(entry_error(i, 256, tables::small_high[k], tables::small_rest[k]) < -105);
  }
}

// With a_k = (log(2)/256)^k / k! the exact Taylor coefficients, c_k those of the file and h = 1/2 + 2^-9 >= |r|:
// |2^(r/256) - 1 - Σ_1^7 c_k r^k| <= |Σ_1^7 (a_k - c_k) r^k + a_8 r^8| + Σ_9^∞ a_k h^k. The polynomial in the first term is bounded
// on 2^12 intervals that cover [-h, h]: its value at the middle plus half the length times a bound of its derivative,
// Σ k |a_k - c_k| h^(k-1) + 8 a_8 h^7, all of it rounded up in MPFR. The remainder is below a_9 h^9 / (1 - 2^-9).
TEST_CASE("exp polynomial: error below 2^-96.9 over the whole reduced range", "[double_double]") {
  number d[9], h, power, derivative, t;
  mpfr_set_d(h, 0.5 + 0x1p-9, MPFR_RNDU);
  for (int k = 1; k <= 8; ++k) {
    mpfr_const_log2(d[k], MPFR_RNDN);
    mpfr_div_ui(d[k], d[k], 256, MPFR_RNDN);
    mpfr_pow_ui(d[k], d[k], static_cast<unsigned long>(k), MPFR_RNDN);
    for (unsigned long i = 2; i <= static_cast<unsigned long>(k); ++i) mpfr_div_ui(d[k], d[k], i, MPFR_RNDN);
    if (k == 8) break;
    mpfr_sub_d(d[k], d[k], coefficients[k - 1].high, MPFR_RNDN);
    mpfr_sub_d(d[k], d[k], coefficients[k - 1].low, MPFR_RNDN);
  }
  for (int k = 1; k <= 8; ++k) {
    mpfr_pow_ui(power, h, static_cast<unsigned long>(k - 1), MPFR_RNDU);
    mpfr_mul_ui(power, power, static_cast<unsigned long>(k), MPFR_RNDU);
    mpfr_abs(t, d[k], MPFR_RNDU);
    mpfr_mul(power, power, t, MPFR_RNDU);
    mpfr_add(derivative, derivative, power, MPFR_RNDU);
  }
  constexpr int parts = 4096;
  number largest, x, p;
  for (int i = 0; i < parts; ++i) {
    mpfr_mul_si(x, h, 2 * i + 1 - parts, MPFR_RNDN);
    mpfr_div_ui(x, x, parts, MPFR_RNDN);
    mpfr_set_zero(p, 1);
    for (int k = 8; k >= 1; --k) {
      mpfr_add(p, p, d[k], MPFR_RNDN);
      mpfr_mul(p, p, x, MPFR_RNDN);
    }
    mpfr_abs(p, p, MPFR_RNDU);
    mpfr_max(largest, largest, p, MPFR_RNDU);
  }
  mpfr_mul(t, derivative, h, MPFR_RNDU);
  mpfr_div_ui(t, t, parts, MPFR_RNDU);
  mpfr_add(largest, largest, t, MPFR_RNDU);
  // a_9 h^9 (1 + 2^-8)
  mpfr_const_log2(t, MPFR_RNDU);
  mpfr_div_ui(t, t, 256, MPFR_RNDU);
  mpfr_mul(t, t, h, MPFR_RNDU);
  mpfr_pow_ui(t, t, 9, MPFR_RNDU);
  mpfr_div_ui(t, t, 362880, MPFR_RNDU);
  mpfr_mul_d(t, t, 1 + 0x1p-8, MPFR_RNDU);
  mpfr_add(largest, largest, t, MPFR_RNDU);
  const double bits = std::log2(mpfr_get_d(largest, MPFR_RNDU));
  std::printf("  polynomial of the exponential: error below 2^%.2f\n", bits);
  CHECK(bits < -96.9);
  CHECK(bits > -98.5);  // a_8 h^8 / 64 = 2^-97.5 is in it: the test sees the term that was economised
}

TEST_CASE("exponential of pairs: error over bound", "[double_double]") {
  for (const std::string& name : attest::instruction_sets::available()) {
    attest::instruction_sets::use(name);
    testing::random_source s(3);
    std::vector<double> high, low;
    // Every entry of both tables, both ends of the reduced range, the largest low words, every exponent.
    for (int i = 0; i < 4000; ++i) {
      const double n = static_cast<double>(s.between(i % 2 ? -256 * 959 : -600, 0));
      const double r = i % 3 == 0 ? std::ldexp(static_cast<double>(s.between(-511, 511)), -10)
                                  : std::ldexp(static_cast<double>(s.between(-(1L << 40), 1L << 40)), -41);
      high.push_back(n + r);
      low.push_back(std::ldexp(static_cast<double>(s.between(-(1L << 50), 1L << 50)), static_cast<int>(-60 - s.between(0, 60))));
    }
    for (int i = 0; i < 256; ++i) {
      high.push_back(-256 * 3 + i + 0.5);
      low.push_back(0x1p-10);
      high.push_back(-256 * 3 + i - 0.5);
      low.push_back(-0x1p-10);
      high.push_back(-i);
      low.push_back(0);
    }
    for (int i = 0; i < 200; ++i) {  // nearly 0, in a high word smaller than the low word
      high.push_back(std::ldexp(1.0 + i, -40 - i));
      low.push_back(std::ldexp(1.0, -11 - i % 40));
    }
    std::vector<double> ph(high.size()), pl(high.size());
    attest::double_double_tier::powers(high, low, 0, ph, pl);
    number x, y;
    double largest = 0;
    for (std::size_t i = 0; i < high.size(); ++i) {
      mpfr_set_d(x, high[i], MPFR_RNDN);
      mpfr_add_d(x, x, low[i], MPFR_RNDN);
      mpfr_div_ui(x, x, 256, MPFR_RNDN);
      mpfr_exp2(x, x, MPFR_RNDN);
      mpfr_set_d(y, ph[i], MPFR_RNDN);
      mpfr_add_d(y, y, pl[i], MPFR_RNDN);
      mpfr_sub(y, y, x, MPFR_RNDN);
      mpfr_div(y, y, x, MPFR_RNDN);
      const double beyond = std::abs(low[i]) > std::abs(high[i]) ? 0x1p-59 * std::abs(low[i]) : 0;
      const double error = std::abs(mpfr_get_d(y, MPFR_RNDN)) / (0x1p-94 + beyond);
      INFO(name << ": " << high[i] << " + " << low[i]);
      REQUIRE(error <= 1);
      largest = std::max(largest, error);
    }
    std::printf("  exponential, %s: error over bound %.2f\n", name.c_str(), largest);
    CHECK(largest > 0.02);
    // Far below: about 2^-960, whatever the shift.
    const std::vector<double> far{-256 * 960.0, -256 * 961.0, -1e9, -1e300, -std::ldexp(1, 1023)}, zero(far.size());
    ph.resize(far.size());
    pl.resize(far.size());
    attest::double_double_tier::powers(far, zero, 0, ph, pl);
    for (const double p : ph) CHECK((p >= 0x1p-961 && p <= 0x1p-959));
    const std::vector<double> large{std::ldexp(1, 40), std::ldexp(1, 40) - 256}, none(2);
    ph.resize(2);
    pl.resize(2);
    attest::double_double_tier::powers(large, none, std::ldexp(1, 40), ph, pl);
    CHECK((ph[0] == 1 && pl[0] == 0 && ph[1] == 0.5 && pl[1] == 0));
  }
  attest::instruction_sets::use("");
}
