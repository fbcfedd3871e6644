#pragma once

#include <attest/exact/batch.hpp>
#include <attest/symbolic/equality.hpp>

namespace attest {

/// The attention weights of scaled scores, [Tq, Tk]: entry (i, j) is e^{S_ij} / Σ_j e^{S_ij}, the sum over the keys that
/// row i sees; a masked key has weight zero. Kept as the scores: an entry is made when it is read.
template <exact_number T, std::size_t Tq, std::size_t Tk>
class weights {
 public:
  static constexpr std::size_t row_extent = Tq;
  static constexpr std::size_t column_extent = Tk;

  /// A row that sees no key is error::empty_row().
  constexpr weights(const matrix<surd<T>, Tq, Tk>& scores, const matrix<bool, Tq, Tk>& visible)
      : scores_(scores), visible_(visible) {
    if (visible.rows() != scores.rows() || visible.columns() != scores.columns()) error::shape_mismatch();
    for (std::size_t i = 0; i < rows(); ++i) {
      bool any = false;
      for (std::size_t j = 0; j < columns(); ++j) any = any || visible(i, j);
      if (!any) error::empty_row();
    }
  }

  constexpr std::size_t rows() const { return scores_.rows(); }
  constexpr std::size_t columns() const { return scores_.columns(); }
  constexpr surd<T> score(std::size_t i, std::size_t j) const { return scores_(i, j); }
  constexpr bool visible(std::size_t i, std::size_t j) const { return visible_(i, j); }
  constexpr const matrix<surd<T>, Tq, Tk>& scores() const { return scores_; }
  constexpr const matrix<bool, Tq, Tk>& mask() const { return visible_; }

  /// e^{S_ij}, or the empty sum for a masked key.
  constexpr exp_sum<T, 1> exponential(std::size_t i, std::size_t j) const {
    return visible(i, j) ? exp(score(i, j)) : exp_sum<T, 1>();
  }
  /// Σ_j e^{S_ij} over the visible keys.
  constexpr exp_sum<T, Tk> normaliser(std::size_t i) const {
    exp_sum<T, Tk> sum;
    for (std::size_t j = 0; j < columns(); ++j)
      if (visible(i, j)) sum.add(surd<T>(1), score(i, j));
    return sum;
  }
  constexpr exp_fraction<T, 1, Tk> operator()(std::size_t i, std::size_t j) const {
    return exponential(i, j) / normaliser(i);
  }
  constexpr exp_row<T, Tk, 1, Tk> row(std::size_t i) const {
    list<exp_sum<T, 1>, Tk> numerators;
    for (std::size_t j = 0; j < columns(); ++j) numerators.push_back(exponential(i, j));
    return {numerators, normaliser(i)};
  }

 private:
  matrix<surd<T>, Tq, Tk> scores_;
  matrix<bool, Tq, Tk> visible_;
};

/// The weights of scaled scores [Tq, Tk], normalised over the keys of each row. `visible` is true where a query sees a
/// key; without it every key is seen.
template <exact_number T, std::size_t Tq, std::size_t Tk>
constexpr weights<T, Tq, Tk> softmax(const matrix<surd<T>, Tq, Tk>& scores, const matrix<bool, Tq, Tk>& visible) {
  return {scores, visible};
}
template <exact_number T, std::size_t Tq, std::size_t Tk>
constexpr weights<T, Tq, Tk> softmax(const matrix<surd<T>, Tq, Tk>& scores) {
  return {scores, map(scores, [](surd<T>) { return true; })};
}

/// The weights of scores as they are, without a scale.
template <exact_number T, std::size_t Tq, std::size_t Tk, class... Mask>
constexpr weights<T, Tq, Tk> softmax(const matrix<T, Tq, Tk>& scores, const Mask&... visible) {
  return softmax(map(scores, [](const T& x) { return surd<T>(x); }), visible...);
}

/// The weights of each example of a batch, with one mask for all or none.
template <class Example, std::size_t B, class... Mask>
constexpr auto softmax(const batch<Example, B>& scores, const Mask&... visible) {
  return map_examples(scores, [&](const Example& example) { return softmax(example, visible...); });
}

/// The sum of each row of weights, [Tq, 1]: the entries of a row share their denominator, so their numerators are added.
template <exact_number T, std::size_t Tq, std::size_t Tk>
constexpr auto row_sums(const weights<T, Tq, Tk>& row_weights) {
  matrix<exp_fraction<T, Tk, Tk>, Tq, Tq == dynamic ? dynamic : 1> sums(row_weights.rows(), 1);
  for (std::size_t i = 0; i < row_weights.rows(); ++i) {
    const auto row = row_weights.row(i);
    exp_sum<T, Tk> sum;
    for (std::size_t j = 0; j < row.columns(); ++j) sum.add(row.numerator(j));
    sums(i, 0) = sum / row.denominator();
  }
  return sums;
}

/// The outputs O = A V, [Tq, d_v]: entry (i, c) is Σ_j V_jc e^{S_ij} / Σ_j e^{S_ij}.
template <exact_number T, std::size_t Tq, std::size_t Tk, std::size_t Dv>
class outputs {
 public:
  static constexpr std::size_t row_extent = Tq;
  static constexpr std::size_t column_extent = Dv;

