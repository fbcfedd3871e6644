#include "arguments.hpp"
#include "commands.hpp"

#include <attest/io/array_file.hpp>
#include <attest/io/case_file.hpp>
#include <attest/io/input_error.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
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
};

using io::input_error;

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
  io::arrays_to_write content;
  content.provenance = file->provenance();
  content.case_options = file->case_options();
  for (const io::array_info& info : file->arrays()) {
    if (!r.only.empty() && std::find(r.only.begin(), r.only.end(), info.name) == r.only.end()) continue;
    io::host_array a = file->load(info.name);
    const std::string where = r.input + ": array " + info.name + ": ";
    for (const auto& [name, type] : dtypes)
      if (name == info.name) a = io::reinterpreted(std::move(a), type, where);
    if (a.untyped)
      throw input_error(where + io::untyped_text(a, info.name));
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
    "and .hpp, hexadecimal floats for C++, which is written and not read. No element is ever rounded:\n"
    "what a format cannot hold is refused, or kept as the unsigned integers of its bits with the dtype in\n"
    "a sidecar (bfloat16 and float8 in .npy). JSON keeps values, as binary64, and not dtypes.\n"
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
  command->add_option("--name", r->names, "The array NAME is called Q in OUT")
      ->type_name("Q=NAME")
      ->allow_extra_args(false);
  command->footer(explanation);
  command->callback([r, &chosen] { chosen = [r] { return run(*r); }; });
}

}  // namespace attest::tools
