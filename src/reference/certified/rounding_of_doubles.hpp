#pragma once

#include <attest/rounding/direction.hpp>
#include <attest/rounding/format.hpp>

#include <cstddef>
#include <cstdint>

// From doubles with an error bound to numbers of a format. Half steps of a format are its numbers and the
// midpoints between them: an interval strictly between two neighbouring half steps rounds to one number in
// every direction, and no member of it is a number of the format or a tie.
namespace attest::certified {

/// For every i < count with x any real number in [value[i] - error, value[i] + error], to a format of at most
/// 24 significant bits: out[i] is the pattern of x rounded where open[i] is 0; then x lies strictly between
/// two half steps. The elements of out are unsigned integers of f.storage_bits (8, 16 or 32). Open are
/// magnitudes below about 5 error, below the format's smallest number or near its largest one,
/// values that are not finite, and everything when rounding to odd. Returns how many are open.
///
/// Proof: with v = value[i], e' = error + 2^-51 |v|, all in binary64 to nearest, the ends v - e' and v + e'
/// are off by at most 2^-53 (|v| + e') each and e' by 2^-53 (e' + 2^-51 |v|): with e' <= |v|/2 together below
/// 2^-51 |v|. So x lies strictly between the calculated ends, and it is enough that the closed lower and the
/// open upper end have the same half step below.
std::size_t round_between_steps(std::size_t count, const double* value, double error, const format& f,
                                rounding direction, void* out, unsigned char* open);

/// The same for rows of `count` numbers that follow each other, row r to out[r]; open_rows[r] tells whether
/// an element of the row is open, but not which. Returns how many rows are.
std::size_t round_rows_between_steps(std::size_t rows, std::size_t count, const double* values, double error,
                                     const format& f, rounding direction, void* const* out,
                                     unsigned char* open_rows);

/// For every i < count with x any real number in [high[i] + low[i] - error[i], high[i] + low[i] + error[i]]:
/// out[i] is x rounded to binary64 where open[i] is 0; then x lies strictly between a number and the midpoint
/// next to it. Where it is 2, out[i] is x rounded to nearest (in any direction asked for), and x may be that
/// number. It is 1 for the others: magnitudes below 2^-960 or of 2^1022 and above, what is not finite, what
/// may be a midpoint, and everything when rounding to odd. Returns how many are not 0.
///
/// Proof: h + l = high + low exactly (TwoSum). e' = error (1 + 2^-50) + 2^-51 |l| + 2^-1020 exceeds error by
/// more than the roundings of e', of u = l + e' and of d = l - e' add up to (at most 2^-53 (|l| + 5 e') +
/// 2^-1073), so that d < x - h < u. Where d > 0 or u < 0, x is not h; where fl(h + d) = fl(h + u) = h, it is
/// no midpoint beside h either, and none beyond.
std::size_t round_pairs_between_steps(std::size_t count, const double* high, const double* low,
                                      const double* error, rounding direction, double* out,
                                      unsigned char* open);

/// The same for rows of `count` pairs: of row r all high words from values[r * stride] on, then all low words,
/// then all errors; rounded to out[r], doubles. open_rows[r] tells whether an element of the row may be open,
/// but not which. Returns how many rows may be.
std::size_t round_pair_rows_between_steps(std::size_t rows, std::size_t count, const double* values,
                                          std::size_t stride, rounding direction, void* const* out,
                                          unsigned char* open_rows);

/// The sum of the squares of a row, in vectors; any order.
double sum_of_squares(std::size_t count, const double* x);
/// The largest of those of some rows; 0 of none.
double largest_sum_of_squares(std::size_t rows, std::size_t count, const double* x, std::size_t stride);

/// The largest magnitude; 0 of nothing.
double largest_magnitude(std::size_t count, const double* x);
double largest_magnitude(std::size_t rows, std::size_t count, const double* x, std::size_t stride);
/// That of each of `count` columns.
void largest_by_column(std::size_t rows, std::size_t count, const double* x, std::size_t stride,
                       double* largest);

/// Rounded to binary32, and their magnitudes.
void to_floats(std::size_t count, const double* x, float* out);
void magnitudes_to_floats(std::size_t count, const double* x, float* out);

/// What is known of a real number in [high + low - error, high + low + error], rounded to a format.
struct pair_rounding {
  bool settled = false;  // every member rounds to `pattern`
  std::uint64_t pattern = 0;
  bool holds_step = true;  // a half step of the format may be in the interval
  double step = 0;         // settled: about that half step (exactly, where it is a double)
};

/// low may be as large as high; nothing is settled where high + low is not a finite number of magnitude
/// 2^-900 or more. Correct for every format and direction.
pair_rounding round_pair(double high, double low, double error, const format& f, rounding direction);

}  // namespace attest::certified