  constexpr outputs(const weights<T, Tq, Tk>& row_weights, const matrix<T, Tk, Dv>& values)
      : weights_(row_weights), values_(values) {
    if (row_weights.columns() != values.rows()) error::shape_mismatch();
  }

  constexpr std::size_t rows() const { return weights_.rows(); }
  constexpr std::size_t columns() const { return values_.columns(); }
  constexpr const weights<T, Tq, Tk>& row_weights() const { return weights_; }
  constexpr const matrix<T, Tk, Dv>& values() const { return values_; }

  /// Σ_j V_jc e^{S_ij} over the visible keys.
  constexpr exp_sum<T, Tk> numerator(std::size_t i, std::size_t c) const {
    exp_sum<T, Tk> sum;
    for (std::size_t j = 0; j < values_.rows(); ++j)
      if (weights_.visible(i, j)) sum.add(surd<T>(values_(j, c)), weights_.score(i, j));
    return sum;
  }
  constexpr exp_fraction<T, Tk, Tk> operator()(std::size_t i, std::size_t c) const {
    return numerator(i, c) / weights_.normaliser(i);
  }
  constexpr exp_row<T, Dv, Tk, Tk> row(std::size_t i) const {
    list<exp_sum<T, Tk>, Dv> numerators;
    for (std::size_t c = 0; c < columns(); ++c) numerators.push_back(numerator(i, c));
    return {numerators, weights_.normaliser(i)};
  }

 private:
  weights<T, Tq, Tk> weights_;
  matrix<T, Tk, Dv> values_;
};

template <exact_number T, exact_number U, std::size_t Tq, std::size_t Tk, std::size_t Dv>
constexpr outputs<common_exact<T, U>, Tq, Tk, Dv> operator*(const weights<T, Tq, Tk>& row_weights,
                                                            const matrix<U, Tk, Dv>& values) {
  using Common = common_exact<T, U>;
  return {weights<Common, Tq, Tk>(exact_cast<Common>(row_weights.scores()), row_weights.mask()),
          exact_cast<Common>(values)};
}

/// The base of a logarithm.
enum class log_base { e, two };

/// log Σ c_k e^{α_k} in the given base.
template <exact_number T, std::size_t N>
struct exp_logarithm {
  exp_sum<T, N> sum;
  log_base base;
};

namespace detail {

template <exact_number T, std::size_t N>
struct expression_number<exp_logarithm<T, N>> : std::type_identity<T> {};

}  // namespace detail

/// The log-sum-exp of each row, [Tq, 1], in the base that the caller names.
template <exact_number T, std::size_t Tq, std::size_t Tk>
class log_sums {
 public:
  static constexpr std::size_t row_extent = Tq;
  static constexpr std::size_t column_extent = 1;

  constexpr log_sums(const weights<T, Tq, Tk>& row_weights, log_base base) : weights_(row_weights), base_(base) {}
  constexpr std::size_t rows() const { return weights_.rows(); }
  static constexpr std::size_t columns() { return 1; }
  constexpr exp_logarithm<T, Tk> operator()(std::size_t i, std::size_t j) const {
    if (j != 0) error::index_out_of_range();
    return {weights_.normaliser(i), base_};
  }

 private:
  weights<T, Tq, Tk> weights_;
  log_base base_;
};

template <exact_number T, std::size_t Tq, std::size_t Tk>
constexpr log_sums<T, Tq, Tk> log_sum_exp(const weights<T, Tq, Tk>& row_weights, log_base base) {
  return {row_weights, base};
}

}  // namespace attest
