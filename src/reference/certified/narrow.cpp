#include "reference/certified/narrow.hpp"

#include "kernel/fused.hpp"
#include "reference/certified/bounds.hpp"
#include "reference/certified/means.hpp"
#include "reference/certified/rounding_of_doubles.hpp"
#include "reference/certified/settle.hpp"

#include <attest/kernel/error_bound.hpp>

#include <algorithm>
#include <limits>
#include <optional>

namespace attest::certified {

namespace {

namespace fused = kernel::fused_head;

constexpr double infinity = std::numeric_limits<double>::infinity();

std::uint64_t pattern_at(const void* patterns, std::size_t n, int bits) {
  if (bits == 8) return static_cast<const std::uint8_t*>(patterns)[n];
  if (bits == 16) return static_cast<const std::uint16_t*>(patterns)[n];
  return static_cast<const std::uint32_t*>(patterns)[n];
}

/// Whether rows of outputs can be rounded to where they belong.
bool rounds_in_place(const call& call, const worker& w) {
  return call.output.in_place() && w.head.constant().empty();
}

/// Rounds a row of doubles with one bound.
std::size_t round_row(const call& call, query& x, const double* numbers, double error, worker& w) {
  const std::vector<std::size_t>& columns = w.head.varying();
  const std::size_t width = columns.size();
  const format& f = call.output.to();
  const auto [b, h, i] = x.at;
  if (rounds_in_place(call, w))
    return round_between_steps(width, numbers, error, f, call.how.direction,
                               call.output.address({b, h, i, 0}), x.open);
  w.narrow.patterns.resize(width);
  void* patterns = w.narrow.patterns.data();
  const std::size_t open =
      round_between_steps(width, numbers, error, f, call.how.direction, patterns, x.open);
  for (std::size_t n = 0; n < width; ++n)
    call.output.write({b, h, i, columns[n]}, pattern_at(patterns, n, f.storage_bits), certificate::certified);
  return open;
}

/// A row of which `error` leaves something open: rounded with its own bound, then every element that is still
/// open with that of its column. Returns the bound of the row.
double round_open_row(const call& call, query& x, const double* numbers, double error, worker& w) {
  const std::vector<std::size_t>& columns = w.head.varying();
  const std::size_t width = columns.size();
  kernel::row_magnitudes m;
  if (error != infinity) {
    m = row_magnitudes_of(call, x, w);
    error = std::min(error, kernel::fused_bound<double>(m).output);
  }
  x.open_count = round_row(call, x, numbers, error, w);
  w.counts.settled(reference_tier::narrow, certificate::certified, width - x.open_count);
  if (x.open_count == 0 || error == infinity) return error;
  w.head.facts().next_row();
  for (std::size_t n = 0; n < width && x.open_count != 0; ++n) {
    if (x.open[n] == 0) continue;
    m.values = w.head.facts().largest_by_column()[columns[n]];
    const double bound = kernel::fused_bound<double>(m).output;
    if (!settle_output(call, x, columns[n], {numbers[n], 0, bound}, reference_tier::narrow, w)) continue;
    x.settled(n);
  }
  return error;
}

/// Rows on their way through the kernel. In memory that is not initialised.
struct kernel_block {
  std::size_t size;
  fused::query_row<double> rows[fused::block_rows];
  fused::row_results<double> results[fused::block_rows];
  void* places[fused::block_rows];        // where their results go, if in_place
  unsigned char open[fused::block_rows];  // what evaluate() finds: whether the bound leaves something open
  const double* numbers;                  // outputs, row by row
  double error;
};

/// The bound of the outputs of all rows: it grows with everything that it depends on.
double error_of(const call& call, const kernel_block& block, std::optional<double> bias, worker& w) {
  kernel::row_magnitudes m = head_magnitudes(call, w);
  if (m.slope || call.options.causal || call.options.window)
    for (std::size_t r = 0; r < block.size; ++r)
      add_keys(m, w.steps, block.rows[r].position, block.rows[r].first_key, block.rows[r].last_key);
  else
    add_keys(m, w.steps, 0, block.rows[0].first_key, block.rows[0].last_key);
  m.bias = bias;
  if (call.output.to().precision > 11) {
    // Also of rows in between that are not among them.
    const exact_rows& q = w.q.get();
    const double* first = block.rows[0].q;
    const std::size_t rows =
        q.stride == 0 ? 1 : static_cast<std::size_t>(block.rows[block.size - 1].q - first) / q.stride + 1;
    m.products = products(call, largest_sum_of_squares(rows, q.width, first, q.stride), w);
  } else {
    m.products = rough_products(call, w);  // small enough
  }
  return kernel::fused_bound<double>(m).output;
}

/// The queries as they are, where the kernel can read them so; null for doubles. The bound of finer formats
/// reads them as doubles.
const fused::narrow_rows* narrow_queries(const call& call, const worker& w) {
  return call.output.to().precision <= 11 && w.q.narrow() ? &*w.q.narrow() : nullptr;
}

/// The rows of the kernel, straight from the call; false if they are not as plain as that.
bool plain_rows(const call& call, const row_block& rows, const fused::narrow_rows* narrow,
                kernel_block& block, worker& w) {
  if (narrow == nullptr) return plain_kernel_rows(call, rows, w.q.get(), w.head, block.rows);
  return plain_kernel_rows(call, rows, w.head, block.rows, [&](fused::query_row<double>& row, std::size_t n) {
    row.narrow = narrow->data + static_cast<std::ptrdiff_t>(n) * narrow->row;
    return std::any_of(row.narrow, row.narrow + call.shape.key_width,
                       [](std::uint16_t pattern) { return (pattern & 0x7fff) != 0; });
  });
}

/// How many rows have something open. The queries of the block are those of `narrow`, where that is not null.
std::size_t evaluate(const call& call, kernel_block& block, const fused::narrow_rows* narrow,
                     std::optional<double> bias, worker& w) {
  const std::size_t width = w.head.varying().size();
  auto steps = fused::score_steps<double>::of_scale(w.steps.scale, call.shape.key_width);
  steps.softcap = w.steps.softcap;
  steps.slope = w.steps.slope;
  steps.sink = w.steps.sink;
  if (narrow != nullptr) steps.queries = narrow->format;
  double* numbers = w.room(block.size * width);
  block.numbers = numbers;
  for (std::size_t r = 0; r < block.size; ++r) block.results[r] = {.output = numbers + r * width};
  block.error = infinity;
  // Which rows of a block that overflows somewhere are good is not known.
  if (!fused::evaluate(w.head.fused(), steps, block.rows, block.results, block.size, w.narrow.kernel))
    block.error = error_of(call, block, bias, w);
  if (block.error != infinity && rounds_in_place(call, w))
    return round_rows_between_steps(block.size, width, numbers, block.error, call.output.to(),
                                    call.how.direction, block.places, block.open);
  std::fill_n(block.open, block.size, 1);
  return block.size;
}

}  // namespace

void evaluate_narrow(const call& call, const std::vector<query*>& rows, worker& w) {
  const std::size_t width = w.head.varying().size();
  const kernel::fused_head::vector_memory<kernel_block> memory(1);
  kernel_block& block = *memory.get();
  block.size = 0;
  std::optional<double> bias;
  for (const query* x : rows) {
    block.rows[block.size] = kernel_row<fused::query_row<double>>(x->view);
    block.places[block.size] = call.output.address({x->at[0], x->at[1], x->at[2], 0});
    if (x->view.bias != nullptr) bias = std::max(bias.value_or(0), x->largest_bias);
    ++block.size;
  }
  evaluate(call, block, nullptr, bias, w);
  w.narrow.open.clear();
  for (std::size_t r = 0; r < block.size; ++r) {
    query& x = *rows[r];
    if (rounds_in_place(call, w)) call.output.fill_certificates({x.at[0], x.at[1], x.at[2], 0}, width);
    if (block.open[r] != 0) {
      const double* numbers = block.numbers + r * width;
      w.narrow.open.push_back({&x, numbers, round_open_row(call, x, numbers, block.error, w)});
    } else {
      x.open_count = 0;
      w.counts.settled(reference_tier::narrow, certificate::certified, width);
    }
  }
  settle_by_means(call, w.narrow.open, w);
}

bool evaluate_narrow(const call& call, const row_block& rows, worker& w) {
  if (!rounds_in_place(call, w)) return false;
  const kernel::fused_head::vector_memory<kernel_block> memory(1);
  kernel_block& block = *memory.get();
  const fused::narrow_rows* narrow = narrow_queries(call, w);
  if (!plain_rows(call, rows, narrow, block, w)) return false;
  block.size = rows.size();
  const std::size_t width = w.head.varying().size();
  call.output.addresses({rows.b, rows.h, rows.first, 0}, block.size, block.places);
  for (std::size_t r = 0; r < block.size && call.output.has_certificates(); ++r)
    call.output.fill_certificates({rows.b, rows.h, rows.first + r, 0}, width);
  const std::size_t open = evaluate(call, block, narrow, std::nullopt, w);
  w.counts.settled(reference_tier::narrow, certificate::certified, (block.size - open) * width);
  w.rows.clear();
  if (open == 0) return true;
  prepare(w.block, call, rows, w.q.get(), w.steps, w.head);
  w.narrow.open.clear();
  for (std::size_t r = 0; r < block.size; ++r) {
    if (block.open[r] == 0) continue;
    query& x = w.block[r];
    const double* numbers = block.numbers + r * width;
    w.narrow.open.push_back({&x, numbers, round_open_row(call, x, numbers, block.error, w)});
    w.rows.push_back(&x);
  }
  settle_by_means(call, w.narrow.open, w);
  std::erase_if(w.rows, [](const query* x) { return x->open_count == 0; });
  return true;
}

}  // namespace attest::certified
