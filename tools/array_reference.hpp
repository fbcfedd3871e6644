#pragma once

#include "array_options.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

// References of arrays: calculated in pieces that can be interrupted, continued, spread over machines and put
// together.
namespace attest::tools {

struct array_reference_request {
  std::vector<std::string> files;
  std::string output;
  array_options options;
  std::string rows;    // "A:B", or empty for all
  std::string report;  // a JSON file of counts, or empty
  unsigned threads = 1;
  bool resume = false;
};

/// Returns the exit status.
int write_array_reference(const array_reference_request& request);

/// Puts parts that --rows wrote together to the file that one run would have written.
int merge_parts(const std::vector<std::string>& parts, const std::string& output);

}  // namespace attest::tools
