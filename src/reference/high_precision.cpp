#include <attest/reference/high_precision.hpp>

#include "float_values.hpp"

#include <attest/enclosure/printed.hpp>
#include <attest/symbolic/print.hpp>
#include <attest/symbolic/softmax.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <string_view>

namespace attest {

namespace {

template <exact_number T>
exact_surd surd_of(const surd<T>& x) {
  return {parts(x.rational_part()), parts(x.root_part()), x.radicand()};
}

template <exact_number T>
exact_rows rows_of(const problem& p) {
  const exact_head<T> head = exact_head_of<T>(p);
  const auto all = softmax(head.scores, head.visible);
  exact_rows result;
  result.values = map(head.values, [](const T& x) { return parts(x); });
  if (!p.scale) result.radicand = head.keys.columns();
  for (std::size_t i = 0; i < all.rows(); ++i) {
    std::optional<surd<T>> largest;
    std::optional<surd<T>> smallest;
    for (std::size_t j = 0; j < all.columns(); ++j) {
      if (!all.visible(i, j)) continue;
      if (!largest || sign(all.score(i, j) - *largest) > 0) largest = all.score(i, j);
      if (!smallest || sign(all.score(i, j) - *smallest) < 0) smallest = all.score(i, j);
    }
    exact_row row{to_text(all.row(i)), surd_of(*largest), {}, {}};
    for (std::size_t j = 0; j < all.columns(); ++j) {
      const bool visible = all.visible(i, j);
      row.below_largest.push_back(visible ? std::optional(surd_of(all.score(i, j) - *largest)) : std::nullopt);
      row.above_smallest.push_back(visible ? std::optional(surd_of(all.score(i, j) - *smallest)) : std::nullopt);
    }
    result.rows.push_back(std::move(row));
  }
  return result;
}

// Calls f with a float of so many digits.
template <class F>
auto with_precision(unsigned digits, F f) {
  switch (digits) {
    case 50: return f(high_float<50>());
    case 100: return f(high_float<100>());
    case 200: return f(high_float<200>());
    case 500: return f(high_float<500>());
    case 1000: return f(high_float<1000>());
  }
  throw std::invalid_argument("floats have 50, 100, 200, 500 or 1000 digits");
}

template <class Float>
matrix<Float> values_in_floats(const exact_rows& exact) {
  return map(exact.values, [](const auto& x) { return in_floats<Float>(x); });
}

template <class Float>
Float r_in_floats(unsigned long long radicand) {
  return exp(Float(1) / sqrt(Float(radicand)));
}

template <class Float>
std::string decimal_of(const Float& x, unsigned digits) {
  if (x == 0) return "0";
  if (!isfinite(x)) return "inf";
  // [-]d.ddde±x, the digits and the exponent of which the layout of every other decimal is made.
  const std::string text = x.str(static_cast<std::streamsize>(digits) - 1, std::ios_base::scientific);
  const std::size_t e = text.find('e');
  basic_decimal<unbounded_integer> result = parse_decimal<unbounded_integer>(std::string_view(text).substr(0, e));
  result.exponent += std::stol(text.substr(e + 1));
  std::string printed;
  print(printed, result);
  return printed;
}

// 10^n; the error of each square is doubled by the next, so it ends at n units of the last place or so.
template <class Float>
Float power_of_ten_in_floats(unsigned long n) {
  Float power(1);
  for (Float square(10); n != 0; n >>= 1) {
    if ((n & 1) != 0) power = power * square;
    if (n > 1) square = square * square;
  }
  return power;
}

// A certified decimal as a float, unless it is past what the floats can hold.
template <class Float>
std::optional<Float> read(std::string_view text) {
  if (text.starts_with('<') || text.starts_with('>')) return std::nullopt;
  const std::size_t e = text.find('e');
  const auto numeral = parse_decimal<unbounded_integer>(text.substr(0, e));
  long exponent = 0;
  if (e != std::string_view::npos) std::from_chars(text.data() + e + 1, text.data() + text.size(), exponent);
  exponent += numeral.exponent;
  constexpr long largest_exponent = 400'000'000;
  if (exponent < -largest_exponent || exponent > largest_exponent) return std::nullopt;
  const Float significand(numeral.significand);
  const auto power = power_of_ten_in_floats<Float>(static_cast<unsigned long>(std::abs(exponent)));
  return exponent < 0 ? Float(significand / power) : Float(significand * power);
}

template <class Float>
class comparison {
 public:
  comparison(unsigned precision, unsigned digits) : answer_digits_(digits) {
    report_.precision = precision;
    report_.digits = report_.agreeing = std::min(digits, precision);
  }

