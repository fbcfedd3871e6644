#pragma once

#include <string>
#include <string_view>

namespace attest {

/// The text on one line: every control character, line ends among them, as \n, \t or \x1b. Messages quote
/// what stands in somebody's file or file name, and must stay one line.
std::string one_line(std::string_view text);

}  // namespace attest
