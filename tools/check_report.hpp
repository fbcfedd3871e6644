#pragma once

#include <attest/check/arrays.hpp>
#include <attest/check/certified.hpp>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace attest::tools {

/// One array of both files. Without `certified` the reference's numbers were taken as they are written.
struct checked_array {
  std::string name;
  exact_array reference;
  exact_array candidate;
  std::optional<certified_array> certified;
  comparison result;
  std::optional<array_comparison> measured;                              // of files of arrays
  std::map<std::size_t, std::pair<std::string, std::string>>
      enclosures;                        // of some elements: decimals below and above
  std::optional<std::string> layout;     // in which order of the axes the candidate fits
  std::vector<std::string> conventions;  // differences of convention that it fits
  std::vector<std::string> notes;        // of dtypes, and of the search for conventions; a line each
  std::string where;                     // "all 24 failures are in head 1"; may be empty
  std::size_t conventions_tried = 0;        // 0: none, for want of inputs, or as nothing fails
};

/// Where the values of the reference come from.
enum class reference_values { from_inputs, as_asked, no_inputs, arrays };

struct check_report {
  std::string reference;  // the names of the files
  std::string candidate;
  std::optional<std::string> absolute;  // the tolerances, as given
  std::optional<std::string> ulp;
  reference_values values = reference_values::from_inputs;
  std::vector<checked_array> arrays;
  std::vector<std::string> missing;   // arrays of the reference that the candidate does not have
  std::vector<std::string> extra;     // arrays that only the candidate has
  std::vector<std::string> hints;     // what may explain the verdict as a whole, a line each
  std::vector<std::string> left_out;  // arrays of the reference that were not asked for
  std::vector<std::string> unused;    // what else the files and the case hold, for a line on standard error

  judgement outcome() const;
};

/// An element as short as it can be written: "0.1", "9007199254740993", "1/3", "NaN", "-Infinity".
std::string element_text(const exact_array& array, std::size_t at);

enum class report_length { verdict, usual, all };

/// For a terminal: a block for each array, and the verdict on the last line. An array that passes shows
/// elements only with report_length::all; report_length::verdict is that line alone.
std::string to_text(const check_report& report, report_length length = report_length::usual);

/// docs/check.md has the schema.
std::string to_json(const check_report& report);

}  // namespace attest::tools
