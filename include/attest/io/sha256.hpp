#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace attest::io {

/// The SHA-256 (FIPS 180-4) of the bytes, as 64 lower-case hexadecimal digits. By it a written proof names
/// the case that it was written from, and a reference its inputs.
std::string sha256(std::string_view bytes);

/// The same of bytes that come in pieces.
class sha256_stream {
 public:
  sha256_stream();
  ~sha256_stream();
  sha256_stream(const sha256_stream&) = delete;
  sha256_stream& operator=(const sha256_stream&) = delete;

  void add(std::string_view bytes);
  /// Of everything that was added; nothing can be added afterwards.
  std::string digits();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace attest::io
