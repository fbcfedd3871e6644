#pragma once

#include <attest/reference/attention.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

// A second road to every value: the exact exponents go into Boost's cpp_bin_float, and its exp, log and quotients do the rest.
// No enclosure and no proof of rounding is in it, so it cross-checks and never certifies. (cpp_bin_float itself takes two
// seconds to compile and stays out of this header.)
namespace attest {

/// The precisions there are, in decimal digits.
inline constexpr std::array<unsigned, 5> float_precisions = {50, 100, 200, 500, 1000};

/// How many digits of a value in floats of `precision` digits are not vouched for, in a row whose scores spread over `spread`:
/// the exponent x = score - largest score is off by a few units of its last place, which moves e^x by |x| times as much,
/// and so does the reduction of x by multiples of ln 2 inside Boost's exp. Every other step adds a few units of the last
/// place. So the error is at most about (8 |x| + 16) units, and a unit is below 10^-precision: 3 digits for |x| <= 10 and
/// one more with each power of ten. (Measured: at most 1.5 |x| + 6; tests/reference/high_precision_test.cpp holds the bound.)
///
/// Digits of a weight count from its own first; of an output from that of Σ |V_jc| A_ij, as values of both signs cancel; of
/// a log-sum-exp from that of 1 or the largest score.
unsigned guard_digits(double spread);

/// A row of weights as a page writes it, [r, 1, r]/(2r + 1): numerators over one denominator, divided by the smallest power
/// that occurs in them. Past the range of the floats, about 10^±600,000,000, a number reads "inf" or "0".
struct evaluated_row {
  std::string expression;
  std::vector<std::string> numerators;  // Tk
  std::string denominator;
};

/// One head in floats; each number as a decimal with `precision` significant digits, "0" for zero.
struct float_attention {
  unsigned precision = 0;
  std::optional<std::string> r;          // e^(1/√d_k), with the default scale
  std::vector<evaluated_row> rows;       // Tq
  matrix<std::string> weights;           // [Tq, Tk]
  matrix<std::string> output;            // [Tq, d_v]
  std::vector<std::string> log_sum_exp;  // Tq, base e
};

/// The head in floats of a precision out of `float_precisions`; any other is std::invalid_argument. Inputs that do not
/// fit each other are problem_error.
float_attention attention_in_floats(const problem& p, unsigned precision);

/// A reference held against floats of the least precision out of `float_precisions` that has its digits (1000 for more). Two
/// values agree in n digits where they differ by at most half a unit of the n-th; and they disagree where they differ by
/// more than the rounding of the certified decimal, half a unit of its last digit, and the guard digits together.
struct cross_check_report {
  struct disagreement {
    std::string place;      // "weights [0, 1]"
    std::string reference;  // the certified decimal
    std::string in_floats;
    unsigned digits;  // in which they agree
  };
  unsigned precision = 0;
  unsigned digits = 0;         // of the reference, at most the precision
  std::size_t compared = 0;    // weights, outputs, log-sum-exps and r
  std::size_t beyond = 0;      // values too close to zero for these floats, not compared
  unsigned agreeing = 0;       // the digits in which all compared values agree
  std::vector<disagreement> disagreements;
};
cross_check_report cross_check(const problem& p, const attention_reference& answer);

}  // namespace attest
