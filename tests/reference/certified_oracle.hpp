#pragma once

#include <attest/problem/options.hpp>
#include <attest/reference/certified_attention.hpp>
#include <attest/rounding/direction.hpp>
#include <attest/rounding/format.hpp>

#include <gmp.h>
#include <mpfr.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

// Attention a second time for the tests of certified_attention(): in MPFR, with an error margin that is far
// above what its roundings can add up to, and rounded by code of its own. No arithmetic of the library is
// used.
namespace oracle {

class real {
 public:
  explicit real(mpfr_prec_t precision) {
    mpfr_init2(x_, precision);
    mpfr_set_zero(x_, 1);
  }
  real(const real& other) {
    mpfr_init2(x_, mpfr_get_prec(other.x_));
    mpfr_set(x_, other.x_, MPFR_RNDN);
  }
  real& operator=(const real& other) {
    mpfr_set_prec(x_, mpfr_get_prec(other.x_));
    mpfr_set(x_, other.x_, MPFR_RNDN);
    return *this;
  }
  ~real() { mpfr_clear(x_); }
  mpfr_ptr get() { return x_; }
  mpfr_srcptr get() const { return x_; }

 private:
  mpfr_t x_;
};

/// The pattern of x in the format. With n = x / unit rounded to an integer, unit being that of x's binade or
/// of the subnormal numbers, the pattern is n + (binades above the lowest) · 2^fraction bits: a carry into
/// the next binade comes out right.
inline std::uint64_t round_to_format(mpfr_srcptr x, const attest::format& f, attest::rounding direction) {
  const bool negative = mpfr_signbit(x) != 0;
  if (mpfr_zero_p(x)) return direction == attest::rounding::down && f.has_negative_zero ? f.sign_bit() : 0;
  const long binade = std::max<long>(mpfr_get_exp(x) - 1, f.min_exponent);
  real n(std::max<mpfr_prec_t>(mpfr_get_prec(x), 64));
  mpfr_abs(n.get(), x, MPFR_RNDN);
  mpfr_mul_2si(n.get(), n.get(), f.precision - 1 - binade, MPFR_RNDN);
  const bool away = negative ? direction == attest::rounding::down : direction == attest::rounding::up;
  if (direction == attest::rounding::nearest_even)
    mpfr_rint(n.get(), n.get(), MPFR_RNDN);
  else if (away)
    mpfr_rint_ceil(n.get(), n.get(), MPFR_RNDN);
  else
    mpfr_rint_floor(n.get(), n.get(), MPFR_RNDN);
  if (direction == attest::rounding::to_odd && binade <= f.max_exponent()) {
    // Of the two neighbours of a number between them, the odd one.
    real back(mpfr_get_prec(n.get()) + 64);
    mpfr_mul_2si(back.get(), n.get(), binade - f.precision + 1, MPFR_RNDN);
    if (mpfr_cmpabs(back.get(), x) != 0 && mpfr_get_ui(n.get(), MPFR_RNDN) % 2 == 0)
      mpfr_add_ui(n.get(), n.get(), 1, MPFR_RNDN);
  }
  std::uint64_t pattern;
  if (binade > f.max_exponent()) {
    pattern = f.largest + 1;
  } else {
    pattern = mpfr_get_ui(n.get(), MPFR_RNDN) +
              (static_cast<std::uint64_t>(binade - f.min_exponent) << (f.precision - 1));
  }
  if (pattern > f.largest) {
    const bool to_infinity = direction == attest::rounding::nearest_even || away;
    pattern = to_infinity ? f.infinity : f.largest;
  }
  if (pattern == 0 && negative && !f.has_negative_zero) return 0;
  return negative ? pattern | f.sign_bit() : pattern;
}

class fraction {
 public:
  fraction() { mpq_init(x_); }
  fraction(const fraction& other) : fraction() { mpq_set(x_, other.x_); }
  fraction& operator=(const fraction& other) {
    mpq_set(x_, other.x_);
    return *this;
  }
  ~fraction() { mpq_clear(x_); }
  mpq_ptr get() { return x_; }
  mpq_srcptr get() const { return x_; }

