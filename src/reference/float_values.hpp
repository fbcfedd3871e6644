#pragma once

#include <attest/reference/exact_head.hpp>

#include <boost/multiprecision/cpp_bin_float.hpp>

#include <optional>
#include <string>
#include <vector>

// One head in cpp_bin_float: exact up to the exponents, floats from there on.
namespace attest {

template <unsigned Digits>
using high_float = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<Digits>, boost::multiprecision::et_off>;

/// An exact number or element of Q(√d), whatever type it was computed in: rational + root / √radicand.
struct exact_surd {
  number_parts<unbounded_integer> rational;
  number_parts<unbounded_integer> root;
  unsigned long long radicand;
};

/// The exact exponents of one row. A key that is not seen has none.
struct exact_row {
  std::string expression;
  exact_surd largest;
  std::vector<std::optional<exact_surd>> below_largest;    // score - largest score, at most 0
  std::vector<std::optional<exact_surd>> above_smallest;  // score - smallest score, at least 0
};
struct exact_rows {
  std::vector<exact_row> rows;
  matrix<number_parts<unbounded_integer>> values;
  std::optional<unsigned long long> radicand;  // of r = e^(1/√d), with the default scale
};
exact_rows exact_rows_of(const problem& p);

/// Exponents past this are past the range of the floats, whose largest is about e^1,488,000,000.
inline constexpr double largest_float_exponent = 1e9;

template <class Float>
Float in_floats(const number_parts<unbounded_integer>& x) {
  return ldexp(Float(x.numerator), static_cast<int>(x.exponent)) / Float(x.denominator);
}
template <class Float>
Float in_floats(const exact_surd& x) {
  if (x.root.numerator.is_zero()) return in_floats<Float>(x.rational);
  return in_floats<Float>(x.rational) + in_floats<Float>(x.root) / sqrt(Float(x.radicand));
}
template <class Float>
Float exponential(const std::optional<exact_surd>& exponent) {
  if (!exponent) return Float(0);
  const Float x = in_floats<Float>(*exponent);
  if (x < -largest_float_exponent) return Float(0);
  if (x > largest_float_exponent) return std::numeric_limits<Float>::infinity();
  return exp(x);
}

/// The values of one row.
template <class Float>
struct float_row {
  std::vector<double> exponents;   // x = score - largest score; 0 where the key is not seen
  double spread = 0;               // the largest |x|
  std::vector<Float> weights;
  std::vector<Float> output;
  std::vector<Float> magnitudes;   // Σ |V_jc| A_ij, against which the error of an output counts
  Float log_sum_exp;
  Float largest;
};

template <class Float>
float_row<Float> evaluate_row(const exact_row& exact, const matrix<Float>& values) {
  float_row<Float> row;
  row.largest = in_floats<Float>(exact.largest);
  Float sum(0);
  for (const auto& exponent : exact.below_largest) {
    row.exponents.push_back(exponent ? in_floats<Float>(*exponent).template convert_to<double>() : 0.0);
    row.spread = std::max(row.spread, -row.exponents.back());
    row.weights.push_back(exponential<Float>(exponent));
    sum = sum + row.weights.back();
  }
  row.log_sum_exp = row.largest + log(sum);
  for (std::size_t c = 0; c < values.columns(); ++c) {
    Float output(0);
    Float magnitude(0);
    for (std::size_t j = 0; j < row.weights.size(); ++j) {
      const Float term = row.weights[j] * values(j, c);
      output = output + term;
      magnitude = magnitude + abs(term);
    }
    row.output.push_back(output / sum);
    row.magnitudes.push_back(magnitude / sum);
  }
  for (Float& weight : row.weights) weight = weight / sum;
  return row;
}

}  // namespace attest
