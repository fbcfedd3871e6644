#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

// What is fuzzed: the readers of files that somebody else wrote. Each target takes any bytes.
namespace fuzz {

/// Whether the reader took the bytes for a file of its kind, or refused them with the error that it documents.
enum class outcome { accepted, refused };

/// A reader that broke its word: what() says how. (Any other exception that leaves a target is one that the reader does
/// not document.)
class broken_promise : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// json::parse, with NaN and infinity refused and kept. A text that is accepted is written by json::write to a text that
/// reads the same and is written to the same bytes; one that is accepted without the words is accepted with them.
outcome json(std::string_view bytes);

/// read_batch, the reader of cases, with both meanings of decimals. A small case that is accepted is written as an
/// attention-v1 file that reads as the same problem and is written to the same bytes.
outcome attention_case(std::string_view bytes);

/// read_attention_v1 and read_expected, the readers of `attest check`. Arrays that are accepted are written to a file that
/// reads as the same arrays and is written to the same bytes; and they compare as equal to themselves.
outcome expected(std::string_view bytes);

/// open_arrays and load, the readers of array files: every array that is accepted is written in the same format to bytes that
/// read as the same arrays. A raw file stands after its sidecar and a zero byte.
outcome npy(std::string_view bytes);
outcome npz(std::string_view bytes);
outcome safetensors(std::string_view bytes);
outcome raw(std::string_view bytes);

/// read_options: options that are accepted are written by options_text to a text that reads as the same and is written to the
/// same text.
outcome options(std::string_view bytes);

struct target {
  const char* name;
  outcome (*run)(std::string_view bytes);
};
inline constexpr target targets[] = {
    {"json", json}, {"case", attention_case}, {"expected", expected}, {"npy", npy},
    {"npz", npz},   {"safetensors", safetensors}, {"raw", raw},       {"options", options}};

}  // namespace fuzz
