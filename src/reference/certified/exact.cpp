#include "reference/certified/exact.hpp"

#include <algorithm>
#include <bit>

namespace attest::certified {

namespace {

using place = result_array::place;

// Rounding one element takes about as long as an exponential of 128 bits.
constexpr unsigned ratio_effort = 128;

place output_place(const query& x, std::size_t c) { return {x.at[0], x.at[1], x.at[2], c}; }

/// numerator / denominator is the element.
void write_ratio(const call& call, const result_array& array, const place& at,
                 const unbounded_dyadic& numerator, std::uint64_t denominator, worker& w) {
  w.work.spent(ratio_effort);
  bool step = false;
  const std::uint64_t pattern = round_ratio(numerator, denominator, call.target_of(array), &step);
  const certificate how = step ? certificate::exact : certificate::certified;
  array.write(at, pattern, how);
  w.counts.settled(reference_tier::symbolic, how);
  if (!array.has_low()) return;
  const auto high = value_of_pattern(pattern, array.to());
  if (!high) return array.write_low(at, 0);
  const unbounded_dyadic rest = numerator - *high * unbounded_dyadic(unbounded_integer(denominator));
  array.write_low(at, round_ratio(rest, denominator, {&formats::binary32}, nullptr));
}

void write_equal_weights(const call& call, const query& x, worker& w) {
  const row_view& row = x.view;
  const std::size_t seen = x.seen == 1 ? 1 : row.last - row.first;
  for (std::size_t j = 0; j < call.shape.keys; ++j) {
    if (w.exact.open_weights[j] == 0) continue;
    if (j < row.first || j >= row.last || !row.sees(j))
      write_known(*call.weights, output_place(x, j), 0, w);
    else
      write_ratio(call, *call.weights, output_place(x, j), unbounded_dyadic(1), seen, w);
  }
}

template <class Round>
void settle_low(reference_array which, const result_array& array, const place& at, std::uint64_t pattern,
                worker& w, Round round) {
  const auto high = value_of_pattern(pattern, array.to());
  if (!high) return array.write_low(at, 0);
  const verdict v = round(target{&formats::binary32}, &*high);
  array.write_low(at, v.pattern);
  w.counts.needed(v.bits);
  if (v.how == certificate::undecided) w.counts.undecided({which, true, at, v.lower, v.upper});
}

/// Rounds an element with the exact tiers, and its low word.
template <class Round>
void settle(const call& call, reference_array which, const result_array& array, const place& at, worker& w,
            Round round) {
  w.work.spent(ratio_effort);
  const verdict v = round(call.target_of(array), nullptr);
  array.write(at, v.pattern, v.how);
  w.counts.needed(v.bits);
  if (v.how == certificate::undecided)
    w.counts.undecided({which, false, at, v.lower, v.upper});
  else
    w.counts.settled(v.tier, v.how);
  if (array.has_low()) settle_low(which, array, at, v.pattern, w, round);
}

void settle_outputs(const call& call, const query& x, row_engine& engine, worker& w) {
  const std::vector<std::size_t>& columns = w.head.varying();
  for (std::size_t n = 0; n < columns.size(); ++n) {
    if (x.open[n] == 0) continue;
    settle(
        call, reference_array::output, call.output, output_place(x, columns[n]), w,
        [&](const target& to, const unbounded_dyadic* less) { return engine.output(columns[n], to, less); });
  }
}

void settle_weights(const call& call, const query& x, row_engine& engine, worker& w) {
  const row_view& row = x.view;
  for (std::size_t j = 0; j < call.shape.keys; ++j) {
    if (w.exact.open_weights[j] == 0) continue;
    if (j < row.first || j >= row.last || !row.sees(j)) {
      write_known(*call.weights, output_place(x, j), 0, w);
      continue;
    }
    settle(call, reference_array::weights, *call.weights, output_place(x, j), w,
           [&](const target& to, const unbounded_dyadic* less) { return engine.weight(j, to, less); });
  }
}

void settle_logarithm(const call& call, const query& x, row_engine& engine, worker& w) {
  settle(call, reference_array::log_sum_exp, *call.log_sum_exp, output_place(x, 0), w,
         [&](const target& to, const unbounded_dyadic* less) {
           return engine.log_sum_exp(call.options.log_sum_exp->base, to, less);
         });
}

}  // namespace

void write_known(const result_array& array, const place& at, std::uint64_t pattern, worker& w) {
  array.write(at, pattern, certificate::exact);
  w.counts.settled(reference_tier::symbolic, certificate::exact);
  if (array.has_low()) array.write_low(at, 0);
}

void write_empty_row(const call& call, const query& x, worker& w) {
  const bool nan = *call.options.empty_row == empty_row_policy::nan;
  const auto fill = [&](const result_array& array, std::size_t width) {
    for (std::size_t c = 0; c < width; ++c)
      write_known(array, output_place(x, c), nan ? array.to().quiet_nan : 0, w);
  };
  fill(call.output, call.shape.value_width);
  if (call.weights) fill(*call.weights, call.shape.keys);
  if (call.log_sum_exp) {
    const bool plus = *call.options.log_sum_exp->empty == empty_log_sum_exp::plus_infinity;
    std::uint64_t pattern = call.log_sum_exp->infinity();
    if (!plus) pattern |= call.log_sum_exp->to().sign_bit();
    write_known(*call.log_sum_exp, output_place(x, 0), pattern, w);
  }
}

void write_constant_outputs(const call& call, const query& x, worker& w) {
  for (const loaded_head::constant_column& known : w.head.constant()) {
    const place at = output_place(x, known.column);
    call.output.write(at, known.pattern, known.how);
    w.counts.settled(reference_tier::symbolic, known.how);
    if (call.output.has_low()) call.output.write_low(at, known.low_pattern);
  }
}

void write_means(const call& call, query& x, worker& w) {
  const row_view& row = x.view;
  const std::vector<std::size_t>& columns = w.head.varying();
  worker::exact_memory& memory = w.exact;
  const std::size_t first = x.seen == 1 ? x.only_key : row.first;
  const std::size_t last = x.seen == 1 ? first + 1 : row.last;
  if (memory.mean_first != first || memory.mean_last != last ||
      memory.means.size() != call.shape.value_width) {
    memory.mean_first = first;
    memory.mean_last = last;
    memory.means.assign(call.shape.value_width, std::nullopt);
  }
  for (std::size_t n = 0; n < columns.size(); ++n) {
    if (x.open[n] == 0) continue;
    const std::size_t c = columns[n];
    if (call.output.has_low()) {
      write_ratio(call, call.output, output_place(x, c), w.head.facts().sum(c, first, last), last - first, w);
    } else {
      auto& mean = memory.means[c];
      if (!mean && last - first == 1 && w.head.values().numbers.empty())
        if (const auto pattern = exact_pattern(w.head.values().row(first)[c], call.output.to()))
          mean = {*pattern, certificate::exact};
      if (!mean) {
        bool step = false;
        const std::uint64_t pattern =
            round_ratio(w.head.facts().sum(c, first, last), last - first, call.target_of(call.output), &step);
        mean = {pattern, step ? certificate::exact : certificate::certified};
      }
      call.output.write(output_place(x, c), mean->first, mean->second);
      w.counts.settled(reference_tier::symbolic, mean->second);
    }
    x.settled(n);
  }
}

void finish_exactly(const call& call, query& x, worker& w) {
  w.head.facts().next_row();
  w.exact.open_weights.assign(call.weights ? call.shape.keys : 0, 1);
  finish_rest_exactly(call, x, call.weights.has_value(), call.log_sum_exp.has_value(), w);
}

void finish_rest_exactly(const call& call, query& x, bool weights_open, bool logarithm_open, worker& w) {
  if (x.equal_scores) {
    write_means(call, x, w);
    if (weights_open) write_equal_weights(call, x, w);
    weights_open = false;
    const std::size_t keys = x.view.last - x.view.first;
    if (logarithm_open && x.zero_scores && call.options.log_sum_exp->base == log_sum_exp_base::two &&
        std::has_single_bit(keys)) {
      logarithm_open = false;
      write_ratio(call, *call.log_sum_exp, output_place(x, 0), unbounded_dyadic(std::countr_zero(keys)), 1,
                  w);
    }
  }
  if (x.open_count == 0 && !weights_open && !logarithm_open) return;
  row_engine engine(x.view, call.limits, w.work);
  settle_outputs(call, x, engine, w);
  if (weights_open) settle_weights(call, x, engine, w);
  if (logarithm_open) settle_logarithm(call, x, engine, w);
}

}  // namespace attest::certified
