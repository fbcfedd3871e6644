#include "reference/certified_narrow.hpp"

#include "kernel/fused.hpp"
#include "reference/certified_settle.hpp"
#include "reference/rounding_of_doubles.hpp"

#include <attest/kernel/error_bound.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace attest::certified {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The bound of outputs of a query of that many squares and keys, of values that are not larger.
double error_bound(const call& call, const query& x, double squares, double keys, double values,
                   loaded_head& head) {
  const row_view& row = x.view;
  kernel::row_magnitudes m;
  m.key_width = call.shape.key_width;
  m.keys = m.span = static_cast<std::size_t>(keys);
  m.products = norm(squares, call.shape.key_width) * head.largest_key() * (1 + 0x1p-50);
  // 1/√d is one of the kernel's roundings; here it only must not be too small.
  m.scale = row.steps->scale ? std::fabs(*row.steps->scale)
                             : 1 / std::sqrt(static_cast<double>(call.shape.key_width)) * (1 + 0x1p-50);
  m.softcap = row.steps->softcap;
  if (row.bias != nullptr) m.bias = x.largest_bias;
  if (row.steps->slope) m.slope = std::fabs(*row.steps->slope);
  const auto distance = [&](std::size_t key) {
    return std::fabs(static_cast<double>(row.position) - static_cast<double>(key));
  };
  m.distance = std::max(distance(row.first), distance(row.last - 1));
  if (row.steps->sink) m.sink = std::fabs(*row.steps->sink);
  m.values = values;
  return kernel::fused_bound<double>(m).output;
}

/// The bound of a row's outputs. It grows with the norm of the query and the number of keys, so that one for
/// a little more of both serves many rows.
double shared_bound(const call& call, const query& x, worker& w) {
  const row_view& row = x.view;
  worker::narrow_memory& last = w.narrow;
  const double squares = sum_of_squares(call.shape.key_width, row.q->row(row.query));
  const auto keys = static_cast<double>(row.last - row.first);
  const bool alone = row.bias != nullptr || row.steps->slope;
  if (!alone && last.bound != 0 && squares <= last.squares && squares >= 0.4 * last.squares &&
      keys <= last.keys && keys >= 0.6 * last.keys)
    return last.bound;
  last.squares = alone ? squares : 1.25 * squares;
  last.keys = alone ? keys : std::min(std::floor(1.25 * keys) + 1, static_cast<double>(call.shape.keys));
  const double bound = error_bound(call, x, last.squares, last.keys, w.head.facts().largest(), w.head);
  last.bound = alone ? 0 : bound;
  return bound;
}

std::uint64_t pattern_at(const void* patterns, std::size_t n, int bits) {
  if (bits == 8) return static_cast<const std::uint8_t*>(patterns)[n];
  if (bits == 16) return static_cast<const std::uint16_t*>(patterns)[n];
  return static_cast<const std::uint32_t*>(patterns)[n];
}

/// Rounds a row of doubles with one bound, and what that leaves open each with its own.
void round_row(const call& call, query& x, const double* numbers, double error, worker& w) {
  const std::vector<std::size_t>& columns = w.head.varying();
  const std::size_t width = columns.size();
  const format& f = call.output.to();
  const rounding direction = call.how.direction;
  const auto [b, h, i] = x.at;
  if (call.output.in_place() && w.head.constant().empty()) {
    x.open_count =
        round_between_steps(width, numbers, error, f, direction, call.output.address({b, h, i, 0}), x.open);
    call.output.fill_certificates({b, h, i, 0}, width);
  } else {
    w.narrow.patterns.resize(width);
    x.open_count = round_between_steps(width, numbers, error, f, direction, w.narrow.patterns.data(), x.open);
    for (std::size_t n = 0; n < width; ++n)
      call.output.write({b, h, i, columns[n]}, pattern_at(w.narrow.patterns.data(), n, f.storage_bits),
                        certificate::certified);
  }
  w.counts.settled(reference_tier::narrow, certificate::certified, width - x.open_count);
  if (x.open_count == 0) return;
  w.head.facts().next_row();
  const row_view& row = x.view;
  const double squares = sum_of_squares(call.shape.key_width, row.q->row(row.query));
  const auto keys = static_cast<double>(row.last - row.first);
  for (std::size_t n = 0; n < width && x.open_count != 0; ++n) {
    if (x.open[n] == 0) continue;
    const std::size_t c = columns[n];
    const auto settled = [&](double bound) {
      return settle_output(call, x, c, {numbers[n], 0, bound}, reference_tier::narrow, w);
    };
    // Then of this column alone, without the margin that makes one bound do for several rows.
    if (!settled(error) &&
        (error == infinity ||
         !settled(error_bound(call, x, squares, keys, w.head.facts().largest_by_column()[c], w.head))))
      continue;
    x.open[n] = 0;
    --x.open_count;
  }
}

}  // namespace

void evaluate_narrow(const call& call, worker& w) {
  namespace fused = kernel::fused_head;
  const std::size_t width = w.head.varying().size();
  auto steps = fused::score_steps<double>::of_scale(w.steps.scale, call.shape.key_width);
  steps.softcap = w.steps.softcap;
  steps.slope = w.steps.slope;
  steps.sink = w.steps.sink;
  const std::size_t rows = w.block.size();
  double* numbers = w.room(rows * width);
  w.narrow.rows.resize(rows);
  w.narrow.results.resize(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    w.narrow.rows[r] = kernel_row<fused::query_row<double>>(w.block[r]->view);
    w.narrow.results[r] = {.output = numbers + r * width};
  }
  const auto overflow = fused::evaluate(w.head.fused(), steps, w.narrow.rows.data(), w.narrow.results.data(),
                                        rows, w.narrow.kernel);
  for (std::size_t r = 0; r < rows; ++r) {
    query& x = *w.block[r];
    // Which rows of a block that overflows somewhere are good is not known.
    const double error = overflow ? infinity : shared_bound(call, x, w);
    round_row(call, x, numbers + r * width, error, w);
  }
}

}  // namespace attest::certified
