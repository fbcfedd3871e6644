#pragma once

#include <attest/exact/list.hpp>
#include <attest/exact/number.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace attest {

namespace detail {

template <class T, std::size_t Rows, std::size_t Columns>
class matrix_storage {
  static_assert(Rows > 0 && Columns > 0, "a matrix has at least one row and one column");

 public:
  constexpr matrix_storage() = default;
  constexpr matrix_storage(std::size_t rows, std::size_t columns) {
    if (rows != Rows || columns != Columns) error::shape_mismatch();
  }
  static constexpr std::size_t rows() { return Rows; }
  static constexpr std::size_t columns() { return Columns; }

 protected:
  T elements_[Rows * Columns]{};
};

template <class T>
class matrix_storage<T, dynamic, dynamic> {
 public:
  constexpr matrix_storage() = default;
  constexpr matrix_storage(std::size_t rows, std::size_t columns)
      : elements_(element_count(rows, columns)), rows_(rows), columns_(columns) {}
  constexpr std::size_t rows() const { return rows_; }
  constexpr std::size_t columns() const { return columns_; }

 private:
  static constexpr std::size_t element_count(std::size_t rows, std::size_t columns) {
    if (columns != 0 && rows > static_cast<std::size_t>(-1) / columns) error::shape_mismatch();
    return rows * columns;
  }

 protected:
  // std::vector<bool> hands out no references, so a run-time mask is stored as bytes.
  std::vector<std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>> elements_;
  std::size_t rows_ = 0;
  std::size_t columns_ = 0;
};

}  // namespace detail

/// A matrix of shape [Rows, Columns], stored flat by rows; both extents may be `dynamic` (then the shape is a run-time
/// value). Elements are read as m(row, column), counted from 0; an index outside is error::index_out_of_range().
///
///     constexpr matrix X({{1, 0}, {0, 1}, {1, 1}});       // matrix<integer, 3, 2>
///     constexpr matrix H({{0.5, 0.25}});                  // matrix<dyadic, 1, 2>: the floats' exact values
///     constexpr matrix R({{ratio(1, 3), ratio(2, 3)}});   // matrix<rational, 1, 2>
template <class T, std::size_t Rows = dynamic, std::size_t Columns = Rows>
class matrix : public detail::matrix_storage<T, Rows, Columns> {
  using storage = detail::matrix_storage<T, Rows, Columns>;

 public:
  using value_type = T;
  static constexpr std::size_t row_extent = Rows;
  static constexpr std::size_t column_extent = Columns;
  using storage::columns;
  using storage::rows;

  /// All elements value-initialised: zero, or false.
  constexpr matrix() = default;
  constexpr explicit matrix(std::size_t row_count, std::size_t column_count) : storage(row_count, column_count) {}

  template <class U, std::size_t R, std::size_t C>
    requires(R == Rows && C == Columns)
  constexpr explicit(false) matrix(const U (&values)[R][C]) {
    for (std::size_t i = 0; i < Rows; ++i)
      for (std::size_t j = 0; j < Columns; ++j) {
        if constexpr (exact_number<T>)
          (*this)(i, j) = exact_from<T>(values[i][j]);
        else
          (*this)(i, j) = T(values[i][j]);
      }
  }

  constexpr decltype(auto) operator()(std::size_t i, std::size_t j) const {
    return std::as_const(this->elements_[index(i, j)]);
  }
  constexpr auto& operator()(std::size_t i, std::size_t j) { return this->elements_[index(i, j)]; }

 private:
  constexpr std::size_t index(std::size_t i, std::size_t j) const {
    if (i >= rows() || j >= columns()) error::index_out_of_range();
    return i * columns() + j;
  }
};

template <class U, std::size_t Rows, std::size_t Columns>
matrix(const U (&)[Rows][Columns]) -> matrix<exact_literal_t<U>, Rows, Columns>;

/// Applies f to every element.
template <class T, std::size_t R, std::size_t C, class F>
constexpr auto map(const matrix<T, R, C>& m, F f) {
  matrix<decltype(f(m(0, 0))), R, C> result(m.rows(), m.columns());
  for (std::size_t i = 0; i < m.rows(); ++i)
    for (std::size_t j = 0; j < m.columns(); ++j) result(i, j) = f(m(i, j));
  return result;
}

