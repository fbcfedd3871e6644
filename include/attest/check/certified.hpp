#pragma once

#include <attest/check/compare.hpp>
#include <attest/reference/attention.hpp>

#include <map>
#include <string>
#include <variant>
#include <vector>

// Arrays of exact numbers in comparisons: what a file holds, and what attest computes.
namespace attest {

/// An array of numbers as they are written: binary64 (NaN and infinity among them), and exact numbers that
/// are none, such as an integer past 2^53.
struct exact_array {
  std::vector<std::size_t> shape;
  std::vector<double> values;                  // row by row; the nearest binary64 of what is in `beyond`
  std::map<std::size_t, exact_scalar> beyond;  // by flat index

  array_view view() const { return {shape, values}; }
  /// The exact value of a finite element.
  exact_scalar exact(std::size_t at) const;
};

/// What the reference library knows of an array.
struct certified_array {
  std::string name;             // as under `expected` of attention-v1
  exact_array reference;        // integers exactly, everything else correctly rounded to binary64
  std::vector<double> offsets;  // (exact - value) / ulp(value), within 2^-54 + 10^-(digits - 17)
  /// Of each example: numbers, or decimals.
  std::vector<std::variant<exact_matrix, std::vector<std::string>>> exact;
  unsigned digits = 0;  // that the attention_reference was asked for

  /// The exact number to that many digits, where it is no binary64.
  std::optional<std::string> exact_decimal(std::size_t at) const;
};

/// Q, K, V, dots, weights and output, each [rows, columns].
std::vector<certified_array> certified_arrays(const attention_reference& answer);
/// ... of examples of one shape: each [examples, rows, columns].
std::vector<certified_array> certified_batch(std::span<const attention_reference> answers);

struct exact_tolerance {
  std::optional<exact_scalar> absolute = {};  // not negative
  std::optional<std::uint64_t> ulp = {};
};

/// compare() of exact numbers. The absolute error is that of the numbers as written; ulps are those of the
/// nearest binary64s.
comparison compare_exact(const exact_array& reference, const exact_array& candidate,
                         const exact_tolerance& allowed, std::span<const double> offsets = {});

/// |candidate - reference| of two finite elements, exactly.
exact_scalar absolute_difference(const exact_array& reference, const exact_array& candidate, std::size_t at);

}  // namespace attest
