#pragma once

#include "catch.hpp"

// Catch2 3 renamed the matcher of a substring.
namespace attest_testing {

#if __has_include(<catch2/catch_all.hpp>)
using Catch::Matchers::ContainsSubstring;
#else
inline auto ContainsSubstring(const std::string& text) { return Catch::Matchers::Contains(text); }
#endif

}  // namespace attest_testing
