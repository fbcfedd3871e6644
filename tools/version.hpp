#pragma once

namespace attest::tools {

inline constexpr const char* version = "0.1.0";

}  // namespace attest::tools
