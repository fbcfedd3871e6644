#pragma once

#include <attest/check/arrays.hpp>
#include <attest/check/certified.hpp>

#include <optional>
#include <string>

// What there is to say of one array of a candidate, in lines: what `attest check` prints, and what the
// message of a test in C++, C or Python says.
namespace attest {

/// How a report calls the tolerances: "--ulp 2", "ulp 2". Absent: not given.
struct tolerance_texts {
  std::optional<std::string> absolute;
  std::optional<std::string> ulp;
  std::optional<std::string> weighted_v;

  /// All of them, "--abs 1e-12 and --ulp 2"; empty for none.
  std::string all() const;
  bool any() const { return absolute || ulp || weighted_v; }
};

/// One array of both files. Without `certified` the reference's numbers were taken as they are written.
struct array_report {
  std::string name;  // may be empty
  exact_array reference;
  exact_array candidate;
  std::optional<certified_array> certified;
  comparison result;
  std::optional<array_comparison> measured;  // where compare_arrays() gave the result
  std::optional<std::string> layout;         // in which order of the axes the candidate fits
  tolerance_texts said;
};

/// The report of what compare_arrays() found; its tolerances are called "absolute X", "ulp N" and
/// "weighted_v N", the last with the format where that is not the measure.
array_report report_of(array_comparison c);

/// An element as short as it can be written: "0.1", "9007199254740993", "1/3", "NaN", "-Infinity".
std::string element_text(const exact_array& array, std::size_t at);

/// The lines of an array, each with its end. `elements`: show elements of an array that passes, too.
std::string describe(const array_report& array, bool elements);

}  // namespace attest
