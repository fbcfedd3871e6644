#pragma once

#include <attest/exact/matrix.hpp>

#include <variant>

namespace attest {

using unbounded_dyadic = basic_dyadic<unbounded_integer>;
using unbounded_rational = basic_rational<unbounded_integer>;

/// An exact number whose kind is known at run time only: a dyadic (any integer, any float) wherever the value is one, and
/// a fraction otherwise. Dyadics never reduce a fraction, so they stay cheap.
using exact_scalar = std::variant<unbounded_dyadic, unbounded_rational>;

/// A matrix whose elements are all of one kind: fractions when at least one element is no dyadic.
using exact_matrix = std::variant<matrix<unbounded_dyadic>, matrix<unbounded_rational>>;

/// The fraction, as a dyadic if its denominator is a power of two.
exact_scalar simplest(const unbounded_rational& x);

/// numerator / denominator. A zero denominator is error::zero_denominator().
exact_scalar exact_ratio(const unbounded_integer& numerator, const unbounded_integer& denominator);

/// The matrix of shape [rows, columns] with these elements, listed by rows. A number of elements that is not
/// rows * columns is error::shape_mismatch().
exact_matrix make_exact_matrix(std::size_t rows, std::size_t columns, const std::vector<exact_scalar>& elements);

std::size_t rows(const exact_matrix& m);
std::size_t columns(const exact_matrix& m);
exact_scalar element(const exact_matrix& m, std::size_t row, std::size_t column);

bool is_dyadic(const exact_scalar& x);
bool is_dyadic(const exact_matrix& m);
bool is_integer(const exact_scalar& x);

/// The same numbers in the type T; a fraction asked for as a dyadic is error::quotient_is_not_dyadic().
template <exact_number T>
T exact_as(const exact_scalar& x) {
  return std::visit(
      [](const auto& value) -> T {
        using From = std::remove_cvref_t<decltype(value)>;
        if constexpr (exact_number_traits<T>::rank >= exact_number_traits<From>::rank)
          return exact_cast<T>(value);
        else
          error::quotient_is_not_dyadic();
      },
      x);
}
template <exact_number T>
matrix<T> exact_as(const exact_matrix& m) {
  return std::visit(
      [](const auto& value) -> matrix<T> {
        using From = typename std::remove_cvref_t<decltype(value)>::value_type;
        if constexpr (exact_number_traits<T>::rank >= exact_number_traits<From>::rank)
          return exact_cast<T>(value);
        else
          error::quotient_is_not_dyadic();
      },
      m);
}

}  // namespace attest
