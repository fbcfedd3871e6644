#include <attest/reference/attention.hpp>

#include "significant_decimal.hpp"

#include <attest/enclosure/evaluate.hpp>
#include <attest/reference/exact_head.hpp>
#include <attest/reference/rounded.hpp>
#include <attest/rounding/rounding_test.hpp>
#include <attest/symbolic/print.hpp>
#include <attest/symbolic/softmax.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>

namespace attest {

namespace {

using enclosure = interval<growing>;

// As numbers over any type: the rational behind an exact_scalar where it is one.
template <exact_number T>
exact_scalar scalar(const T& x) {
  if constexpr (exact_number_traits<T>::rank == 3)
    return simplest(x);
  else
    return x;
}

/// The rational number behind an element of Q(√d), if it is one.
template <exact_number T>
std::optional<exact_scalar> rational_value(const surd<T>& x) {
  if (x.is_rational()) return scalar(x.rational_part());
  const auto k = detail::exact_square_root(x.radicand());
  if (k == 0) return std::nullopt;
  const unbounded_rational root_part = exact_quotient(exact_cast<unbounded_rational>(x.root_part()), k);
  return simplest(exact_cast<unbounded_rational>(x.rational_part()) + root_part);
}

constexpr unsigned first_precision(unsigned digits) { return std::max(128u, digits * 3322 / 1000 + 96); }

/// The value that enclose(bits) encloses and that expression() returns symbolically, which is asked for only where the
/// enclosure leaves the rounding open.
template <class Enclose, class Expression>
reference_value certified(Enclose enclose, Expression expression, unsigned digits) {
  const enclosure value = enclose(first_precision(digits));
  const interval_rounding attempt = round_interval(value, formats::binary64, rounding::nearest_even);
  const std::uint64_t pattern =
      attempt.outcome == rounding_outcome::settled
          ? attempt.pattern
          : round_correctly(expression(), value, formats::binary64, rounding::nearest_even);
  const auto side_of = [&](const unbounded_rational& y) { return compare(expression(), y); };
  return {std::bit_cast<double>(pattern), std::nullopt, significant_decimal(enclosed_number{enclose, side_of}, digits)};
}

reference_value rational(const exact_scalar& x, unsigned digits) {
  return {nearest_binary64(x), x, significant_decimal(x, digits)};
}

/// One row of weights: the terms n_k e^{α_k} of its normaliser, equal scores merged, and their enclosures.
template <exact_number T>
class reference_row {
 public:
  reference_row(const outputs<T, dynamic, dynamic, dynamic>& all, std::size_t row)
      : all_(all), weights_(all.row_weights()), row_(row), normaliser_(weights_.normaliser(row)) {
    largest_ = detail::largest_exponent(normaliser_, normaliser_[0].exponent);
    for (std::size_t j = 0; j < weights_.columns(); ++j) term_of_key_.push_back(find_term(j));
  }

  reference_value weight(std::size_t j, unsigned digits) {
    if (!weights_.visible(row_, j)) return rational(unbounded_dyadic(0), digits);
    if (normaliser_.size() == 1) return rational(share(), digits);
    // Equal scores have equal weights.
    const std::size_t term = term_of_key_[j];
    const auto known = weight_of_term_.find(term);
    if (known != weight_of_term_.end()) return known->second;
    const auto enclose = [&](unsigned bits) {
      const level& at = enclosed(bits);
      return divide(at.exponentials[term], at.sum, bits);
    };
    const auto expression = [&] { return weights_.exponential(row_, j) / normaliser_; };
    return weight_of_term_.emplace(term, certified(enclose, expression, digits)).first->second;
  }

  reference_value output(std::size_t c, unsigned digits) {
    // Σ_k N_k e^{α_k} over Σ_k n_k e^{α_k}: a rational number exactly where N_k / n_k is the same for all k.
    std::vector<T> numerator(normaliser_.size(), T(0));
    for (std::size_t j = 0; j < weights_.columns(); ++j)
      if (weights_.visible(row_, j)) {
        T& sum = numerator[term_of_key_[j]];
        sum = sum + all_.values()(j, c);
      }
    bool proportional = true;
    for (std::size_t k = 1; k < numerator.size(); ++k)
      proportional = proportional && numerator[k] * count(0) == numerator[0] * count(k);
    if (proportional) {
      const auto share = exact_cast<unbounded_rational>(T(numerator[0])) / exact_cast<unbounded_rational>(count(0));
      return rational(simplest(share), digits);
    }
    const auto enclose = [&](unsigned bits) {
      const level& at = enclosed(bits);
      enclosure sum = enclosure::exact(0LL);
      for (std::size_t k = 0; k < numerator.size(); ++k)
        if (sign(numerator[k]) != 0)
          sum = add(sum, multiply(evaluate<growing>(numerator[k], bits), at.exponentials[k], bits), bits);
      return divide(sum, at.sum, bits);
    };
    return certified(enclose, [&] { return all_(row_, c); }, digits);
  }

  reference_value log_sum_exp(unsigned digits) {
    const exp_logarithm<T, dynamic> logarithm{normaliser_, log_base::e};
    // ln(n e^α) = α + ln n is rational only for n = 1 and rational α; a sum of several exponentials has no rational
    // logarithm.
    if (normaliser_.size() == 1 && count(0) == T(1))
      if (const auto exact = rational_value(normaliser_[0].exponent)) return rational(*exact, digits);
    const auto enclose = [&](unsigned bits) { return enclosed_logarithm(logarithm, bits); };
    return certified(enclose, [&] { return logarithm; }, digits);
  }

