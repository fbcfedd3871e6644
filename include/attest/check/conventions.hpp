#pragma once

#include <attest/check/compare.hpp>
#include <attest/problem/options.hpp>
#include <attest/rounding/format.hpp>

#include <string>
#include <vector>

// Which difference of convention explains an array that fails: another causal corner, scale, order of heads,
// ...
namespace attest {

/// Attention whose results a candidate has: Q, K and V of any element type, and the options that were meant.
struct convention_case {
  any_tensor q;
  any_tensor k;
  any_tensor v;
  attention_options options;
};

enum class result_array { output, log_sum_exp, weights };

struct convention_search {
  /// What fits, best first, as in "causal corner top_left instead of bottom_right".
  std::vector<std::string> fitting;
  /// Why nothing was tried; empty otherwise.
  std::string skipped;
};

/// More multiplications than this in B·Hq·Tq·Tk·(d_k + d_v) are not tried.
inline constexpr double most_convention_work = 0x1p32;

/// Calculates the array in binary64 (row by row, the largest score subtracted) with one convention changed at
/// a time, and says which of them the candidate's elements, row by row as in [B, Hq, Tq, width], fit: its
/// largest error then is at most 1/16 of `own_error`, the largest against the reference (infinite where one
/// of them alone is NaN or infinite), and at most max(2^-9, 2^(3-p)) of the candidate's largest magnitude,
/// where its format has p bits of precision; NaNs and infinities are in the same places. A change is given up
/// at the first row that does not fit.
///
/// Arrays and options that do not fit are attention_error; a candidate of another size std::invalid_argument.
convention_search fitting_conventions(const convention_case& meant, result_array which,
                                      std::span<const double> candidate, const format& candidate_format,
                                      double own_error);

/// "the logarithm to the base 2 instead of e" or the reverse where every element is the reference's times
/// 1/ln 2, or ln 2, by the same rule; otherwise empty.
std::string fitting_base(std::span<const double> reference, std::span<const double> candidate,
                         const format& candidate_format, double own_error);

/// Where the failures of part of an array are, by axis: "all 1536 failures are in heads 1 and 2". `failing`
/// are the flat indices, ascending; `axes` names one index of each axis, "head". Empty for fewer than two
/// failures, and where they are in every index of every axis or too scattered to name.
std::string failures_by_axis(std::span<const std::size_t> shape, std::span<const std::string> axes,
                             std::span<const std::size_t> failing);

}  // namespace attest
