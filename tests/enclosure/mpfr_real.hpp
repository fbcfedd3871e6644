#pragma once

#include <attest/enclosure/interval.hpp>

#include <gmp.h>
#include <mpfr.h>

#include <cstdint>
#include <random>
#include <string>

// What the tests of enclosures share: GMP integers and MPFR numbers that clean up after themselves, and the
// exact values of naturals and interval ends as such.
namespace attest::testing {

class big {
 public:
  big() { mpz_init(z); }
  explicit big(std::uint64_t n) { mpz_init_set_ui(z, n); }
  template <std::size_t Capacity>
  explicit big(const natural<Capacity>& n) {
    mpz_init(z);
    if (n.size != 0) mpz_import(z, n.size, -1, 8, 0, 0, &n.limbs[0]);
  }
  big(const big& other) { mpz_init_set(z, other.z); }
  big& operator=(const big& other) {
    mpz_set(z, other.z);
    return *this;
  }
  ~big() { mpz_clear(z); }
  std::string text() const {
    char* const digits = mpz_get_str(nullptr, 16, z);
    std::string s = digits;
    void (*release)(void*, std::size_t) = nullptr;
    mp_get_memory_functions(nullptr, nullptr, &release);
    release(digits, s.size() + 1);
    return s;
  }
  friend bool operator==(const big& a, const big& b) { return mpz_cmp(a.z, b.z) == 0; }

  mpz_t z;
};

template <std::size_t Capacity>
natural<Capacity> natural_of(const big& n) {
  natural<Capacity> r;
  const std::size_t size = (mpz_sizeinbase(n.z, 2) + 63) / 64;
  if (mpz_sgn(n.z) == 0) return r;
  detail::make_room(r, size);
  mpz_export(&r.limbs[0], nullptr, -1, 8, 0, 0, n.z);
  r.size = size;
  return r;
}

/// MPFR with the widest exponents it has, as exp(2^39) and log(2^-(10^17)) need.
inline const bool widest_exponents =
    mpfr_set_emin(mpfr_get_emin_min()) == 0 && mpfr_set_emax(mpfr_get_emax_max()) == 0;

class real {
 public:
  explicit real(mpfr_prec_t precision) { mpfr_init2(x, precision); }
  /// (-1)^negative * m * 2^exponent, exactly.
  template <std::size_t Capacity>
  real(bool negative, const natural<Capacity>& m, std::int64_t exponent) {
    const mpfr_prec_t length = static_cast<mpfr_prec_t>(bit_length(m));
    mpfr_init2(x, length < 2 ? 2 : length);
    const big magnitude(m);
    mpfr_set_z_2exp(x, magnitude.z, exponent, MPFR_RNDN);
    if (negative) mpfr_neg(x, x, MPFR_RNDN);
  }
  real(const real& other) {
    mpfr_init2(x, mpfr_get_prec(other.x));
    mpfr_set(x, other.x, MPFR_RNDN);
  }
  real& operator=(const real&) = delete;
  ~real() { mpfr_clear(x); }

  mpfr_t x;
};

template <std::size_t Capacity>
real exact_real(const interval_end<Capacity>& end) {
  return real(end.negative, end.magnitude, end.exponent);
}

/// |x - midpoint| / radius, the part of its claim that an interval uses up for a member x given between `low`
/// and `high`; 0 for an exact interval with its own number, infinity with any other. A ratio above 1 is a
/// broken bound.
template <std::size_t Capacity>
double used_part(const interval<Capacity>& enclosure, const real& low, const real& high) {
  const real midpoint(enclosure.negative, enclosure.midpoint, enclosure.exponent);
  const mpfr_prec_t precision = mpfr_get_prec(high.x) + mpfr_get_prec(midpoint.x) + 200;
  real radius(64);
  mpfr_set_ui_2exp(radius.x, enclosure.radius, enclosure.exponent, MPFR_RNDN);
  double worst = 0;
  for (const real* end : {&low, &high}) {
    real distance(precision);
    mpfr_sub(distance.x, end->x, midpoint.x, MPFR_RNDU);
    if (mpfr_zero_p(distance.x)) continue;
    mpfr_div(distance.x, distance.x, radius.x, MPFR_RNDU);
    mpfr_abs(distance.x, distance.x, MPFR_RNDU);
    const double part = mpfr_get_d(distance.x, MPFR_RNDU);
    if (!(part <= worst)) worst = part;
  }
  return worst;
}

template <std::size_t Capacity>
double used_part(const interval<Capacity>& enclosure, const real& x) {
  return used_part(enclosure, x, x);
}

/// log2(width / |x|), rounded up to an integer and at most 1 too large; x is not zero.
template <std::size_t Capacity>
long relative_width_exponent(const interval<Capacity>& enclosure, const real& x) {
  if (is_exact(enclosure)) return -1000000000;
  return static_cast<long>(width_exponent(enclosure)) - static_cast<long>(mpfr_get_exp(x.x)) + 1;
}

/// Numbers of random size whose bits come in long runs as often as not, where carries and borrows travel far.
class generator {
 public:
  explicit generator(std::uint64_t seed) : engine(seed) {}
  std::uint64_t word() { return engine(); }
  std::uint64_t below(std::uint64_t n) { return engine() % n; }
  big natural_below_bits(std::size_t bits) {
    big r;
    const std::size_t length = below(bits + 1);
    if (below(2) == 0) {
      for (std::size_t i = 0; i < length; i += 32) {
        mpz_mul_2exp(r.z, r.z, 32);
        mpz_add_ui(r.z, r.z, word() >> 32);
      }
    } else {
      for (std::size_t i = 0; i < length;) {
        const std::size_t run = 1 + below(90);
        const bool ones = below(2) != 0;
        mpz_mul_2exp(r.z, r.z, run);
        if (ones) {
          big block(1);
          mpz_mul_2exp(block.z, block.z, run);
          mpz_sub_ui(block.z, block.z, 1);
          mpz_add(r.z, r.z, block.z);
        }
        i += run;
      }
    }
    mpz_fdiv_r_2exp(r.z, r.z, length);
    return r;
  }

 private:
  std::mt19937_64 engine;
};

/// Whether two intervals are the same in every part, whatever their storage.
template <std::size_t A, std::size_t B>
constexpr bool identical(const interval<A>& x, const interval<B>& y) {
  return compare(x.midpoint, y.midpoint) == 0 && x.negative == y.negative && x.radius == y.radius &&
         x.exponent == y.exponent;
}

}  // namespace attest::testing
