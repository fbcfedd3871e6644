#include "case_options.hpp"

namespace attest::tools {

io::case_file case_options::read() const {
  const auto meaning = exact_decimals ? io::decimals::exact : io::decimals::nearest_binary64;
  return io::read_case(io::read_file(input), input_name(), meaning);
}

void add_case_options(CLI::App& command, case_options& options) {
  command.add_option("CASE", options.input, "The case, a JSON file; - reads standard input")
      ->required()
      ->type_name("");
  command
      .add_option("-o,--output", options.output,
                  "The file to write; - (the default) writes to standard output")
      ->type_name("FILE");
  command.add_flag("--decimal", options.exact_decimals,
                   "Take numbers with a point or an exponent for exact decimals");
}

const char* const case_explanation =
    "CASE is a JSON object with the arrays X, WQ, WK and WV (and Y, the sequence of keys and values, for\n"
    "cross-attention), or Q, K and V: lists of rows. Optional: mask (lists of true and false, true where\n"
    "a query sees a key), scale (a number; otherwise exactly 1/sqrt(d_k)), and, kept as they are, version\n"
    "(\"attention-v1\"), provenance, positions, derivation, tolerance and display_decimals. expected and\n"
    "claims, which attest prove reads, and attest, which attest reference writes, may be there too. Any\n"
    "other key is refused, so that a misspelt one cannot go unseen.\n"
    "\n"
    "A JSON integer is exact at any size. A number with a point or an exponent is the nearest binary64,\n"
    "unless --decimal makes it exact. A string holds a rational \"1/3\", a decimal \"0.1\" or a\n"
    "hexadecimal float \"0x1.8p-3\", all exact. A number has at most 4000 digits and, unless it is zero,\n"
    "a magnitude from 10^-4000 to 10^4000.\n"
    "\n";

destination::destination(const case_options& options) {
  if (options.output == "-") return;
  file_.emplace(options.output);
  io::refuse_to_replace(options.output, options.input);
}

void destination::write(std::string_view bytes) const {
  if (file_)
    file_->write(bytes);
  else
    io::write_standard_output(bytes);
}

}  // namespace attest::tools
