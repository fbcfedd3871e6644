#include "reference/certified/settle.hpp"

#include <cmath>

namespace attest::certified {

namespace {

/// The low word of an element that the pair has settled, if the pair settles that too.
bool write_low_of(const result_array& array, const result_array::place& at, const pair_value& x) {
  const double element = array.double_at(at);
  if (!std::isfinite(element)) {
    array.write_low(at, 0);
    return true;
  }
  // high + low - element: sum and rest are high + low exactly (Knuth's TwoSum); the difference is exact
  // where its operands are within a factor of two (Sterbenz), and otherwise its rounding counts.
  const double sum = x.high + x.low;
  const double part = sum - x.high;
  const double rest = (x.high - (sum - part)) + (x.low - part);
  const double difference = sum - element;
  const bool exact = element == 0 || (sum / element >= 0.5 && sum / element <= 2);
  const double more = exact ? 0 : std::fabs(difference) * 0x1p-50;
  const pair_rounding r =
      round_pair(difference, rest, x.error + more, formats::binary32, rounding::nearest_even);
  if (!r.settled) return false;
  array.write_low(at, r.pattern);
  return true;
}

}  // namespace

bool write_settled(const result_array& array, const result_array::place& at, const pair_value& x,
                   const pair_rounding& rounded, reference_tier tier, worker& w) {
  array.write(at, rounded.pattern, certificate::certified);
  if (array.has_low() && !write_low_of(array, at, x)) return false;
  w.counts.settled(tier, certificate::certified);
  return true;
}

bool settle_output(const call& call, const query& row, std::size_t column, const pair_value& x,
                   reference_tier tier, worker& w) {
  const pair_rounding r = round_pair(x.high, x.low, x.error, call.output.to(), call.how.direction);
  if (!r.settled) return false;
  if (r.holds_step && !w.head.facts().mean_excludes(column, row.view, r.step)) return false;
  return write_settled(call.output, {row.at[0], row.at[1], row.at[2], column}, x, r, tier, w);
}

}  // namespace attest::certified
