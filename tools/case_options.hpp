#pragma once

#include <attest/io/case_file.hpp>
#include <attest/io/files.hpp>

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <string_view>

// What the commands that read a case have in common.
namespace attest::tools {

struct case_options {
  std::string input;
  std::string output = "-";
  bool exact_decimals = false;

  std::string input_name() const { return io::input_name(input); }
  io::case_file read() const;
};

/// CASE, --output and --decimal.
void add_case_options(CLI::App& command, case_options& options);

/// What a case is, for the help text.
extern const char* const case_explanation;

/// Where the output goes. A file is looked at when this is made, before there is anything to write.
class destination {
 public:
  explicit destination(const case_options& options);
  void write(std::string_view bytes) const;

 private:
  std::optional<io::output_file> file_;
};

}  // namespace attest::tools
