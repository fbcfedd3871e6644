#include "arguments.hpp"
#include "array_reference.hpp"
#include "case_options.hpp"
#include "commands.hpp"
#include "cross_check_report.hpp"
#include "progress.hpp"

#include <attest/io/attention_file.hpp>
#include <attest/io/case_file.hpp>
#include <attest/io/files.hpp>
#include <attest/io/input_error.hpp>
#include <attest/io/number.hpp>
#include <attest/problem/one_line.hpp>
#include <attest/reference/number_text.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace attest::tools {

namespace {

struct request {
  std::vector<std::string> inputs;
  std::string output = "-";
  array_reference_request arrays;
  std::string threads = "0";
  unsigned digits = 0;  // 0: not said
  bool exact_decimals = false;
  bool cross_check = false;
};

// Nothing, or what is wrong with the text.
std::string whole_number(const std::string& text, unsigned least, unsigned most) {
  unsigned value = 0;
  if (is_number(text, value) && value >= least && value <= most) return {};
  return text + " is no whole number from " + std::to_string(least) + " to " + std::to_string(most);
}

std::string number_of_digits(const std::string& text) { return whole_number(text, 1, 10000); }
std::string thread_count(const std::string& text) { return whole_number(text, 0, 4096); }

std::string counted(std::size_t count, const char* one, const char* many) {
  return std::to_string(count) + ' ' + (count == 1 ? one : many);
}

std::string summary(const std::string& output, const io::case_batch& file,
                    const std::vector<attention_reference>& answers) {
  const bool batch = file.is_batch();
  const problem& first = file.examples[0];
  const attention_reference& answer = answers[0];
  const std::size_t queries = answer.weights.rows();
  const std::size_t keys = answer.weights.columns();
  const std::size_t weights = answers.size() * queries * keys;
  const std::size_t outputs = answers.size() * queries * answer.output.columns();
  const std::string examples =
      batch ? counted(answers.size(), "example", "examples") + (answers.size() == 1 ? " of " : ", each of ")
            : "";
  return output + ": " + examples + counted(queries, "query", "queries") + ", " +
         counted(keys, "key", "keys") + ", d_k = " + std::to_string(columns(answer.keys)) +
         ", d_v = " + std::to_string(answer.output.columns()) + ", " +
         (first.mask ? "mask" : "every query sees every key") + ", scale " +
         (first.scale ? exact_text(*first.scale).substr(0, 40) : "1/sqrt(d_k)") + "; " +
         counted(weights, "weight", "weights") + " and " + counted(outputs, "output", "outputs") +
         ", each correctly rounded to binary64 and to " + counted(answer.digits, "digit", "digits");
}

// A JSON case without options of attention, and a JSON file to write, are the business of exact arithmetic.
bool is_json_work(const request& r) {
  const auto is_json = [](const std::string& path) {
    return io::format_of_path(path).value_or(io::array_format::json) == io::array_format::json;
  };
  const array_reference_request& a = r.arrays;
  return r.inputs.size() == 1 && is_json(r.inputs[0]) && is_json(r.output) && !a.options.any() &&
         a.rows.empty() && a.report.empty() && !a.resume;
}

int run_arrays(const request& r) {
  if (r.cross_check) throw io::input_error("--cross-check: it is of JSON cases with a JSON output");
  if (r.digits != 0)
    throw io::input_error(
        "--digits: they are of a JSON output, and results in arrays are floats: leave it out");
  if (r.exact_decimals)
    throw io::input_error("--decimal: exact decimals are no floats, and arrays hold floats: leave it out");
  array_reference_request a = r.arrays;
  a.files = r.inputs;
  a.output = r.output;
  is_number(r.threads, a.threads);
  return write_array_reference(a);
}

int run(const request& r) {
  if (!is_json_work(r)) return run_arrays(r);
  const std::string& input = r.inputs[0];
  const unsigned digits = r.digits == 0 ? 50 : r.digits;
  const auto meaning = r.exact_decimals ? io::decimals::exact : io::decimals::nearest_binary64;
  const std::string name = io::input_name(input);
  const io::case_batch file = io::read_batch(io::read_file(input), name, meaning);
  std::optional<io::output_file> target;
  if (r.output != "-") {
    target.emplace(r.output);
    io::refuse_to_replace(r.output, input);
  }

  std::vector<attention_reference> answers;
  {
    progress_line line;
    for (const problem& p : file.examples) {
      const std::size_t before = answers.size();
      answers.push_back(attention(p, {digits, [&](std::size_t done_rows, std::size_t rows) {
                                        line.update(before * rows + done_rows, file.examples.size() * rows);
                                      }}));
    }
  }
  const std::string text = io::attention_v1(file, answers, name);
  if (!target) {
    io::write_standard_output(text);
    return r.cross_check ? report_cross_check(file.examples, answers) : done;
  }
  target->write(text);
  io::write_standard_output(one_line(summary(r.output, file, answers)) + '\n');
  return r.cross_check ? report_cross_check(file.examples, answers) : done;
}

const char* const explanation =
    "In a batch each array is a list with an entry for each example.\n"
    "\n"
    "The output is an attention-v1 file: exact integers as integers, everything else as the shortest\n"
    "decimal of the correctly rounded binary64; and in a block \"attest\" the exact rows, and every\n"
    "weight, output and log-sum-exp to N digits. A file appears whole or not at all, and a line on\n"
    "standard output sums it up.\n"
    "\n"
    "--cross-check says on standard error in how many digits all values agree with a second evaluation\n"
    "that shares nothing with the first but the exact scores: Boost's cpp_bin_float. The file is written\n"
    "first and is the same with it or without. What is certified does not depend on it; but values that\n"
    "do not agree are listed, and the exit status is 1.\n"
    "\n"
    "Exit status: 0 done, 1 a cross-check found a disagreement, 2 bad usage or bad input (one line on\n"
    "standard error says what), 3 some element is undecided.\n";

const char* const array_results_explanation =
    "The results are output, with --lse lse, with --weights weights, with --low-word output_low and so on,\n"
    "and with --certificates output_certificates and so on, uint8; lse and weights have the output's\n"
    "format, but binary32 where that is narrower. The format\n"
    "follows the extension of the file: .npz, .npy (one array), .safetensors, .bin or .raw (with a JSON\n"
    "sidecar), .json, or .hpp (hexadecimal floats). With them go the inputs' SHA-256, the options and the\n"
    "version; the same bytes on every machine and at any number of threads.\n"
    "\n"
    "A run that is interrupted leaves OUT.part, from which --resume continues.";

}  // namespace

