#include <attest/reference/certified_attention.hpp>

#include "kernel/threads.hpp"
#include "reference/certified_call.hpp"
#include "reference/certified_exact.hpp"
#include "reference/certified_narrow.hpp"
#include "reference/certified_pairs.hpp"
#include "reference/certified_parts.hpp"
#include "reference/certified_worker.hpp"

#include <attest/kernel/float_environment.hpp>

#include <algorithm>
#include <mutex>
#include <utility>

namespace attest {

namespace {

using namespace certified;

// So many rows make finish_pending() worth while.
constexpr std::size_t pending_rows = 48;

/// The rows first .. last of one query head, whose row `loaded` is the first of w.q.
void do_block(const call& call, std::size_t b, std::size_t h, std::size_t loaded, std::size_t first,
              std::size_t last, worker& w) {
  w.block.clear();
  const std::size_t columns = w.head.varying().size();
  for (std::size_t i = first; i < last; ++i) {
    query* x = w.queries.take(call);
    prepare(*x, call, b, h, i, w.q.get(), i - loaded, w.steps, w.head);
    if (x->seen == 0 && !w.steps.sink) {
      write_empty_row(call, b, h, i, w);
      w.queries.give_back(x);
    } else if (x->seen < 2) {
      write_constant_outputs(call, *x, w);
      x->open_all(columns);
      finish_exactly(call, *x, w);
      w.queries.give_back(x);
    } else {
      w.block.push_back(x);
    }
  }
  if (w.block.empty()) return;
  const bool doubles = w.head.doubles() && w.q.get().numbers.empty();
  for (query* x : w.block) {
    write_constant_outputs(call, *x, w);
    x->open_all(columns);
    // The same means for every row of the head.
    if (x->equal_scores && !call.options.causal && !call.options.window) write_means(call, *x, w);
  }
  if (doubles && call.use_narrow && columns != 0 && w.block[0]->open_count != 0) evaluate_narrow(call, w);
  for (query* x : w.block) {
    if (x->open_count == 0 && !call.weights && !call.log_sum_exp) {
      w.queries.give_back(x);
    } else if (doubles && call.use_pairs) {
      w.pending.push_back(x);
    } else {
      finish_exactly(call, *x, w);
      w.queries.give_back(x);
    }
  }
  if (w.pending.size() >= (call.use_narrow ? pending_rows : 1)) finish_pending(call, w);
}

class certified_run {
 public:
  explicit certified_run(const call& call) : call_(call), partition_(call) {}

  certification result() {
    const std::vector<part> parts = partition_.parts();
    std::vector<worker> workers(
        std::min<std::size_t>(partition_.threads(), std::max<std::size_t>(parts.size(), 1)));
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
      w.narrow.bound = 0;
      for (std::size_t i = first; i < last; i += call_.block_rows) {
        const std::size_t end = std::min(i + call_.block_rows, last);
        do_block(call_, p.b, h, first, i, end, w);
        report(end - i);
      }
      finish_pending(call_, w);
    }
  }

  void report(std::size_t rows) {
    if (!call_.how.progress) return;
    const std::lock_guard lock(mutex_);
    if (stopped_) throw interrupted();
    done_ += rows;
    stopped_ = !call_.how.progress(done_, partition_.rows());
    if (stopped_) throw interrupted();
  }

  const call& call_;
  const row_partition partition_;

  std::mutex mutex_;  // for what follows
  std::size_t done_ = 0;
  bool stopped_ = false;
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
