#include <attest/kernel/error_bound.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <type_traits>

// The names are those of docs/error-bounds.md. Everything is evaluated in double; the factors 1.02 and 1.03
// leave room for terms of second order and for the rounding of this evaluation.
namespace attest::kernel {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class T>
constexpr double u = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
template <class T>
constexpr double least = static_cast<double>(std::numeric_limits<T>::denorm_min());

template <class T>
bool first_order_suffices(const row_magnitudes& r) {
  const auto terms = static_cast<double>(std::max(r.key_width + 2, r.keys));
  return (terms + 900) * u<T> <= 0.01;
}

/// How often a kernel rounds in the steps of a score, and the roundings of its tanh.
struct score_roundings {
  double product;    // of a term of q · k until it has been scaled
  double softcap;    // relative to the capped score
  double penalty;    // of slope · distance
  double sink;
  double base;       // of the finished score, where it went through one of the later steps
};

template <class T>
double score_bound(const row_magnitudes& r, const score_roundings& n) {
  const auto d = static_cast<double>(r.key_width);
  double s = r.scale * r.products;
  double error = 1.02 * (n.product * u<T> * s + least<T> * (d * r.scale + r.products + 1));
  if (r.softcap) {
    error += 1.03 * n.softcap * u<T> * std::min(*r.softcap, s + error) + least<T> * (4 * *r.softcap + 1);
    s = std::min(*r.softcap, s);
  }
  if (r.bias) {
    error += 1.02 * u<T> * (s + error + *r.bias);
    s += *r.bias;
  }
  if (r.slope) {
    const double penalty = *r.slope * r.distance;
    error +=
        1.02 * (n.penalty * u<T> * penalty + u<T> * (s + error + penalty) + least<T> * (r.distance + 1));
    s += penalty;
  }
  if (r.softcap || r.bias || r.slope)
    error += 1.02 * (n.base * u<T> * (s + error) + (n.base > 0 ? least<T> : 0));
  error = std::max(error, 1.02 * (n.sink * u<T> * r.sink + (r.sink > 0 ? least<T> * (n.base + 1) : 0)));
  return std::isnan(error) ? infinity : error;  // 0 · infinity: magnitudes that overflow here
}
template <class T>
double score_bound(const row_magnitudes& r) {
  return score_bound<T>(r, {static_cast<double>(r.key_width + 2), 10, 3, 1, 0});
}

}  // namespace

template <class T>
row_bound stable_bound(const row_magnitudes& r) {
  if (!first_order_suffices<T>(r)) return {infinity, infinity, infinity, infinity};
  const auto n = static_cast<double>(r.keys);
  const double log_n = std::log(n);
  const double score = score_bound<T>(r);
  row_bound bound{};
  bound.score = score;
  bound.weight = std::min(score / 2, 1.0) + 1.03 * u<T> * (n + 5 + log_n) + (n + 2) * least<T>;
  bound.output = r.values * (std::min(score, 2.0) + 1.03 * u<T> * (2 * n + 4 + 2 * log_n)) +
                 1.03 * n * (least<T> + 3 * (least<T> * r.values));
  bound.log_sum_exp = score + 1.03 * u<T> * (n + 1 + 3 * log_n) + n * least<T>;
  if (r.base_two)
    bound.log_sum_exp = std::numbers::log2e * bound.log_sum_exp +
                        1.03 * u<T> * (3 * r.log_sum_exp + 2 * std::numbers::log2e * log_n) + least<T>;
  else
    bound.log_sum_exp += 1.03 * u<T> * r.log_sum_exp;
  return bound;
}

template <class T>
row_bound naive_bound(const row_magnitudes& r) {
  if (!first_order_suffices<T>(r)) return {infinity, infinity, infinity, infinity};
  const auto n = static_cast<double>(r.keys);
  const double score = score_bound<T>(r);
  row_bound bound{};
  bound.score = score;
  bound.weight = std::min(score / 2, 1.0) + 1.03 * u<T> * (5 * n + 4) + least<T>;
  bound.output = r.values * (std::min(score, 2.0) + 1.03 * u<T> * (6 * n + 4)) +
                 1.03 * n * (least<T> + least<T> * r.values);
  bound.log_sum_exp = infinity;
  return bound;
}