 private:
  mpq_t x_;
};

struct rounded_fraction {
  std::uint64_t pattern;
  bool half_step;  // a number of the format or a midpoint
};

/// The pattern of a fraction, by integer division: 2 |x| / unit is a whole number exactly for numbers and
/// midpoints.
inline rounded_fraction round_to_format(mpq_srcptr x, const attest::format& f, attest::rounding direction) {
  using attest::rounding;
  const int sign = mpq_sgn(x);
  if (sign == 0) return {direction == rounding::down && f.has_negative_zero ? f.sign_bit() : 0, true};
  mpz_t n, d, quotient, rest;
  mpz_init(quotient);
  mpz_init(rest);
  mpz_init_set(n, mpq_numref(x));
  mpz_abs(n, n);
  mpz_init_set(d, mpq_denref(x));
  long binade =
      static_cast<long>(mpz_sizeinbase(n, 2)) - static_cast<long>(mpz_sizeinbase(d, 2));  // or one too high
  mpz_set(quotient, binade >= 0 ? d : n);
  mpz_mul_2exp(quotient, quotient, static_cast<mp_bitcnt_t>(std::labs(binade)));
  if (binade >= 0 ? mpz_cmp(n, quotient) < 0 : mpz_cmp(quotient, d) < 0) --binade;
  binade = std::max<long>(binade, f.min_exponent);
  const long half_unit = binade - f.precision;
  if (half_unit < 0)
    mpz_mul_2exp(n, n, static_cast<mp_bitcnt_t>(-half_unit));
  else
    mpz_mul_2exp(d, d, static_cast<mp_bitcnt_t>(half_unit));
  mpz_fdiv_qr(quotient, rest, n, d);
  const bool half_step = mpz_sgn(rest) == 0;
  const std::uint64_t halves = mpz_get_ui(quotient);
  std::uint64_t significand = halves / 2;
  const bool above = halves % 2 != 0;  // at the midpoint or beyond
  const bool away = sign < 0 ? direction == rounding::down : direction == rounding::up;
  if (direction == rounding::nearest_even ? above && (!half_step || significand % 2 != 0)
                                          : away && (above || !half_step))
    ++significand;
  if (direction == rounding::to_odd && significand % 2 == 0 && (above || !half_step)) ++significand;
  std::uint64_t pattern =
      binade > f.max_exponent()
          ? f.largest + 1
          : significand + (static_cast<std::uint64_t>(binade - f.min_exponent) << (f.precision - 1));
  if (pattern > f.largest) pattern = direction == rounding::nearest_even || away ? f.infinity : f.largest;
  mpz_clear(n);
  mpz_clear(d);
  mpz_clear(quotient);
  mpz_clear(rest);
  if (pattern == 0 && sign < 0 && !f.has_negative_zero) return {0, half_step};
  return {sign < 0 ? pattern | f.sign_bit() : pattern, half_step};
}

/// One row: q, the keys and values that it sees, and what is done to the scores.
struct row {
  std::vector<double> q;
  std::vector<std::vector<double>> k;
  std::vector<std::vector<double>> v;
  std::vector<double> added;   // bias, empty: none
  std::vector<long> distance;  // for the slope
  std::optional<double> scale;
  std::optional<double> softcap;
  std::optional<double> slope;
  std::optional<double> sink;
};

/// A value in an enclosure, midpoint and margin.
struct enclosed {
  real value;
  real margin;
};

class row_values {
 public:
  row_values(const row& r, mpfr_prec_t precision)
      : row_(r), precision_(precision), total_(precision), largest_(precision) {
    const std::size_t n = r.k.size();
    for (std::size_t j = 0; j < n; ++j) scores_.push_back(score(j));
    if (r.sink) {
      scores_.emplace_back(wide());
      mpfr_set_d(scores_.back().get(), *r.sink, MPFR_RNDN);
    }
    largest_ = scores_[0];
    for (const real& s : scores_)
      if (mpfr_cmp(s.get(), largest_.get()) > 0) largest_ = s;
    for (const real& s : scores_) {
      real e(precision_);
      real difference(wide());
      mpfr_sub(difference.get(), s.get(), largest_.get(), MPFR_RNDN);
      mpfr_clear_underflow();
      mpfr_exp(e.get(), difference.get(), MPFR_RNDU);  // what underflows stays positive
      underflowed_.push_back(mpfr_underflow_p() != 0);
      exponentials_.push_back(e);
      mpfr_add(total_.get(), total_.get(), e.get(), MPFR_RNDN);
    }
  }

