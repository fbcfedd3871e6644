#pragma once

#include <attest/kernel.hpp>
#include <attest/problem.hpp>

#include "support/mpfr.hpp"
#include "support/random.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <vector>

// What the tests of kernels share: a call with the arrays that it owns, the same call in MPFR, and how much
// of the claimed error bound the true error uses.
namespace testing {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

template <class T>
struct results {
  std::vector<T> output;
  std::vector<T> weights;
  std::vector<T> log_sum_exp;
};

/// A call with dense arrays. Mask and bias, where they are not empty, have an element for each score.
template <class T>
struct call {
  std::size_t batch = 1, query_heads = 1, key_heads = 1, queries = 1, keys = 1, key_width = 1,
              value_width = 1;
  std::vector<T> q, k, v;
  std::vector<unsigned char> mask = {};
  std::vector<T> bias = {};
  attest::attention_options options = {};

  std::size_t score_index(std::size_t b, std::size_t h, std::size_t i, std::size_t j) const {
    return ((b * query_heads + h) * queries + i) * keys + j;
  }
  std::size_t row_index(std::size_t b, std::size_t h, std::size_t i) const {
    return (b * query_heads + h) * queries + i;
  }
  std::size_t q_index(std::size_t b, std::size_t h, std::size_t i, std::size_t c) const {
    return row_index(b, h, i) * key_width + c;
  }
  // h is the query head: written out again here, as "Hq / Hkv consecutive query heads share one".
  std::size_t kv_row(std::size_t b, std::size_t h, std::size_t j) const {
    std::size_t owner = 0;
    for (std::size_t first = query_heads / key_heads; h >= first; first += query_heads / key_heads) ++owner;
    return (b * key_heads + owner) * keys + j;
  }

  attest::kernel::attention_inputs<T> inputs() const {
    return {{q.data(), {batch, query_heads, queries, key_width}},
            {k.data(), {batch, key_heads, keys, key_width}},
            {v.data(), {batch, key_heads, keys, value_width}}};
  }
  attest::attention_options all_options() const {
    attest::attention_options o = options;
    const attest::layout scores{batch, query_heads, queries, keys};
    if (!mask.empty()) o.mask = attest::any_tensor(mask.data(), attest::dtype::boolean, scores);
    if (!bias.empty()) o.bias = attest::any_tensor(bias.data(), attest::dtype_of<T>::value, scores);
    return o;
  }
  results<T> empty_results() const {
    const std::size_t rows = batch * query_heads * queries;
    return {std::vector<T>(rows * value_width), std::vector<T>(rows * keys), std::vector<T>(rows)};
  }
  attest::kernel::attention_results<T> views(results<T>& r) const {
    using view = attest::tensor<T>;
    attest::kernel::attention_results<T> out{
        view(r.output.data(), {batch, query_heads, queries, value_width}),
        view(r.weights.data(), {batch, query_heads, queries, keys}),
        {}};
    if (options.log_sum_exp)
      out.log_sum_exp = view(r.log_sum_exp.data(), {batch, query_heads, queries, std::size_t{1}});
    return out;
  }

  results<T> stable() const {
    results<T> r = empty_results();
    attest::kernel::stable<T>(inputs(), all_options(), views(r));
    return r;
  }
  results<T> fused(unsigned threads = 1, bool with_weights = true) const {
    results<T> r = empty_results();
    auto out = views(r);
    if (!with_weights) {
      out.weights.reset();
      r.weights.clear();
    }
    attest::kernel::fused<T>(inputs(), all_options(), out, {threads});
    return r;
  }
  results<T> naive() const {
    results<T> r = empty_results();
    attest::kernel::naive<T>(inputs(), all_options(), views(r));
    return r;
  }
};

/// One head with scores 0 unless told otherwise: d = 1, q = 1, scale 1, k the scores.
template <class T = double>
call<T> one_head(std::size_t queries, const std::vector<T>& scores, const std::vector<T>& values) {
  call<T> c;
  c.queries = queries;
  c.keys = scores.size();
  c.q.assign(queries, T(1));
  c.k = scores;
  c.v = values;
  c.options.scale = 1;
  return c;
}

inline constexpr mpfr_prec_t precision = 700;

inline reference::real real_of(double x) {
  reference::real r(precision);
  mpfr_set_d(r.get(), x, MPFR_RNDN);
  return r;
}

/// One row of a call in MPFR, every option by its definition. Good to about 2^-600 of Σ|q k|.
struct true_row {
  std::vector<bool> seen;
  std::vector<reference::real> scores, weights, output;
  std::vector<reference::real> mean_magnitudes;  // Σ w |V|
  bool empty = false;
  reference::real log_sum_exp = real_of(0);
  attest::kernel::row_magnitudes size;     // values: of all columns
  std::vector<double> column_values;       // max |V| of each
  double largest_score = -infinity;

