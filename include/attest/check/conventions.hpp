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

struct convention_search {
  /// What fits, best first, as in "causal corner top_left instead of bottom_right".
  std::vector<std::string> fitting;
  /// Whether the candidate fits the options as they were meant, by the rule for changes, and no change: then
  /// it is the reference that differs from them, as a rounded one does.
  bool fits_as_meant = false;
  /// How many changes were tried: those that mean something with these options.
  std::size_t tried = 0;
  /// How many rows were looked at, of how many.
  std::size_t rows = 0;
  std::size_t all_rows = 0;
};

/// No more rows are looked at than have this many multiplications in Tk·(d_k + d_v + 32) each, but for one,
/// and those of `places`.
inline constexpr double most_convention_work = 0x1p29;

/// Calculates the array in binary64 (row by row, the largest score subtracted) with one convention changed at
/// a time, and says which of them the candidate's elements, row by row as in [B, Hq, Tq, width], fit: its
/// largest error then is at most 1/16 of its largest against what the options give unchanged, at most 1/16 of
/// `own_error`, the largest against the reference (infinite where one of them alone is NaN or infinite), and
/// at most max(2^-9, 2^(3-p)) of the candidate's largest magnitude, where its format has p bits of precision;
/// NaNs and infinities are in the same places. So a change that changes nothing never fits. A change is given
/// up at the first row that does not fit. Where there are more rows than most_convention_work allows, they
/// are a sample, and the rows of the elements `places` (flat indices) are in it.
///
/// Arrays and options that do not fit are attention_error; a candidate of another size std::invalid_argument.
convention_search fitting_conventions(const convention_case& meant, reference_array which,
                                      std::span<const double> candidate, const format& candidate_format,
                                      double own_error, std::span<const std::size_t> places = {});

/// "the logarithm to the base 2 instead of e" or the reverse where every element is the reference's times
/// 1/ln 2, or ln 2, by the same rule; otherwise empty.
std::string fitting_base(std::span<const double> reference, std::span<const double> candidate,
                         const format& candidate_format, double own_error);

/// Where the failures of part of an array are, by axis: "all 1536 failures are in heads 1 and 2". `failing`
/// are the flat indices, ascending; `axes` names one index of each axis, "head". Empty for fewer than two
/// failures, and where they are in every index of every axis or too scattered to name. `rows_of_one_key` are
/// rows that see one key, and so are right whatever the scores: all others are every row.
std::string failures_by_axis(std::span<const std::size_t> shape, std::span<const std::string> axes,
                             std::span<const std::size_t> failing,
                             std::span<const std::size_t> rows_of_one_key = {});

/// How one index of each axis of such an array is called: "batch element", "head", "row" and, but for a
/// log-sum-exp, "key" or "column". Other ranks lack the head, or head and batch.
std::vector<std::string> axis_names(reference_array which, std::size_t rank);

/// The rows that see one key or none in every batch element, by position alone. Their results do not depend
/// on the scores.
std::vector<std::size_t> rows_of_one_key(const convention_case& meant);

}  // namespace attest
