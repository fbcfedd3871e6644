#pragma once

#include <attest/symbolic/exp_fraction.hpp>

#include <type_traits>

namespace attest {

namespace detail {

template <class X>
struct expression_number;
template <exact_number T>
struct expression_number<T> : std::type_identity<T> {};
template <exact_number T>
struct expression_number<surd<T>> : std::type_identity<T> {};
template <exact_number T, std::size_t N>
struct expression_number<exp_sum<T, N>> : std::type_identity<T> {};
template <exact_number T, std::size_t N, std::size_t M>
struct expression_number<exp_fraction<T, N, M>> : std::type_identity<T> {};

}  // namespace detail

/// The exact type under an expression.
template <class X>
using number_under = typename detail::expression_number<X>::type;
template <class X>
using integer_under = integer_of<number_under<X>>;

template <class X>
inline constexpr bool is_algebraic = false;  // an exact number or a surd: no exponential in it
template <exact_number T>
inline constexpr bool is_algebraic<T> = true;
template <exact_number T>
inline constexpr bool is_algebraic<surd<T>> = true;

template <exact_number To, exact_number From>
constexpr surd<To> as_surd(From x) {
  return surd<To>(exact_cast<To>(x));
}
template <exact_number To, exact_number From>
constexpr surd<To> as_surd(surd<From> x) {
  return exact_cast<To>(x);
}

/// Any expression as a fraction of sums of exponentials.
template <exact_number To, class X>
  requires is_algebraic<X>
constexpr exp_fraction<To, 1, 1> as_fraction(const X& x) {
  return constant(as_surd<To>(x)) / constant(surd<To>(1));
}
template <exact_number To, exact_number From, std::size_t N>
constexpr exp_fraction<To, N, 1> as_fraction(const exp_sum<From, N>& x) {
  return exact_cast<To>(x) / constant(surd<To>(1));
}
template <exact_number To, exact_number From, std::size_t N, std::size_t M>
constexpr exp_fraction<To, N, M> as_fraction(const exp_fraction<From, N, M>& x) {
  return exact_cast<To>(x);
}

/// Whether two expressions are the same number, whatever their form: decided exactly.
template <class X, class Y>
constexpr bool equals(const X& x, const Y& y) {
  using Common = common_exact<number_under<X>, number_under<Y>>;
  if constexpr (is_algebraic<X> && is_algebraic<Y>)
    return as_surd<Common>(x) == as_surd<Common>(y);
  else
    return as_fraction<Common>(x) == as_fraction<Common>(y);
}

}  // namespace attest
