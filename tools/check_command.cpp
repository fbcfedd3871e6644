#include "arguments.hpp"
#include "array_check.hpp"
#include "check_report.hpp"
#include "commands.hpp"
#include "progress.hpp"

#include <attest/io/case_file.hpp>
#include <attest/io/expected_arrays.hpp>
#include <attest/io/files.hpp>
#include <attest/io/input_error.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

namespace attest::tools {

namespace {

constexpr unsigned digits_shown = 50;

struct request {
  std::string reference;
  std::string candidate;
  std::vector<std::string> absolute;
  std::vector<std::string> ulp;
  std::vector<std::string> weighted_v;
  std::vector<std::string> only;
  std::vector<std::string> cases;
  array_options arrays;
  bool as_written = false;
  bool json = false;
  bool quiet = false;
  bool verbose = false;
};

using io::expected_array;

const expected_array* find(const std::vector<expected_array>& arrays, const std::string& name) {
  const auto found =
      std::find_if(arrays.begin(), arrays.end(), [&](const auto& a) { return a.name == name; });
  return found == arrays.end() ? nullptr : &*found;
}

void check_names(const std::string& option, const std::string& file,
                 const std::vector<expected_array>& arrays, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (find(arrays, name) != nullptr) continue;
    std::string known;
    for (const expected_array& a : arrays) known += (known.empty() ? "" : ", ") + a.name;
    throw io::input_error(option + ": " + file + " has no array " + name + ": it has " + known);
  }
}

/// The reference's array with what its inputs give. A file that says something else is no reference.
certified_array certified(const std::string& file, const expected_array& written,
                          const certified_array& computed) {
  const auto fail = [&](const std::string& what) {
    throw io::input_error(file + ": array expected." + written.name + ": " + what +
                          ": write it with attest reference, or take it as it is with --as-written");
  };
  const exact_array& right = computed.reference;
  if (written.array.shape != right.shape)
    fail("its shape is " + shape_text(written.array.shape) + ", and its inputs give " +
         shape_text(right.shape));
  for (std::size_t i = 0; i < right.values.size(); ++i) {
    const bool both_beyond = written.array.beyond.contains(i) && right.beyond.contains(i);
    const bool agrees = both_beyond ? written.array.beyond.at(i) == right.beyond.at(i)
                                    : written.array.values[i] == right.values[i];
    if (!agrees)
      fail("element " + index_text(right.shape, i) + " is " + element_text(written.array, i) +
           ", and its inputs give " + element_text(right, i));
  }
  return computed;
}

std::vector<certified_array> computed_arrays(const io::json::value& root, const std::string& name) {
  const io::case_batch file = io::read_batch(root, name);
  progress_line line;
  std::vector<attention_reference> answers;
  for (const problem& p : file.examples) {
    const std::size_t before = answers.size();
    answers.push_back(attention(p, {digits_shown, [&](std::size_t done_rows, std::size_t rows) {
                                      line.update(before * rows + done_rows, file.examples.size() * rows);
                                    }}));
  }
  return file.is_batch() ? certified_batch(answers) : certified_arrays(answers[0]);
}

check_report check(const request& r) {
  check_report report;
  report.reference = io::input_name(r.reference);
  report.candidate = io::input_name(r.candidate);
  report.allowed = tolerances(r.absolute, r.ulp, r.weighted_v);
  if (r.reference == "-" && r.candidate == "-")
    throw io::input_error(
        "standard input: it cannot be both the reference and the candidate: give a file for one");

  const auto is_json = [](const std::string& path) {
    return io::format_of_path(path).value_or(io::array_format::json) == io::array_format::json;
  };
  if (!is_json(r.reference) || !is_json(r.candidate)) {
    if (r.as_written)
      throw io::input_error("--as-written: files of arrays are taken as they are in any case: leave it out");
    report.values = reference_values::arrays;
    check_arrays({r.reference, r.candidate, r.only, r.cases, r.arrays}, report);
    return report;
  }
  if (!r.cases.empty() || r.arrays.any())
    throw io::input_error(
        "--case and the options of arrays: a JSON reference is computed from its own inputs: leave them out");
  if (!r.weighted_v.empty())
    throw io::input_error(
        "--weighted-v: it is of files of arrays: write the candidate as one first (attest "
        "convert " +
        report.candidate + " candidate.npz)");
  const io::json::value root = io::read_attention_v1(io::read_file(r.reference), report.reference);
  const std::vector<expected_array> reference =
      io::read_expected(root, report.reference, "write the file with attest reference");
  check_names("--only", report.reference, reference, r.only);
  for (const auto& [name, allowed] : report.allowed.named()) {
    const char* const option = allowed.numbers.absolute ? "--abs" : "--ulp";
    check_names(option, report.reference, reference, {name});
    if (!r.only.empty() && std::find(r.only.begin(), r.only.end(), name) == r.only.end())
      throw io::input_error(std::string(option) + ": array " + name + " is none of those that --only takes");
  }
  const io::json::value answers = io::read_attention_v1(io::read_file(r.candidate), report.candidate);
  const std::vector<expected_array> candidate =
      io::read_expected(answers, report.candidate,
                        R"(put the arrays under it, as in {"expected": {"output": [[1, 0], [0, 1]]}})");
  const auto unknown_keys = [](const io::json::value& file) {
    std::vector<std::string> keys = file.keys;
    std::erase_if(keys, [](const std::string& key) { return io::is_case_key(key); });
    return keys;
  };
  std::vector<std::string> names;
  for (const expected_array& a : reference) names.push_back(a.name);
  sort_out_keys(report.candidate, unknown_keys(answers), names, report.unused);
  sort_out_keys(report.reference, unknown_keys(root), {}, report.unused);

  std::vector<certified_array> computed;
  if (r.as_written)
    report.values = reference_values::as_asked;
  else if (!io::has_inputs(root))
    report.values = reference_values::no_inputs;
  else
    computed = computed_arrays(root, report.reference);

  for (const expected_array& written : reference) {
    if (!r.only.empty() && std::find(r.only.begin(), r.only.end(), written.name) == r.only.end()) {
      report.left_out.push_back(written.name);
      continue;
    }
    const given_tolerance& allowed = report.allowed.of(written.name);
    array_report array{written.name, written.array, {}, {}, {}, {}, {}, allowed.said};
    for (const certified_array& c : computed)
      if (c.name == written.name) array.certified = certified(report.reference, written, c);
    const expected_array* answer = find(candidate, written.name);
    if (answer == nullptr && r.only.empty() && io::is_companion_name(written.name)) continue;
    if (answer == nullptr) {
      report.missing.push_back(written.name);
      continue;
    }
    array.candidate = answer->array;
    if (array.certified) array.reference = array.certified->reference;
    const std::span<const double> offsets =
        array.certified ? std::span<const double>(array.certified->offsets) : std::span<const double>();
    array.result = compare_exact(array.reference, array.candidate,
                                 {allowed.limits.absolute, allowed.limits.ulp}, offsets);
    if (!array.result.passed() && array.reference.beyond.empty() && array.candidate.beyond.empty())
      array.layout = fitting_layout(array.reference.view(), array.candidate.view());
    report.arrays.push_back(std::move(array));
  }
  for (const expected_array& answer : candidate)
    if (find(reference, answer.name) == nullptr) report.extra.push_back(answer.name);
  add_name_hints(report, false);
  if (io::has_inputs(answers) && !io::has_inputs(root)) add_swapped_hint(report);
  return report;
}

int run(const request& r) {
  const check_report report = check(r);
  report_unused(report.unused);
  const report_length length = r.quiet     ? report_length::verdict
                               : r.verbose ? report_length::all
                                           : report_length::usual;
  io::write_standard_output(r.json ? to_json(report) : to_text(report, length));
  const judgement outcome = report.outcome();
  return outcome == judgement::passed || outcome == judgement::equal ? done : check_failed;
}

const char* const explanation =
    "REFERENCE is an attention-v1 file, as attest reference writes it. CANDIDATE is a JSON object with\n"
    "the arrays to be checked under \"expected\": {\"expected\": {\"output\": [[1, 0], [0, 1]]}}; NaN and\n"
    "Infinity may occur in them. Every array of the reference must be there, unless --only names those\n"
    "that count; arrays that only the candidate has are listed and not compared.\n"
    "\n"
    "For each array: how many elements differ; the largest absolute error; the largest ulp distance,\n"
    "the number of doubles from the correctly rounded one; the largest ulp error, against the exact\n"
    "number, which a correctly rounded double has up to 0.5 of; NaNs and infinities that only one of\n"
    "the two has. Indices count from 0. The exact numbers are computed anew from the inputs in\n"
    "REFERENCE, which must agree with what it says under \"expected\"; --as-written takes its numbers as\n"
    "they are.\n"
    "\n"
    "--abs and --ulp are decided without rounding; given both, an element must keep to both. As\n"
    "--ulp lse=4 or --abs lse=1e-5 they are of one array, which then keeps to what names it alone;\n"
    "several as --ulp output=1,lse=4, or given again. No tolerance covers a NaN, an infinity, a shape\n"
    "or a missing array. Without a tolerance nothing is judged, and only equal arrays give status 0.\n"
    "\n"
    "Exit status: 0 passed, 1 failed or not judged, 2 bad usage or bad input (one line on standard\n"
    "error says what).\n";

const char* const array_check_explanation =
    "\n"
    "Arrays. Either file may be .npz, .npy, .safetensors, .bin or .raw, of any dtype. Ulps are then\n"
    "those of the candidate's format, and a reference in a wider one, or with low words (output_low),\n"
    "is rounded to it once. Arrays are found by name, in lower case too, or as --name output=NAME says;\n"
    "--dtype output=bfloat16 says what integers of the candidate stand for. Exact numbers of the worst\n"
    "elements come from the low words, from the rounding of a reference that attest wrote, or from\n"
    "--case and the options that the reference was written with, which are read from it. With --case,\n"
    "or where the files that an attest reference was made of are still beside it, an array that fails\n"
    "is held against the usual differences of convention (causal corner, scale, mask, heads, ...), and\n"
    "a line says which one fits.\n"
    "\n"
    "--weighted-v N passes an element of output whose error is at most N 2^-p sum_j w_ij |v_jc|, the\n"
    "weighted |V| of its row and column, computed from these inputs; p is the precision of DTYPE, or of\n"
    "the candidate's format, 8 for bfloat16. A correctly rounded result has 1 unit at most, and weights\n"
    "rounded to that format add one: docs/check.md.";

}  // namespace

