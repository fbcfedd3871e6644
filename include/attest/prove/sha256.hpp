#pragma once

#include <string>
#include <string_view>

namespace attest::prove {

/// The SHA-256 (FIPS 180-4) of the bytes, as 64 lower-case hexadecimal digits: by it a written proof names the case that it
/// was written from.
std::string sha256(std::string_view bytes);

}  // namespace attest::prove
