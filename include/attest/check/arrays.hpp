#pragma once

#include <attest/check/compare.hpp>
#include <attest/reference/exact_values.hpp>
#include <attest/rounding/format.hpp>

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
};

struct array_tolerance {
  std::optional<exact_scalar> absolute = {};  // not negative
  std::optional<std::uint64_t> ulp = {};      // of the measure's format
};

/// What compare() finds, and what else there is to say of two arrays. In `comparison`, ulps are those of
/// `measure`, the correctly rounded element is the exact number rounded to nearest in it, and absolute errors
/// are between the numbers as written.
struct array_comparison : comparison {
  const format* measure = &formats::binary64;
  std::vector<double> nearest;        // the correctly rounded elements
  std::vector<std::size_t> worst;     // of the greatest ulp errors, at most ten, greatest first
  std::optional<std::string> layout;  // "[B, T, H, d]", if the candidate's elements fit in that order
  std::vector<std::size_t>
      failing;  // all elements that fail, or differ where no tolerance was given; ascending
  occurrences cannot_hold;            // elements whose correct rounding is past the absolute tolerance
};

/// `candidate_format`: of the candidate's elements, null for integers; the measure is that, else the
/// reference's, else binary64. Arrays without elements pass; sizes that do not fit are std::invalid_argument.
array_comparison compare_arrays(const array_reference& reference, const array_view& candidate,
                                const format* candidate_format, const array_tolerance& allowed);

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
