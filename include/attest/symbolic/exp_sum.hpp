#pragma once

#include <attest/symbolic/surd.hpp>

namespace attest {

/// coefficient · e^exponent.
template <exact_number T>
struct exp_term {
  surd<T> coefficient;
  surd<T> exponent;
};

/// A finite sum Σ c_k e^{α_k} with c_k and α_k in Q(√d), of at most Capacity terms (`dynamic`: any number).
///
/// Terms of equal exponent are merged and terms of coefficient zero dropped as they come, and distinct algebraic
/// exponents make the exponentials linearly independent over the algebraic numbers (Lindemann–Weierstrass): so the sum
/// is zero exactly when no term is left. Terms keep the order in which their exponents first appeared.
template <exact_number T, std::size_t Capacity>
class exp_sum {
 public:
  constexpr exp_sum() = default;

  /// Adds coefficient · e^exponent.
  constexpr void add(const surd<T>& coefficient, const surd<T>& exponent) {
    if (sign(coefficient) == 0) return;
    for (std::size_t k = 0; k < terms_.size(); ++k) {
      if (!(terms_[k].exponent == exponent)) continue;
      const surd<T> sum = terms_[k].coefficient + coefficient;
      if (sign(sum) == 0)
        terms_.erase(k);
      else
        terms_[k].coefficient = sum;
      return;
    }
    terms_.push_back({coefficient, exponent});
  }

  template <std::size_t OtherCapacity>
  constexpr void add(const exp_sum<T, OtherCapacity>& other) {
    for (std::size_t k = 0; k < other.size(); ++k) add(other[k].coefficient, other[k].exponent);
  }
  template <std::size_t OtherCapacity>
  constexpr void subtract(const exp_sum<T, OtherCapacity>& other) {
    for (std::size_t k = 0; k < other.size(); ++k) add(-other[k].coefficient, other[k].exponent);
  }
  template <std::size_t OtherCapacity>
  constexpr void add(const exp_sum<T, OtherCapacity>& other, surd<T> factor) {
    for (std::size_t k = 0; k < other.size(); ++k) add(other[k].coefficient * factor, other[k].exponent);
  }

  constexpr std::size_t size() const { return terms_.size(); }
  constexpr const exp_term<T>& operator[](std::size_t k) const { return terms_[k]; }

 private:
  list<exp_term<T>, Capacity> terms_;
};

template <exact_number T, std::size_t N>
constexpr bool is_zero(const exp_sum<T, N>& x) {
  return x.size() == 0;
}

/// e^exponent.
template <exact_number T>
constexpr exp_sum<T, 1> exp(surd<T> exponent) {
  exp_sum<T, 1> result;
  result.add(surd<T>(1), exponent);
  return result;
}

/// The number x, as x · e^0.
template <exact_number T>
constexpr exp_sum<T, 1> constant(surd<T> x) {
  exp_sum<T, 1> result;
  result.add(x, surd<T>(0));
  return result;
}

template <exact_number T, std::size_t N, std::size_t M>
constexpr auto operator+(const exp_sum<T, N>& x, const exp_sum<T, M>& y) {
  exp_sum<T, extent_sum(N, M)> sum;
  sum.add(x);
  sum.add(y);
  return sum;
}
template <exact_number T, std::size_t N, std::size_t M>
constexpr auto operator-(const exp_sum<T, N>& x, const exp_sum<T, M>& y) {
  exp_sum<T, extent_sum(N, M)> difference;
  difference.add(x);
  difference.subtract(y);
  return difference;
}
template <exact_number T, std::size_t N, std::size_t M>
constexpr auto operator*(const exp_sum<T, N>& x, const exp_sum<T, M>& y) {
  exp_sum<T, extent_product(N, M)> product;
  for (std::size_t k = 0; k < x.size(); ++k)
    for (std::size_t l = 0; l < y.size(); ++l)
      product.add(x[k].coefficient * y[l].coefficient, x[k].exponent + y[l].exponent);
  return product;
}
template <exact_number T, std::size_t N>
constexpr exp_sum<T, N> operator*(int factor, const exp_sum<T, N>& x) {
  exp_sum<T, N> product;
  product.add(x, surd<T>(factor));
  return product;
}
template <exact_number T, std::size_t N>
constexpr auto operator+(const exp_sum<T, N>& x, int y) {
  return x + constant(surd<T>(y));
}
template <exact_number T, std::size_t N>
constexpr auto operator+(int x, const exp_sum<T, N>& y) {
  return constant(surd<T>(x)) + y;
}

/// Decided exactly: the difference has no term left.
template <exact_number T, std::size_t N, std::size_t M>
constexpr bool operator==(const exp_sum<T, N>& x, const exp_sum<T, M>& y) {
  return is_zero(x - y);
}

template <exact_number To, exact_number From, std::size_t N>
constexpr exp_sum<To, N> exact_cast(const exp_sum<From, N>& x) {
  if constexpr (std::same_as<To, From>) return x;
  exp_sum<To, N> result;
  for (std::size_t k = 0; k < x.size(); ++k)
    result.add(exact_cast<To>(x[k].coefficient), exact_cast<To>(x[k].exponent));
  return result;
}

}  // namespace attest
