#pragma once

#include <attest/reference/problem.hpp>

#include <string>
#include <vector>

namespace attest {

/// text is UTF-8 in lines of 80 columns, ascii the same without a character beyond ASCII; markdown has its
/// mathematics in $...$ and tables with bars; latex is a document that needs amsmath alone.
enum class trace_format { text, ascii, markdown, latex };

struct trace_options {
  trace_format format = trace_format::text;
  unsigned decimals = 6;               // of weights, outputs and whatever else is rounded
  std::string title;                   // a paragraph at the beginning, if it is not empty
  std::vector<std::string> positions;  // a name for each query, or none
};

/// The calculation softmax(Q Kᵀ · scale) V step by step, as a textbook works it by hand: inputs with their
/// shapes, Q, K and V and D = Q Kᵀ with the dot products, the scaled scores in s = 1/√d_k, the rows of
/// weights in r = e^s, a table of the weights, and the outputs as expressions and decimals. Rows and columns
/// count from 1, as on a page.
///
/// "=" stands before what is exact. Decimals of weights, outputs and scores are certified roundings (ties to
/// even), and "≈" stands before them and before any expression with a number too long to be written out,
/// which is shown to `decimals` significant digits. More than 16 rows or 10 columns, and dot products past
/// the first few of a larger matrix, are left out with dots.
///
/// Inputs that do not fit each other are problem_error.
std::string trace(const problem& p, const trace_options& options = {});

}  // namespace attest
