#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace attest::kernel::fused_head {

/// Uninitialised memory on a cache line. A thread keeps what it has released for its next calls, up to 32
/// MiB: fresh pages cost a small call as much as its arithmetic.
void* take_memory(std::size_t bytes);
void release_memory(void* memory, std::size_t bytes) noexcept;

/// Uninitialised memory for vectors of T.
template <class T>
class vector_memory {
 public:
  explicit vector_memory(std::size_t size = 0)
      : size_(size), data_(size == 0 ? nullptr : static_cast<T*>(take_memory(size * sizeof(T)))) {}
  vector_memory(vector_memory&& other) noexcept
      : size_(std::exchange(other.size_, 0)), data_(std::exchange(other.data_, nullptr)) {}
  vector_memory& operator=(vector_memory&& other) noexcept {
    std::swap(size_, other.size_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~vector_memory() {
    if (data_ != nullptr) release_memory(data_, size_ * sizeof(T));
  }
  T* get() const { return data_; }

 private:
  std::size_t size_;
  T* data_;
};

}  // namespace attest::kernel::fused_head
