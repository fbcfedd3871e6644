#include <attest/check/attention.hpp>

#include <attest/problem/attention_error.hpp>
#include <attest/rounding/format.hpp>

#include <cmath>
#include <limits>
#include <string>

namespace attest {

namespace {

// The extents that the array was given, and those that a report shows: a log-sum-exp's last one is no axis.
std::vector<std::size_t> shown_shape(const layout& l, bool log_sum_exp) {
  std::vector<std::size_t> shape;
  if (l.rank > 2) shape.push_back(l.extents[0]);
  if (l.rank > 3) shape.push_back(l.extents[1]);
  shape.push_back(l.extents[2]);
  if (!log_sum_exp || l.extents[3] != 1) shape.push_back(l.extents[3]);
  return shape;
}

std::vector<double> elements_of(const any_tensor& a) {
  const auto& [batch, heads, positions, width] = a.where().extents;
  std::vector<double> values;
  values.reserve(batch * heads * positions * width);
  for (std::size_t b = 0; b < batch; ++b)
    for (std::size_t h = 0; h < heads; ++h)
      for (std::size_t t = 0; t < positions; ++t)
        for (std::size_t c = 0; c < width; ++c) values.push_back(a(b, h, t, c));
  return values;
}

struct result_buffers {
  std::vector<double> output, log_sum_exp, weights;
  std::vector<float> output_low, log_sum_exp_low, weights_low;
};

// Results of the output and of the array asked for, in binary64.
certified_results results_of(result_buffers& to, const attention_shape& s, bool sums, bool weights,
                             bool lows) {
  const std::size_t rows = s.batch * s.query_heads * s.queries;
  const layout of_output{s.batch, s.query_heads, s.queries, s.value_width};
  const layout of_sums{s.batch, s.query_heads, s.queries, 1};
  const layout of_weights{s.batch, s.query_heads, s.queries, s.keys};
  const auto array = [](auto& memory, std::size_t size, dtype type, const layout& where) {
    memory.resize(size);
    return any_result(memory.data(), type, where);
  };
  certified_results r;
  r.output = array(to.output, rows * s.value_width, dtype::binary64, of_output);
  if (sums) r.log_sum_exp = array(to.log_sum_exp, rows, dtype::binary64, of_sums);
  if (weights) r.weights = array(to.weights, rows * s.keys, dtype::binary64, of_weights);
  if (!lows) return r;
  r.output_low = array(to.output_low, rows * s.value_width, dtype::binary32, of_output);
  if (sums) r.log_sum_exp_low = array(to.log_sum_exp_low, rows, dtype::binary32, of_sums);
  if (weights) r.weights_low = array(to.weights_low, rows * s.keys, dtype::binary32, of_weights);
  return r;
}

}  // namespace

std::vector<double> weighted_v(const certified_inputs& inputs, const attention_options& attention,
                               unsigned threads) {
  const attention_shape s = checked_shape(inputs.q, inputs.k, inputs.v, attention);
  std::vector<double> magnitudes = elements_of(inputs.v);
  for (double& v : magnitudes) v = std::fabs(v);
  const layout by_rows{s.batch, s.key_value_heads, s.keys, s.value_width};
  attention_options without_sums = attention;
  without_sums.log_sum_exp.reset();
  result_buffers to;
  const certified_results results = results_of(to, s, false, false, false);
  certified_options options;
  options.threads = threads;
  certified_attention({inputs.q, inputs.k, any_tensor(magnitudes.data(), dtype::binary64, by_rows)},
                      without_sums, results, options);
  return std::move(to.output);
}

std::vector<std::optional<array_reference>> exact_elements(const certified_inputs& inputs,
                                                           const attention_options& attention,
                                                           reference_array which,
                                                           const std::vector<std::size_t>& places,
                                                           const std::function<void(std::size_t)>& progress) {
  const attention_shape s = checked_shape(inputs.q, inputs.k, inputs.v, attention);
  attention_options asked = attention;
  const bool sums = which == reference_array::log_sum_exp;
  if (!sums) asked.log_sum_exp.reset();
  result_buffers to;
  const certified_results results = results_of(to, s, sums, which == reference_array::weights, true);
  const std::vector<double>& high = sums                                ? to.log_sum_exp
                                    : which == reference_array::weights ? to.weights
                                                                        : to.output;
  const std::vector<float>& low = sums                                ? to.log_sum_exp_low
                                  : which == reference_array::weights ? to.weights_low
                                                                      : to.output_low;
  const std::size_t width = sums ? 1 : which == reference_array::weights ? s.keys : s.value_width;
  std::vector<std::optional<array_reference>> all;
  for (const std::size_t at : places) {
    if (progress) progress(all.size());
    certified_options options;
    options.rows = {at / width, at / width + 1};
    all.emplace_back();
    if (certified_attention(inputs, asked, results, options).undecided > 0) continue;
    all.back() =
        array_reference{{1}, {high[at]}, {static_cast<double>(low[at])}, &formats::binary64, false, {}};
  }
  return all;
}

void explain(array_comparison& c, const convention_case& meant, reference_array which) {
  const double own = c.nan_mismatches.count + c.infinity_mismatches.count > 0 || !c.absolute_error
                         ? std::numeric_limits<double>::infinity()
                         : c.absolute_error->value;
  convention_search search = fitting_conventions(meant, which, c.candidate, *c.measure, own, c.worst);
  c.conventions = std::move(search.fitting);
  c.conventions_tried = search.tried;
  if (search.fits_as_meant)
    c.notes.push_back("the candidate fits the options as they are, better than the reference does");
  else if (c.conventions.empty())
    c.notes.push_back("none of " + std::to_string(search.tried) + " known differences of convention fits");
  if (search.rows < search.all_rows)
    c.notes.push_back("conventions were tried on " + std::to_string(search.rows) + " of " +
                      std::to_string(search.all_rows) +
                      " rows: spread evenly, and those of the worst elements");
}

std::vector<array_comparison> check_attention(const certified_inputs& inputs,
                                              const attention_options& attention,
                                              const candidate_results& candidate,
                                              const attention_tolerance& allowed,
                                              const attention_check_options& how) {
  struct checked {
    reference_array which;
    const char* name;
    const any_tensor* array;
    const array_tolerance& allowed;
  };
  const auto place_of = [](const std::optional<any_tensor>& a) { return a ? &*a : nullptr; };
  const checked all[] = {
      {reference_array::output, "output", place_of(candidate.output), allowed.output},
      {reference_array::log_sum_exp, "log_sum_exp", place_of(candidate.log_sum_exp), allowed.log_sum_exp},
      {reference_array::weights, "weights", place_of(candidate.weights), allowed.weights}};
  const attention_shape s = checked_shape(inputs.q, inputs.k, inputs.v, attention);
  bool binary64 = false;  // rounded to nearest, as some candidate is in binary64
  bool narrower = false;
  bool weighted = false;
  for (const checked& a : all) {
    if (a.allowed.weighted_v && a.which != reference_array::output)
      throw attention_error(
          fault::option, a.name,
          "a tolerance in units of the weighted |V| is one of the output: give an absolute one, "
          "or one in ulps");
    if (a.array == nullptr) {
      if (a.allowed.any())
        throw attention_error(fault::option, a.name, "a tolerance is given for it, and no array: give both");
      continue;
    }
    if (format_of(a.array->type()) == nullptr)
      throw attention_error(
          fault::unsupported, a.name,
          "its elements are " + to_string(a.array->type()) + ": a candidate is an array of floats");
    (a.array->type() == dtype::binary64 ? binary64 : narrower) = true;
    weighted = weighted || a.allowed.weighted_v.has_value();
  }
  if (!binary64 && !narrower) throw attention_error(fault::option, "there is no candidate: give an output");
  if (candidate.log_sum_exp && !attention.log_sum_exp)
    throw attention_error(fault::option, "log_sum_exp",
                          "its base is not said: set log_sum_exp, e or two (in C log_sum_exp_base)");

  attention_options asked = attention;
  if (!candidate.log_sum_exp) asked.log_sum_exp.reset();
  const bool wants_weights = candidate.weights.has_value();
  result_buffers to_nearest, to_odd;
  certified_options options;
  options.threads = how.threads;
  options.saturate = how.saturate;  // infinite is then what an empty row has, and no overflow
  const auto compute = [&](result_buffers& to, rounding direction) {
    options.direction = direction;
    certified_attention(inputs, asked,
                        results_of(to, s, candidate.log_sum_exp.has_value(), wants_weights, false), options);
  };
  if (narrower) compute(to_odd, rounding::to_odd);
  if (binary64) compute(to_nearest, rounding::nearest_even);

  const convention_case meant{inputs.q, inputs.k, inputs.v, asked};
  std::vector<array_comparison> answers;
  for (const checked& a : all) {
    if (a.array == nullptr) continue;
    const bool sums = a.which == reference_array::log_sum_exp;
    result_buffers& known = a.array->type() == dtype::binary64 ? to_nearest : to_odd;
    std::vector<double>& high = sums                                  ? known.log_sum_exp
                                : a.which == reference_array::weights ? known.weights
                                                                      : known.output;
    layout full{s.batch, s.query_heads, s.queries,
                sums                                  ? 1
                : a.which == reference_array::weights ? s.keys
                                                      : s.value_width};
    full.rank = inputs.q.where().rank;
    // In as many axes as the candidate, where that has the extents.
    const std::vector<std::size_t> shape = shown_shape(a.array->where(), sums);
    const bool same = a.array->where().extents == full.extents;
    array_reference reference{
        same ? shape : shown_shape(full, sums), std::move(high), {}, &formats::binary64, how.saturate, {}};
    if (a.allowed.weighted_v) reference.weighted_v = weighted_v(inputs, attention, how.threads);
    const std::vector<double> values = elements_of(*a.array);
    array_comparison c = compare_arrays(reference, {shape, values}, format_of(a.array->type()), a.allowed);
    c.name = a.name;
    // Rounded to odd, the reference is within an ulp of binary64.
    c.against_exact = a.array->type() != dtype::binary64;
    if (c.same_shape()) {
      if (!c.passed()) {
        if (!c.layout) explain(c, meant, a.which);
        if (c.failing.size() < c.elements)
          c.where =
              failures_by_axis(shape, axis_names(a.which, shape.size()), c.failing, rows_of_one_key(meant));
      }
      const std::vector<std::size_t> places = c.places();
      if (!c.passed()) {
        const auto exact = exact_elements(inputs, asked, a.which, places);
        for (std::size_t k = 0; k < places.size(); ++k)
          if (exact[k]) c.enclosures[places[k]] = enclosure_text(*exact[k], 0);
      }
    }
    answers.push_back(std::move(c));
  }
  return answers;
}

}  // namespace attest
