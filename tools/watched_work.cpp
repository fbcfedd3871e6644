#include "watched_work.hpp"

#include "interrupt.hpp"

#include <chrono>
#include <utility>

namespace attest::tools {

namespace {

constexpr std::chrono::milliseconds tick(100);
constexpr int ticks_to_answer = 10;

}  // namespace

watched_work::watched_work(std::size_t rows_before, std::size_t rows, std::function<void()> give_up)
    : rows_(rows), done_(rows_before), give_up_(std::move(give_up)), line_(rows_before), thread_([this] {
        watch();
      }) {}

watched_work::~watched_work() { stop(); }

void watched_work::interrupt_line(const std::function<void()>& say) {
  const std::lock_guard lock(mutex_);
  line_.wipe();
  say();
}

void watched_work::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  line_.wipe();
}

void watched_work::watch() {
  int ticks = 0;
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, tick, [&] { return stopped_; })) {
    line_.update(done_, rows_);
    if (!interrupt_watch::requested() || ++ticks < ticks_to_answer) continue;
    line_.wipe();
    const std::lock_guard kept(kept_);
    interrupt_watch::ignore_further();
    give_up_();
  }
}

}  // namespace attest::tools