void add_reference_command(CLI::App& program, action& chosen) {
  CLI::App* command =
      program.add_subcommand("reference", "Write the certified reference of a case as an attention-v1 file");
  const auto r = std::make_shared<request>();
  command
      ->add_option(
          "CASE", r->inputs,
          "The case: a JSON file (- reads standard input), or a file of arrays; NAME=CASE for one array")
      ->required()
      ->type_name("");
  command
      ->add_option("-o,--output", r->output, "The file to write; - (the default) writes to standard output")
      ->type_name("FILE");
  command
      ->add_option("--digits", r->digits,
                   "Significant digits in the block \"attest\", 1 to 10000 (default 50)")
      ->type_name("N")
      ->check(number_of_digits);
  command->add_flag("--decimal", r->exact_decimals,
                    "Take numbers with a point or an exponent for exact decimals");
  command->add_flag("--cross-check", r->cross_check,
                    "Compare every value with Boost's cpp_bin_float as well");
  command
      ->add_option("--rows", r->arrays.rows,
                   "Only the queries A to B - 1, counted over all heads: a part for attest merge")
      ->type_name("A:B")
      ->check(empty_text)
      ->group("Arrays");
  command->add_flag("--resume", r->arrays.resume, "Continue where an interrupted run stopped, from OUT.part")
      ->group("Arrays");
  command
      ->add_option(
          "--threads", r->threads,
          "How many threads; 0 (the default): as many as the machine has. The values do not depend on it")
      ->type_name("N")
      ->check(thread_count)
      ->group("Arrays");
  command->add_option("--report", r->arrays.report, "Write how the elements were settled, as JSON")
      ->type_name("FILE")
      ->check(empty_text)
      ->group("Arrays");
  add_array_options(*command, r->arrays.options);
  command->footer(std::string(case_explanation) + explanation + '\n' + array_explanation +
                  array_results_explanation);
  command->callback([r, &chosen] { chosen = [r] { return run(*r); }; });
}

}  // namespace attest::tools
