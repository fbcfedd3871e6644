#pragma once

#include <attest/reference/problem.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace attest {

/// A weight, an output or a log-sum-exp.
struct reference_value {
  double nearest = 0;                 // the correctly rounded binary64, ties to even
  std::optional<exact_scalar> exact;  // where the value is a rational number
  std::string decimal;                // correctly rounded to the significant digits asked for; see attention()
};

/// The reference of one head, certified in every element: nothing in it is approximated without proof.
struct attention_reference {
  exact_matrix queries;  // Q [Tq, d_k]
  exact_matrix keys;     // K [Tk, d_k]
  exact_matrix values;   // V [Tk, d_v]
  exact_matrix dots;     // D = Q Kᵀ [Tq, Tk], not scaled, masked keys included
  matrix<reference_value> weights;           // [Tq, Tk]; zero for a masked key
  matrix<reference_value> output;            // [Tq, d_v]
  std::vector<reference_value> log_sum_exp;  // Tq, base e

  unsigned digits = 0;
  /// The default scale alone has an r = e^(1/√d_k): its meaning and decimal.
  std::optional<std::string> r_meaning;
  std::optional<std::string> r_decimal;
  /// The exact expressions of each row: of its weights, "[r, 1, r]/(2r + 1)", and of its outputs, "[3r + 1, 2 + 2r]/(2r + 1)".
  std::vector<std::string> weight_rows;
  std::vector<std::string> output_rows;
};

struct reference_options {
  unsigned digits = 50;  // significant decimal digits, at least 1
  /// Called after each row with the number of rows done and of all rows.
  std::function<void(std::size_t done, std::size_t rows)> progress = {};
};

/// softmax(Q Kᵀ · scale) V of the problem, exactly and then rounded once. Inputs that do not fit each other are
/// problem_error; digits of 0 are std::invalid_argument.
///
/// A decimal has the digits asked for, trailing zeros included ("0.50"), and is "0" for zero. Values closer to zero than
/// 2^-2^40 have no digits that could be computed; theirs reads "<1e-330985980541", or ">-1e-330985980541".
attention_reference attention(const problem& p, const reference_options& options = {});

}  // namespace attest
