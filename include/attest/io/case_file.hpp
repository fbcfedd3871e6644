#pragma once

#include <attest/io/json.hpp>
#include <attest/io/number.hpp>
#include <attest/reference/problem.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attest::io {

/// A case as its file gives it: the problem, and the descriptive keys (provenance, positions, derivation,
/// tolerance, display_decimals), which are kept as written.
struct case_file {
  attest::problem problem;
  std::vector<std::pair<std::string, json::value>> kept;

  const json::value* find_kept(std::string_view key) const;
};

/// The examples of a file whose arrays have a leading list level, [B, T, C]: problems of one shape, each on
/// its own. A file without that level is one example.
struct case_batch {
  std::vector<attest::problem> examples;
  std::vector<std::string>
      per_example;  // the arrays with a leading level; the others are the same for all. None: no batch
  std::vector<std::pair<std::string, json::value>> kept;

  bool is_batch() const { return !per_example.empty(); }
  bool has_leading_level(std::string_view array) const;
  /// Example b, with the descriptions of the whole file.
  case_file example(std::size_t b) const { return {examples[b], kept}; }
};

/// Reads a case (docs/formats.md has every key) from the text of the file called `name`. An attention-v1 file
/// is a case too: `expected` is not looked at, and of the block `attest` only the exact inputs are. Whatever
/// is wrong with it is input_error; a key that is not known is refused, so that a misspelt one cannot pass
/// silently. read_case() refuses a batch.
case_file read_case(std::string_view text, std::string_view name,
                    decimals meaning = decimals::nearest_binary64);
case_batch read_batch(std::string_view text, std::string_view name,
                      decimals meaning = decimals::nearest_binary64);
/// The same of a file that has been parsed.
case_file read_case(const json::value& root, std::string_view name,
                    decimals meaning = decimals::nearest_binary64);
case_batch read_batch(const json::value& root, std::string_view name,
                      decimals meaning = decimals::nearest_binary64);

/// Whether a case may have the key.
bool is_case_key(std::string_view key);
/// What is wrong with a key that a case may not have, and the one that was meant, if one is near.
std::string unknown_key(std::string_view key);

}  // namespace attest::io
