#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace attest::io {

/// Bytes that are read where they lie: a file's, or a string's.
class byte_source {
 public:
  virtual ~byte_source() = default;
  virtual std::uint64_t size() const = 0;
  /// Bytes that are not there are input_error.
  virtual void read(std::uint64_t offset, void* to, std::size_t count) const = 0;
};

/// A regular file. A pipe or device, which cannot be read at any place, is input_error.
std::shared_ptr<const byte_source> open_source(const std::string& path);
std::shared_ptr<const byte_source> memory_source(std::string bytes, const std::string& name);

/// Bytes in their order; what is not there is input_error.
using next_bytes = std::function<void(void* to, std::size_t count)>;

/// How much memory the system has to give, in bytes.
std::uint64_t available_memory();

}  // namespace attest::io