/// [R, C] to [C, R].
template <class T, std::size_t R, std::size_t C>
constexpr matrix<T, C, R> transpose(const matrix<T, R, C>& m) {
  matrix<T, C, R> result(m.columns(), m.rows());
  for (std::size_t i = 0; i < m.rows(); ++i)
    for (std::size_t j = 0; j < m.columns(); ++j) result(j, i) = m(i, j);
  return result;
}

/// The exact product of [R, K] and [K, C]: [R, C]. Other shapes do not compile; with run-time extents they are
/// error::shape_mismatch().
template <exact_number T, exact_number U, std::size_t R, std::size_t K, std::size_t C>
constexpr auto operator*(const matrix<T, R, K>& a, const matrix<U, K, C>& b) {
  using Common = common_exact<T, U>;
  if (a.columns() != b.rows()) error::shape_mismatch();
  matrix<Common, R, C> product(a.rows(), b.columns());
  for (std::size_t i = 0; i < a.rows(); ++i)
    for (std::size_t j = 0; j < b.columns(); ++j) {
      Common sum(0);
      for (std::size_t k = 0; k < a.columns(); ++k) {
        const Common x = exact_cast<Common>(a(i, k));
        const Common y = exact_cast<Common>(b(k, j));
        const Common term = x * y;
        sum = sum + term;
      }
      product(i, j) = sum;
    }
  return product;
}

/// The terms a(i, k) · b(k, j) whose sum is entry (i, j) of the product, [1, K]: a dot product worked by hand.
template <exact_number T, exact_number U, std::size_t R, std::size_t K, std::size_t C>
constexpr auto product_terms(const matrix<T, R, K>& a, std::size_t i, const matrix<U, K, C>& b, std::size_t j) {
  using Common = common_exact<T, U>;
  if (a.columns() != b.rows()) error::shape_mismatch();
  matrix<Common, K == dynamic ? dynamic : 1, K> terms(1, a.columns());
  for (std::size_t k = 0; k < a.columns(); ++k) {
    const Common x = exact_cast<Common>(a(i, k));
    const Common y = exact_cast<Common>(b(k, j));
    const Common term = x * y;
    terms(0, k) = term;
  }
  return terms;
}

/// Row i, [1, C].
template <class T, std::size_t R, std::size_t C>
constexpr auto row_of(const matrix<T, R, C>& m, std::size_t i) {
  matrix<T, R == dynamic ? dynamic : 1, C> row(1, m.columns());
  for (std::size_t j = 0; j < m.columns(); ++j) row(0, j) = m(i, j);
  return row;
}

/// The elements of m from number `first` on, read row by row, as a [Rows, Columns] matrix. Too few of them are
/// error::index_out_of_range().
template <std::size_t Rows, std::size_t Columns, class T, std::size_t R, std::size_t C>
constexpr matrix<T, Rows, Columns> reshape(const matrix<T, R, C>& m, std::size_t first = 0) {
  matrix<T, Rows, Columns> result;
  for (std::size_t k = 0; k < Rows * Columns; ++k)
    result(k / Columns, k % Columns) = m((first + k) / m.columns(), (first + k) % m.columns());
  return result;
}

/// The sum of each row, [R, 1].
template <exact_number T, std::size_t R, std::size_t C>
constexpr auto row_sums(const matrix<T, R, C>& m) {
  matrix<T, R, R == dynamic ? dynamic : 1> sums(m.rows(), 1);
  for (std::size_t i = 0; i < m.rows(); ++i) {
    T sum(0);
    for (std::size_t j = 0; j < m.columns(); ++j) {
      const T entry = m(i, j);
      sum = sum + entry;
    }
    sums(i, 0) = sum;
  }
  return sums;
}

/// What a product of shapes that do not fit would return. It is deleted; the compiler quotes both shapes.
template <std::size_t Rows, std::size_t Inner, std::size_t OtherInner, std::size_t Columns>
struct inner_extents_differ;
template <exact_number T, exact_number U, std::size_t R, std::size_t K, std::size_t J, std::size_t C>
  requires(K != J)
constexpr inner_extents_differ<R, K, J, C> operator*(const matrix<T, R, K>&, const matrix<U, J, C>&) = delete;