  std::string weights_text() const { return to_text(weights_.row(row_)); }
  std::string outputs_text() const {
    list<exp_sum<T, dynamic>, dynamic> numerators;
    for (std::size_t c = 0; c < all_.columns(); ++c) numerators.push_back(all_.numerator(row_, c));
    return to_text(exp_row<T, dynamic, dynamic, dynamic>(numerators, normaliser_));
  }

 private:
  struct level {
    std::vector<enclosure> exponentials;  // e^{α_k - largest}
    enclosure sum;
  };

  std::size_t find_term(std::size_t j) const {
    std::size_t k = 0;
    if (weights_.visible(row_, j))
      while (!(normaliser_[k].exponent == weights_.score(row_, j))) ++k;
    return k;
  }

  T count(std::size_t k) const { return normaliser_[k].coefficient.rational_part(); }
  // 1/n, the weight of each of n keys of equal score.
  exact_scalar share() const {
    return simplest(unbounded_rational(1) / exact_cast<unbounded_rational>(count(0)));
  }

  // Where the one largest exponential is e^0, the logarithm is ln(1 + x), x the sum of the others, and may lie as close to
  // zero as they do. Below 2^-bits it is enclosed without adding the 1: x - x²/2 < ln(1 + x) < x, so it is in x [1 - x, 1].
  enclosure enclosed_logarithm(const exp_logarithm<T, dynamic>& logarithm, unsigned bits) {
    if (sign(largest_) != 0 || normaliser_.size() == 1) return evaluate<growing>(logarithm, bits);
    const level& at = enclosed(bits);
    enclosure others = enclosure::exact(0LL);
    for (std::size_t k = 0; k < normaliser_.size(); ++k) {
      if (!(normaliser_[k].exponent == largest_))
        others = add(others, multiply(evaluate<growing>(count(k), bits), at.exponentials[k], bits), bits);
      else if (count(k) != T(1))
        return evaluate<growing>(logarithm, bits);
    }
    const enclosure one = enclosure::exact(1LL);
    if (sign(add(others, negate(enclosure::exact(1LL, -static_cast<std::int64_t>(bits))), bits)) >= 0)
      return evaluate<growing>(logarithm, bits);
    return multiply(others, hull(one, subtract(one, others, bits), bits), bits);
  }

  const level& enclosed(unsigned bits) {
    const auto known = levels_.find(bits);
    if (known != levels_.end()) return known->second;
    level at;
    at.sum = enclosure::exact(0LL);
    for (std::size_t k = 0; k < normaliser_.size(); ++k) {
      at.exponentials.push_back(evaluate_exponential<growing>(normaliser_[k].exponent - largest_, bits));
      at.sum = add(at.sum, multiply(evaluate<growing>(count(k), bits), at.exponentials[k], bits), bits);
    }
    return levels_.emplace(bits, std::move(at)).first->second;
  }

  const outputs<T, dynamic, dynamic, dynamic>& all_;
  const weights<T, dynamic, dynamic>& weights_;
  std::size_t row_;
  exp_sum<T, dynamic> normaliser_;
  surd<T> largest_;
  std::vector<std::size_t> term_of_key_;
  std::map<unsigned, level> levels_;
  std::map<std::size_t, reference_value> weight_of_term_;
};

template <exact_number T>
attention_reference attention_over(const problem& p, const reference_options& options) {
  const exact_head<T> head = exact_head_of<T>(p);
  const outputs<T, dynamic, dynamic, dynamic> all = softmax(head.scores, head.visible) * head.values;
  const std::size_t queries = all.rows();

  attention_reference result;
  result.queries = head.queries;
  result.keys = head.keys;
  result.values = head.values;
  result.dots = head.dots;
  result.digits = options.digits;
  result.weights = matrix<reference_value>(queries, head.keys.rows());
  result.output = matrix<reference_value>(queries, all.columns());

  if (!p.scale) {
    const unsigned long long d = head.keys.columns();
    const surd<T> exponent(T(0), T(1), d);
    enclosed_number r;
    r.enclose = [&](unsigned bits) { return evaluate_exponential<growing>(exponent, bits); };
    r.side_of = [&](const unbounded_rational& y) { return compare(exp(exponent), y); };
    result.r_meaning = "exp(1/sqrt(" + std::to_string(d) + "))";
    result.r_decimal = significant_decimal(r, options.digits);
  }

  for (std::size_t i = 0; i < queries; ++i) {
    reference_row<T> row(all, i);
    for (std::size_t j = 0; j < head.keys.rows(); ++j) result.weights(i, j) = row.weight(j, options.digits);
    for (std::size_t c = 0; c < all.columns(); ++c) result.output(i, c) = row.output(c, options.digits);
    result.log_sum_exp.push_back(row.log_sum_exp(options.digits));
    result.weight_rows.push_back(row.weights_text());
    result.output_rows.push_back(row.outputs_text());
    if (options.progress) options.progress(i + 1, queries);
  }
  return result;
}

}  // namespace

attention_reference attention(const problem& p, const reference_options& options) {
  if (options.digits == 0) throw std::invalid_argument("a reference has at least one digit");
  if (is_dyadic(p)) return attention_over<unbounded_dyadic>(p, options);
  return attention_over<unbounded_rational>(p, options);
}

}  // namespace attest
