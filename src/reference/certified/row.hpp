#pragma once

#include "exact_accumulator.hpp"
#include "reference/certified/progress.hpp"

#include <attest/enclosure/interval.hpp>
#include <attest/reference/certified_attention.hpp>
#include <attest/rounding/format.hpp>
#include <attest/symbolic/surd.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

// The tiers that settle everything, for one row: its scores exactly, enclosures of growing precision, and the
// sign of a finite sum of exponentials where an enclosure leaves one rounding boundary.
namespace attest::certified {

/// Rows of numbers [rows, width], each exactly: doubles anywhere, or numbers where a 64-bit integer is no
/// double.
struct exact_rows {
  std::size_t rows = 0;
  std::size_t width = 0;
  const double* doubles = nullptr;    // rounded where there are numbers
  std::size_t stride = 0;             // between rows of doubles
  std::vector<input_number> numbers;  // row-major; empty where the doubles are exact

  const double* row(std::size_t i) const { return doubles + i * stride; }
  input_number operator()(std::size_t i, std::size_t column) const {
    return numbers.empty() ? number_of(row(i)[column]) : numbers[i * width + column];
  }
};

/// The steps from q·k to the score of one query head.
struct score_options {
  std::optional<double> scale;
  std::optional<double> softcap;
  std::optional<double> slope;
  std::optional<double> sink;
};

/// One query and what it sees of the keys first .. last.
struct row_view {
  const exact_rows* q = nullptr;
  std::size_t query = 0;  // its row of q
  const exact_rows* k = nullptr;
  const exact_rows* v = nullptr;
  std::size_t first = 0;
  std::size_t last = 0;
  std::ptrdiff_t position = 0;
  const unsigned char* visible = nullptr;  // indexed by key - first; null: all
  const double* bias = nullptr;            // likewise; null: none
  const score_options* steps = nullptr;

  bool sees(std::size_t key) const { return visible == nullptr || visible[key - first] != 0; }
};

struct row_limits {
  std::optional<unsigned> max_bits;
  bool symbolic = true;  // whether the symbolic tier may be used
};

/// A rounded element and how it is known.
struct verdict {
  std::uint64_t pattern = 0;
  certificate how = certificate::certified;
  reference_tier tier = reference_tier::enclosure;
  unsigned bits = 0;       // of the widest enclosure that was needed
  std::string lower = {};  // undecided: an enclosure as decimals
  std::string upper = {};
};

/// How a value is to be rounded.
struct target {
  const format* to = nullptr;
  rounding direction = rounding::nearest_even;
};

/// numerator / denominator, rounded; *half_step tells whether it is a number of the format or a tie.
std::uint64_t round_ratio(const unbounded_dyadic& numerator, std::uint64_t denominator, const target& to,
                          bool* half_step);

/// The pattern of x if it is a normal number of the format.
std::optional<std::uint64_t> exact_pattern(double x, const format& f);

/// What the finite float with this pattern is; nothing for infinity and NaN.
std::optional<unbounded_dyadic> value_of_pattern(std::uint64_t pattern, const format& f);

class row_engine {
 public:
  /// The row sees a key or has a sink. The view's arrays and the effort have to outlive the engine.
  row_engine(const row_view& row, const row_limits& limits, effort& work);
  ~row_engine();
  row_engine(const row_engine&) = delete;
  row_engine& operator=(const row_engine&) = delete;

  /// Each of these rounds once. With `less`, what is rounded is the exact value minus that number.
  verdict output(std::size_t column, const target& to, const unbounded_dyadic* less = nullptr);
  /// Of a visible key.
  verdict weight(std::size_t key, const target& to, const unbounded_dyadic* less = nullptr);
  verdict log_sum_exp(log_sum_exp_base base, const target& to, const unbounded_dyadic* less = nullptr);

 private:
  class implementation;
  std::unique_ptr<implementation> all_;
};

}  // namespace attest::certified
