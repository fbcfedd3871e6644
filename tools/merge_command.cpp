#include "array_reference.hpp"
#include "commands.hpp"

#include <memory>
#include <string>
#include <vector>

namespace attest::tools {

namespace {

struct request {
  std::vector<std::string> parts;
  std::string output;
};

const char* const explanation =
    "The parts are files that attest reference --rows A:B has written, of one case and one set of\n"
    "options, in any order. The file is the same, byte for byte, as attest reference without --rows\n"
    "would have written. Rows that are missing or that two parts have, and parts of other inputs or\n"
    "options, are refused.\n"
    "\n"
    "Exit status: 0 done, 2 bad usage or bad input (one line on standard error says what), 3 some\n"
    "element of a part is undecided.";

}  // namespace

void add_merge_command(CLI::App& program, action& chosen) {
  CLI::App* command = program.add_subcommand("merge", "Put parts of a reference together");
  const auto r = std::make_shared<request>();
  command->add_option("PART", r->parts, "The parts")->required()->type_name("");
  command->add_option("-o,--output", r->output, "The file to write; its extension says the format")
      ->required()
      ->type_name("FILE");
  command->footer(explanation);
  command->callback([r, &chosen] { chosen = [r] { return merge_parts(r->parts, r->output); }; });
}

}  // namespace attest::tools
