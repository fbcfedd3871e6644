#pragma once

#include "array_options.hpp"
#include "check_report.hpp"

#include <string>
#include <vector>

namespace attest::tools {

struct array_check_request {
  std::string reference;
  std::string candidate;
  std::vector<std::string> only;
  std::vector<std::string> cases;  // from which the worst elements are computed anew; may be empty
  array_options options;           // of the cases; names and dtypes also of the candidate's arrays
};

/// Compares files of which at least one is of arrays, by the tolerances of `report`. Fills in what that
/// lacks.
void check_arrays(const array_check_request& request, check_report& report);

/// What becomes of keys of a JSON file that nothing knows: one with a usual name of an array of the reference
/// is input_error, since it belongs under "expected"; the others are named in `unused`.
void sort_out_keys(const std::string& file, const std::vector<std::string>& keys,
                   const std::vector<std::string>& reference_names, std::vector<std::string>& unused);

/// Adds a hint for each missing array of which the candidate seems to have another spelling: out, LSE,
/// attn_weights. The remedy is --name in files of arrays, and another name in JSON.
void add_name_hints(check_report& report, bool of_arrays);

/// Adds the hint that the files are swapped, unless everything passed.
void add_swapped_hint(check_report& report);

}  // namespace attest::tools