void add_check_command(CLI::App& program, action& chosen) {
  CLI::App* command = program.add_subcommand("check", "Compare the arrays of a file with a reference");
  const auto r = std::make_shared<request>();
  command
      ->add_option("REFERENCE", r->reference,
                   "The reference, an attention-v1 file (- reads standard input) or a file of arrays")
      ->required()
      ->type_name("");
  command->add_option("CANDIDATE", r->candidate, "The file to check; - reads standard input")
      ->required()
      ->type_name("");
  const auto tolerance = [&](const char* name, std::vector<std::string>& to, const char* type,
                             const char* meaning) {
    command->add_option(name, to, meaning)->type_name(type)->allow_extra_args(false);
  };
  tolerance("--abs", r->absolute, "[NAME=]X",
            "The largest absolute error to pass, exactly as written: 1e-12, 1/3, 0x1p-40");
  tolerance("--ulp", r->ulp, "[NAME=]N", "The largest ulp distance to pass, a whole number");
  tolerance("--weighted-v", r->weighted_v, "N[:DTYPE]",
            "Files of arrays: the largest error of output to pass, in units of its weighted |V|");
  command
      ->add_option("--only", r->only,
                   "Check only this array; may be given again, or with several: output,weights")
      ->type_name("NAME")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_flag("--as-written", r->as_written, "Take the reference's numbers as they are");
  command->add_flag("--json", r->json, "Print the report as JSON");
  command->add_flag("--quiet", r->quiet, "Print the verdict's line only")->excludes("--json");
  command->add_flag("--verbose", r->verbose, "Show the worst elements of arrays of a file that pass, too")
      ->excludes("--quiet");
  command
      ->add_option("--case", r->cases,
                   "Files of arrays: compute the exact numbers of the worst elements from this case; may be "
                   "given again")
      ->type_name("CASE")
      ->allow_extra_args(false)
      ->group("Arrays");
  add_array_options(*command, r->arrays, false);
  command->footer(std::string(explanation) + array_check_explanation);
  command->callback([r, &chosen] { chosen = [r] { return run(*r); }; });
}

}  // namespace attest::tools
