#pragma once

#include <attest/check/arrays.hpp>
#include <attest/check/conventions.hpp>
#include <attest/reference/certified_attention.hpp>

#include <functional>
#include <optional>
#include <vector>

// What a kernel gave for attention against the exact values, in one call: reference, comparison and, where it
// fails, what explains it.
namespace attest {

/// sum_j w_ij |v_jc| of every element of the output, [B, Hq, Tq, d_v] row by row: the output for |V|, rounded
/// to the nearest binary64. It is what the rounding of weights and of partial sums is relative to, and at
/// least the magnitude of the output. 0 for a row that sees no key, and what the options say of such a row.
///
/// Arrays and options that do not fit are attention_error.
std::vector<double> weighted_v(const certified_inputs& inputs, const attention_options& attention,
                               unsigned threads = 1);

/// Results of a kernel, of any float dtypes; those of certified_results.
struct candidate_results {
  std::optional<any_tensor> output = {};       // [B, Hq, Tq, d_v]
  std::optional<any_tensor> weights = {};      // [B, Hq, Tq, Tk]
  std::optional<any_tensor> log_sum_exp = {};  // [B, Hq, Tq, 1]
};

/// A tolerance for each array; in units of the weighted |V| for the output alone.
struct attention_tolerance {
  array_tolerance output = {};
  array_tolerance weights = {};
  array_tolerance log_sum_exp = {};
};

struct attention_check_options {
  bool saturate = false;  // what overflows the candidate's format is its largest number
  unsigned threads = 1;   // 0: as many as the machine has
};

/// Computes the exact values with certified_attention and compares each array that is given: "output",
/// "log_sum_exp", "weights", in this order. The reference is rounded to odd in binary64, so that every
/// narrower candidate's correctly rounded elements are known; for a candidate in binary64 it is rounded to
/// nearest. The exact numbers of the elements that a report shows are added. An array that is not passed()
/// has its layout, conventions and places of failure looked for.
///
/// An array of another shape fails, as everything does that no tolerance covers. Inputs and options that do
/// not fit, no candidate at all, one that is no float, and a log-sum-exp without its form in the options are
/// attention_error.
std::vector<array_comparison> check_attention(const certified_inputs& inputs,
                                              const attention_options& attention,
                                              const candidate_results& candidate,
                                              const attention_tolerance& allowed,
                                              const attention_check_options& how = {});

/// Looks for what explains that an array fails: fills in conventions, conventions_tried and notes.
void explain(array_comparison& c, const convention_case& meant, reference_array which);

/// The exact numbers of elements of an array, row by row as in [B, Hq, Tq, width], as reference and low word,
/// in the order of `places`. Nothing of an element that ends undecided.
std::vector<std::optional<array_reference>> exact_elements(
    const certified_inputs& inputs, const attention_options& attention, reference_array which,
    const std::vector<std::size_t>& places, const std::function<void(std::size_t)>& progress = {});

}  // namespace attest
