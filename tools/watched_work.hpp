#pragma once

#include "progress.hpp"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>

namespace attest::tools {

/// A thread beside long work: it shows the progress line also where the work does not report for long, and an
/// interrupt (interrupt_watch) that the work has not answered within a second it answers itself.
class watched_work {
 public:
  /// `rows_before` of `rows` were done earlier. `give_up` is called on the thread and does not return: it
  /// keeps what is done and ends the process.
  watched_work(std::size_t rows_before, std::size_t rows, std::function<void()> give_up);
  /// Waits for the thread, as stop() does.
  ~watched_work();
  watched_work(const watched_work&) = delete;
  watched_work& operator=(const watched_work&) = delete;

  void report(std::size_t rows_done) { done_ = rows_done; }
  /// Calls `say`, which writes to standard error, with no line of progress there.
  void interrupt_line(const std::function<void()>& say);
  /// After it nothing is shown and nothing given up; what `give_up` looks at may be changed.
  void stop();
  /// Held while what `give_up` looks at is changed before that.
  [[nodiscard]] std::unique_lock<std::mutex> changing() { return std::unique_lock(kept_); }

 private:
  void watch();

  std::size_t rows_;
  std::atomic<std::size_t> done_;
  std::function<void()> give_up_;
  progress_line line_;
  std::mutex mutex_;  // of stopped_ and the line
  std::condition_variable changed_;
  bool stopped_ = false;
  std::mutex kept_;
  std::thread thread_;
};

}  // namespace attest::tools
