#pragma once

#include <attest/io/array_file.hpp>
#include <attest/io/files.hpp>
#include <attest/io/input_error.hpp>

#include <charconv>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

// What the texts of the command line say.
namespace attest::tools {

/// Whether the whole text is a number of the type, which then is in `value`.
template <class Integer>
bool is_number(std::string_view text, Integer& value) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

/// "NAME=CONTENT" as a pair. Without one of the two it is input_error, which names the option and gives the
/// example.
inline std::pair<std::string, std::string> assignment(const std::string& text, const char* option,
                                                      const char* example) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw io::input_error(std::string(option) + ": " + text + " is no assignment: give " + example);
  return {text.substr(0, equals), text.substr(equals + 1)};
}

/// What is wrong with the text of an option that has to say something, such as one of a variable that is not
/// set; or nothing.
inline std::string empty_text(const std::string& text) {
  return text.empty() ? "it is empty: give a value, or leave it out" : std::string();
}

/// That no file which is read is written as well: `output`, nor where it has one its sidecar. Of NAME=PATH
/// the path counts.
inline void refuse_to_replace(const std::string& output, const std::vector<std::string>& inputs) {
  for (const std::string& given : inputs) {
    const std::size_t equals = given.find('=');
    for (const std::string& input : {given, equals == std::string::npos ? given : given.substr(equals + 1)})
      for (const char* const read : {"", ".json"}) {
        io::refuse_to_replace(output, input + read);
        const auto format = io::format_of_path(output);
        if (format == io::array_format::raw || format == io::array_format::npy)
          io::refuse_to_replace(output + ".json", input + read);
      }
  }
}

}  // namespace attest::tools
