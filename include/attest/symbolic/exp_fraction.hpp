#pragma once

#include <attest/symbolic/exp_sum.hpp>

namespace attest {

/// numerator / denominator, both sums of exponentials: a weight, an output, a symbolic entry such as r/(2r + 1).
/// A denominator that is zero is error::zero_denominator().
template <exact_number T, std::size_t N, std::size_t M>
struct exp_fraction {
  exp_sum<T, N> numerator;
  exp_sum<T, M> denominator;

  constexpr exp_fraction() { denominator.add(surd<T>(1), surd<T>(0)); }  // zero, as 0/1
  constexpr exp_fraction(const exp_sum<T, N>& above, const exp_sum<T, M>& below)
      : numerator(above), denominator(below) {
    if (is_zero(denominator)) error::zero_denominator();
  }
};

template <exact_number T, std::size_t N, std::size_t M>
constexpr exp_fraction<T, N, M> operator/(const exp_sum<T, N>& numerator, const exp_sum<T, M>& denominator) {
  return {numerator, denominator};
}

/// The exact number x as x / 1.
template <exact_number T>
constexpr exp_fraction<T, 1, 1> fraction_of(T x) {
  return {constant(surd<T>(x)), constant(surd<T>(1))};
}

template <exact_number T, std::size_t N, std::size_t M, std::size_t K, std::size_t L>
constexpr auto operator+(const exp_fraction<T, N, M>& x, const exp_fraction<T, K, L>& y) {
  return (x.numerator * y.denominator + y.numerator * x.denominator) / (x.denominator * y.denominator);
}
template <exact_number T, std::size_t N, std::size_t M, std::size_t K, std::size_t L>
constexpr auto operator-(const exp_fraction<T, N, M>& x, const exp_fraction<T, K, L>& y) {
  return (x.numerator * y.denominator - y.numerator * x.denominator) / (x.denominator * y.denominator);
}

/// Decided exactly, by cross-multiplication.
template <exact_number T, std::size_t N, std::size_t M, std::size_t K, std::size_t L>
constexpr bool operator==(const exp_fraction<T, N, M>& x, const exp_fraction<T, K, L>& y) {
  return x.numerator * y.denominator == y.numerator * x.denominator;
}

template <exact_number To, exact_number From, std::size_t N, std::size_t M>
constexpr exp_fraction<To, N, M> exact_cast(const exp_fraction<From, N, M>& x) {
  if constexpr (std::same_as<To, From>) return x;
  return {exact_cast<To>(x.numerator), exact_cast<To>(x.denominator)};
}

/// A row of numerators over one denominator, as a page writes it: [r, 1, r]/(2r + 1).
template <exact_number T, std::size_t Columns, std::size_t N, std::size_t M>
class exp_row {
 public:
  using value_type = exp_fraction<T, N, M>;
  static constexpr std::size_t row_extent = 1;
  static constexpr std::size_t column_extent = Columns;

  constexpr exp_row(const list<exp_sum<T, N>, Columns>& numerators, const exp_sum<T, M>& denominator)
      : numerators_(numerators), denominator_(denominator) {}

  static constexpr std::size_t rows() { return 1; }
  constexpr std::size_t columns() const { return numerators_.size(); }
  constexpr value_type operator()(std::size_t i, std::size_t j) const {
    if (i != 0) error::index_out_of_range();
    return numerators_[j] / denominator_;
  }
  constexpr const exp_sum<T, N>& numerator(std::size_t j) const { return numerators_[j]; }
  constexpr const exp_sum<T, M>& denominator() const { return denominator_; }

 private:
  list<exp_sum<T, N>, Columns> numerators_;
  exp_sum<T, M> denominator_;
};

/// x - y, element by element, for two arrays of fractions of one shape.
template <class X, class Y>
  requires(X::row_extent == Y::row_extent && X::column_extent == Y::column_extent)
constexpr auto differences(const X& x, const Y& y) {
  if (x.rows() != y.rows() || x.columns() != y.columns()) error::shape_mismatch();
  matrix<decltype(x(0, 0) - y(0, 0)), X::row_extent, X::column_extent> result(x.rows(), x.columns());
  for (std::size_t i = 0; i < x.rows(); ++i)
    for (std::size_t j = 0; j < x.columns(); ++j) result(i, j) = x(i, j) - y(i, j);
  return result;
}

namespace detail {

template <exact_number T>
constexpr exp_sum<T, 1> as_sum(int x) {
  return constant(surd<T>(x));
}
template <exact_number T, std::size_t N>
constexpr const exp_sum<T, N>& as_sum(const exp_sum<T, N>& x) {
  return x;
}
template <class T>
inline constexpr std::size_t terms_of = 1;
template <exact_number T, std::size_t N>
inline constexpr std::size_t terms_of<exp_sum<T, N>> = N;

template <class... Entries>
struct number_in_row;  // the exact type of the entries that are sums; plain ints take it over
template <exact_number T, std::size_t N, class... Rest>
struct number_in_row<exp_sum<T, N>, Rest...> {
  using type = T;
};
template <class... Rest>
struct number_in_row<int, Rest...> : number_in_row<Rest...> {};
template <>
struct number_in_row<> {
  using type = integer;
};

}  // namespace detail

/// The entries of a symbolic row before they are divided: row(r, 1, r) / (2 * r + 1).
template <exact_number T, std::size_t Columns, std::size_t N>
struct exp_numerators {
  list<exp_sum<T, N>, Columns> entries;
};

template <class... Entries>
constexpr auto row(const Entries&... entries) {
  using T = typename detail::number_in_row<Entries...>::type;
  constexpr std::size_t widest = [] {
    std::size_t maximum = 1;
    ((maximum = extent_maximum(maximum, detail::terms_of<Entries>)), ...);
    return maximum;
  }();
  exp_numerators<T, sizeof...(Entries), widest> result;
  const auto append = [&](const auto& entry) {
    exp_sum<T, widest> sum;
    sum.add(detail::as_sum<T>(entry));
    result.entries.push_back(sum);
  };
  (append(entries), ...);
  return result;
}

template <exact_number T, std::size_t Columns, std::size_t N, std::size_t M>
constexpr exp_row<T, Columns, N, M> operator/(const exp_numerators<T, Columns, N>& numerators,
                                              const exp_sum<T, M>& denominator) {
  if (is_zero(denominator)) error::zero_denominator();
  return {numerators.entries, denominator};
}

}  // namespace attest
