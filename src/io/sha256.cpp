#include <attest/io/sha256.hpp>

#include <openssl/evp.h>

#include <array>
#include <stdexcept>

namespace attest::io {

struct sha256_stream::state {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~state() { EVP_MD_CTX_free(context); }
};

namespace {

// A system may be set up to offer no SHA-256.
void check(bool succeeded) {
  if (!succeeded) throw std::runtime_error("libcrypto gives no SHA-256 on this system");
}

}  // namespace

sha256_stream::sha256_stream() : state_(std::make_unique<state>()) {
  check(state_->context != nullptr && EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr) == 1);
}

sha256_stream::~sha256_stream() = default;

void sha256_stream::add(std::string_view bytes) {
  check(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1);
}

std::string sha256_stream::digits() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  unsigned size = 0;
  check(EVP_DigestFinal_ex(state_->context, hash.data(), &size) == 1 && size == 32);
  std::string result;
  for (unsigned i = 0; i < size; ++i) {
    result += "0123456789abcdef"[hash[i] >> 4];
    result += "0123456789abcdef"[hash[i] & 15];
  }
  return result;
}

std::string sha256(std::string_view bytes) {
  sha256_stream stream;
  stream.add(bytes);
  return stream.digits();
}

}  // namespace attest::io
