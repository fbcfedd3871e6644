#include <attest/reference/exact_values.hpp>

#include <algorithm>

namespace attest {

exact_scalar exact_ratio(const unbounded_integer& numerator, const unbounded_integer& denominator) {
  return simplest(ratio(unbounded_integer(numerator), unbounded_integer(denominator)));
}

exact_scalar simplest(const unbounded_rational& x) {
  const unbounded_integer& denominator = x.denominator();
  const auto exponent = static_cast<unsigned>(lsb(denominator));
  if (exponent != static_cast<unsigned>(msb(denominator))) return x;
  return unbounded_dyadic(x.numerator(), -static_cast<long>(exponent));
}

exact_matrix make_exact_matrix(std::size_t rows, std::size_t columns, const std::vector<exact_scalar>& elements) {
  if (elements.size() != rows * columns) error::shape_mismatch();
  const auto fill = [&]<class T>(matrix<T> m) {
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) m(i, j) = exact_as<T>(elements[i * columns + j]);
    return exact_matrix(std::move(m));
  };
  const bool dyadic_only =
      std::all_of(elements.begin(), elements.end(), [](const exact_scalar& x) { return is_dyadic(x); });
  if (dyadic_only) return fill(matrix<unbounded_dyadic>(rows, columns));
  return fill(matrix<unbounded_rational>(rows, columns));
}

std::size_t rows(const exact_matrix& m) {
  return std::visit([](const auto& x) { return x.rows(); }, m);
}
std::size_t columns(const exact_matrix& m) {
  return std::visit([](const auto& x) { return x.columns(); }, m);
}

exact_scalar element(const exact_matrix& m, std::size_t row, std::size_t column) {
  if (const auto* dyadics = std::get_if<matrix<unbounded_dyadic>>(&m)) return (*dyadics)(row, column);
  return simplest(std::get<matrix<unbounded_rational>>(m)(row, column));
}

bool is_dyadic(const exact_scalar& x) { return std::holds_alternative<unbounded_dyadic>(x); }
bool is_dyadic(const exact_matrix& m) { return std::holds_alternative<matrix<unbounded_dyadic>>(m); }

bool is_integer(const exact_scalar& x) {
  const auto* value = std::get_if<unbounded_dyadic>(&x);
  return value != nullptr && value->exponent() >= 0;
}

}  // namespace attest
