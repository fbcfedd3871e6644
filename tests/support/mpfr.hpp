#pragma once

#include <attest/enclosure/interval.hpp>
#include <attest/rounding/round.hpp>
#include <attest/symbolic/softmax.hpp>

#include <mpfr.h>

#include <cstdint>
#include <string>
#include <vector>

// The independent reference of the tests: GMP for exact numbers, MPFR for everything else. Nothing here uses
// arithmetic of the library; values cross over as decimal text or as limbs.
namespace reference {

/// A GMP integer.
class whole {
 public:
  whole(long value = 0) { mpz_init_set_si(value_, value); }
  explicit whole(const std::string& decimal) { mpz_init_set_str(value_, decimal.c_str(), 10); }
  whole(const whole& other) { mpz_init_set(value_, other.value_); }
  whole& operator=(const whole& other) {
    mpz_set(value_, other.value_);
    return *this;
  }
  ~whole() { mpz_clear(value_); }
  mpz_ptr get() { return value_; }
  mpz_srcptr get() const { return value_; }
  std::string text() const {
    std::string result(mpz_sizeinbase(value_, 10) + 2, '\0');
    mpz_get_str(result.data(), 10, value_);
    result.resize(result.find('\0'));
    return result;
  }
  friend bool operator==(const whole& a, const whole& b) { return mpz_cmp(a.value_, b.value_) == 0; }

 private:
  mpz_t value_;
};

template <attest::exact_integer Integer>
whole to_whole(const Integer& n) {
  return whole(n.str());
}

/// A GMP fraction in lowest terms.
class fraction {
 public:
  fraction(long value = 0) {
    mpq_init(value_);
    mpq_set_si(value_, value, 1);
  }
  explicit fraction(double value) {
    mpq_init(value_);
    mpq_set_d(value_, value);  // exact
  }
  fraction(const whole& n, const whole& d) {
    mpq_init(value_);
    mpz_set(mpq_numref(value_), n.get());
    mpz_set(mpq_denref(value_), d.get());
    mpq_canonicalize(value_);
  }
  fraction(const fraction& other) {
    mpq_init(value_);
    mpq_set(value_, other.value_);
  }
  fraction& operator=(const fraction& other) {
    mpq_set(value_, other.value_);
    return *this;
  }
  ~fraction() { mpq_clear(value_); }
  mpq_srcptr get() const { return value_; }
  fraction times_power_of_two(long exponent) const {
    fraction result(*this);
    if (exponent >= 0)
      mpq_mul_2exp(result.value_, value_, static_cast<mp_bitcnt_t>(exponent));
    else
      mpq_div_2exp(result.value_, value_, static_cast<mp_bitcnt_t>(-exponent));
    return result;
  }
  friend fraction operator+(const fraction& a, const fraction& b) {
    fraction r;
    mpq_add(r.value_, a.value_, b.value_);
    return r;
  }
  friend fraction operator-(const fraction& a, const fraction& b) {
    fraction r;
    mpq_sub(r.value_, a.value_, b.value_);
    return r;
  }
  friend fraction operator*(const fraction& a, const fraction& b) {
    fraction r;
    mpq_mul(r.value_, a.value_, b.value_);
    return r;
  }
  friend fraction operator/(const fraction& a, const fraction& b) {
    fraction r;
    mpq_div(r.value_, a.value_, b.value_);
    return r;
  }
  friend bool operator==(const fraction& a, const fraction& b) { return mpq_equal(a.value_, b.value_) != 0; }
  friend int compare(const fraction& a, const fraction& b) {
    const int c = mpq_cmp(a.value_, b.value_);
    return c < 0 ? -1 : c > 0 ? 1 : 0;
  }

