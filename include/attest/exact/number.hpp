#pragma once

#include <attest/exact/dyadic.hpp>
#include <attest/exact/integer.hpp>
#include <attest/exact/rational.hpp>

#include <bit>
#include <concepts>
#include <type_traits>

// What integers, dyadics and rationals have in common: an exact number is numerator / denominator * 2^exponent.
namespace attest {

template <class T>
struct exact_number_traits {
  static constexpr int rank = 0;  // no exact number
};
template <exact_integer Integer>
struct exact_number_traits<Integer> {
  static constexpr int rank = 1;
  using integer_type = Integer;
};
template <exact_integer Integer>
struct exact_number_traits<basic_dyadic<Integer>> {
  static constexpr int rank = 2;
  using integer_type = Integer;
};
template <exact_integer Integer>
struct exact_number_traits<basic_rational<Integer>> {
  static constexpr int rank = 3;
  using integer_type = Integer;
};

template <class T>
concept exact_number = exact_number_traits<T>::rank > 0;

template <exact_number T>
using integer_of = typename exact_number_traits<T>::integer_type;

/// The wider of two exact types: integers are dyadics, and dyadics are rationals.
template <exact_number T, exact_number U>
using common_exact = std::conditional_t<(exact_number_traits<T>::rank >= exact_number_traits<U>::rank), T, U>;

/// numerator / denominator * 2^exponent, the denominator positive.
template <exact_integer Integer>
struct number_parts {
  Integer numerator;
  Integer denominator;
  long exponent;
};

template <exact_integer Integer>
constexpr number_parts<Integer> parts(Integer n) {
  return {n, Integer(1), 0};
}
template <exact_integer Integer>
constexpr number_parts<Integer> parts(basic_dyadic<Integer> x) {
  return {x.significand(), Integer(1), x.exponent()};
}
template <exact_integer Integer>
constexpr number_parts<Integer> parts(basic_rational<Integer> x) {
  return {x.numerator(), x.denominator(), 0};
}

/// The same number in a type that holds it: integer to dyadic to rational, never back.
template <exact_number To, exact_number From>
constexpr To exact_cast(From x) {
  using Integer = integer_of<To>;
  static_assert(exact_number_traits<To>::rank >= exact_number_traits<From>::rank,
                "an exact number converts to a wider kind only: integer, dyadic, rational");
  if constexpr (std::same_as<To, From>) {
    return x;
  } else if constexpr (exact_number_traits<To>::rank == 2) {
    return To(Integer(x));
  } else if constexpr (exact_number_traits<From>::rank == 1) {
    return ratio(Integer(x), Integer(1));
  } else {
    const auto p = parts(x);
    if (p.exponent >= 0) return ratio(shift_left(p.numerator, p.exponent), Integer(1));
    return ratio(p.numerator, shift_left(Integer(1), -p.exponent));
  }
}

template <exact_number T>
constexpr T absolute(T x) {
  return sign(x) < 0 ? T(-x) : x;
}

/// x / divisor where T holds the quotient; for integers and dyadics otherwise error::quotient_is_not_dyadic().
template <exact_number T>
constexpr T exact_quotient(T x, unsigned long long divisor) {
  using Integer = integer_of<T>;
  if (divisor == 0) error::zero_denominator();
  if constexpr (exact_number_traits<T>::rank == 3) {
    return x * ratio(Integer(1), Integer(divisor));
  } else {
    // A dyadic takes the powers of two of the divisor into its exponent.
    const int twos = exact_number_traits<T>::rank == 2 ? std::countr_zero(divisor) : 0;
    const Integer d(divisor >> twos);
    const auto p = parts(x);
    const bool negative = p.numerator.sign() < 0;
    const Integer magnitude = negative ? Integer(-p.numerator) : p.numerator;
    const Integer quotient = magnitude / d;
    const Integer back = quotient * d;
    if (back != magnitude) error::quotient_is_not_dyadic();
    const Integer signed_quotient = negative ? Integer(-quotient) : quotient;
    if constexpr (exact_number_traits<T>::rank == 1)
      return signed_quotient;
    else
      return T(signed_quotient, p.exponent - twos);
  }
}

/// The element type of a matrix of literals of type T: integer for integers, dyadic for floats, T for exact numbers, bool
/// for a mask.
template <class T>
struct exact_literal;
template <std::integral T>
struct exact_literal<T> {
  using type = integer;
};
template <>
struct exact_literal<bool> {
  using type = bool;
};
template <std::floating_point T>
struct exact_literal<T> {
  using type = dyadic;
};
template <exact_number T>
struct exact_literal<T> {
  using type = T;
};
template <class T>
using exact_literal_t = typename exact_literal<T>::type;

/// The exact value of an integer, a float or an exact number.
template <exact_number To, class From>
constexpr To exact_from(From x) {
  if constexpr (std::floating_point<From>) {
    return exact_cast<To>(exact_value<integer_of<To>>(x));
  } else if constexpr (std::integral<From>) {
    return exact_cast<To>(integer_of<To>(x));
  } else {
    return exact_cast<To>(x);
  }
}

}  // namespace attest
