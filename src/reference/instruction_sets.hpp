#pragma once

#include <string>
#include <vector>

// For tests: which instruction sets the vectorised code of this library can use on this machine, and to take
// one of them.
namespace attest::instruction_sets {

/// Their names, as Highway has them, the best first.
std::vector<std::string> available();

/// From now on, in all threads, vectorised code takes this one of available(), or with an empty name the best
/// again. Not to be called while such code runs.
void use(const std::string& name);

}  // namespace attest::instruction_sets
