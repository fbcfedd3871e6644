#pragma once

#include <attest/exact/integer.hpp>

#include <boost/rational.hpp>

namespace attest {

/// A fraction in lowest terms over an exact integer type.
template <exact_integer Integer>
using basic_rational = boost::rational<Integer>;

/// The rational of proofs.
using rational = basic_rational<integer>;

/// numerator / denominator in lowest terms. A zero denominator is error::zero_denominator(). (Build rationals with
/// this function: g++ 12 refuses to reduce a fraction in place while it initialises a namespace-scope constant.)
template <exact_integer Integer>
constexpr basic_rational<Integer> ratio(Integer numerator, Integer denominator) {
  if (denominator.is_zero()) error::zero_denominator();
  // Boost takes a negative denominator of an unbounded integer for one that cannot be negated.
  const bool negative = denominator.sign() < 0;
  const Integer above = negative ? Integer(-numerator) : numerator;
  const Integer below = negative ? Integer(-denominator) : denominator;
  const basic_rational<Integer> quotient(above, below);
  return quotient;
}

template <exact_integer Integer>
constexpr bool identical(const basic_rational<Integer>& a, const basic_rational<Integer>& b) {
  return identical(a.numerator(), b.numerator()) && identical(a.denominator(), b.denominator());
}
template <exact_integer Integer>
constexpr int sign(const basic_rational<Integer>& x) {
  return sign(x.numerator());
}

constexpr rational ratio(long long numerator, long long denominator = 1) {
  return ratio(integer(numerator), integer(denominator));
}

}  // namespace attest
