#pragma once

#include "array_options.hpp"
#include "check_report.hpp"

#include <string>
#include <vector>

namespace attest::tools {

struct array_check_request {
  std::string reference;
  std::string candidate;
  exact_tolerance allowed;
  std::vector<std::string> only;
  std::vector<std::string> cases;  // from which the worst elements are computed anew; may be empty
  array_options options;           // of the cases; names and dtypes also of the candidate's arrays
};

/// Compares files of which at least one is of arrays. Fills in what `report` lacks.
void check_arrays(const array_check_request& request, check_report& report);

}  // namespace attest::tools
