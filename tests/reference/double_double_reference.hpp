#pragma once

#include "../../src/reference/double_double/tier.hpp"

#include <mpfr.h>

#include <cstddef>
#include <vector>

// A row of attention in MPFR at 500 bits, by the formula: the truth that the pairs of doubles are held against. Rounding
// errors here are below 2^-480 of the largest product of a dot product.
namespace attest_testing {

class real {
 public:
  static constexpr mpfr_prec_t precision = 500;
  real(double x = 0) {
    mpfr_init2(x_, precision);
    mpfr_set_d(x_, x, MPFR_RNDN);
  }
  real(const real& other) {
    mpfr_init2(x_, precision);
    mpfr_set(x_, other.x_, MPFR_RNDN);
  }
  real& operator=(const real& other) {
    mpfr_set(x_, other.x_, MPFR_RNDN);
    return *this;
  }
  ~real() { mpfr_clear(x_); }
  mpfr_ptr get() { return x_; }
  mpfr_srcptr get() const { return x_; }
  double nearest() const { return mpfr_get_d(x_, MPFR_RNDN); }

  friend real operator+(const real& a, const real& b) { return apply(mpfr_add, a, b); }
  friend real operator-(const real& a, const real& b) { return apply(mpfr_sub, a, b); }
  friend real operator*(const real& a, const real& b) { return apply(mpfr_mul, a, b); }
  friend real operator/(const real& a, const real& b) { return apply(mpfr_div, a, b); }
  friend bool operator<(const real& a, const real& b) { return mpfr_less_p(a.x_, b.x_) != 0; }
  friend real exp(const real& a) { return apply(mpfr_exp, a); }
  friend real log(const real& a) { return apply(mpfr_log, a); }
  friend real tanh(const real& a) { return apply(mpfr_tanh, a); }
  friend real sqrt(const real& a) { return apply(mpfr_sqrt, a); }
  friend real abs(const real& a) { return apply(mpfr_abs, a); }
  friend real scaled(const real& a, long exponent) {
    real r;
    mpfr_mul_2si(r.x_, a.x_, exponent, MPFR_RNDN);
    return r;
  }
  /// this += a b.
  void add_product(double a, double b) {
    thread_local real p;
    mpfr_set_d(p.x_, a, MPFR_RNDN);
    mpfr_mul_d(p.x_, p.x_, b, MPFR_RNDN);
    mpfr_add(x_, x_, p.x_, MPFR_RNDN);
  }

 private:
  template <class F>
  static real apply(F f, const real& a) {
    real r;
    f(r.x_, a.x_, MPFR_RNDN);
    return r;
  }
  template <class F>
  static real apply(F f, const real& a, const real& b) {
    real r;
    f(r.x_, a.x_, b.x_, MPFR_RNDN);
    return r;
  }
  mpfr_t x_;
};

struct true_row {
  std::vector<real> output;
  std::vector<real> weights;  // of keys first_key to last_key, 0 where hidden
  real log_sum_exp;
};

inline true_row attention_row(const attest::double_double_tier::query_row& row,
                              const attest::double_double_tier::score_steps& steps, std::size_t key_width,
                              std::size_t value_width, const double* k, const double* v) {
  const std::size_t n = row.last_key - row.first_key;
  std::vector<real> scores(n);
  real largest(-1);
  bool any = false;
  const auto sees = [&](std::size_t j) { return row.visible == nullptr || row.visible[j] != 0; };
  const auto consider = [&](const real& s) {
    if (!any || largest < s) largest = s;
    any = true;
  };
  for (std::size_t j = 0; j < n; ++j) {
    if (!sees(j)) continue;
    const std::size_t key = row.first_key + j;
    real s;
    for (std::size_t c = 0; c < key_width; ++c) s.add_product(row.q[c], k[key * key_width + c]);
    s = steps.scale ? s * real(*steps.scale) : s / sqrt(real(static_cast<double>(key_width)));
    if (steps.softcap) s = real(*steps.softcap) * tanh(s / real(*steps.softcap));
    if (row.bias) s = s + real(row.bias[j]);
    if (steps.slope) {
      const auto distance = static_cast<double>(row.position - static_cast<std::ptrdiff_t>(key));
      s = s - real(*steps.slope) * abs(real(distance));
    }
    scores[j] = s;
    consider(s);
  }
  if (steps.sink) consider(real(*steps.sink));
  true_row result;
  real sum;
  for (std::size_t j = 0; j < n; ++j) {
    result.weights.push_back(sees(j) ? exp(scores[j] - largest) : real(0));
    sum = sum + result.weights[j];
  }
  if (steps.sink) sum = sum + exp(real(*steps.sink) - largest);
  for (real& w : result.weights) w = w / sum;
  result.output.assign(value_width, real(0));
  for (std::size_t j = 0; j < n; ++j)
    if (sees(j))
      for (std::size_t c = 0; c < value_width; ++c)
        result.output[c] = result.output[c] + result.weights[j] * real(v[(row.first_key + j) * value_width + c]);
  result.log_sum_exp = largest + log(sum);
  return result;
}

}  // namespace attest_testing
