#pragma once

#include <attest/problem/one_line.hpp>

#include <stdexcept>
#include <string_view>

namespace attest::io {

/// A file that cannot be read, used or written. what() is one line: the file, the array, what is wrong, the
/// remedy.
class input_error : public std::runtime_error {
 public:
  explicit input_error(std::string_view message) : std::runtime_error(one_line(message)) {}
};

}  // namespace attest::io
