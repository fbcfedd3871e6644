// The polynomials and the table behind the exponentials of the fused kernel, over their whole intervals: an
// error at thousands of points, and between them no more than its largest slope allows.
#include "../../src/kernel/fused_exp.hpp"

#include "catch.hpp"
#include "support/mpfr.hpp"

#include <cmath>
#include <vector>

using reference::real;

namespace {

constexpr mpfr_prec_t precision = 200;
constexpr int points = 40000;

real of(double x) {
  real r(precision);
  mpfr_set_d(r.get(), x, MPFR_RNDN);
  return r;
}
real log_of_two() { return log(of(2)); }

/// An upper bound of max |p(r) - (2^r - 1)/r| over |r| <= h, h a power of two, where p has these
/// coefficients.
///
/// With t_k = (ln 2)^(k+1)/(k+1)!, the difference is Σ (c_k - t_k) r^k, t_k alone beyond the coefficients,
/// and its slope at most Σ k |c_k - t_k| h^(k-1). Any r is within h/points of one of the points.
template <class T, std::size_t N>
double largest_error(const T (&coefficients)[N], double h) {
  std::vector<real> difference;
  real term = log_of_two();
  for (std::size_t k = 0; k < 20; ++k) {
    difference.push_back((k < N ? of(static_cast<double>(coefficients[k])) : of(0)) - term);
    term = term * log_of_two() / of(static_cast<double>(k + 2));
  }
  // Beyond 20 terms: less than twice the next one, as each is less than half of the one before.
  real slope = of(40) * term, power = of(1);
  for (std::size_t k = 1; k < difference.size(); ++k) {
    slope = slope + of(static_cast<double>(k)) * abs(difference[k]) * power;
    power = power * of(h);
  }
  real worst = of(0);
  for (int n = -points; n <= points; ++n) {
    const real r = of(h * n / points);
    real sum = of(0);
    for (std::size_t k = difference.size(); k-- > 0;) sum = sum * r + difference[k];
    if (compare(abs(sum), worst) > 0) worst = abs(sum);
  }
  return mpfr_get_d((worst + slope * of(h / points / 2) + term * of(2)).get(), MPFR_RNDU);
}

template <class T>
void check_roots() {
  for (int i = 0; i < 16; ++i) {
    real root(precision);
    mpfr_set_si(root.get(), i, MPFR_RNDN);
    mpfr_div_si(root.get(), root.get(), 16, MPFR_RNDN);
    mpfr_exp2(root.get(), root.get(), MPFR_RNDN);
    const T nearest = sizeof(T) == 8 ? static_cast<T>(mpfr_get_d(root.get(), MPFR_RNDN))
                                     : static_cast<T>(mpfr_get_flt(root.get(), MPFR_RNDN));
    CHECK(attest::kernel::fused_exp::constants<T>::roots[i] == nearest);
  }
}

}  // namespace

TEST_CASE("the polynomials of the fused exponential, over their whole intervals") {
  using doubles = attest::kernel::fused_exp::constants<double>;
  using floats = attest::kernel::fused_exp::constants<float>;
  const auto u = [](int digits) { return std::ldexp(1.0, -digits); };
  // |r| times it is the error of 1 + r p(r), and 2^r >= 2^-h: the relative error
  const auto relative = [](double error, double h) { return h * error * std::exp2(h); };
  CHECK(relative(largest_error(doubles::whole, 0.5), 0.5) <= 0.35 * u(53));
  CHECK(relative(largest_error(doubles::sixteenth, 1.0 / 32), 1.0 / 32) <= 0.25 * u(53));
  CHECK(relative(largest_error(floats::whole, 0.5), 0.5) <= 0.25 * u(24));
  CHECK(relative(largest_error(floats::sixteenth, 1.0 / 32), 1.0 / 32) <= 0.25 * u(24));
  // of p itself, for 2^r - 1 in tanh: relative to (2^r - 1)/r >= 0.58 for r >= -1/2
  CHECK(largest_error(doubles::whole, 0.5) / 0.58 <= 0.8 * u(53));
  CHECK(largest_error(floats::whole, 0.5) / 0.58 <= 0.8 * u(24));
}

TEST_CASE("the table of the fused exponential is correctly rounded") {
  check_roots<double>();
  check_roots<float>();
}
