#pragma once

#include "reference/certified/call.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace attest::certified {

/// Rows of one key/value head that one thread does in one go: of its query heads the rows first .. last.
struct part {
  std::size_t b;
  std::size_t head;  // of the keys and values
  std::size_t first;
  std::size_t last;
};

/// The rows that a call asks for, cut into parts by head and, where the heads are too few for the threads, by
/// position.
class row_partition {
 public:
  explicit row_partition(const call& call);

  /// How many rows.
  std::size_t rows() const { return last_ - first_; }
  /// No more threads than have something to do that is worth starting them.
  unsigned threads() const { return threads_; }
  std::vector<part> parts() const;
  /// The queries of first .. last that were asked for of a query head.
  std::pair<std::size_t, std::size_t> asked_for(std::size_t b, std::size_t query_head, std::size_t first,
                                                std::size_t last) const;

 private:
  bool holds_rows(const part& p) const;

  const call& call_;
  std::size_t first_, last_;
  unsigned threads_;
};

}  // namespace attest::certified
