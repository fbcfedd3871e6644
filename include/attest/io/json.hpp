#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

// JSON as it is written: numbers stay text and keys keep their order, so that nothing is lost before attest
// decides what a number means.
namespace attest::io::json {

enum class kind { null, boolean, number, string, array, object };

/// "null", "a boolean", "a number", ... for messages.
std::string_view name_of(kind k);

struct value {
  kind type = kind::null;
  bool truth = false;             // of a boolean
  std::string text;               // of a number: its token; of a string: its characters
  std::vector<std::string> keys;  // of an object: keys[i] belongs to items[i]
  std::vector<value> items;       // of an array or object

  /// The member of this object under the key, or null.
  const value* find(std::string_view key) const;
};

/// A text that is not JSON. what() says where and why, on one line.
class syntax_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// How deep arrays and objects may nest.
inline constexpr std::size_t maximum_depth = 64;

/// What parse() does with the tokens that JSON lacks and many a writer produces: NaN, Infinity and -Infinity
/// (Python), nan, -nan, inf and -inf (C), in any case. `kept`: as numbers with the text "NaN", "Infinity" or
/// "-Infinity".
enum class not_finite { refused, kept };

/// Reads one JSON text (RFC 8259, UTF-8, nothing after it). A duplicate key, a depth past maximum_depth and a
/// number of magnitude 10^4932 or more are syntax_error, as are NaN and infinity unless they are kept.
value parse(std::string_view text, not_finite words = not_finite::refused);

/// The characters as a JSON string, in quotes; control characters escaped, everything else as it is.
std::string quote(std::string_view characters);

/// The value as JSON on one line: ", " and ": " as separators.
std::string write(const value& v);

}  // namespace attest::io::json