  /// Every exponential is off by less than 2^(3 - p) of itself (its exponent by less than 2^-p) unless it is
  /// below 2^-2^60, so a sum of n of them, and the quotient of two such sums, by less than 2^(16 - p) for n <
  /// 2^10 · 4. Margin: 2^(24 - p) of the largest magnitude.
  enclosed output(std::size_t c) const {
    real sum(precision_), product(precision_ + 64), largest(precision_), lost(precision_);
    for (std::size_t j = 0; j < row_.k.size(); ++j) {
      mpfr_mul_d(product.get(), exponentials_[j].get(), row_.v[j][c], MPFR_RNDN);
      mpfr_add(sum.get(), sum.get(), product.get(), MPFR_RNDN);
      mpfr_abs(product.get(), product.get(), MPFR_RNDN);
      mpfr_add(largest.get(), largest.get(), product.get(), MPFR_RNDN);
      if (underflowed_[j]) mpfr_add(lost.get(), lost.get(), product.get(), MPFR_RNDU);
    }
    mpfr_div(sum.get(), sum.get(), total_.get(), MPFR_RNDN);
    mpfr_div(largest.get(), largest.get(), total_.get(), MPFR_RNDN);
    mpfr_mul_2si(largest.get(), largest.get(), 24 - precision_, MPFR_RNDN);
    // Of what underflowed only the size is known.
    mpfr_mul_2ui(lost.get(), lost.get(), 2, MPFR_RNDU);
    mpfr_add(largest.get(), largest.get(), lost.get(), MPFR_RNDU);
    return {sum, largest};
  }
  /// The output as a fraction, where it is one: where the mean of the values is the same for every score.
  std::optional<fraction> rational_output(std::size_t c) const {
    fraction all, one;
    std::vector<std::size_t> done(scores_.size(), 0);
    bool first = true;
    for (std::size_t j = 0; j < scores_.size(); ++j) {
      if (done[j] != 0) continue;
      fraction sum, value, count;
      unsigned long n = 0;
      for (std::size_t k = j; k < scores_.size(); ++k) {
        if (mpfr_cmp(scores_[k].get(), scores_[j].get()) != 0) continue;
        done[k] = 1;
        ++n;
        if (k >= row_.v.size()) continue;  // the sink
        mpq_set_d(value.get(), row_.v[k][c]);
        mpq_add(sum.get(), sum.get(), value.get());
      }
      mpq_set_ui(count.get(), n, 1);
      mpq_div(sum.get(), sum.get(), count.get());
      if (!first && mpq_equal(sum.get(), all.get()) == 0) return std::nullopt;
      all = sum;
      first = false;
    }
    return all;
  }

  /// Where one score exceeds all others by more than 4000, and the next the rest by more than 4000 too: the
  /// value of the first, and on which side of it the output lies. e^-4000 < 2^-5770 outweighs every ratio of
  /// doubles, and the distance from the value is below 2^-2600.
  struct beside {
    double value;
    int side;
  };
  std::optional<beside> dominated(std::size_t c) const {
    if (scores_.size() < 2) return std::nullopt;
    std::size_t first = 0, second = 1;
    if (mpfr_cmp(scores_[1].get(), scores_[0].get()) > 0) std::swap(first, second);
    for (std::size_t j = 2; j < scores_.size(); ++j) {
      if (mpfr_cmp(scores_[j].get(), scores_[first].get()) > 0)
        second = std::exchange(first, j);
      else if (mpfr_cmp(scores_[j].get(), scores_[second].get()) > 0)
        second = j;
    }
    const auto value = [&](std::size_t j) { return j < row_.v.size() ? row_.v[j][c] : 0.0; };
    if (value(first) == value(second)) return std::nullopt;
    real gap(wide());
    for (std::size_t j = 0; j < scores_.size(); ++j) {
      if (j == first) continue;
      mpfr_sub(gap.get(), scores_[j == second ? first : second].get(), scores_[j].get(), MPFR_RNDN);
      if (mpfr_cmp_ui(gap.get(), 4000) <= 0) return std::nullopt;
    }
    return beside{value(first), value(second) > value(first) ? 1 : -1};
  }

