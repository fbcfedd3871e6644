#include "reference/certified/means.hpp"

#include "kernel/fused.hpp"
#include "reference/certified/bounds.hpp"
#include "reference/certified/rounding_of_doubles.hpp"
#include "reference/certified/settle.hpp"

#include <attest/kernel/error_bound.hpp>

#include <cmath>

namespace attest::certified {

namespace {

namespace fused = kernel::fused_head;

/// Whether every number of the type is one of binary32.
bool fits_float(dtype type) {
  switch (type) {
    case dtype::int32:
    case dtype::int64:
    case dtype::uint32:
    case dtype::uint64:
    case dtype::binary64:
      return false;
    default:
      return true;
  }
}

bool applies(const call& call, const worker& w) {
  // Packing the head for floats has to pay.
  const std::size_t queries = call.shape.query_heads / call.shape.key_value_heads * call.shape.queries;
  return queries >= 4 * fused::block_rows && fits_float(call.in.q.type()) && fits_float(call.in.k.type()) &&
         fits_float(call.in.v.type()) && !call.bias && !w.steps.softcap && !w.steps.slope && !w.steps.sink;
}

/// The open elements of a row, given the float kernel's means of |V|.
void settle_row(const call& call, const worker::open_row& row, const float* means, worker& w) {
  query& x = *row.x;
  const std::vector<std::size_t>& columns = w.head.varying();
  kernel::row_magnitudes m = row_magnitudes_of(call, x, w);
  w.head.facts().next_row();
  for (std::size_t n = 0; n < columns.size() && x.open_count != 0; ++n) {
    if (x.open[n] == 0) continue;
    m.values = w.head.facts().largest_by_column()[columns[n]];
    // m.all_values is that of all columns of |V| too: where one of them overflowed in the float kernel, its bound
    // counts what the smaller weights of the second pass lost in this one.
    const double mean = static_cast<double>(means[n]) + kernel::fused_bound<float>(m).output;
    const double output = std::fabs(row.numbers[n]) + row.error;
    const double bound = kernel::fused_output_bound<double>(m, mean, output);
    if (!(bound < row.error) ||
        !settle_output(call, x, columns[n], {row.numbers[n], 0, bound}, reference_tier::narrow, w))
      continue;
    x.settled(n);
  }
}

}  // namespace

void settle_by_means(const call& call, std::vector<worker::open_row>& rows, worker& w) {
  const std::size_t width = w.head.varying().size();
  std::erase_if(rows, [&](const worker::open_row& row) {
    return row.x->open_count == 0 || 4 * row.x->open_count > width || !std::isfinite(row.error);
  });
  if (rows.empty() || !applies(call, w)) return;
  const exact_rows& q = w.q.get();
  const fused::vector_memory<float> queries(rows.size() * q.width), means(rows.size() * width);
  fused::query_row<float> kernel_rows[fused::block_rows];
  fused::row_results<float> results[fused::block_rows];
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const row_view& view = rows[r].x->view;
    float* numbers = queries.get() + r * q.width;
    to_floats(q.width, q.row(view.query), numbers);
    kernel_rows[r] = {.q = numbers,
                      .first_key = view.first,
                      .last_key = view.last,
                      .position = view.position,
                      .visible = view.visible};
    results[r] = {.output = means.get() + r * width};
  }
  const auto steps = fused::score_steps<float>::of_scale(w.steps.scale, call.shape.key_width);
  if (fused::evaluate(w.head.magnitudes(), steps, kernel_rows, results, rows.size(), w.narrow.float_kernel))
    return;  // overflow
  for (std::size_t r = 0; r < rows.size(); ++r) settle_row(call, rows[r], means.get() + r * width, w);
}

}  // namespace attest::certified
