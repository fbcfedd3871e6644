#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace attest::io {

/// The text on one line: every control character, line ends among them, as \n, \t or \x1b. Messages quote
/// what stands in somebody's file or file name, and must stay one line.
std::string one_line(std::string_view text);

/// A file that cannot be read, used or written. what() is one line: the file, the array, what is wrong, the
/// remedy.
class input_error : public std::runtime_error {
 public:
  explicit input_error(std::string_view message) : std::runtime_error(one_line(message)) {}
};

}  // namespace attest::io
