#include "commands.hpp"
#include "version.hpp"

#include <attest/io/files.hpp>
#include <attest/io/input_error.hpp>
#include <attest/problem/one_line.hpp>

#include <csignal>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <string_view>

namespace {

int fail(std::string_view message) {
  constexpr std::size_t longest = 1000;  // what a file quotes of itself can be as long as the file
  std::string line = attest::one_line(message);
  if (line.size() > longest) line.replace(longest / 2, line.size() - longest, " ... ");
  std::cerr << "attest: " + line + '\n';
  return attest::tools::bad_input;
}

int run(int argc, char** argv) {
  namespace tools = attest::tools;
  CLI::App program("Certified reference values for scaled dot-product attention, softmax(Q K^T scale) V.",
                   "attest");
  program.require_subcommand(1);
  program.set_version_flag("--version", std::string("attest ") + tools::version);
  program.footer(
      "Exit status: 0 done or passed, 1 a check failed, 2 bad usage or bad input (one line on standard\n"
      "error says what), 3 some element is undecided.\n"
      "attest COMMAND --help describes a command.");
  tools::action chosen;
  tools::add_reference_command(program, chosen);
  tools::add_check_command(program, chosen);
  tools::add_trace_command(program, chosen);
  tools::add_prove_command(program, chosen);
  tools::add_random_command(program, chosen);
  tools::add_convert_command(program, chosen);
  tools::add_merge_command(program, chosen);
  try {
    program.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const auto commands = program.get_subcommands();
    attest::io::write_standard_output(commands.empty() ? program.help() : commands.front()->help("attest"));
    return tools::done;
  } catch (const CLI::CallForVersion& e) {
    attest::io::write_standard_output(std::string(e.what()) + '\n');
    return tools::done;
  } catch (const CLI::RequiredError& e) {
    if (program.get_subcommands().empty())
      return fail(argc < 2 ? "a command is missing; see attest --help"
                           : "there is no command " + std::string(argv[1]) + "; see attest --help");
    return fail(std::string(e.what()) + "; see attest " + program.get_subcommands().front()->get_name() +
                " --help");
  } catch (const CLI::ParseError& e) {
    return fail(std::string(e.what()) + "; see attest --help");
  }
  return chosen();
}

}  // namespace

int main(int argc, char** argv) {
  // A closed pipe and a file-size limit are errors of writing, which have their own message.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return run(argc, argv);
  } catch (const attest::io::input_error& e) {
    return fail(e.what());
  } catch (const std::bad_alloc&) {
    return fail("there is not enough memory for this case: make it smaller, or ask for fewer digits");
  } catch (const std::exception& e) {
    return fail(std::string("the case cannot be computed: ") + e.what());
  }
}
