#include "case_options.hpp"
#include "commands.hpp"

#include <attest/trace/trace.hpp>

#include <cstdlib>
#include <memory>
#include <string>

namespace attest::tools {

namespace {

struct request {
  case_options files;
  std::string format;  // empty: what the output's extension says
};

// Whether the locale's characters are UTF-8, by the variables that set it; the locale itself need not be
// installed.
bool locale_is_utf8() {
  std::string locale;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    locale = value;
    break;
  }
  for (char& c : locale)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
}

trace_format format_of(const std::string& name) {
  if (name == "markdown") return trace_format::markdown;
  if (name == "latex") return trace_format::latex;
  return locale_is_utf8() ? trace_format::text : trace_format::ascii;
}

std::string format_of_file(const std::string& path) {
  if (path.ends_with(".tex")) return "latex";
  return path.ends_with(".md") ? "markdown" : "text";
}

trace_options options_of(const io::case_file& file, trace_format format) {
  trace_options options;
  options.format = format;
  if (const auto* decimals = file.find_kept("display_decimals"))
    options.decimals = static_cast<unsigned>(std::stoul(decimals->text));
  if (const auto* provenance = file.find_kept("provenance")) options.title = provenance->text;
  if (const auto* positions = file.find_kept("positions"))
    for (const auto& name : positions->items) options.positions.push_back(name.text);
  return options;
}

int run(const request& r) {
  const io::case_file file = r.files.read();
  const destination target(r.files);
  target.write(
      trace(file.problem,
            options_of(file, format_of(r.format.empty() ? format_of_file(r.files.output) : r.format))));
  return done;
}

// Nothing, or what is wrong with the name.
std::string format_name(const std::string& text) {
  return text == "text" || text == "markdown" || text == "latex"
             ? ""
             : text + " is no format: text, markdown or latex";
}

const char* const explanation =
    "The calculation is written as a textbook does it by hand: Q, K, V and D = Q K^T with the dot\n"
    "products, the scaled scores in s = 1/sqrt(d_k), the rows of weights in r = e^s, a table of the\n"
    "weights, and the outputs. \"=\" stands before what is exact. Decimals are certified roundings to\n"
    "display_decimals decimals (6 without it). A number too long to be read, as most floats are, is\n"
    "shown rounded. Of a large matrix the first rows and columns and the last are shown.\n"
    "\n"
    "text fits 80 columns; it is UTF-8 where LC_ALL, LC_CTYPE or LANG says so, and ASCII elsewhere.\n"
    "markdown has its mathematics between dollar signs. latex is a document that needs amsmath alone.\n"
    "\n"
    "Exit status: 0 done, 2 bad usage or bad input (one line on standard error says what).";

}  // namespace

void add_trace_command(CLI::App& program, action& chosen) {
  CLI::App* command = program.add_subcommand("trace", "Write the calculation of a case step by step");
  const auto r = std::make_shared<request>();
  add_case_options(*command, r->files);
  command
      ->add_option("--format", r->format,
                   "text, markdown or latex; otherwise what the extension of FILE says: .md, .tex, or text")
      ->type_name("FORMAT")
      ->check(format_name);
  command->footer(std::string(case_explanation) + explanation);
  command->callback([r, &chosen] { chosen = [r] { return run(*r); }; });
}

}  // namespace attest::tools
