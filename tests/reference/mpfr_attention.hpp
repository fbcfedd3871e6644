#pragma once

#include <attest/reference/problem.hpp>

#include <mpfr.h>

#include <string>
#include <vector>

// softmax(Q Kᵀ scale) V a second time, in plain multiple-precision floats of MPFR: no symbols, no enclosures. Good to about
// `precision` bits less what cancels, which is why it cross-checks and does not certify.
namespace attest_testing {

class mp {
 public:
  static constexpr mpfr_prec_t precision = 1200;
  mp() {
    mpfr_init2(x_, precision);
    mpfr_set_zero(x_, 1);
  }
  mp(const mp& other) : mp() { mpfr_set(x_, other.x_, MPFR_RNDN); }
  mp& operator=(const mp& other) {
    mpfr_set(x_, other.x_, MPFR_RNDN);
    return *this;
  }
  ~mp() { mpfr_clear(x_); }

  explicit mp(const attest::exact_scalar& x) : mp() {
    const auto p = attest::parts(attest::exact_as<attest::unbounded_rational>(x));
    mp denominator;
    mpfr_set_str(x_, p.numerator.str().c_str(), 10, MPFR_RNDN);
    mpfr_set_str(denominator.x_, p.denominator.str().c_str(), 10, MPFR_RNDN);
    mpfr_div(x_, x_, denominator.x_, MPFR_RNDN);
  }

  friend mp operator+(const mp& a, const mp& b) { return apply(mpfr_add, a, b); }
  friend mp operator-(const mp& a, const mp& b) { return apply(mpfr_sub, a, b); }
  friend mp operator*(const mp& a, const mp& b) { return apply(mpfr_mul, a, b); }
  friend mp operator/(const mp& a, const mp& b) { return apply(mpfr_div, a, b); }
  friend mp exp(const mp& a) { return apply(mpfr_exp, a); }
  friend mp log(const mp& a) { return apply(mpfr_log, a); }
  static mp reciprocal_root(unsigned long d) {
    mp r;
    mpfr_set_ui(r.x_, d, MPFR_RNDN);
    mpfr_rec_sqrt(r.x_, r.x_, MPFR_RNDN);
    return r;
  }

  double nearest() const { return mpfr_get_d(x_, MPFR_RNDN); }
  bool is_zero() const { return mpfr_zero_p(x_) != 0; }

  /// "0.d1d2d3..." times 10^exponent, with so many digits.
  std::string digits(unsigned count, long& exponent) const {
    mpfr_exp_t e = 0;
    char* text = mpfr_get_str(nullptr, &e, 10, count, x_, MPFR_RNDN);
    std::string result(text);
    mpfr_free_str(text);
    exponent = e;
    return result;
  }

 private:
  template <class F>
  static mp apply(F f, const mp& a, const mp& b) {
    mp r;
    f(r.x_, a.x_, b.x_, MPFR_RNDN);
    return r;
  }
  template <class F>
  static mp apply(F f, const mp& a) {
    mp r;
    f(r.x_, a.x_, MPFR_RNDN);
    return r;
  }
  mpfr_t x_;
};

using mp_matrix = std::vector<std::vector<mp>>;

inline mp_matrix to_mp(const attest::exact_matrix& m) {
  mp_matrix result(attest::rows(m), std::vector<mp>(attest::columns(m)));
  for (std::size_t i = 0; i < result.size(); ++i)
    for (std::size_t j = 0; j < result[i].size(); ++j) result[i][j] = mp(attest::element(m, i, j));
  return result;
}
inline mp_matrix multiply(const mp_matrix& a, const mp_matrix& b) {
  mp_matrix result(a.size(), std::vector<mp>(b[0].size()));
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b[0].size(); ++j)
      for (std::size_t k = 0; k < b.size(); ++k) result[i][j] = result[i][j] + a[i][k] * b[k][j];
  return result;
}

struct mpfr_attention {
  mp_matrix queries, keys, values, dots, weights, output;
  std::vector<mp> log_sum_exp;

  explicit mpfr_attention(const attest::problem& p) {
    if (const auto* in = std::get_if<attest::projected_inputs>(&p.inputs)) {
      const mp_matrix x = to_mp(in->x);
      const mp_matrix y = in->y ? to_mp(*in->y) : x;
      queries = multiply(x, to_mp(in->wq));
      keys = multiply(y, to_mp(in->wk));
      values = multiply(y, to_mp(in->wv));
    } else {
      const auto& head = std::get<attest::head_inputs>(p.inputs);
      queries = to_mp(head.q);
      keys = to_mp(head.k);
      values = to_mp(head.v);
    }
    const std::size_t width = queries[0].size();
    const mp scale = p.scale ? mp(*p.scale) : mp::reciprocal_root(static_cast<unsigned long>(width));
    dots.assign(queries.size(), std::vector<mp>(keys.size()));
    weights = dots;
    output.assign(queries.size(), std::vector<mp>(values[0].size()));
    for (std::size_t i = 0; i < queries.size(); ++i) {
      mp total;
      for (std::size_t j = 0; j < keys.size(); ++j) {
        for (std::size_t k = 0; k < width; ++k) dots[i][j] = dots[i][j] + queries[i][k] * keys[j][k];
        if (!p.mask || (*p.mask)(i, j)) weights[i][j] = exp(dots[i][j] * scale);
        total = total + weights[i][j];
      }
      log_sum_exp.push_back(log(total));
      for (std::size_t j = 0; j < keys.size(); ++j) {
        weights[i][j] = weights[i][j] / total;
        for (std::size_t c = 0; c < values[0].size(); ++c) output[i][c] = output[i][c] + weights[i][j] * values[j][c];
      }
    }
  }
};

}  // namespace attest_testing