  template <class T>
  true_row(const call<T>& c, std::size_t b, std::size_t h, std::size_t i) {
    using reference::real;
    const auto& o = c.options;
    const long keys = static_cast<long>(o.key_lengths.empty() ? c.keys : o.key_lengths[b]);
    long position = static_cast<long>(i);
    if (o.past_keys)
      position += static_cast<long>(*o.past_keys);
    else if (o.corner == attest::causal_corner::bottom_right)
      position += keys - static_cast<long>(c.queries);

    size.key_width = c.key_width;
    size.span = c.keys;
    size.keys = 0;
    size.scale = o.scale ? std::abs(*o.scale) : 1 / std::sqrt(static_cast<double>(c.key_width)) * (1 + 1e-15);
    size.softcap = o.softcap;
    if (!o.alibi_slopes.empty()) size.slope = std::abs(o.alibi_slopes[h]);
    if (!c.bias.empty()) size.bias = 0;
    column_values.assign(c.value_width, 0);
    real cap = real_of(o.softcap.value_or(1));
    for (std::size_t j = 0; j < c.keys; ++j) {
      const long key = static_cast<long>(j);
      bool sees = key < keys;
      if (o.causal && key > position) sees = false;
      if (o.window && o.window->left && position - key > static_cast<long>(*o.window->left)) sees = false;
      if (o.window && o.window->right && key - position > static_cast<long>(*o.window->right)) sees = false;
      if (!c.mask.empty() && c.mask[c.score_index(b, h, i, j)] == 0) sees = false;
      if (!c.bias.empty() && c.bias[c.score_index(b, h, i, j)] == -std::numeric_limits<T>::infinity())
        sees = false;
      seen.push_back(sees);
      scores.push_back(real_of(0));
      weights.push_back(real_of(0));
      if (!sees) continue;
      real s = real_of(0);
      double products = 0;
      for (std::size_t x = 0; x < c.key_width; ++x) {
        const auto left = static_cast<double>(c.q[c.q_index(b, h, i, x)]);
        const auto right = static_cast<double>(c.k[c.kv_row(b, h, j) * c.key_width + x]);
        s = s + real_of(left) * real_of(right);
        products += std::abs(left) * std::abs(right);
      }
      s = o.scale ? s * real_of(*o.scale) : reference::over_root(s, c.key_width);
      if (o.softcap) {
        real capped = s / cap;
        mpfr_tanh(capped.get(), capped.get(), MPFR_RNDN);
        s = cap * capped;
      }
      if (!c.bias.empty()) {
        const auto bias = static_cast<double>(c.bias[c.score_index(b, h, i, j)]);
        s = s + real_of(bias);
        size.bias = std::max(*size.bias, std::abs(bias));
      }
      if (!o.alibi_slopes.empty()) {
        const auto distance = static_cast<double>(std::labs(position - key));
        s = s - real_of(o.alibi_slopes[h]) * real_of(distance);
        size.distance = std::max(size.distance, distance);
      }
      scores[j] = s;
      largest_score = std::max(largest_score, mpfr_get_d(s.get(), MPFR_RNDU));
      ++size.keys;
      size.products = std::max(size.products, products * (1 + 1e-12));
      for (std::size_t x = 0; x < c.value_width; ++x)
        column_values[x] = std::max(
            column_values[x], std::abs(static_cast<double>(c.v[c.kv_row(b, h, j) * c.value_width + x])));
    }
    for (const double largest : column_values) size.values = std::max(size.values, largest);
    if (!o.sinks.empty()) {
      size.sink = std::abs(o.sinks[h]);
      ++size.keys;
    }
    output.assign(c.value_width, real_of(0));
    mean_magnitudes = output;
    if (size.keys == 0) {
      empty = true;
      return;
    }
    // Around the largest score: e^s leaves MPFR's exponents for large s, and a score of 2^-1074 would drown
    // in log(e^s).
    real top = o.sinks.empty() ? real_of(-infinity) : real_of(o.sinks[h]);
    for (std::size_t j = 0; j < c.keys; ++j)
      if (seen[j] && compare(scores[j], top) > 0) top = scores[j];
    real total = o.sinks.empty() ? real_of(0) : exp(real_of(o.sinks[h]) - top);
    for (std::size_t j = 0; j < c.keys; ++j) {
      if (!seen[j]) continue;
      weights[j] = exp(scores[j] - top);
      total = total + weights[j];
    }
    for (std::size_t j = 0; j < c.keys; ++j) {
      if (!seen[j]) continue;
      weights[j] = weights[j] / total;
      for (std::size_t x = 0; x < c.value_width; ++x) {
        const auto value = static_cast<double>(c.v[c.kv_row(b, h, j) * c.value_width + x]);
        output[x] = output[x] + weights[j] * real_of(value);
        mean_magnitudes[x] = mean_magnitudes[x] + weights[j] * real_of(std::abs(value));
      }
    }
    if (o.log_sum_exp) {
      log_sum_exp = top + log(total);
      size.base_two = o.log_sum_exp->base == attest::log_sum_exp_base::two;
      if (size.base_two) log_sum_exp = log_sum_exp / log(real_of(2));
      size.log_sum_exp = std::abs(mpfr_get_d(log_sum_exp.get(), MPFR_RNDA));
    }
  }
};

/// |calculated - truth| / bound, rounded up; infinity where one of them is no finite number.
inline double used(double calculated, const reference::real& truth, double bound) {
  if (!std::isfinite(calculated) || !std::isfinite(bound) || mpfr_number_p(truth.get()) == 0) return infinity;
  reference::real error = abs(real_of(calculated) - truth);
  if (error.sign() == 0) return 0;
  mpfr_div(error.get(), error.get(), real_of(bound).get(), MPFR_RNDU);
  return mpfr_get_d(error.get(), MPFR_RNDU);
}

/// The largest parts of their bounds that the errors of a call use up.
struct used_bounds {
  double weights = 0, output = 0, log_sum_exp = 0;
  double sharper_output = 0;  // of fused_output_bound(), where it is finite
  void merge(const used_bounds& other) {
    weights = std::max(weights, other.weights);
    output = std::max(output, other.output);
    log_sum_exp = std::max(log_sum_exp, other.log_sum_exp);
    sharper_output = std::max(sharper_output, other.sharper_output);
  }
  double worst() const { return std::max({weights, output, log_sum_exp, sharper_output}); }
};

/// fused_few: without weights, so that few queries take their own way.
enum class which { stable, naive, fused, fused_few };

/// Every element of the call against MPFR. Empty rows are not looked at, nor hidden keys, but for their
/// weight of 0.
template <class T>
used_bounds measure(const call<T>& c, which kernel = which::stable) {
  const bool is_fused = kernel == which::fused || kernel == which::fused_few;
  const results<T> r = is_fused                  ? c.fused(1, kernel == which::fused)
                       : kernel == which::stable ? c.stable()
                                                 : c.naive();
  used_bounds worst;
  for (std::size_t b = 0; b < c.batch; ++b)
    for (std::size_t h = 0; h < c.query_heads; ++h)
      for (std::size_t i = 0; i < c.queries; ++i) {
        const true_row row(c, b, h, i);
        if (row.empty) continue;
        const auto bound_of = [&](const attest::kernel::row_magnitudes& size) {
          return is_fused                  ? attest::kernel::fused_bound<T>(size)
                 : kernel == which::stable ? attest::kernel::stable_bound<T>(size)
                                           : attest::kernel::naive_bound<T>(size);
        };
        const auto bound = bound_of(row.size);
        const std::size_t at = c.row_index(b, h, i);
        for (std::size_t j = 0; j < c.keys && !r.weights.empty(); ++j) {
          const auto weight = static_cast<double>(r.weights[at * c.keys + j]);
          worst.weights = std::max(worst.weights, row.seen[j]   ? used(weight, row.weights[j], bound.weight)
                                                  : weight == 0 ? 0.0
                                                                : infinity);
        }
        for (std::size_t x = 0; x < c.value_width; ++x) {
          const auto output = static_cast<double>(r.output[at * c.value_width + x]);
          auto size = row.size;
          size.all_values = size.values;
          size.values = row.column_values[x];
          worst.output = std::max(worst.output, used(output, row.output[x], bound_of(size).output));
          if (!is_fused) continue;
          const double sharper = attest::kernel::fused_output_bound<T>(
              size, mpfr_get_d(row.mean_magnitudes[x].get(), MPFR_RNDU),
              std::abs(mpfr_get_d(row.output[x].get(), MPFR_RNDA)));
          if (std::isfinite(sharper))
            worst.sharper_output = std::max(worst.sharper_output, used(output, row.output[x], sharper));
        }
        if (c.options.log_sum_exp)
          worst.log_sum_exp = std::max(worst.log_sum_exp, used(static_cast<double>(r.log_sum_exp[at]),
                                                               row.log_sum_exp, bound.log_sum_exp));
      }
  return worst;
}

/// Random inputs of full precision with magnitudes from 2^least to 2^(greatest + 1).
template <class T>
void fill(call<T>& c, random_source& source, int least, int greatest) {
  const auto draw = [&](std::vector<T>& array, std::size_t size) {
    array.resize(size);
    for (T& x : array) x = static_cast<T>(source.double_between(least, greatest));
  };
  draw(c.q, c.batch * c.query_heads * c.queries * c.key_width);
  draw(c.k, c.batch * c.key_heads * c.keys * c.key_width);
  draw(c.v, c.batch * c.key_heads * c.keys * c.value_width);
}

}  // namespace testing
