#include "commands.hpp"
#include "progress.hpp"

#include <attest/io/case_file.hpp>
#include <attest/io/files.hpp>
#include <attest/io/input_error.hpp>
#include <attest/io/sha256.hpp>
#include <attest/problem/one_line.hpp>
#include <attest/prove/claims.hpp>
#include <attest/prove/proof_file.hpp>

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

namespace attest::tools {

namespace {

constexpr std::size_t most_lines = 20;

struct request {
  std::string input;
  std::string output = "-";
  std::string claims;
  bool exact_decimals = false;
  bool unchecked = false;
};

// Nothing, or what is wrong with the word.
std::string claim_word(const std::string& text) {
  return prove::claim_kind_of(text) ? std::string() : text + " is none of exactly, decimal and binary64";
}

std::string without_folders(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

std::string command_line(const request& r) {
  return "attest prove " + without_folders(r.input) + (r.claims.empty() ? "" : " --claims " + r.claims) +
         (r.exact_decimals ? " --decimal" : "") + (r.output == "-" ? "" : " -o " + without_folders(r.output));
}

void report(const std::string& name, const std::vector<prove::wrong_number>& wrong) {
  std::string lines;
  for (std::size_t k = 0; k < std::min(wrong.size(), most_lines); ++k)
    lines += one_line(name + ": " + wrong[k].message()) + '\n';
  if (wrong.size() > most_lines)
    lines +=
        one_line(name) + ": and " + std::to_string(wrong.size() - most_lines) + " more wrong numbers\n";
  std::cerr << lines;
}

int run(const request& r) {
  const auto meaning = r.exact_decimals ? io::decimals::exact : io::decimals::nearest_binary64;
  const std::string name = io::input_name(r.input);
  if (r.output != "-") io::refuse_to_replace(r.output, r.input);
  const std::string bytes = io::read_file(r.input);
  io::json::value root;
  try {
    root = io::json::parse(bytes);
  } catch (const io::json::syntax_error& e) {
    throw io::input_error(name + ": " + e.what());
  }
  const io::case_batch inputs = io::read_batch(root, name, meaning);
  const auto printed = prove::read_claims(root, name, inputs, prove::claim_kind_of(r.claims));
  std::optional<io::output_file> target;
  if (r.output != "-") target.emplace(r.output);
  if (!r.unchecked) {
    progress_line line;
    const auto wrong = prove::wrong_numbers(
        inputs, printed, [&](std::size_t rows_done, std::size_t rows) { line.update(rows_done, rows); });
    if (!wrong.empty()) {
      report(name, wrong);
      return check_failed;
    }
  }
  const std::string text =
      prove::proof_file(inputs, printed, {without_folders(name), io::sha256(bytes), command_line(r)});
  if (target)
    target->write(text);
  else
    io::write_standard_output(text);
  return done;
}

const char* const explanation =
    "CASE is a case as attest reference reads it, with the numbers that a page or a program prints\n"
    "under \"expected\": any of Q, K, V, dots, scores, weights and output. What a list says is under\n"
    "\"claims\", one word for all lists or a word for each, as in \"claims\": {\"weights\": \"decimal\",\n"
    "\"output\": \"binary64\"}:\n"
    "  exactly   each is exactly the number written (a string may hold \"1/3\", or \"3/sqrt(2)\" in scores)\n"
    "  decimal   each is the exact value, rounded at its last printed digit: trailing zeros count\n"
    "  binary64  each reads back as the correctly rounded double\n"
    "Lists of integers and fractions are exactly meant, unless they are mentioned by name. For others\n"
    "--claims can say it in the place of the file; where nothing says it they are refused, as they may\n"
    "be either.\n"
    "\n"
    "The file written is C++ and needs the headers of attest alone. It compiles exactly when every\n"
    "number is right, and holds canaries: negated claims with a digit altered. A wrong number is named\n"
    "on standard error, one to a line, and no file is written, unless --unchecked leaves it to the\n"
    "compiler.\n"
    "\n"
    "Exit status: 0 done, 1 a number is wrong, 2 bad usage or bad input (one line on standard error\n"
    "says what).";

}  // namespace

void add_prove_command(CLI::App& program, action& chosen) {
  CLI::App* command = program.add_subcommand(
      "prove", "Check the printed numbers of a case and write the proof of them, a C++ file");
  const auto r = std::make_shared<request>();
  command->add_option("CASE", r->input, "The case, a JSON file; - reads standard input")
      ->required()
      ->type_name("");
  command
      ->add_option("-o,--output", r->output, "The file to write; - (the default) writes to standard output")
      ->type_name("FILE");
  command->add_option("--claims", r->claims, "What lists say that the case does not mention under \"claims\"")
      ->type_name("WORD")
      ->check(claim_word);
  command->add_flag("--decimal", r->exact_decimals,
                    "Take inputs with a point or an exponent for exact decimals");
  command->add_flag("--unchecked", r->unchecked, "Write the file whether its numbers are right or wrong");
  command->footer(explanation);
  command->callback([r, &chosen] { chosen = [r] { return run(*r); }; });
}

}  // namespace attest::tools
