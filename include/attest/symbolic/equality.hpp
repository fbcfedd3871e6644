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

/// Any expression as a fraction of sums of exponentials. The fraction takes the denominators of a surd of rationals n/q, so
/// that To need not have any: n as an integer surd over the integer q.
template <exact_number To, class X>
  requires is_algebraic<X>
constexpr exp_fraction<To, 1, 1> as_fraction(const X& x) {
  if constexpr (exact_number_traits<number_under<X>>::rank <= exact_number_traits<To>::rank) {
    return constant(as_surd<To>(x)) / constant(surd<To>(1));
  } else {
    using Integer = integer_of<To>;
    const surd<number_under<X>> y(x);
    const basic_rational<Integer> a = exact_cast<basic_rational<Integer>>(y.rational_part());
    const basic_rational<Integer> b = exact_cast<basic_rational<Integer>>(y.root_part());
    const Integer a_denominator = a.denominator();
    const Integer b_denominator = b.denominator();
    const auto quotient = ratio(b_denominator, a_denominator);
    const Integer a_factor = quotient.numerator();    // the least common multiple of both is a_denominator * a_factor
    const Integer b_factor = quotient.denominator();  // and b_denominator * b_factor
    const Integer q = a_denominator * a_factor;
    const Integer rational_part = a.numerator() * a_factor;
    const Integer root_part = b.numerator() * b_factor;
    return constant(as_surd<To>(surd<Integer>(rational_part, root_part, y.radicand()))) / constant(as_surd<To>(q));
  }
}
template <exact_number To, exact_number From, std::size_t N>
constexpr exp_fraction<To, N, 1> as_fraction(const exp_sum<From, N>& x) {
  return exact_cast<To>(x) / constant(surd<To>(1));
}
template <exact_number To, exact_number From, std::size_t N, std::size_t M>
constexpr exp_fraction<To, N, M> as_fraction(const exp_fraction<From, N, M>& x) {
  return exact_cast<To>(x);
}

namespace detail {

template <class X, class Y>
struct fraction_number : std::type_identity<common_exact<number_under<X>, number_under<Y>>> {};
template <class X, class Y>
  requires(!is_algebraic<X> && is_algebraic<Y>)
struct fraction_number<X, Y>
    : std::conditional<exact_number_traits<number_under<Y>>::rank == 3, number_under<X>,
                       common_exact<number_under<X>, number_under<Y>>> {};
template <class X, class Y>
  requires(is_algebraic<X> && !is_algebraic<Y>)
struct fraction_number<X, Y> : fraction_number<Y, X> {};

}  // namespace detail

/// The exact type in which two expressions are compared as fractions: the wider of theirs, but a rational beside sums of
/// exponentials is cleared of its denominator, so that floats stay dyadic and no common divisor is sought.
template <class X, class Y>
using fraction_number = typename detail::fraction_number<X, Y>::type;

/// Whether two expressions are the same number, whatever their form: decided exactly.
template <class X, class Y>
constexpr bool equals(const X& x, const Y& y) {
  if constexpr (is_algebraic<X> && is_algebraic<Y>) {
    using Common = common_exact<number_under<X>, number_under<Y>>;
    return as_surd<Common>(x) == as_surd<Common>(y);
  } else {
    using Common = fraction_number<X, Y>;
    return as_fraction<Common>(x) == as_fraction<Common>(y);
  }
}

}  // namespace attest
