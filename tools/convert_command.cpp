#include "arguments.hpp"
#include "commands.hpp"

#include <attest/io/array_file.hpp>
#include <attest/io/case_file.hpp>
#include <attest/io/input_error.hpp>
#include <attest/io/rounded_array.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace attest::tools {

namespace {

struct request {
  std::string input;
  std::string output;
  std::vector<std::string> only;
  std::vector<std::string> dtypes;
  std::vector<std::string> names;
  std::vector<std::string> rounded;
  bool saturate = false;
};

using io::input_error;

// To which format --round-to takes an array, of "K=DTYPE" and, for all other floats, "DTYPE".
struct formats_to_round_to {
  std::optional<dtype> all;
  std::map<std::string, dtype> named;

  std::optional<dtype> of(const io::host_array& a) const {
    if (const auto found = named.find(a.name); found != named.end()) return found->second;
    return format_of(a.type) != nullptr && !a.untyped ? all : std::nullopt;
  }
};

formats_to_round_to read_rounding(const std::vector<std::string>& texts) {
  formats_to_round_to result;
  for (const std::string& text : texts) {
    const bool of_one = text.find('=') != std::string::npos;
    const auto [name, type] =
        of_one ? assignment(text, "--round-to", "K=bfloat16") : std::pair(std::string(), text);
    const auto named = io::dtype_named(type);
    if (!named || format_of(*named) == nullptr)
      throw input_error("--round-to: " + type + " is no float: " + io::float_dtype_names);
    if (of_one ? !result.named.emplace(name, *named).second : result.all.has_value())
      throw input_error("--round-to: " + (of_one ? "array " + name + " is there" : "all arrays are there") +
                        " twice: give it once");
    if (!of_one) result.all = named;
  }
  return result;
}

int run(const request& r) {
  if (r.output.empty()) throw input_error("OUT: the name of the file is empty: give one");
  const auto format = io::format_of_path(r.output);
  if (!format)
    throw input_error(
        r.output +
        ": its extension names no format: use .npy, .npz, .safetensors, .bin, .raw, .json or .hpp");
  refuse_to_replace(r.output, {r.input});
  const auto file = io::open_arrays(r.input);
  if (!file->unknown_keys().empty())
    throw input_error(r.input + ": " + io::unknown_key(file->unknown_keys()[0]));
  const auto known = [&](const std::string& option, const std::string& name) {
    if (file->find(name) == nullptr) throw input_error(option + ": " + r.input + " has no array " + name);
  };
  for (const std::string& name : r.only) known("--only", name);
  std::vector<std::pair<std::string, std::string>> dtypes;
  for (const std::string& text : r.dtypes) {
    dtypes.push_back(assignment(text, "--dtype", "K=bfloat16"));
    known("--dtype", dtypes.back().first);
  }
  std::vector<std::pair<std::string, std::string>> names;
  for (const std::string& text : r.names) {
    names.push_back(assignment(text, "--name", "Q=NAME"));
    known("--name", names.back().second);
  }
  const auto once = [&](const std::string& option, const std::string& name, std::size_t times) {
    if (times > 1) throw input_error(option + ": array " + name + " is there twice: give it once");
    if (!r.only.empty() && std::find(r.only.begin(), r.only.end(), name) == r.only.end())
      throw input_error(option + ": array " + name + " is none of those that --only takes");
  };
  for (const auto& [name, type] : dtypes)
    once("--dtype", name,
         static_cast<std::size_t>(std::count_if(dtypes.begin(), dtypes.end(),
                                                [&](const auto& other) { return other.first == name; })));
  for (const auto& [to, from] : names)
    once("--name", from,
         static_cast<std::size_t>(std::count_if(names.begin(), names.end(),
                                                [&](const auto& other) { return other.second == from; })));
  const formats_to_round_to rounding = read_rounding(r.rounded);
  for (const auto& [name, type] : rounding.named) {
    known("--round-to", name);
    once("--round-to", name, 1);
  }
  if (r.saturate && r.rounded.empty())
    throw input_error("--saturate: nothing is rounded: give --round-to, or leave it out");
  if (!r.rounded.empty() && !file->provenance().empty())
    throw input_error("--round-to: " + r.input +
                      " has results that attest has rounded, and to round twice is " +
                      "another result: write them anew with attest reference --output-dtype");
  io::arrays_to_write content;
  content.provenance = file->provenance();
  content.case_options = file->case_options();
  for (const io::array_info& info : file->arrays()) {
    if (!r.only.empty() && std::find(r.only.begin(), r.only.end(), info.name) == r.only.end()) continue;
    io::host_array a = file->load(info.name);
    const std::string where = r.input + ": array " + info.name + ": ";
    for (const auto& [name, type] : dtypes)
      if (name == info.name) a = io::reinterpreted(std::move(a), type, where);
    if (a.untyped) throw input_error(where + io::untyped_text(a, info.name));
    if (const auto type = rounding.of(a))
      a = io::in_format(a, *type, r.saturate ? io::inexact::saturated : io::inexact::rounded, where);
    for (const auto& [to, from] : names)
      if (from == info.name) a.name = to;
    for (const io::host_array& other : content.arrays)
      if (other.name == a.name) throw input_error("--name: two arrays would be called " + a.name);
    content.arrays.push_back(std::move(a));
  }
  if (content.arrays.empty()) throw input_error(r.input + ": it has no array to convert");
  io::write_arrays(r.output, content);
  return done;
}

const char* const explanation =
    "Formats follow the extensions: .npy, .npz, .safetensors, .bin and .raw (with a JSON sidecar), .json;\n"
    "and .hpp, hexadecimal floats for C++, which is written and not read. No element is rounded but by\n"
    "--round-to, to nearest with ties to even: for the inputs of a kernel that takes bfloat16, say, of\n"
    "which a reference is then to be made; an element that overflows is refused, or with --saturate the\n"
    "largest number. What a format cannot hold is refused, or kept as the unsigned integers of its bits\n"
    "with the dtype in a sidecar (bfloat16 and float8 in .npy). JSON keeps values, as binary64, and not\n"
    "dtypes.\n"
    "\n"
    "Exit status: 0 done, 2 bad usage or bad input (one line on standard error says what).";

}  // namespace

void add_convert_command(CLI::App& program, action& chosen) {
  CLI::App* command = program.add_subcommand("convert", "Write the arrays of a file in another format");
  const auto r = std::make_shared<request>();
  command->add_option("IN", r->input, "The file to read")->required()->type_name("");
  command->add_option("OUT", r->output, "The file to write")->required()->type_name("");
  command->add_option("--only", r->only, "Only this array; may be given again, or with several: Q,K")
      ->type_name("NAME")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      ->add_option("--dtype", r->dtypes,
                   "The integers of array K are the bits of DTYPE; several as Q=e4m3,K=e4m3, or given again")
      ->type_name("K=DTYPE,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      ->add_option("--round-to", r->rounded,
                   "Round array K, or without a name every array of floats, to DTYPE; several as "
                   "Q=bf16,K=bf16, or given again")
      ->type_name("[K=]DTYPE,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_flag("--saturate", r->saturate, "What overflows when rounded becomes the largest number");
  command->add_option("--name", r->names, "The array NAME is called Q in OUT")
      ->type_name("Q=NAME")
      ->allow_extra_args(false);
  command->footer(explanation);
  command->callback([r, &chosen] { chosen = [r] { return run(*r); }; });
}

}  // namespace attest::tools