namespace detail {

template <class T, class U, std::size_t R, std::size_t C, class F>
constexpr auto elementwise(const matrix<T, R, C>& a, const matrix<U, R, C>& b, F f) {
  using Common = common_exact<T, U>;
  if (a.rows() != b.rows() || a.columns() != b.columns()) error::shape_mismatch();
  matrix<Common, R, C> result(a.rows(), a.columns());
  for (std::size_t i = 0; i < a.rows(); ++i)
    for (std::size_t j = 0; j < a.columns(); ++j) {
      const Common x = exact_cast<Common>(a(i, j));
      const Common y = exact_cast<Common>(b(i, j));
      const Common value = f(x, y);
      result(i, j) = value;
    }
  return result;
}

}  // namespace detail

template <exact_number T, exact_number U, std::size_t R, std::size_t C>
constexpr auto operator+(const matrix<T, R, C>& a, const matrix<U, R, C>& b) {
  return detail::elementwise(a, b, [](auto x, auto y) { return decltype(x)(x + y); });
}
template <exact_number T, exact_number U, std::size_t R, std::size_t C>
constexpr auto operator-(const matrix<T, R, C>& a, const matrix<U, R, C>& b) {
  return detail::elementwise(a, b, [](auto x, auto y) { return decltype(x)(x - y); });
}

/// Every element times one exact number.
template <exact_number T, std::size_t R, std::size_t C, exact_number U>
constexpr auto operator*(const matrix<T, R, C>& m, U factor) {
  using Common = common_exact<T, U>;
  const Common y = exact_cast<Common>(factor);
  return map(m, [&y](T x) {
    const Common wide = exact_cast<Common>(x);
    const Common product = wide * y;
    return product;
  });
}

namespace detail {

template <class T, class U>
constexpr bool same_value(T a, U b) {
  if constexpr (exact_number<T> && exact_number<U>) {
    using Common = common_exact<T, U>;
    const Common x = exact_cast<Common>(a);
    const Common y = exact_cast<Common>(b);
    return x == y;
  } else {
    return a == b;
  }
}

}  // namespace detail

/// Exact equality, element by element; matrices of different run-time shapes are unequal.
template <class T, class U, std::size_t R, std::size_t C>
constexpr bool operator==(const matrix<T, R, C>& a, const matrix<U, R, C>& b) {
  if (a.rows() != b.rows() || a.columns() != b.columns()) return false;
  for (std::size_t i = 0; i < a.rows(); ++i)
    for (std::size_t j = 0; j < a.columns(); ++j)
      if (!detail::same_value(T(a(i, j)), U(b(i, j)))) return false;
  return true;
}

namespace detail {

template <class T, std::size_t R, std::size_t C, class Better>
constexpr auto column_extremes(const matrix<T, R, C>& m, Better better) {
  matrix<T, R == dynamic ? dynamic : 1, C> result(1, m.columns());
  for (std::size_t j = 0; j < m.columns(); ++j) {
    T extreme = m(0, j);
    for (std::size_t i = 1; i < m.rows(); ++i) {
      const T entry = m(i, j);
      if (better(entry, extreme)) extreme = entry;
    }
    result(0, j) = extreme;
  }
  return result;
}

}  // namespace detail

/// The smallest, or largest, entry of each column, [1, C].
template <exact_number T, std::size_t R, std::size_t C>
constexpr auto column_minima(const matrix<T, R, C>& m) {
  return detail::column_extremes(m, [](const T& a, const T& b) { return a < b; });
}
template <exact_number T, std::size_t R, std::size_t C>
constexpr auto column_maxima(const matrix<T, R, C>& m) {
  return detail::column_extremes(m, [](const T& a, const T& b) { return a > b; });
}

/// The [count, C] matrix whose rows are all `row`: what is added to every value row.
template <std::size_t Count, class T, std::size_t C>
constexpr matrix<T, Count, C> repeat_row(const matrix<T, 1, C>& row) {
  matrix<T, Count, C> result;
  for (std::size_t i = 0; i < Count; ++i)
    for (std::size_t j = 0; j < C; ++j) result(i, j) = row(0, j);
  return result;
}

/// The same values in a wider exact type.
template <exact_number To, exact_number From, std::size_t R, std::size_t C>
constexpr matrix<To, R, C> exact_cast(const matrix<From, R, C>& m) {
  return map(m, [](From x) { return exact_cast<To>(x); });
}

}  // namespace attest