  /// Whether q · k = 0 for the one key.
  bool scores_without_dot() const {
    fraction dot, x, y;
    for (std::size_t c = 0; c < row_.q.size(); ++c) {
      mpq_set_d(x.get(), row_.q[c]);
      mpq_set_d(y.get(), row_.k[0][c]);
      mpq_mul(x.get(), x.get(), y.get());
      mpq_add(dot.get(), dot.get(), x.get());
    }
    return mpq_sgn(dot.get()) == 0;
  }

  /// 1/n where all n scores are equal.
  std::optional<fraction> rational_weight() const {
    for (const real& s : scores_)
      if (mpfr_cmp(s.get(), scores_[0].get()) != 0) return std::nullopt;
    fraction w;
    mpq_set_ui(w.get(), 1, scores_.size());
    return w;
  }
  /// Base e: the one score, where it is a fraction. Base two: the logarithm of a power of two, where all
  /// scores are 0.
  std::optional<fraction> rational_log_sum_exp(bool base_two) const {
    fraction l;
    if (base_two) {
      for (const real& s : scores_)
        if (mpfr_zero_p(s.get()) == 0) return std::nullopt;
      if (!std::has_single_bit(scores_.size())) return std::nullopt;
      mpq_set_si(l.get(), std::countr_zero(scores_.size()), 1);
      return l;
    }
    if (scores_.size() != 1) return std::nullopt;
    if (mpfr_zero_p(scores_[0].get()) != 0) return l;
    const bool sink_only = row_.k.empty();
    if (row_.softcap && !sink_only && !scores_without_dot()) return std::nullopt;
    if (sink_only || row_.scale) {
      mpfr_get_q(l.get(), scores_[0].get());
      return l;
    }
    const auto root = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(row_.q.size()))));
    if (root * root != row_.q.size() && !scores_without_dot()) return std::nullopt;
    // dot / root + added, as fractions.
    fraction product, factor;
    for (std::size_t c = 0; c < row_.q.size(); ++c) {
      mpq_set_d(product.get(), row_.q[c]);
      mpq_set_d(factor.get(), row_.k[0][c]);
      mpq_mul(product.get(), product.get(), factor.get());
      mpq_add(l.get(), l.get(), product.get());
    }
    mpq_set_ui(factor.get(), root, 1);
    mpq_div(l.get(), l.get(), factor.get());
    if (!row_.added.empty()) {
      mpq_set_d(factor.get(), row_.added[0]);
      mpq_add(l.get(), l.get(), factor.get());
    }
    if (row_.slope) {
      mpq_set_d(factor.get(), *row_.slope);
      mpq_set_si(product.get(), row_.distance[0], 1);
      mpq_mul(factor.get(), factor.get(), product.get());
      mpq_sub(l.get(), l.get(), factor.get());
    }
    return l;
  }

  enclosed weight(std::size_t j) const {
    real w(precision_), margin(precision_);
    mpfr_div(w.get(), exponentials_[j].get(), total_.get(), MPFR_RNDN);
    mpfr_mul_2si(margin.get(), w.get(), 24 - precision_, MPFR_RNDN);
    return {w, margin};
  }
  /// The largest score is exact, or off by 2^-p of itself; the logarithm by 2^(16 - p).
  enclosed log_sum_exp(bool base_two) const {
    real l(wide()), margin(precision_), sum(wide());
    mpfr_set(sum.get(), total_.get(), MPFR_RNDN);
    mpfr_log(l.get(), sum.get(), MPFR_RNDN);
    mpfr_abs(margin.get(), largest_.get(), MPFR_RNDN);
    mpfr_add_ui(margin.get(), margin.get(), 1, MPFR_RNDN);
    mpfr_mul_2si(margin.get(), margin.get(), 24 - precision_, MPFR_RNDN);
    mpfr_add(l.get(), l.get(), largest_.get(), MPFR_RNDN);
    if (base_two) {
      real two(precision_);
      mpfr_const_log2(two.get(), MPFR_RNDN);
      mpfr_div(l.get(), l.get(), two.get(), MPFR_RNDN);
      mpfr_mul_2si(margin.get(), margin.get(), 2, MPFR_RNDN);
    }
    return {l, margin};
  }

 private:
  // Exact sums of products of doubles span 2^-2148 to 2^2048 and more; scores are kept to `precision` bits
  // after the point.
  static constexpr mpfr_prec_t exact = 4400;
  mpfr_prec_t wide() const { return precision_ + exact; }

  real score(std::size_t j) const {
    real dot(exact), product(110);
    for (std::size_t c = 0; c < row_.q.size(); ++c) {
      mpfr_set_d(product.get(), row_.q[c], MPFR_RNDN);
      mpfr_mul_d(product.get(), product.get(), row_.k[j][c], MPFR_RNDN);
      if (mpfr_add(dot.get(), dot.get(), product.get(), MPFR_RNDN) != 0)
        throw std::logic_error("the dot is not exact");
    }
    real s(wide());
    if (row_.scale) {
      mpfr_mul_d(s.get(), dot.get(), *row_.scale, MPFR_RNDN);
    } else {
      mpfr_set_ui(s.get(), row_.q.size(), MPFR_RNDN);
      mpfr_rec_sqrt(s.get(), s.get(), MPFR_RNDN);
      mpfr_mul(s.get(), s.get(), dot.get(), MPFR_RNDN);
    }
    if (row_.softcap) {
      mpfr_div_d(s.get(), s.get(), *row_.softcap, MPFR_RNDN);
      // tanh of far arguments is 1 - 2 e^-2|x|: only so much of it as the working precision shows.
      mpfr_tanh(s.get(), s.get(), MPFR_RNDN);
      mpfr_mul_d(s.get(), s.get(), *row_.softcap, MPFR_RNDN);
    }
    real added(wide());
    if (!row_.added.empty()) mpfr_add_d(s.get(), s.get(), row_.added[j], MPFR_RNDN);
    if (row_.slope) {
      mpfr_set_d(added.get(), *row_.slope, MPFR_RNDN);
      mpfr_mul_si(added.get(), added.get(), row_.distance[j], MPFR_RNDN);
      mpfr_sub(s.get(), s.get(), added.get(), MPFR_RNDN);
    }
    return s;
  }

  const row& row_;
  mpfr_prec_t precision_;
  std::vector<real> scores_;
  std::vector<real> exponentials_;
  std::vector<bool> underflowed_;
  real total_;
  real largest_;
};

