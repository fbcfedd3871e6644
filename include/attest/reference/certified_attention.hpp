#pragma once

#include <attest/problem/options.hpp>
#include <attest/problem/tensor.hpp>
#include <attest/rounding/direction.hpp>

#include <array>
#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

// Correctly rounded attention for arrays of any size.
namespace attest {

/// What is known of an element of a reference. It depends on the inputs and the format alone, not on what
/// settled the element:
///
/// - exact: the exact value is a number of the format or the midpoint between two. That is decidable: without
///   a softcap, an output is a rational number exactly where the mean of V over the keys of each score is the
///   same for all scores that occur (a sink counts as a key of value 0), a weight exactly where all scores
///   are equal, a log-sum-exp exactly where one score s is left: in base e one key and s rational, in base 2
///   s = 0 and any number of keys (Lindemann-Weierstrass). Hidden keys' weights and empty rows are exact too.
///   With a softcap the same is asked with "equal score" read as equal before the cap and with equal bias;
///   what is equal by chance counts as certified.
/// - undecided: no enclosure within the limit of bits rounds to one value; see max_bits.
/// - certified: all others.
enum class certificate : unsigned char {
  certified,  // the element is the exact value, correctly rounded
  exact,      // so it is, and the exact value is a number of the format or a tie between two of them
  undecided   // not known; the element is one that the enclosure allows
};

/// What settles an element, from the cheapest to the one that settles everything. Lower tiers leave open what
/// their error bounds do not settle.
enum class reference_tier : unsigned char {
  narrow,         // the double kernel and its bound: output formats of at most 24 significant bits
  double_double,  // pairs of doubles and their bound
  enclosure,      // intervals of growing precision
  symbolic        // the sign of a finite sum of exponentials: representable values and ties
};
inline constexpr std::size_t reference_tiers = 4;

/// Q [B, Hq, Tq, d_k], K [B, Hkv, Tk, d_k], V [B, Hkv, Tk, d_v] of any numeric dtype, each its own; every
/// element is taken exactly.
struct certified_inputs {
  any_tensor q;
  any_tensor k;
  any_tensor v;
};

/// Arrays to write, each of a float format of its own: an element is the exact value, rounded to that format
/// once. A low word is binary32: the difference exact - high, rounded to nearest even whatever the direction
/// of high, where high is the element of the array that it belongs to (0 where that is not finite).
///
/// An exact zero is +0 (-0 rounding down), but +0 in any direction for a weight of a hidden key and for an
/// empty row.
struct certified_results {
  any_result output;                                             // [B, Hq, Tq, d_v]
  std::optional<any_result> output_low = {};                     // [B, Hq, Tq, d_v]
  std::optional<any_result> weights = {};                        // [B, Hq, Tq, Tk], +0 for a hidden key
  std::optional<any_result> weights_low = {};                    // [B, Hq, Tq, Tk]
  std::optional<any_result> log_sum_exp = {};                    // [B, Hq, Tq, 1]
  std::optional<any_result> log_sum_exp_low = {};                // [B, Hq, Tq, 1]
  std::optional<tensor<certificate>> output_certificates = {};   // [B, Hq, Tq, d_v], of the element (its low word aside)
  std::optional<tensor<certificate>> weights_certificates = {};
  std::optional<tensor<certificate>> log_sum_exp_certificates = {};
};

/// Rows are the B·Hq·Tq queries, counted with the position fastest: row (b·Hq + h)·Tq + i.
struct row_range {
  std::size_t first = 0;
  std::size_t last = static_cast<std::size_t>(-1);  // one beyond the end; cut at the number of rows
};

struct certified_options {
  rounding direction = rounding::nearest_even;
  /// What overflows a format: its infinity (or NaN where it has none), or with saturate its largest number.
  /// The infinite log-sum-exp of an empty row is no overflow: it stays infinite with saturate, but for a
  /// format without infinity (NaN, or with saturate its largest number of that sign).
  bool saturate = false;
  /// The most bits of an enclosure before an element ends undecided, at least 128. Absent: no limit, and
  /// nothing ends undecided, but for a softcap: there ties cannot be excluded, and 4096 bits are the limit in
  /// any case.
  std::optional<unsigned> max_bits = {};
  /// The values do not depend on it. 0: as many as the machine has.
  unsigned threads = 1;
  /// Only these rows are calculated and written.
  row_range rows = {};
  /// Which tiers are tried, for tests. The values do not depend on it as long as the last two are among them.
  /// Enclosures are refused to be left out; without the symbolic tier a tie ends undecided, at max_bits or
  /// 16384 bits.
  std::array<bool, reference_tiers> tiers{true, true, true, true};
  /// Called from one thread at a time, after each block of rows, with the number of rows done and of all that
  /// were asked for; in rows that take long, several times a second with the same number. Returning false
  /// stops the call, which then throws interrupted, some of its rows written; so does an exception.
  std::function<bool(std::size_t done, std::size_t rows)> progress = {};
};

class interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

/// An element that ended undecided, in an enclosure that the exact value is known to lie in.
struct undecided_element {
  reference_array array;
  bool low_word;
  std::array<std::size_t, 4> index;  // [b, h, i, c]
  std::string lower;                 // decimals, outward rounded
  std::string upper;
};

/// How the elements of a call were settled. Not part of the reference: it depends on the machine.
struct certification {
  std::array<std::size_t, reference_tiers> settled{};  // elements by the tier that settled them, low words not counted
  std::size_t exact = 0;                               // of all: representable values and ties
  std::size_t undecided = 0;
  unsigned most_bits = 0;                        // of an enclosure that was needed
  std::vector<undecided_element> undecided_elements;  // the first hundred
};

/// Attention with every option of attention_options, each element correctly rounded. Reads the inputs as they
/// are, writes the rows asked for and nothing else. Memory beyond inputs and results is O((Tq + Tk)(d_k +
/// d_v)) for each thread.
///
/// The results are the same bytes on every machine, compiler, instruction set and number of threads; they do
/// not depend on the caller's rounding mode or flush-to-zero, which are as before afterwards.
///
/// Throws attention_error, with no result touched, for arrays and options that do not fit (see
/// checked_shape), for NaN and infinity where a query looks, and for an empty row without a policy. A
/// log-sum-exp needs both its form in the options and its array, or neither. Tiers, certificates and costs:
/// docs/reference.md.
certification certified_attention(const certified_inputs& inputs, const attention_options& attention,
                                  const certified_results& results, const certified_options& options = {});

}  // namespace attest