namespace {

/// How often `fused` rounds in its sums.
struct fused_roundings {
  double blocks;   // of 64 keys, and parts that are merged
  double product;  // of a term of q · k
  double total;    // of a term of Σ p
  double sum;      // of a term of Σ p V
};
fused_roundings roundings_of(const row_magnitudes& r) {
  const auto d = static_cast<double>(r.key_width);
  const auto n = static_cast<double>(r.keys);
  const double blocks = r.span == 0 ? n : std::min(n, std::floor(static_cast<double>(r.span) / 64) + 3);
  return {blocks, std::min(d, 16.0) + std::ceil(d / 16) - 1, std::min(n, blocks + 23),
          std::min(n, blocks + 64)};
}
template <class T>
bool first_order_suffices(const fused_roundings& n, const row_magnitudes& r) {
  return (std::max({n.product, n.total, n.sum}) + 900) * u<T> <= 0.01 &&
         static_cast<double>(r.keys) <= 0x1p20;
}
/// Of weights relative to the largest: what is less is taken for 0.
template <class T>
constexpr double cut = std::is_same_v<T, double> ? 0x1p-959 : 0x1p-93;
/// Whether sums of some column might overflow: the row is then calculated again with smaller weights, at most
/// 2^64 (2^32) times, because m + 40 (26) is rounded where |m| is large.
template <class T>
bool may_overflow(const row_magnitudes& r) {
  return !(static_cast<double>(r.keys) * std::max(r.values, r.all_values) <
           static_cast<double>(std::numeric_limits<T>::max()) / 32);
}
/// What one exponential is off by, in u, beside the error of its argument before the largest is subtracted
/// and |X_j|: 2.8 for a negative X_j, 2.6, and what more is subtracted where sums might overflow.
template <class T>
double exponential_roundings(const row_magnitudes& r) {
  return 5.4 + (may_overflow<T>(r) ? 28 : 0);
}
/// What falls below the smallest number in Σ p V, in its rescaling and merging, each time divided by l.
template <class T>
double underflow(const row_magnitudes& r, const fused_roundings& n) {
  const double over_total = !may_overflow<T>(r) ? 1 : std::is_same_v<T, double> ? 0x1p64 : 0x1p32;
  return 1.03 * (static_cast<double>(r.keys) + n.blocks + 2) * least<T> * over_total;
}
template <class T>
double fused_score_bound(const row_magnitudes& r, const fused_roundings& n) {
  // Where scale · log2 e overflows, both are multiplied with and rounded.
  const bool at_once = r.scale < static_cast<double>(std::numeric_limits<T>::max()) / 2;
  return score_bound<T>(r, {n.product + (at_once ? 3 : 4), 18, 4, 3, 2});
}

}  // namespace

template <class T>
row_bound fused_bound(const row_magnitudes& r) {
  const fused_roundings roundings = roundings_of(r);
  if (!first_order_suffices<T>(roundings, r)) return {infinity, infinity, infinity, infinity};
  const double total = roundings.total, sum = roundings.sum;
  const auto n = static_cast<double>(r.keys);
  const double log_n = std::log(n);
  const double exponential = log_n + exponential_roundings<T>(r);  // of all p together
  const double score = fused_score_bound<T>(r, roundings);
  row_bound bound{};
  bound.score = score;
  bound.weight = std::min(score / 2, 1.0) +
                 1.03 * u<T> * (exponential + total + 2 + exponential_roundings<T>(r)) + 4 * n * cut<T> +
                 2 * least<T>;
  bound.output = r.values * (std::min(score, 2.0) + 1.03 * u<T> * (2 * exponential + total + sum + 2)) +
                 underflow<T>(r, roundings) + 4 * n * cut<T> * r.values;
  bound.log_sum_exp = score + 1.03 * u<T> * (exponential + total) + 4 * n * cut<T>;
  const int headroom = may_overflow<T>(r) ? 1 : 0;  // u |m| for the rounding of m + 40 (26)
  if (r.base_two)
    bound.log_sum_exp =
        std::numbers::log2e * bound.log_sum_exp +
        1.03 * u<T> * (2 + headroom) * (std::numbers::log2e * log_n + 4) +
        1.03 * u<T> * (1 + headroom) * r.log_sum_exp;
  else
    bound.log_sum_exp += 1.03 * u<T> * (4 + headroom) * (log_n + 3) +
                         1.03 * u<T> * (2 + headroom) * r.log_sum_exp;
  return bound;
}

template <class T>
double fused_output_bound(const row_magnitudes& r, double mean, double output) {
  const fused_roundings roundings = roundings_of(r);
  // A sink of 0 is a key of value 0 and score 0: the derivation covers it.
  if (r.softcap || r.bias || r.slope || r.sink > 0 || !first_order_suffices<T>(roundings, r)) return infinity;
  const auto n = static_cast<double>(r.keys);
  const double score = fused_score_bound<T>(r, roundings);
  const double exponential = 1.03 * u<T> * (2 * (r.scale * r.products + score) + exponential_roundings<T>(r));
  const double weight = score + exponential;
  if (!(weight <= 0.005)) return infinity;
  return 1.06 * (weight * (mean + output) + u<T> * roundings.sum * mean +
                 u<T> * (roundings.total + 2) * output) +
         underflow<T>(r, roundings) + 4 * n * cut<T> * r.values;
}

template row_bound fused_bound<double>(const row_magnitudes&);
template row_bound fused_bound<float>(const row_magnitudes&);
template double fused_output_bound<double>(const row_magnitudes&, double, double);
template double fused_output_bound<float>(const row_magnitudes&, double, double);
template row_bound stable_bound<double>(const row_magnitudes&);
template row_bound stable_bound<float>(const row_magnitudes&);
template row_bound naive_bound<double>(const row_magnitudes&);
template row_bound naive_bound<float>(const row_magnitudes&);

}  // namespace attest::kernel
