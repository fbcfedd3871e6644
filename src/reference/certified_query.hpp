#pragma once

#include "reference/certified_head.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace attest::certified {

/// A query on its way through the tiers.
struct query {
  std::array<std::size_t, 3> at{};  // b, h, i
  row_view view;
  std::size_t seen = 0;  // keys: 0, 1, or 2 for more
  std::size_t only_key = 0;
  bool equal_scores = false;  // all, and no sink
  bool zero_scores = false;   // moreover 0
  std::vector<unsigned char> sees;
  std::vector<double> bias;
  double largest_bias = 0;
  unsigned char* open = nullptr;  // by varying column: not settled yet
  std::size_t open_count = 0;

  void open_all(std::size_t columns);
};

/// Finds out what a query sees. Its row of Q, its steps and its head have to outlive it; nothing is open yet.
void prepare(query& x, const call& call, std::size_t b, std::size_t h, std::size_t i, const exact_rows& q,
             std::size_t row_of_q, const score_options& steps, loaded_head& head);

/// A row for the kernel of a tier: those name what they need of a query alike.
template <class Row>
Row kernel_row(const row_view& row) {
  Row to{};
  to.q = row.q->row(row.query);
  to.first_key = row.first;
  to.last_key = row.last;
  to.position = row.position;
  to.visible = row.visible;
  to.bias = row.bias;
  return to;
}

/// Queries of a call, for use again and again.
class query_pool {
 public:
  query* take(const call& call);
  void give_back(query* x) { spare_.push_back(x); }

 private:
  std::vector<query*> spare_;
  std::vector<std::unique_ptr<query[]>> queries_;  // all that there are
  std::vector<std::unique_ptr<unsigned char[]>> flags_;
};

}  // namespace attest::certified
