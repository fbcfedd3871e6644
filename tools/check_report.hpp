#pragma once

#include "tolerances.hpp"

#include <attest/check/report.hpp>

#include <string>
#include <vector>

namespace attest::tools {

/// Where the values of the reference come from.
enum class reference_values { from_inputs, as_asked, no_inputs, arrays };

struct check_report {
  std::string reference;  // the names of the files
  std::string candidate;
  tolerances allowed;
  reference_values values = reference_values::from_inputs;
  std::vector<array_report> arrays;
  std::vector<std::string> missing;   // arrays of the reference that the candidate does not have
  std::vector<std::string> extra;     // arrays that only the candidate has
  std::vector<std::string> hints;     // what may explain the verdict as a whole, a line each
  std::vector<std::string> left_out;  // arrays of the reference that were not asked for
  std::vector<std::string> unused;    // what else the files and the case hold, for a line on standard error

  judgement outcome() const;
};

enum class report_length { verdict, usual, all };

/// For a terminal: a block for each array, and the verdict on the last line. An array that passes shows
/// elements only with report_length::all; report_length::verdict is that line alone.
std::string to_text(const check_report& report, report_length length = report_length::usual);

/// docs/check.md has the schema.
std::string to_json(const check_report& report);

}  // namespace attest::tools
