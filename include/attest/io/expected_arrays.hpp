#pragma once

#include <attest/check/certified.hpp>
#include <attest/io/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace attest::io {

/// An array of a file under its name.
struct expected_array {
  std::string name;
  exact_array array;
};

/// Parses the text of the file called `name`, in which NaN and infinity may occur, as an attention-v1 file:
/// an object, whose `version`, if it has one, is "attention-v1". Anything else is input_error.
json::value read_attention_v1(std::string_view text, std::string_view name);

/// Whether the file has inputs, so that it is a case (read_case) from which its arrays can be computed anew.
bool has_inputs(const json::value& root);

/// The array that this JSON value is, under the name that messages give it: a list of lists, of any depth and
/// equal lengths on each level, with elements as read_expected() has them.
exact_array read_array(const json::value& v, std::string_view file, const std::string& array);

/// The arrays under `expected`, in their order: each a list of lists, of any depth and equal lengths on each
/// level. An element is a number (an integer exactly, anything else the nearest binary64), NaN or infinity,
/// or a string that read_exact() reads or that holds one of those words. Whatever else there is is
/// input_error, `expected` without an array among it; `remedy` ends the message where there is no `expected`.
std::vector<expected_array> read_expected(const json::value& root, std::string_view name,
                                          std::string_view remedy);

}  // namespace attest::io
