#include "reference/certified/fixed_row.hpp"

#include <attest/enclosure/elementary.hpp>
#include <attest/enclosure/evaluate.hpp>

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace attest::certified {

namespace {

constexpr unsigned score_bits = 192;
constexpr unsigned bits = detail::first_working_precision;

template <std::size_t Capacity>
interval<Capacity> exactly(const input_number& x) {
  const auto y = interval<Capacity>::exact(x.magnitude, x.exponent);
  return x.negative ? negate(y) : y;
}

template <std::size_t To, std::size_t From>
interval<To> stored(const interval<From>& x) {
  return {resized<To>(x.midpoint), x.negative, x.radius, x.exponent};
}

}  // namespace

std::optional<fixed_row> fixed_row::of(const row_view& row, effort& work) {
  std::optional<fixed_row> x(fixed_row{row});
  if (!x->find_scores(work) || !x->find_weights(work)) x.reset();
  return x;
}

bool fixed_row::find_scores(effort& work) {
  const score_options& steps = *row_.steps;
  const std::size_t width = row_.k->width;
  const auto number = [](double x) { return exactly<limbs>(number_of(x)); };
  const score factor = steps.scale ? number(*steps.scale) : reciprocal_sqrt<limbs>(width, score_bits);
  const score cap = number(steps.softcap.value_or(1));
  const score slope = number(steps.slope.value_or(0));
  std::vector<input_number> q(width);
  for (std::size_t c = 0; c < width; ++c) q[c] = (*row_.q)(row_.query, c);

  bool any = false;
  // Whether differences of scores are known to 2^-63, which makes them arguments for exp.
  const auto take = [&](const score& s) {
    if (s.radius != 0 && width_exponent(s) > -64) return false;
    if (!any || sign(subtract(s, top_, score_bits)) > 0) top_ = s;
    any = true;
    return true;
  };
  exact_accumulator dot;
  scores_.resize(row_.last - row_.first);
  for (std::size_t j = row_.first; j < row_.last; ++j) {
    if (!row_.sees(j)) continue;
    work.spent(bits + width);
    dot.clear();
    for (std::size_t c = 0; c < width; ++c) dot.add_product(q[c], (*row_.k)(j, c));
    score s = multiply(dot.enclosed<limbs>(), factor, score_bits);
    if (steps.softcap) s = multiply(cap, tanh(divide(s, cap, score_bits), score_bits), score_bits);
    if (row_.bias != nullptr) s = add(s, number(row_.bias[j - row_.first]), score_bits);
    if (steps.slope) {
      const long long apart = std::abs(static_cast<long long>(row_.position) - static_cast<long long>(j));
      s = subtract(s, multiply(slope, score::exact(apart), score_bits), score_bits);
    }
    if (!take(s)) return false;
    scores_[j - row_.first] = s;
  }
  if (steps.sink) {
    sink_ = number(*steps.sink);
    if (!take(*sink_)) return false;
  }
  largest_ = stored<growing>(top_);
  return true;
}

interval<fixed_row::limbs> fixed_row::exponential_of(const score& s) const {
  return exp(subtract(s, top_, score_bits), bits);
}

bool fixed_row::find_weights(effort& work) {
  weighted_sum all(0);
  const auto weigh = [&](const score& s, fixed_weight& to) {
    work.spent(bits);
    const std::optional<fixed_weight> w = fixed_weight_of(exponential_of(s));
    if (!w) return false;
    all.add({false, 1, 0}, *w);
    to = *w;
    return true;
  };
  weights_.resize(scores_.size());
  for (std::size_t n = 0; n < scores_.size(); ++n)
    if (row_.sees(row_.first + n) && !weigh(scores_[n], weights_[n])) return false;
  fixed_weight ignored;
  if (sink_ && !weigh(*sink_, ignored)) return false;
  normaliser_ = all.value(bits);
  return sign(normaliser_) > 0;
}

fixed_row::enclosure fixed_row::exponential(std::size_t key) const {
  return stored<growing>(exponential_of(scores_[key - row_.first]));
}

std::optional<fixed_row::enclosure> fixed_row::weighted(std::size_t column) {
  const std::size_t first = column - column % group;
  if (added_up_ != first) add_up(first);
  return sums_[column - first];
}

void fixed_row::add_up(std::size_t first) {
  added_up_ = first;
  const exact_rows& v = *row_.v;
  const std::size_t count = std::min(group, v.width - first);
  int units[group];
  std::fill(units, units + count, std::numeric_limits<int>::max());
  for (std::size_t j = row_.first; j < row_.last; ++j) {
    if (!row_.sees(j)) continue;
    for (std::size_t c = 0; c < count; ++c) {
      const input_number x = v(j, first + c);
      if (x.magnitude != 0) units[c] = std::min(units[c], lowest_bit(x));
    }
  }
  std::vector<weighted_sum> sums(units, units + count);
  bool fits[group];
  std::fill(fits, fits + count, true);
  for (std::size_t j = row_.first; j < row_.last; ++j) {
    if (!row_.sees(j)) continue;
    for (std::size_t c = 0; c < count; ++c) {
      const input_number x = v(j, first + c);
      fits[c] = fits[c] && weighted_sum::fits(x, units[c]);
      if (fits[c]) sums[c].add(x, weights_[j - row_.first]);
    }
  }
  for (std::size_t c = 0; c < count; ++c) {
    sums_[c].reset();
    if (fits[c]) sums_[c] = sums[c].value(bits);
  }
}

}  // namespace attest::certified
