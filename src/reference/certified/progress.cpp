#include "reference/certified/progress.hpp"

#include <attest/reference/certified_attention.hpp>

#include <chrono>

namespace attest::certified {

namespace {

constexpr std::int64_t silence = 100;  // milliseconds

std::int64_t now() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

}  // namespace

progress::progress(const function& ask, std::size_t rows) : ask_(ask), rows_(rows), asked_at_(now()) {}

void progress::done(std::size_t rows) {
  if (!ask_) return;
  const std::lock_guard lock(mutex_);
  done_ += rows;
  ask();
}

void progress::still() {
  if (!ask_ || (!stopped_ && now() - asked_at_ < silence)) return;
  // Where another thread is asking, its answer will do.
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock && (stopped_ || now() - asked_at_ >= silence)) ask();
}

void progress::ask() {
  if (!why_) {
    try {
      if (!ask_(done_, rows_)) why_ = std::make_exception_ptr(interrupted());
    } catch (...) {
      why_ = std::current_exception();
    }
    asked_at_ = now();
    stopped_ = why_ != nullptr;
  }
  if (why_) std::rethrow_exception(why_);
}

}  // namespace attest::certified
