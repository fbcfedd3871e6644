#pragma once

#include <attest/exact/integer.hpp>

#include "catch.hpp"

// A property is written once, as a constexpr function over the integer type, and holds in the compiler, at
// run time, and at run time over unbounded integers.
namespace testing {

/// Calls f through a pointer that the optimiser cannot see through.
inline bool at_run_time(bool (*f)()) {
  bool (*volatile hidden)() = f;
  return hidden();
}

}  // namespace testing

#define CHECK_IN_COMPILER_AND_AT_RUN_TIME(property)                    \
  do {                                                                 \
    static_assert(property<attest::integer>());                        \
    CHECK(testing::at_run_time(&property<attest::integer>));           \
    CHECK(testing::at_run_time(&property<attest::unbounded_integer>)); \
  } while (false)
