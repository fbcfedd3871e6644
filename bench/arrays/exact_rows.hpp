#pragma once

#include "problem.hpp"

#include <optional>

namespace bench {

/// Rows of the output by a road of its own, 400 bits of MPFR: the nearest doubles and what the exact values have beyond them.
struct exact_rows {
  std::vector<double> high;  // [rows, width]
  std::vector<double> low;
};

/// Of a problem with one head and no options. Nothing where MPFR is missing.
std::optional<exact_rows> rows_by_mpfr(const problem& p, const std::vector<std::size_t>& rows);

}  // namespace bench
