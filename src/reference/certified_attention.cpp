#include <attest/reference/certified_attention.hpp>

#include "kernel/threads.hpp"
#include "reference/certified/call.hpp"
#include "reference/certified/exact.hpp"
#include "reference/certified/narrow.hpp"
#include "reference/certified/pairs.hpp"
#include "reference/certified/parts.hpp"
#include "reference/certified/worker.hpp"

#include <attest/kernel/float_environment.hpp>

#include <algorithm>
#include <utility>

namespace attest {

namespace {

using namespace certified;

// So many rows make pairs worth while.
constexpr std::size_t enough_pending = 48;

/// The rows that the narrow tier left open.
void finish_pending(const call& call, worker& w) {
  w.rows.clear();
  for (std::size_t n = 0; n < w.pending.size(); ++n) w.rows.push_back(&w.pending[n]);
  finish_by_pairs(call, w.rows, w);
  w.pending.clear();
}

/// Settles rows of w.block that need no kernel, and leaves the others in w.rows.
void settle_simple_rows(const call& call, worker& w) {
  const bool same_keys = !call.options.causal && !call.options.window;
  w.rows.clear();
  for (std::size_t n = 0; n < w.block.size(); ++n) {
    query& x = w.block[n];
    if (x.seen == 0 && !w.steps.sink) {
      write_empty_row(call, x, w);
      continue;
    }
    write_constant_outputs(call, x, w);
    if (x.seen < 2) {
      finish_exactly(call, x, w);
      continue;
    }
    // The same means for every row of the head.
    if (x.equal_scores && same_keys) write_means(call, x, w);
    if (x.open_count != 0 || call.weights || call.log_sum_exp) w.rows.push_back(&x);
  }
}

void do_block(const call& call, const row_block& block, worker& w) {
  const bool doubles = w.head.doubles() && w.q.are_doubles();
  if (doubles && !call.use_narrow && call.use_pairs && finish_by_pairs(call, block, w)) return;
  if (!doubles || !call.use_narrow || !evaluate_narrow(call, block, w)) {
    prepare(w.block, call, block, w.q.get(), w.steps, w.head);
    settle_simple_rows(call, w);
    if (w.rows.empty()) return;
    if (doubles && call.use_narrow) {
      evaluate_narrow(call, w.rows, w);
      std::erase_if(w.rows, [](const query* x) { return x->open_count == 0; });
    }
  }
  if (!doubles || !call.use_pairs) {
    for (query* x : w.rows) finish_exactly(call, *x, w);
  } else if (!call.use_narrow) {
    finish_by_pairs(call, w.rows, w);
  } else {
    w.pending.reserve(call, enough_pending - 1 + call.block_rows);
    for (const query* x : w.rows) w.pending.add_copy(*x);
    if (w.pending.size() >= enough_pending) finish_pending(call, w);
  }
}

class certified_run {
 public:
  explicit certified_run(const call& call)
      : call_(call), partition_(call), progress_(call.how.progress, partition_.rows()) {}

  certification result() {
    const std::vector<part> parts = partition_.parts();
    std::vector<worker> workers(
        std::min<std::size_t>(partition_.threads(), std::max<std::size_t>(parts.size(), 1)));
    for (worker& w : workers) w.work = effort(&progress_);
    kernel::for_each_part(partition_.threads(), parts.size(),
                          [&](std::size_t p, unsigned thread) { do_part(parts[p], workers[thread]); });
    tally all;
    for (const worker& w : workers) all.add(w.counts);
    return std::move(all).result();
  }

 private:
  void do_part(const part& p, worker& w) {
    if (w.head.load(call_, p.b, p.head)) w.exact.means.clear();
    const std::size_t group = call_.shape.query_heads / call_.shape.key_value_heads;
    for (std::size_t h = p.head * group; h < (p.head + 1) * group; ++h) {
      const auto [first, last] = partition_.asked_for(p.b, h, p.first, p.last);
      if (first == last) continue;
      w.q.load(call_.in.q, p.b, h, first, last, false);
      w.steps = call_.steps_of(h);
      const std::size_t step = block_rows();
      for (std::size_t i = first; i < last; i += step) {
        const std::size_t end = std::min(i + step, last);
        const std::size_t rows = w.pending.size() + (end - i);
        do_block(call_, {p.b, h, first, i, end}, w);
        progress_.done(rows - w.pending.size());
      }
      if (w.pending.size() == 0) continue;
      const std::size_t rows = w.pending.size();
      finish_pending(call_, w);
      progress_.done(rows);
    }
  }

  /// Fewer rows in a block where they are so long that progress would not be asked for about a second.
  std::size_t block_rows() const {
    if (!call_.how.progress) return call_.block_rows;
    constexpr double most = 2e8;  // products, of some ns each in pairs
    const attention_shape& shape = call_.shape;
    const double row =
        static_cast<double>(shape.keys + 1) * static_cast<double>(shape.key_width + shape.value_width);
    return static_cast<std::size_t>(std::clamp(most / row, 1.0, static_cast<double>(call_.block_rows)));
  }

  const call& call_;
  const row_partition partition_;
  progress progress_;
};

[[gnu::noinline]] certification calculate(const certified_inputs& inputs, const attention_options& attention,
                                          const certified_results& results,
                                          const certified_options& options) {
  const attention_shape shape = certified::checked_shape(inputs, attention, results, options);
  const call call(inputs, attention, shape, results, options);
  return certified_run(call).result();
}

}  // namespace

certification certified_attention(const certified_inputs& inputs, const attention_options& attention,
                                  const certified_results& results, const certified_options& options) {
  const kernel::float_environment environment;
  return calculate(inputs, attention, results, options);
}

}  // namespace attest