  // magnitude: the number whose digits are counted.
  void compare(const std::string& place, const std::string& reference, const Float& value, const Float& magnitude, double spread) {
    const std::optional<Float> certified = read<Float>(reference);
    if (!certified || (magnitude == 0 && *certified != 0)) {
      ++report_.beyond;
      return;
    }
    ++report_.compared;
    const Float difference = abs(value - *certified);
    unsigned digits = 0;
    for (Float unit = 2 * difference; digits < report_.digits && unit <= magnitude; unit = unit * 10) ++digits;
    report_.agreeing = std::min(report_.agreeing, digits);
    const Float allowed = 5 / power_of_ten_in_floats<Float>(answer_digits_) +
                          power_of_ten_in_floats<Float>(guard_digits(spread)) / power_of_ten_in_floats<Float>(report_.precision);
    if (difference > magnitude * allowed)
      report_.disagreements.push_back({place, reference, decimal_of(value, report_.digits), digits});
  }

  const cross_check_report& report() const { return report_; }

 private:
  unsigned answer_digits_;
  cross_check_report report_;
};

std::string place_of(std::string_view array, std::size_t i, std::size_t j) {
  return std::string(array) + " [" + std::to_string(i) + ", " + std::to_string(j) + ']';
}

}  // namespace

exact_rows exact_rows_of(const problem& p) {
  return is_dyadic(p) ? rows_of<unbounded_dyadic>(p) : rows_of<unbounded_rational>(p);
}

unsigned guard_digits(double spread) {
  unsigned digits = 3;
  for (spread = std::min(spread, 1e300); spread > 10; spread /= 10) ++digits;
  return digits;
}

float_attention attention_in_floats(const problem& p, unsigned precision) {
  return with_precision(precision, [&]<class Float>(Float) {
    const exact_rows exact = exact_rows_of(p);
    const matrix<Float> values = values_in_floats<Float>(exact);
    const std::size_t queries = exact.rows.size();
    const auto decimal = [&](const Float& x) { return decimal_of(x, precision); };
    float_attention result;
    result.precision = precision;
    if (exact.radicand) result.r = decimal(r_in_floats<Float>(*exact.radicand));
    result.weights = matrix<std::string>(queries, values.rows());
    result.output = matrix<std::string>(queries, values.columns());
    for (std::size_t i = 0; i < queries; ++i) {
      const exact_row& row = exact.rows[i];
      const float_row<Float> evaluated = evaluate_row(row, values);
      for (std::size_t j = 0; j < values.rows(); ++j) result.weights(i, j) = decimal(evaluated.weights[j]);
      for (std::size_t c = 0; c < values.columns(); ++c) result.output(i, c) = decimal(evaluated.output[c]);
      result.log_sum_exp.push_back(decimal(evaluated.log_sum_exp));
      evaluated_row written{row.expression, {}, {}};
      Float denominator(0);
      for (const auto& exponent : row.above_smallest) {
        const Float numerator = exponential<Float>(exponent);
        written.numerators.push_back(decimal(numerator));
        denominator = denominator + numerator;
      }
      written.denominator = decimal(denominator);
      result.rows.push_back(std::move(written));
    }
    return result;
  });
}

cross_check_report cross_check(const problem& p, const attention_reference& answer) {
  unsigned precision = float_precisions.back();
  for (const unsigned candidate : float_precisions)
    if (candidate >= answer.digits) precision = std::min(precision, candidate);
  return with_precision(precision, [&]<class Float>(Float) {
    const exact_rows exact = exact_rows_of(p);
    const matrix<Float> values = values_in_floats<Float>(exact);
    comparison<Float> all(precision, answer.digits);
    if (exact.radicand && answer.r_decimal) {
      const Float r = r_in_floats<Float>(*exact.radicand);
      all.compare("r", *answer.r_decimal, r, r, 1);
    }
    for (std::size_t i = 0; i < exact.rows.size(); ++i) {
      const float_row<Float> row = evaluate_row(exact.rows[i], values);
      for (std::size_t j = 0; j < values.rows(); ++j)
        all.compare(place_of("weights", i, j), answer.weights(i, j).decimal, row.weights[j], row.weights[j], -row.exponents[j]);
      for (std::size_t c = 0; c < values.columns(); ++c)
        all.compare(place_of("output", i, c), answer.output(i, c).decimal, row.output[c], row.magnitudes[c], row.spread);
      const Float largest = abs(row.largest);
      all.compare("log_sum_exp [" + std::to_string(i) + ']', answer.log_sum_exp[i].decimal, row.log_sum_exp,
                  largest > 1 ? largest : Float(1), 1);
    }
    return all.report();
  });
}

}  // namespace attest
