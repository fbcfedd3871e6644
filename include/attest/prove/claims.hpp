#pragma once

#include <attest/io/case_file.hpp>
#include <attest/io/json.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The printed numbers of a case, as claims: what somebody's page or program says that Q, K, V, dots, scores,
// weights and output are.
namespace attest::prove {

/// What a printed list says of the exact values, as the claims of these names in attest/proof/claims.hpp.
enum class claim_kind { exactly, decimal, binary64 };

std::string_view name_of(claim_kind kind);
/// "exactly", "decimal" or "binary64"; nothing for another word.
std::optional<claim_kind> claim_kind_of(std::string_view word);

struct printed_array {
  std::string name;                   // as under `expected`
  claim_kind kind;
  std::vector<std::size_t> shape;     // [rows, columns]; of a batch [examples, rows, columns]
  std::vector<std::string> numerals;  // row by row, as they are written: trailing zeros count

  std::size_t rows() const { return shape[shape.size() - 2]; }
  std::size_t columns() const { return shape.back(); }
  const std::string& numeral(std::size_t example, std::size_t row, std::size_t column) const {
    return numerals[(example * rows() + row) * columns() + column];
  }
};

/// The arrays under `expected` of the file called `name`, whose inputs are `inputs`, in the order in which
/// they are computed. What each of them says is under `claims`: an object with a word for each array, or one
/// word for all. In an array that no object mentions, integers and fractions alone are `exactly`; where a
/// number has a point or an exponent, the array is what the one word or `otherwise` says, and without these
/// it is refused, since its numbers may be decimals or binary64s (strings are exact, as everywhere). Arrays
/// of other names or shapes, numerals that cannot stand in such a claim, and a file without printed numbers
/// are input_error.
std::vector<printed_array> read_claims(const io::json::value& root, std::string_view name,
                                       const io::case_batch& inputs,
                                       std::optional<claim_kind> otherwise = std::nullopt);

/// A printed number that is wrong.
struct wrong_number {
  std::string place;    // "weights[0][1]", or "weights[1][0][1]" in a batch
  std::string printed;  // as it is written
  std::string exact;    // the exact value: in full if it is short, otherwise the leading digits and "…"
  std::string right;    // what could be printed instead

  /// "weights[0][1]: printed 0.197777, exact 0.19777581…: write 0.197776".
  std::string message() const;
};

/// The printed numbers that are wrong, decided exactly, in order. `progress` is called with the examples
/// done and all examples.
std::vector<wrong_number> wrong_numbers(const io::case_batch& inputs,
                                        const std::vector<printed_array>& printed,
                                        const std::function<void(std::size_t, std::size_t)>& progress = {});

}  // namespace attest::prove
