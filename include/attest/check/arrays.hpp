#pragma once

#include <attest/check/compare.hpp>
#include <attest/reference/exact_values.hpp>
#include <attest/rounding/format.hpp>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// Arrays of any float format against references of any other: what `attest check` does with files of arrays.
namespace attest {

/// A reference: doubles that hold its elements exactly, and where there are any, the low words, so that the
/// exact number lies within an ulp of binary32 of high + low.
struct array_reference {
  std::vector<std::size_t> shape;
  std::vector<double> high;
  std::vector<double> low;          // empty: none
  const format* written = nullptr;  // the format of its elements; null: integers
  bool saturate = false;            // what overflows is the largest number, not infinity or NaN
  /// Of an output, for array_tolerance::weighted_v: sum_j w_ij |v_jc| of each element, as weighted_v() of
  /// check/attention.hpp computes it. Empty: not known.
  std::vector<double> weighted_v = {};
};

/// An error in proportion to what an element is a sum of, and not to the sum, in which values of both signs
/// may cancel: |candidate - reference| <= units * 2^-p * max(sum_j w_ij |v_jc|, m), where p is the precision
/// of the format and m its smallest normal number. So a correctly rounded element is off by at most 1 unit.
/// Decided to within a relative error of 2^-50: the unit is a rounded number.
struct weighted_tolerance {
  exact_scalar units;          // not negative
  const format* of = nullptr;  // null: the measure's
};

/// What every element must keep to: to all that are given.
struct array_tolerance {
  std::optional<exact_scalar> absolute = {};          // not negative
  std::optional<std::uint64_t> ulp = {};              // of the measure's format
  std::optional<weighted_tolerance> weighted_v = {};  // the reference has to know weighted_v

  bool any() const { return absolute || ulp || weighted_v; }
};

/// What compare() finds, and what else there is to say of two arrays. In `comparison`, ulps are those of
/// `measure`, the correctly rounded element is the exact number rounded to nearest in it, and absolute errors
/// are between the numbers as written.
struct array_comparison : comparison {
  std::string name;  // for a report; may be empty
  array_tolerance allowed;
  std::vector<double> reference;  // the elements as written
  std::vector<double> candidate;
  const format* measure = &formats::binary64;
  std::vector<double> nearest;        // the correctly rounded elements
  /// Of the greatest errors, at most ten, greatest first: in units of the weighted |V| where the tolerance is,
  /// otherwise in ulps.
  std::vector<std::size_t> worst;
  std::optional<std::string> layout;  // "[B, T, H, d]", if the candidate's elements fit in that order
  std::vector<std::size_t>
      failing;              // all elements that fail, or differ where no tolerance was given; ascending
  occurrences cannot_hold;  // elements whose correct rounding is past the tolerance, that in ulps aside
  std::optional<largest<double>> weighted_error;  // in units of weighted_tolerance, where that is given
  occurrences past_weighted;
  std::map<std::size_t, std::pair<std::string, std::string>>
      enclosures;  // of elements that a report shows: decimals below and above the exact number
  std::map<std::size_t, double> weighted_v;  // of those elements, where the tolerance is in units of it
  /// What only others can find out, and a report shows as well: fitting_conventions(), failures_by_axis() of
  /// check/conventions.hpp, explain() of check/attention.hpp, and notes, each a line.
  std::vector<std::string> conventions;
  std::size_t conventions_tried = 0;  // 0: none, for want of inputs, or as nothing fails
  std::string where;
  std::vector<std::string> notes;

  /// The elements that a report points at: where something happens first, where an error is greatest, and the
  /// worst.
  std::vector<std::size_t> places() const;
};

/// `candidate_format`: of the candidate's elements, null for integers; the measure is that, else the
/// reference's, else binary64. Arrays without elements pass; sizes that do not fit, a negative tolerance, and
/// one in units of the weighted |V| of a reference that does not know it, are std::invalid_argument.
/// Enclosures are filled in where the reference has low words.
array_comparison compare_arrays(const array_reference& reference, const array_view& candidate,
                                const format* candidate_format, const array_tolerance& allowed);

/// The comparison in lines, for the message of a test, without the end of the last: what `attest check`
/// prints of an array. The tolerances are called "absolute X", "ulp N" and "weighted_v N".
std::string describe(const array_comparison& c);

/// The order of the reference's axes in which the candidate's elements fit, though in its own they do not:
/// "[B, T, H, d]" for four axes, "[T, B, d]" for three. They fit where every element is within 1/32 of the
/// reference's largest magnitude. Nothing where no order fits, or where the arrays are too alike to tell (the
/// largest magnitude is 0).
std::optional<std::string> fitting_layout(const array_view& reference, const array_view& candidate);

/// high + low rounded to nearest in f, ties to even: as if high + low were one exact number.
double rounded_to(double high, double low, const format& f, bool saturate = false);

/// The bit pattern of a number of the format that is held in a double.
std::uint64_t pattern_of(double x, const format& f);

/// Decimals below and above the exact number: within an ulp of binary32 of high + low, or, without low words,
/// within half an ulp of the element in its format.
std::pair<std::string, std::string> enclosure_text(const array_reference& reference, std::size_t at);

/// For each of quantile_levels the least of these errors that so many of them do not exceed; zeros for none.
std::array<double, 4> quantiles_of(std::vector<double> errors);

}  // namespace attest