 private:
  mpq_t value_;
};

template <attest::exact_integer Integer>
fraction to_fraction(const Integer& n) {
  return {to_whole(n), whole(1)};
}
template <attest::exact_integer Integer>
fraction to_fraction(const attest::basic_rational<Integer>& x) {
  return {to_whole(x.numerator()), to_whole(x.denominator())};
}
template <attest::exact_integer Integer>
fraction to_fraction(const attest::basic_dyadic<Integer>& x) {
  return to_fraction(x.significand()).times_power_of_two(x.exponent());
}

/// An MPFR number; results have the precision of their more precise operand.
class real {
 public:
  explicit real(mpfr_prec_t precision) {
    // All tests run on one thread. Exponentials of scores such as -10^12 need more than MPFR's default
    // exponents.
    static const bool widest =
        mpfr_set_emax(mpfr_get_emax_max()) == 0 && mpfr_set_emin(mpfr_get_emin_min()) == 0;
    static_cast<void>(widest);
    mpfr_init2(value_, precision);
    mpfr_set_zero(value_, 1);
  }
  real(long value, mpfr_prec_t precision) : real(precision) { mpfr_set_si(value_, value, MPFR_RNDN); }
  real(const fraction& value, mpfr_prec_t precision) : real(precision) {
    mpfr_set_q(value_, value.get(), MPFR_RNDN);
  }
  real(const real& other) {
    mpfr_init2(value_, other.precision());
    mpfr_set(value_, other.value_, MPFR_RNDN);
  }
  real& operator=(const real& other) {
    mpfr_set_prec(value_, other.precision());
    mpfr_set(value_, other.value_, MPFR_RNDN);
    return *this;
  }
  ~real() { mpfr_clear(value_); }

  mpfr_prec_t precision() const { return mpfr_get_prec(value_); }
  mpfr_ptr get() { return value_; }
  mpfr_srcptr get() const { return value_; }

  friend real operator+(const real& a, const real& b) { return apply(mpfr_add, a, b); }
  friend real operator-(const real& a, const real& b) { return apply(mpfr_sub, a, b); }
  friend real operator*(const real& a, const real& b) { return apply(mpfr_mul, a, b); }
  friend real operator/(const real& a, const real& b) { return apply(mpfr_div, a, b); }
  friend real exp(const real& x) { return apply(mpfr_exp, x); }
  friend real log(const real& x) { return apply(mpfr_log, x); }
  friend real log2(const real& x) { return apply(mpfr_log2, x); }
  friend real abs(const real& x) { return apply(mpfr_abs, x); }
  friend int compare(const real& a, const real& b) {
    const int c = mpfr_cmp(a.value_, b.value_);
    return c < 0 ? -1 : c > 0 ? 1 : 0;
  }
  int sign() const { return mpfr_sgn(value_); }
  real times_power_of_two(long exponent) const {
    real r(precision());
    mpfr_mul_2si(r.value_, value_, exponent, MPFR_RNDN);
    return r;
  }
  std::string text() const {
    char buffer[128];
    mpfr_snprintf(buffer, sizeof buffer, "%.40Re", value_);
    return buffer;
  }

 private:
  template <class F>
  static real apply(F f, const real& a, const real& b) {
    real r(a.precision() > b.precision() ? a.precision() : b.precision());
    f(r.value_, a.value_, b.value_, MPFR_RNDN);
    return r;
  }
  template <class F>
  static real apply(F f, const real& a) {
    real r(a.precision());
    f(r.value_, a.value_, MPFR_RNDN);
    return r;
  }

