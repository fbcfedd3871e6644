#pragma once

#include <attest/io/json.hpp>
#include <attest/io/number.hpp>
#include <attest/reference/problem.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attest::io {

/// A case as its file gives it: the problem, and the descriptive keys (provenance, positions, derivation, tolerance,
/// display_decimals), which are kept as written.
struct case_file {
  attest::problem problem;
  std::vector<std::pair<std::string, json::value>> kept;

  const json::value* find_kept(std::string_view key) const;
};

/// Reads a case (docs/formats.md has every key) from the text of the file called `name`. An attention-v1 file is a case
/// too: `expected` is not looked at, and of the block `attest` only the exact inputs are. Whatever is wrong with it is
/// input_error; a key that is not known is refused, so that a misspelt one cannot pass silently.
case_file read_case(std::string_view text, std::string_view name, decimals meaning = decimals::nearest_binary64);
/// The same of a file that has been parsed.
case_file read_case(const json::value& root, std::string_view name, decimals meaning = decimals::nearest_binary64);

}  // namespace attest::io
