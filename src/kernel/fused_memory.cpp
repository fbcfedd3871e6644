#include "kernel/fused_memory.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

namespace attest::kernel::fused_head {

namespace {

constexpr std::align_val_t line{64};

// Whether the thread's kept_memory is gone. Static objects, and thread-local ones that are older, are
// destroyed after that; a bool can be read even then.
thread_local bool gone = false;

/// Blocks that the thread has released, none larger than the rest of the budget.
class kept_memory {
 public:
  ~kept_memory() {
    for (const block& b : blocks_) ::operator delete(b.memory, line);
    gone = true;
  }

  /// The smallest block of at least so many bytes, and of at most twice as many; null if there is none.
  void* take(std::size_t bytes) {
    block* best = nullptr;
    for (block& b : blocks_) {
      if (b.bytes == bytes && b.memory != nullptr) {
        best = &b;
        break;
      }
      if (b.memory != nullptr && b.bytes >= bytes && b.bytes / 2 <= bytes && (!best || b.bytes < best->bytes))
        best = &b;
    }
    if (best == nullptr) return nullptr;
    kept_ -= best->bytes;
    return std::exchange(*best, block{}).memory;
  }

  void keep(void* memory, std::size_t bytes) noexcept {
    block* free = std::find_if(blocks_.begin(), blocks_.end(), [](const block& b) { return !b.memory; });
    if (free == blocks_.end()) free = &*std::min_element(blocks_.begin(), blocks_.end(), smaller);
    if (bytes > budget || bytes < free->bytes) return ::operator delete(memory, line);
    drop(*free);
    while (kept_ + bytes > budget) drop(*std::max_element(blocks_.begin(), blocks_.end(), smaller));
    *free = {memory, bytes};
    kept_ += bytes;
  }

 private:
  struct block {
    void* memory = nullptr;
    std::size_t bytes = 0;
  };
  static bool smaller(const block& a, const block& b) { return a.bytes < b.bytes; }
  void drop(block& b) noexcept {
    ::operator delete(b.memory, line);
    kept_ -= b.bytes;
    b = {};
  }

  static constexpr std::size_t budget = std::size_t{32} << 20;
  std::array<block, 16> blocks_;
  std::size_t kept_ = 0;
};

/// Null once it is gone.
kept_memory* kept() {
  if (gone) return nullptr;
  thread_local kept_memory memory;
  return &memory;
}

}  // namespace

void* take_memory(std::size_t bytes) {
  if (kept_memory* blocks = kept())
    if (void* memory = blocks->take(bytes)) return memory;
  return ::operator new(bytes, line);
}

void release_memory(void* memory, std::size_t bytes) noexcept {
  if (kept_memory* blocks = kept())
    blocks->keep(memory, bytes);
  else
    ::operator delete(memory, line);
}

}  // namespace attest::kernel::fused_head