  mpfr_t value_;
};

/// n / √d.
inline real over_root(const real& n, unsigned long d) {
  real root(n.precision());
  mpfr_sqrt_ui(root.get(), d, MPFR_RNDN);
  return n / root;
}

template <attest::exact_number T>
real value_of(const T& x, mpfr_prec_t precision) {
  return real(to_fraction(x), precision);
}
template <attest::exact_number T>
real value_of(const attest::surd<T>& x, mpfr_prec_t precision) {
  return value_of(x.rational_part(), precision) + over_root(value_of(x.root_part(), precision), x.radicand());
}
template <attest::exact_number T, std::size_t N>
real value_of(const attest::exp_sum<T, N>& x, mpfr_prec_t precision) {
  real sum(precision);
  for (std::size_t k = 0; k < x.size(); ++k)
    sum = sum + value_of(x[k].coefficient, precision) * exp(value_of(x[k].exponent, precision));
  return sum;
}
template <attest::exact_number T, std::size_t N, std::size_t M>
real value_of(const attest::exp_fraction<T, N, M>& x, mpfr_prec_t precision) {
  return value_of(x.numerator, precision) / value_of(x.denominator, precision);
}
template <attest::exact_number T, std::size_t N>
real value_of(const attest::exp_logarithm<T, N>& x, mpfr_prec_t precision) {
  const real sum = value_of(x.sum, precision);
  return x.base == attest::log_base::e ? log(sum) : log2(sum);
}

/// An end of an interval, exactly.
template <std::size_t Capacity>
real value_of(const attest::interval_end<Capacity>& end) {
  whole n;
  for (std::size_t i = end.magnitude.size; i > 0; --i) {
    mpz_mul_2exp(n.get(), n.get(), 64);
    mpz_add_ui(n.get(), n.get(), end.magnitude.limbs[i - 1]);
  }
  real r(static_cast<mpfr_prec_t>(64 * end.magnitude.size + 64));
  mpfr_set_z_2exp(r.get(), n.get(), end.exponent, MPFR_RNDN);
  if (end.negative) mpfr_neg(r.get(), r.get(), MPFR_RNDN);
  return r;
}

/// Whether the interval contains the number that `value` approximates. `value` must be far more precise than
/// the interval is narrow: it counts as off by a relative 2^-(precision - 24).
template <std::size_t Capacity>
bool contains(const attest::interval<Capacity>& x, const real& value) {
  const real slack = abs(value).times_power_of_two(-(value.precision() - 24));
  return compare(value_of(lower(x)), value + slack) <= 0 && compare(value_of(upper(x)), value - slack) >= 0;
}

/// (upper - lower) / |value| as a power of two, rounded up; very negative for an exact interval.
template <std::size_t Capacity>
long relative_width(const attest::interval<Capacity>& x, const real& value) {
  const real width = value_of(upper(x)) - value_of(lower(x));
  if (width.sign() == 0) return -1'000'000'000L;
  return mpfr_get_exp((width / value).get());
}

/// The bit pattern of an exact value m * 2^exponent, m != 0, in a format: rounding by its definition, on GMP
/// integers.
inline std::uint64_t pattern_of(const whole& m, long exponent, const attest::format& f,
                                attest::rounding mode) {
  const bool negative = mpz_sgn(m.get()) < 0;
  whole magnitude;
  mpz_abs(magnitude.get(), m.get());
  const long top =
      exponent + static_cast<long>(mpz_sizeinbase(magnitude.get(), 2)) - 1;  // 2^top <= |x| < 2^(top + 1)
  const long binade = top < f.min_exponent ? f.min_exponent : top;
  const long unit = binade - (f.precision - 1);
  whole units;    // floor(|x| / 2^unit)
  int half = -1;  // the rest against half a unit
  bool inexact = false;
  if (exponent >= unit) {
    mpz_mul_2exp(units.get(), magnitude.get(), static_cast<mp_bitcnt_t>(exponent - unit));
  } else {
    const auto cut = static_cast<mp_bitcnt_t>(unit - exponent);
    whole rest;
    mpz_fdiv_q_2exp(units.get(), magnitude.get(), cut);
    mpz_fdiv_r_2exp(rest.get(), magnitude.get(), cut);
    inexact = mpz_sgn(rest.get()) != 0;
    whole middle(1);
    mpz_mul_2exp(middle.get(), middle.get(), cut - 1);
    const int c = mpz_cmp(rest.get(), middle.get());
    half = c < 0 ? -1 : c > 0 ? 1 : 0;
  }
  std::uint64_t significand = mpz_get_ui(units.get());
  const std::uint64_t hidden = std::uint64_t{1} << (f.precision - 1);
  const auto compose = [&](std::uint64_t s) {  // s may be 2 * hidden: the carry moves into the exponent
    const auto biased = static_cast<std::uint64_t>(binade - f.min_exponent);
    return s < hidden ? s : (biased << (f.precision - 1)) + s;
  };
  bool away = false;
  switch (mode) {
    case attest::rounding::nearest_even:
      away = half > 0 || (half == 0 && significand % 2 != 0);
      break;
    case attest::rounding::up:
      away = inexact && !negative;
      break;
    case attest::rounding::down:
      away = inexact && negative;
      break;
    case attest::rounding::toward_zero:
      break;
    case attest::rounding::to_odd:
      significand |= inexact ? 1u : 0u;
      break;
  }
  const std::uint64_t sign = negative ? f.sign_bit() : 0;
  const std::uint64_t largest = f.infinity - 1;
  if (binade > 1 - f.min_exponent) {  // beyond the largest binade: overflow follows the direction
    const bool to_infinity = mode == attest::rounding::nearest_even ||
                             (mode == attest::rounding::up && !negative) ||
                             (mode == attest::rounding::down && negative);
    return sign | (to_infinity ? f.infinity : largest);
  }
  return sign | compose(significand + (away ? 1 : 0));
}

/// The same of the number that `value` approximates: right unless a boundary lies within its error.
inline std::uint64_t pattern_of(const real& value, const attest::format& f, attest::rounding mode) {
  whole m;
  const long exponent = mpfr_get_z_2exp(m.get(), value.get());
  return pattern_of(m, exponent, f, mode);
}

}  // namespace reference
