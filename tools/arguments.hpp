#pragma once

#include <attest/io/input_error.hpp>

#include <charconv>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

// What the texts of the command line say.
namespace attest::tools {

/// Whether the whole text is a number of the type, which then is in `value`.
template <class Integer>
bool is_number(std::string_view text, Integer& value) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

/// "NAME=CONTENT" as a pair. Without one of the two it is input_error, which names the option and gives the example.
inline std::pair<std::string, std::string> assignment(const std::string& text, const char* option, const char* example) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw io::input_error(std::string(option) + ": " + text + " is no assignment: give " + example);
  return {text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace attest::tools
