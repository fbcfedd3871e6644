#pragma once

#include <attest/io/attention_arrays.hpp>
#include <attest/reference/certified_attention.hpp>

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

// The options of attention on the command line, as the commands that read files of arrays share them.
namespace attest::tools {

struct array_options {
  std::vector<std::string> names;
  std::vector<std::string> dtypes;
  std::vector<std::string> blocks;
  std::vector<std::string> ignored;
  std::string options_file;
  // attention_options and output_options, as texts
  std::string scale, softcap, corner, window, past_keys, key_lengths, alibi_slopes, sinks, lse, empty_lse,
      empty_row;
  std::string output_dtype, direction, max_bits;
  bool causal = false;
  bool saturate = false;
  bool low_word = false;
  bool certificates = false;
  bool weights = false;

  /// Whether any of them was given, so that files are to be taken as arrays.
  bool any() const;
};

/// `results`: with those that say what is written, and how it is rounded.
void add_array_options(CLI::App& command, array_options& options, bool results = true);

/// What is asked, from the files, the options' file and the command line (which overrides it).
struct array_problem {
  io::attention_arrays arrays;
  attention_options attention;
  io::output_options output;
};

/// A message of the library, with the names of the command line instead of those in C++.
std::string on_command_line(std::string message);

/// What was given and is not used, as a line on standard error; or nothing.
void report_unused(const std::vector<std::string>& names);

/// `written`: options as a provenance has them, which count where neither says otherwise.
array_problem read_array_problem(const std::vector<std::string>& files, const array_options& options,
                                 const std::optional<io::json::value>& written = {});

/// Q, K and V of the problem. X·WQ and so on are computed exactly; where an element of one is no binary64,
/// nothing.
struct query_key_value {
  std::vector<io::host_array> products;
  certified_inputs inputs;
};
std::optional<query_key_value> inputs_of(const io::attention_arrays& arrays);

extern const char* const array_explanation;

}  // namespace attest::tools
