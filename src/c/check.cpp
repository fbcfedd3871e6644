#include "c/translate.hpp"

#include <attest/check/attention.hpp>
#include <attest/reference/number_text.hpp>
#include <attest/rounding/format.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

// attest_check_attention of attest.h.
namespace attest::c {

namespace {

static_assert(static_cast<int>(judgement::passed) + 1 == ATTEST_PASSED &&
              static_cast<int>(judgement::failed) + 1 == ATTEST_FAILED &&
              static_cast<int>(judgement::equal) + 1 == ATTEST_EQUAL &&
              static_cast<int>(judgement::not_judged) + 1 == ATTEST_NOT_JUDGED);

std::string& last_report() {
  thread_local std::string text;
  return text;
}

exact_scalar bound(double x, const char* array, const char* name) {
  if (!std::isfinite(x) || x < 0)
    throw attention_error(fault::option, array,
                          std::string("the tolerance ") + name + " is " +
                              (std::isnan(x)   ? "NaN"
                               : std::isinf(x) ? "infinite"
                                               : shortest_text(x)) +
                              ": give a finite number that is not negative");
  return exact_value<unbounded_integer>(x);
}

array_tolerance tolerance(const attest_tolerance& t, const char* array) {
  array_tolerance result;
  if (t.absolute != nullptr) result.absolute = bound(*t.absolute, array, "absolute");
  if (t.ulp != nullptr) result.ulp = *t.ulp;
  if (t.weighted_v == nullptr) return result;
  weighted_tolerance w{bound(*t.weighted_v, array, "weighted_v")};
  if (t.weighted_v_dtype != 0) {
    const dtype type = element_type(t.weighted_v_dtype, array);
    w.of = format_of(type);
    if (w.of == nullptr)
      throw attention_error(
          fault::option, array,
          "weighted_v_dtype is " + to_string(type) + ": it is a float, in whose units to count");
  }
  result.weighted_v = w;
  return result;
}

template <class T>
attest_largest_error largest_error(const std::optional<largest<T>>& known) {
  if (!known) return {std::numeric_limits<double>::quiet_NaN(), 0};
  return {static_cast<double>(known->value), known->at};
}

attest_comparison translated(const array_comparison& c) {
  return {static_cast<std::int32_t>(c.outcome) + 1,
          c.elements,
          c.different.count,
          c.failing.size(),
          largest_error(c.absolute_error),
          largest_error(c.ulp_distance),
          largest_error(c.ulp_error),
          largest_error(c.weighted_error)};
}

void check(const attest_inputs* inputs, const attest_options* options, const attest_candidate* candidate,
           attest_check_report* report) {
  const attest_inputs& in = required(inputs, "inputs");
  const attest_options said = known_or_none(options, "options", "ATTEST_OPTIONS_INIT");
  const attest_candidate given_arrays =
      known(required(candidate, "candidate"), "candidate", "ATTEST_CANDIDATE_INIT");
  if (required(report, "report").size < sizeof(std::size_t))
    throw argument_error("report->size is " + std::to_string(report->size) +
                         ": initialise it with ATTEST_CHECK_REPORT_INIT");
  const certified_inputs read{array(in.q, "Q"), array(in.k, "K"), array(in.v, "V")};
  const attention_options asked = c::options(said, read.q.where());
  candidate_results arrays;
  const auto take = [](std::optional<any_tensor>& to, const attest_array& a, const char* name) {
    if (given(a)) to = array(a, name);
  };
  take(arrays.output, given_arrays.output, "output");
  take(arrays.weights, given_arrays.weights, "weights");
  take(arrays.log_sum_exp, given_arrays.log_sum_exp, "log_sum_exp");
  const attention_tolerance allowed{
      .output = tolerance(given_arrays.output_tolerance, "output"),
      .weights = tolerance(given_arrays.weights_tolerance, "weights"),
      .log_sum_exp = tolerance(given_arrays.log_sum_exp_tolerance, "log_sum_exp")};
  checked_shape(read.q, read.k, read.v, asked);
  check_memory(read.k, read.v);
  attest_check_report result{};
  result.passed = 1;
  std::string text;
  for (const array_comparison& c :
       check_attention(read, asked, arrays, allowed, {given_arrays.saturate != 0, threads(said)})) {
    attest_comparison& to = c.name == "output"    ? result.output
                            : c.name == "weights" ? result.weights
                                                  : result.log_sum_exp;
    to = translated(c);
    if (!c.passed()) result.passed = 0;
    text += (text.empty() ? "" : "\n") + describe(c);
  }
  last_report() = std::move(text);
  // The caller's may be shorter than this library's, or longer.
  result.size = report->size;
  std::memcpy(report, &result, std::min(result.size, sizeof result));
}

}  // namespace

}  // namespace attest::c

attest_status attest_check_attention(const attest_inputs* inputs, const attest_options* options,
                                     const attest_candidate* candidate, attest_check_report* report) {
  return attest::c::guarded([&] { attest::c::check(inputs, options, candidate, report); });
}

const char* attest_last_report(void) { return attest::c::last_report().c_str(); }
