#include "kernel/threads.hpp"

#include <attest/kernel/float_environment.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace attest::kernel {

unsigned thread_count(unsigned wanted) {
  return wanted != 0 ? std::min(wanted, 4096u) : std::max(1u, std::thread::hardware_concurrency());
}

namespace {

class fork_join {
 public:
  fork_join(std::size_t count, const std::function<void(std::size_t, unsigned)>& f) : count_(count), f_(f) {}

  /// Takes parts until none is left or one has thrown. Parts are taken in order and finished once taken, so
  /// every part before the lowest one that throws is called.
  void work(unsigned thread) noexcept {
    const float_environment environment;
    while (!stopped_.load(std::memory_order_relaxed)) {
      const std::size_t part = next_.fetch_add(1, std::memory_order_relaxed);
      if (part >= count_) return;
      try {
        f_(part, thread);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        stopped_.store(true, std::memory_order_relaxed);
        if (part < failed_part_) {
          failed_part_ = part;
          failure_ = std::current_exception();
        }
      }
    }
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::size_t count_;
  const std::function<void(std::size_t, unsigned)>& f_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;
  std::size_t failed_part_ = static_cast<std::size_t>(-1);
  std::exception_ptr failure_;
};

}  // namespace

void for_each_part(unsigned threads, std::size_t count,
                   const std::function<void(std::size_t part, unsigned thread)>& f) {
  fork_join parts(count, f);
  std::vector<std::thread> workers;
  const std::size_t wanted = std::min<std::size_t>(thread_count(threads), count);
  for (unsigned thread = 1; thread < wanted; ++thread) {
    try {
      workers.emplace_back([&parts, thread] { parts.work(thread); });
    } catch (const std::system_error&) {
      break;  // the machine gives no more threads: those that there are do all parts
    }
  }
  parts.work(0);
  for (std::thread& worker : workers) worker.join();
  parts.rethrow();
}

}  // namespace attest::kernel
