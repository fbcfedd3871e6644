#include "reference/certified/pairs.hpp"

#include "reference/certified/exact.hpp"
#include "reference/certified/rounding_of_doubles.hpp"
#include "reference/certified/settle.hpp"
#include "reference/double_double/tier.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

namespace attest::certified {

namespace {

using double_double_tier::row_results;

/// A rounded number times 2^exponent: rounding commutes with that among normal numbers.
void rescale(query& x, std::size_t n, int exponent, double& number) {
  const double scaled = std::ldexp(number, exponent);
  const bool normal = std::fabs(scaled) >= 0x1p-1020 && std::fabs(scaled) < 0x1p1022;
  number = scaled;
  if (normal || x.open[n] == 1) return;
  if (x.open[n] == 0) ++x.open_count;
  x.open[n] = 1;
}

/// Outputs in binary64, without low words: in vectors.
void round_doubles(const call& call, query& x, const row_results& pairs, worker& w) {
  const std::vector<std::size_t>& columns = w.head.varying();
  const std::size_t width = columns.size();
  const auto [b, h, i] = x.at;
  const bool in_place = call.output.in_place() && w.head.constant().empty();
  w.pairs.rounded.resize(width);
  double* place = in_place ? static_cast<double*>(call.output.address({b, h, i, 0})) : w.pairs.rounded.data();
  x.open_count = round_pairs_between_steps(width, pairs.output_high, pairs.output_low, pairs.output_error,
                                           call.how.direction, place, x.open);
  if (w.head.scaled_pairs()) {
    const std::span<const int> exponents = w.head.pairs().value_exponents();
    for (std::size_t n = 0; n < width; ++n)
      if (exponents[n] != 0) rescale(x, n, exponents[n], place[n]);
  }
  if (x.open_count != 0)
    for (std::size_t n = 0; n < width; ++n)
      if (x.open[n] == 2 && call.how.direction == rounding::nearest_even &&
          w.head.facts().mean_excludes(columns[n], x.view, place[n]))
        x.settled(n);
  w.counts.settled(reference_tier::double_double, certificate::certified, width - x.open_count);
  if (in_place)
    call.output.fill_certificates({b, h, i, 0}, width);
  else
    for (std::size_t n = 0; n < width; ++n)
      call.output.write({b, h, i, columns[n]}, std::bit_cast<std::uint64_t>(place[n]),
                        certificate::certified);
}

void round_outputs(const call& call, query& x, const row_results& pairs, worker& w) {
  const std::vector<std::size_t>& columns = w.head.varying();
  const std::size_t width = columns.size();
  if (width != 0 && call.output.to().precision == 53 && !call.output.has_low())
    round_doubles(call, x, pairs, w);
  if (x.open_count == 0) return;
  const std::span<const int> exponents = w.head.pairs().value_exponents();
  for (std::size_t n = 0; n < width && x.open_count != 0; ++n) {
    if (x.open[n] == 0) continue;
    pair_value output{pairs.output_high[n], pairs.output_low[n], pairs.output_error[n]};
    if (exponents[n] != 0) {
      // Exactly, but for numbers below 2^-1022, which get the error that they can have.
      output.high = std::ldexp(output.high, exponents[n]);
      output.low = std::ldexp(output.low, exponents[n]);
      output.error = std::ldexp(output.error, exponents[n]) + 0x1p-1070;
    }
    if (!settle_output(call, x, columns[n], output, reference_tier::double_double, w)) continue;
    x.settled(n);
  }
}

/// The weights that pairs settle. Whether all are settled; the others are marked in w.exact.open_weights.
bool settle_weights(const call& call, const query& x, const row_results& pairs, worker& w) {
  const row_view& row = x.view;
  const result_array& weights = *call.weights;
  const rounding direction = call.how.direction;
  const auto [b, h, i] = x.at;
  std::vector<unsigned char>& open = w.exact.open_weights;
  open.assign(call.shape.keys, 0);
  if (x.equal_scores) {
    std::fill(open.begin(), open.end(), 1);
    return false;
  }
  std::size_t seen = row.steps->sink ? 1 : 0;
  for (std::size_t j = row.first; j < row.last; ++j) seen += row.sees(j) ? 1 : 0;
  bool all = true;
  for (std::size_t j = 0; j < call.shape.keys; ++j) {
    const result_array::place at{b, h, i, j};
    if (j < row.first || j >= row.last || !row.sees(j)) {
      write_known(weights, at, 0, w);
      continue;
    }
    const std::size_t k = j - row.first;
    const pair_value weight{pairs.weights_high[k], pairs.weights_low[k], pairs.weights_error[k]};
    if (std::fabs(weight.high) + std::fabs(weight.low) + weight.error < call.tiny_weight) {
      // Positive, and less than a quarter of the format's smallest number.
      weights.write(at, direction == rounding::up || direction == rounding::to_odd ? 1 : 0,
                    certificate::certified);
      if (weights.has_low()) weights.write_low(at, 0);
      w.counts.settled(reference_tier::double_double, certificate::certified);
      continue;
    }
    const pair_rounding r = round_pair(weight.high, weight.low, weight.error, weights.to(), direction);
    // A weight is rational only where all scores are equal, 1/n: then n times the half step is 1.
    const bool settled =
        r.settled && !(r.holds_step && std::fabs(r.step * static_cast<double>(seen) - 1) < 0x1p-40);
    if (!settled || !write_settled(weights, at, weight, r, reference_tier::double_double, w))
      open[j] = 1, all = false;
  }
  return all;
}

/// x / ln 2. With c + c' the pair of 1/ln 2, off by less than 2^-108 of it: p = high c and its exact rest,
/// then high c' + low c, each product and sum rounded: off by less than 2^-103 of the result, |low| being at
/// most 2^-50 |high|.
pair_value over_ln2(const pair_value& x) {
  constexpr double c = 0x1.71547652b82fep+0;
  constexpr double c_low = 0x1.777d0ffda0d24p-56;
  const double p = x.high * c;
  const double rest = std::fma(x.high, c, -p);
  const bool normal = std::fabs(x.high) > 0x1p-900 && std::fabs(x.low) <= 0x1p-50 * std::fabs(x.high);
  return {p, rest + (x.high * c_low + x.low * c),
          normal ? x.error * 1.5 + std::fabs(p) * 0x1p-100 : std::numeric_limits<double>::infinity()};
}

bool settle_logarithm(const call& call, const query& x, const double* logarithm, worker& w) {
  const result_array& array = *call.log_sum_exp;
  const bool base_two = call.options.log_sum_exp->base == log_sum_exp_base::two;
  pair_value value{logarithm[0], logarithm[1], logarithm[2]};
  if (base_two) value = over_ln2(value);
  const pair_rounding r = round_pair(value.high, value.low, value.error, array.to(), call.how.direction);
  if (!r.settled) return false;
  // Rational, with two keys or more: only in base two, an integer, where all scores are 0.
  if (r.holds_step && base_two && r.step == std::rint(r.step) && std::fabs(r.step) <= 64) return false;
  return write_settled(array, {x.at[0], x.at[1], x.at[2], 0}, value, r, reference_tier::double_double, w);
}

double_double_tier::score_steps steps_of(const score_options& steps) {
  return {steps.scale, steps.softcap, steps.slope, steps.sink};
}

void finish_row(const call& call, query& x, const row_results& pairs, worker& w) {
  w.head.facts().next_row();
  round_outputs(call, x, pairs, w);
  const bool weights_open = call.weights && !settle_weights(call, x, pairs, w);
  const bool logarithm_open = call.log_sum_exp && !settle_logarithm(call, x, pairs.log_sum_exp, w);
  if (x.open_count != 0 || weights_open || logarithm_open)
    finish_rest_exactly(call, x, weights_open, logarithm_open, w);
}

}  // namespace

void finish_by_pairs(const call& call, std::vector<query*>& queries, worker& w) {
  if (queries.empty()) return;
  namespace tier = double_double_tier;
  const std::size_t width = w.head.varying().size();
  // Rows that are open in the same columns side by side: the others are left out for several rows at once.
  if (call.use_narrow)
    std::sort(queries.begin(), queries.end(), [&](const query* x, const query* y) {
      const int order = std::memcmp(x->open, y->open, width);
      return order != 0 ? order > 0 : x->at < y->at;
    });
  const tier::packed_head& head = w.head.pairs();
  const std::size_t rows = queries.size();
  const std::size_t keys = call.weights ? call.shape.keys : 0;
  const std::size_t each = 3 * width + 3 + 3 * keys;
  double* all = w.room(rows * each);
  w.pairs.rows.resize(rows);
  w.pairs.results.resize(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    w.pairs.rows[r] = kernel_row<tier::query_row>(queries[r]->view);
    if (call.use_narrow) w.pairs.rows[r].wanted = queries[r]->open;
    double* numbers = all + r * each;
    row_results& results = w.pairs.results[r];
    results = {numbers, numbers + width, numbers + 2 * width, nullptr, nullptr, nullptr, nullptr};
    if (call.log_sum_exp) results.log_sum_exp = numbers + 3 * width;
    if (call.weights) {
      results.weights_high = numbers + 3 * width + 3;
      results.weights_low = results.weights_high + keys;
      results.weights_error = results.weights_low + keys;
    }
  }
  tier::evaluate(head, steps_of(w.steps), w.pairs.rows, w.pairs.results, w.pairs.kernel);
  for (std::size_t r = 0; r < rows; ++r) finish_row(call, *queries[r], w.pairs.results[r], w);
}

bool finish_by_pairs(const call& call, const row_block& block, worker& w) {
  namespace tier = double_double_tier;
  if (call.output.to().precision != 53 || call.output.has_low() || call.weights || call.log_sum_exp ||
      !call.output.in_place() || !w.head.constant().empty())
    return false;
  const std::size_t rows = block.size();
  const std::size_t width = w.head.varying().size();
  w.pairs.rows.resize(rows);
  if (!plain_kernel_rows(call, block, w.q.get(), w.head, w.pairs.rows.data())) return false;
  const tier::packed_head& head = w.head.pairs();
  if (w.head.scaled_pairs()) return false;
  double* numbers = w.room(rows * 3 * width);
  w.pairs.results.resize(rows);
  w.pairs.places.resize(rows);
  w.pairs.open_rows.resize(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    double* high = numbers + r * 3 * width;
    w.pairs.results[r] = {high, high + width, high + 2 * width, nullptr, nullptr, nullptr, nullptr};
    if (call.output.has_certificates())
      call.output.fill_certificates({block.b, block.h, block.first + r, 0}, width);
  }
  call.output.addresses({block.b, block.h, block.first, 0}, rows, w.pairs.places.data());
  tier::evaluate(head, steps_of(w.steps), w.pairs.rows, w.pairs.results, w.pairs.kernel);
  const std::size_t open = round_pair_rows_between_steps(rows, width, numbers, 3 * width, call.how.direction,
                                                         w.pairs.places.data(), w.pairs.open_rows.data());
  w.counts.settled(reference_tier::double_double, certificate::certified, (rows - open) * width);
  if (open == 0) return true;
  prepare(w.block, call, block, w.q.get(), w.steps, w.head);
  for (std::size_t r = 0; r < rows; ++r)
    if (w.pairs.open_rows[r] != 0) finish_row(call, w.block[r], w.pairs.results[r], w);
  return true;
}

}  // namespace attest::certified
