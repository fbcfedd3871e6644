#include "reference/certified/bounds.hpp"

#include "reference/certified/rounding_of_doubles.hpp"

#include <algorithm>
#include <cmath>

namespace attest::certified {

kernel::row_magnitudes head_magnitudes(const call& call, worker& w) {
  kernel::row_magnitudes m;
  m.key_width = call.shape.key_width;
  // 1/√d is one of the kernel's roundings; here it only must not be too small.
  m.scale = w.steps.scale ? std::fabs(*w.steps.scale)
                          : 1 / std::sqrt(static_cast<double>(call.shape.key_width)) * (1 + 0x1p-50);
  m.softcap = w.steps.softcap;
  if (w.steps.slope) m.slope = std::fabs(*w.steps.slope);
  if (w.steps.sink) m.sink = std::fabs(*w.steps.sink);
  m.values = m.all_values = w.head.fused().largest_value();
  return m;
}

void add_keys(kernel::row_magnitudes& m, const score_options& steps, std::ptrdiff_t position,
              std::size_t first, std::size_t last) {
  m.span = std::max(m.span, last - first);
  m.keys = m.span + (steps.sink ? 1 : 0);
  const auto distance = [&](std::size_t key) {
    return std::fabs(static_cast<double>(position) - static_cast<double>(key));
  };
  m.distance = std::max({m.distance, distance(first), distance(last - 1)});
}

double products(const call& call, double squares, worker& w) {
  return norm(squares, call.shape.key_width) * w.head.largest_key() * (1 + 0x1p-50);
}
double rough_products(const call& call, worker& w) {
  const double product = w.narrow.kernel.largest_query * w.head.fused().largest_key() + 0x1p-1074;
  return product * (static_cast<double>(call.shape.key_width) * (1 + 0x1p-50));
}

kernel::row_magnitudes row_magnitudes_of(const call& call, const query& x, worker& w) {
  const row_view& row = x.view;
  kernel::row_magnitudes m = head_magnitudes(call, w);
  add_keys(m, w.steps, row.position, row.first, row.last);
  if (row.bias != nullptr) m.bias = x.largest_bias;
  m.products = products(call, sum_of_squares(row.q->width, row.q->row(row.query)), w);
  return m;
}

}  // namespace attest::certified
