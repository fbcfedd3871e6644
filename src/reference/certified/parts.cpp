#include "reference/certified/parts.hpp"

#include "kernel/threads.hpp"

#include <algorithm>

namespace attest::certified {

row_partition::row_partition(const call& call) : call_(call) {
  const attention_shape& shape = call.shape;
  const std::size_t rows = shape.batch * shape.query_heads * shape.queries;
  first_ = std::min(call.how.rows.first, rows);
  last_ = std::max(first_, std::min(call.how.rows.last, rows));
  const unsigned threads = kernel::thread_count(call.how.threads);
  const double work = static_cast<double>(this->rows()) * static_cast<double>(shape.keys + 1) *
                      static_cast<double>(shape.key_width + shape.value_width);
  threads_ = static_cast<unsigned>(std::min<double>(threads, 1 + work / 1e5));
}

std::vector<part> row_partition::parts() const {
  std::vector<part> parts;
  if (first_ == last_) return parts;
  const attention_shape& shape = call_.shape;
  const std::size_t heads = shape.batch * shape.key_value_heads;
  std::size_t pieces = 1;
  if (threads_ > 1 && heads < 4 * std::size_t{threads_})
    pieces = (16 * std::size_t{threads_} + heads - 1) / heads;
  std::size_t length = (shape.queries + pieces - 1) / pieces;
  // Whole blocks, but of few rows something for every thread: they may take as long as many.
  if (threads_ > 1 && rows() < threads_ * call_.block_rows)
    length = std::min(length, (rows() + 2 * threads_ - 1) / (2 * threads_));
  else
    length = (length + call_.block_rows - 1) / call_.block_rows * call_.block_rows;
  if (call_.how.progress) length = std::min<std::size_t>(length, 256);  // so that it shows
  length = std::max<std::size_t>(length, 1);
  for (std::size_t b = 0; b < shape.batch; ++b)
    for (std::size_t h = 0; h < shape.key_value_heads; ++h)
      for (std::size_t i = 0; i < shape.queries; i += length) {
        const part p{b, h, i, std::min(i + length, shape.queries)};
        if (holds_rows(p)) parts.push_back(p);
      }
  return parts;
}

bool row_partition::holds_rows(const part& p) const {
  const std::size_t group = call_.shape.query_heads / call_.shape.key_value_heads;
  for (std::size_t h = p.head * group; h < (p.head + 1) * group; ++h) {
    const auto [first, last] = asked_for(p.b, h, p.first, p.last);
    if (first < last) return true;
  }
  return false;
}

std::pair<std::size_t, std::size_t> row_partition::asked_for(std::size_t b, std::size_t query_head,
                                                             std::size_t first, std::size_t last) const {
  const std::size_t start = (b * call_.shape.query_heads + query_head) * call_.shape.queries;
  const std::size_t from = std::max(start + first, first_);
  const std::size_t to = std::min(start + last, last_);
  if (from >= to) return {first, first};
  return {from - start, to - start};
}

}  // namespace attest::certified
