#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

// Attention in pairs of doubles, vectorised, each element with a proved bound of its absolute error: the tier
// that settles nearly every element of a reference. The bound and its proof: docs/error-bounds.md, "Certified
// double".
//
// The caller has set rounding to nearest even and subnormal numbers kept (kernel/float_environment.hpp); in
// another environment nothing is claimed. The bits of high and low may depend on the instruction set; that
// the error bounds hold does not.
namespace attest::double_double_tier {

/// Keys and values of one head, packed once and read by all its query heads, row blocks and threads.
/// Immutable.
class packed_head {
 public:
  /// k: keys × key_width, v: keys × value_width, row-major with these strides between rows. Copied. Any
  /// finite doubles; rows that no query sees must be given as zeros (or finite). key_width >= 1; value_width
  /// may be 0 (weights and log-sum-exp only).
  packed_head(std::size_t keys, std::size_t key_width, std::size_t value_width, const double* k,
              std::size_t k_stride, const double* v, std::size_t v_stride);
  ~packed_head();
  packed_head(packed_head&&) noexcept;
  packed_head& operator=(packed_head&&) noexcept;

  /// value_width numbers, nearly always all 0: column c of the results of evaluate() stands for (high + low)
  /// · 2^value_exponents()[c], and its error for error · 2^that. Not 0 only for columns whose largest value
  /// is so large or so small that pairs of doubles would overflow or lose their low word.
  std::span<const int> value_exponents() const;

  struct data;
  const data& contents() const { return *data_; }

 private:
  std::unique_ptr<data> data_;
};

/// What is done to the scores of one query head, in the order of attention_options.
struct score_steps {
  std::optional<double> scale = {};    // that float exactly; absent: exactly 1/√key_width
  std::optional<double> softcap = {};  // positive
  std::optional<double> slope = {};    // ALiBi: score - slope · |position - key|
  std::optional<double> sink = {};     // one more score, value 0
};

/// A query and the keys that it sees: those in [first_key, last_key) with a visible byte that is not 0. At
/// least one, or a sink.
struct query_row {
  const double* q;  // key_width finite numbers
  std::size_t first_key;
  std::size_t last_key;          // one beyond the end
  std::ptrdiff_t position;       // for ALiBi only
  const unsigned char* visible;  // indexed by key - first_key; null: all
  const double* bias;            // likewise; null: none. Finite where visible.
  // Indexed by column: what is 0 may be left out, high, low and error alike; null: all.
  const unsigned char* wanted = nullptr;
};

/// |exact - (high + low)| <= error for every element, in the units of value_exponents() for outputs. Output
/// pairs are normalised where error is finite, weights and log-sum-exps too but for an ulp. Where nothing is
/// claimed, error is infinite and high and low are arbitrary, NaN included. A null pointer: not wanted (all
/// three of a group, or none).
struct row_results {
  double* output_high;  // value_width each
  double* output_low;
  double* output_error;
  // Three numbers high, low, error: the natural logarithm of Σ e^score over keys and sink.
  double* log_sum_exp;
  double* weights_high;  // last_key - first_key each; a hidden key has weight 0 and error 0
  double* weights_low;
  double* weights_error;
};

/// Working memory of one thread, kept from call to call. O(keys) numbers.
class scratch {
 public:
  scratch();
  ~scratch();
  scratch(scratch&&) noexcept;
  scratch& operator=(scratch&&) noexcept;

  struct buffers;
  buffers& memory() { return *buffers_; }

 private:
  std::unique_ptr<buffers> buffers_;
};

/// Evaluates rows of one query head; results[i] belongs to rows[i]. Fastest with many rows a call (a multiple
/// of 32 best) that see about the same keys. Does not throw but bad_alloc.
void evaluate(const packed_head& head, const score_steps& steps, std::span<const query_row> rows,
              std::span<const row_results> results, scratch& memory);

/// For tests: 2^((high + low - shift)/256) as evaluate() has it. shift is a multiple of 256, |low| <= 2^-10,
/// high - shift < 2^17: relative error below 2^-94, and 2^-59 |low| more where |low| > |high|, above 2^-960;
/// below that the result is between 2^-961 and 2^-959.
void powers(std::span<const double> high, std::span<const double> low, double shift,
            std::span<double> power_high, std::span<double> power_low);

/// Name of the instruction set that evaluate() uses on this machine, as Highway calls it.
const char* instruction_set();

}  // namespace attest::double_double_tier
