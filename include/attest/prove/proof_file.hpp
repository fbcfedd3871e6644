#pragma once

#include <attest/prove/claims.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace attest::prove {

struct proof_source {
  std::string case_name;    // what the proof calls the case: its file name without folders
  std::string case_sha256;  // of the bytes of the case, for a later comparison with the file
  std::string command;      // by which the proof can be written anew
};

/// A C++ file that compiles exactly when every printed number is right, if the library's headers are found:
/// the inputs as matrices, a claim for each row of each array, and canaries, negated claims with one digit
/// altered, which no compiler accepts that takes every claim for true. A number that is too wide for the
/// integers of a proof (512 bits) is input_error.
std::string proof_file(const io::case_batch& inputs, const std::vector<printed_array>& printed,
                       const proof_source& source);

}  // namespace attest::prove
