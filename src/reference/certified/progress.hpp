#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>

namespace attest::certified {

/// The progress function of a call, for all its threads.
class progress {
 public:
  using function = std::function<bool(std::size_t done, std::size_t rows)>;

  /// An empty function is never asked.
  progress(const function& ask, std::size_t rows);

  /// After a block, of which so many rows are done: asks. Once the function has returned false this throws
  /// interrupted, on every thread; once it has thrown, what it threw.
  void done(std::size_t rows);

  /// Within a block: asks with the same count where no thread has asked for a tenth of a second, and throws
  /// likewise.
  void still();

 private:
  void ask();

  const function& ask_;
  const std::size_t rows_;
  std::atomic<std::int64_t> asked_at_;  // in milliseconds of the clock
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;  // for what follows
  std::size_t done_ = 0;
  std::exception_ptr why_;
};

/// What one thread has done since it last looked whether still() is due. The unit is what an exponential of
/// so many bits takes: a microsecond for 128, tens of milliseconds for 2^16.
class effort {
 public:
  explicit effort(progress* all = nullptr) : all_(all) {}

  void spent(std::uint64_t bits) {
    if (all_ == nullptr || (bits_ += bits) < between_looks) return;
    bits_ = 0;
    all_->still();
  }

 private:
  static constexpr std::uint64_t between_looks = std::uint64_t{1} << 16;

  progress* all_;
  std::uint64_t bits_ = 0;
};

}  // namespace attest::certified
