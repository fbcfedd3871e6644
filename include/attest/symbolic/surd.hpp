#pragma once

#include <attest/exact/matrix.hpp>

#include <numeric>

namespace attest {

/// The square root of a positive integer, kept as such.
struct radical {
  unsigned long long radicand;
};
constexpr radical root(unsigned long long radicand) {
  if (radicand == 0) error::zero_denominator();
  return {radicand};
}

/// An element of Q(√d): rational_part + root_part / √radicand, exactly.
///
/// Scores arise as D / √d, and in this form (rather than a + b√d) they need no division, so that integers stay integers
/// and floats stay dyadic; it is also how a page writes them: S = D/√2, 3/√2. Normal form: radicand 1 where root_part is
/// zero, and only there. Any other perfect square as radicand is not reduced (integers could not hold the half in 1/√4); sign() and == know it.
template <exact_number T>
class surd {
 public:
  constexpr surd() : surd(T(0)) {}
  constexpr surd(int rational_part) : surd(T(rational_part)) {}
  constexpr surd(T rational_part) : rational_part_(rational_part), root_part_(T(0)), radicand_(1) {}
  constexpr surd(T rational_part, T root_part, unsigned long long radicand)
      : rational_part_(rational_part), root_part_(root_part), radicand_(sign(root_part) == 0 ? 1 : radicand) {
    if (radicand == 0) error::zero_denominator();
    if (radicand == 1) {
      const T sum = rational_part + root_part;
      rational_part_ = sum;
      root_part_ = T(0);
    }
  }

  constexpr T rational_part() const { return rational_part_; }
  constexpr T root_part() const { return root_part_; }
  constexpr unsigned long long radicand() const { return radicand_; }

  constexpr surd operator-() const { return surd(T(-rational_part()), T(-root_part()), radicand_); }

  friend constexpr surd operator+(surd x, surd y) {
    unify(x, y);
    const T rational_part = x.rational_part_ + y.rational_part_;
    const T root_part = x.root_part_ + y.root_part_;
    return surd(rational_part, root_part, x.is_rational() ? y.radicand_ : x.radicand_);
  }
  friend constexpr surd operator-(surd x, surd y) { return x + -y; }

  /// Two roots multiply to a fraction over the radicand; where T is not a fraction and the quotient not of its kind,
  /// error::quotient_is_not_dyadic().
  friend constexpr surd operator*(surd x, surd y) {
    if (x.is_rational() && y.is_rational()) {
      const T product = x.rational_part_ * y.rational_part_;
      return surd(product);
    }
    unify(x, y);
    const unsigned long long radicand = x.is_rational() ? y.radicand_ : x.radicand_;
    const T rationals = x.rational_part_ * y.rational_part_;
    const T roots = x.root_part_ * y.root_part_;
    const T over_radicand = sign(roots) == 0 ? roots : exact_quotient(roots, radicand);
    const T first = x.rational_part_ * y.root_part_;
    const T second = x.root_part_ * y.rational_part_;
    const T rational_part = rationals + over_radicand;
    const T root_part = first + second;
    return surd(rational_part, root_part, radicand);
  }

  friend constexpr bool operator==(const surd& x, const surd& y) {
    if (x.radicand_ == y.radicand_) {
      const bool same_roots = identical(x.root_part_, y.root_part_);
      const bool same_rationals = identical(x.rational_part_, y.rational_part_);
      if (same_roots || same_rationals) return same_roots && same_rationals;
    } else if (!x.is_rational() && !y.is_rational() && !same_field(x.radicand_, y.radicand_)) {
      return false;  // 1, √f and √g are linearly independent over Q for different squarefree f and g
    }
    return sign(x - y) == 0;
  }

  constexpr bool is_rational() const { return radicand_ == 1; }

  /// The sign, decided exactly: where the two parts pull apart, a² · radicand against b².
  friend constexpr int sign(const surd& x) {
    const int a = sign(x.rational_part_);
    const int b = sign(x.root_part_);
    if (a == 0 || b == 0 || a == b) return a != 0 ? a : b;
    const T d = T(exact_from<T>(x.radicand_));
    const T square = x.rational_part_ * x.rational_part_;
    const T scaled_square = square * d;
    const T root_square = x.root_part_ * x.root_part_;
    const int difference = sign(T(scaled_square - root_square));
    return difference == 0 ? 0 : difference > 0 ? a : b;
  }

 private:
  // radicand = squarefree * factor².
  struct factorisation {
    unsigned long long squarefree;
    unsigned long long factor;
  };
  static constexpr factorisation factorise(unsigned long long radicand) {
    factorisation f{radicand, 1};
    for (unsigned long long k = 2; k <= f.squarefree / k; ++k)
      while (f.squarefree % (k * k) == 0) {
        f.squarefree /= k * k;
        f.factor *= k;
      }
    return f;
  }
  static constexpr bool same_field(unsigned long long d, unsigned long long e) {
    return factorise(d).squarefree == factorise(e).squarefree;
  }

  // Writes both over one radicand: with d = f k² and e = f m², 1/√d = (l/k) / √(f l²) for l = lcm(k, m). A radicand
  // that does not fit is error::integer_overflow().
  static constexpr void unify(surd& x, surd& y) {
    if (x.radicand_ == y.radicand_ || x.is_rational() || y.is_rational()) return;
    const factorisation d = factorise(x.radicand_);
    const factorisation e = factorise(y.radicand_);
    if (d.squarefree != e.squarefree) error::different_roots();
    // A factor is below 2^32, so their least common multiple fits; its square times f may not.
    const unsigned long long common = d.factor / std::gcd(d.factor, e.factor) * e.factor;
    if (common >> 32 != 0 || d.squarefree > ~0ULL / (common * common)) error::integer_overflow();
    x.root_part_ = x.root_part_ * T(exact_from<T>(common / d.factor));
    y.root_part_ = y.root_part_ * T(exact_from<T>(common / e.factor));
    x.radicand_ = y.radicand_ = d.squarefree * common * common;
  }

  T rational_part_;
  T root_part_;
  unsigned long long radicand_;
};

template <exact_number To, exact_number From>
constexpr surd<To> exact_cast(surd<From> x) {
  if constexpr (std::same_as<To, From>) return x;
  return surd<To>(exact_cast<To>(x.rational_part()), exact_cast<To>(x.root_part()), x.radicand());
}

/// n / √d.
constexpr surd<integer> operator/(long long n, radical d) { return surd<integer>(integer(0), integer(n), d.radicand); }
template <exact_number T>
constexpr surd<T> operator/(T n, radical d) {
  return surd<T>(T(0), n, d.radicand);
}

/// The scaled scores S = D / √d, [Tq, Tk]: exact surds.
template <exact_number T, std::size_t R, std::size_t C>
constexpr auto operator/(const matrix<T, R, C>& dots, radical d) {
  return map(dots, [d](T x) { return x / d; });
}

/// The scaled scores D · scale for a scale that is an exact number or a surd of its own.
template <exact_number T, exact_number U, std::size_t R, std::size_t C>
constexpr auto operator*(const matrix<T, R, C>& dots, surd<U> scale) {
  using Common = common_exact<T, U>;
  const surd<Common> factor = exact_cast<Common>(scale);
  return map(dots, [factor](T x) { return surd<Common>(exact_cast<Common>(x)) * factor; });
}

template <exact_number To, exact_number From, std::size_t R, std::size_t C>
constexpr matrix<surd<To>, R, C> exact_cast(const matrix<surd<From>, R, C>& m) {
  return map(m, [](surd<From> x) { return exact_cast<To>(x); });
}

}  // namespace attest