/// What a number just beside another rounds to. With `less`, minus that number.
inline std::uint64_t rounded(const row_values::beside& x, const attest::format& f, attest::rounding direction,
                             std::optional<double> less = {}) {
  real y(2200);
  mpfr_set_d(y.get(), x.value, MPFR_RNDN);
  if (less) mpfr_sub_d(y.get(), y.get(), *less, MPFR_RNDN);  // exact
  if (x.side > 0)
    mpfr_nextabove(y.get());
  else
    mpfr_nextbelow(y.get());
  return round_to_format(y.get(), f, direction);
}

/// The pattern, if both ends of the enclosure round to it. With `less`, of the value minus that number.
inline std::optional<std::uint64_t> rounded(const enclosed& x, const attest::format& f,
                                            attest::rounding direction, std::optional<double> less = {}) {
  const mpfr_prec_t precision = mpfr_get_prec(x.value.get()) + 1200;
  real low(precision), high(precision);
  mpfr_sub(low.get(), x.value.get(), x.margin.get(), MPFR_RNDD);
  mpfr_add(high.get(), x.value.get(), x.margin.get(), MPFR_RNDU);
  if (less) {
    mpfr_sub_d(low.get(), low.get(), *less, MPFR_RNDD);
    mpfr_sub_d(high.get(), high.get(), *less, MPFR_RNDU);
  }
  const std::uint64_t pattern = round_to_format(low.get(), f, direction);
  if (pattern != round_to_format(high.get(), f, direction)) return std::nullopt;
  return pattern;
}

}  // namespace oracle
