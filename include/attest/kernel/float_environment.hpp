#pragma once

#include <cfenv>

namespace attest::kernel {

/// While it lives, the calling thread calculates as IEEE 754 wants it by default: rounding to nearest even,
/// subnormal numbers neither flushed nor taken for zero, no traps. Then the caller's environment comes back,
/// its flags included, so that nothing of what a kernel does shows there.
///
/// Arithmetic has to stand in a function that is not inlined into the one that holds the object: compilers do
/// not know that it depends on the environment.
class float_environment {
 public:
  float_environment();
  ~float_environment();
  float_environment(const float_environment&) = delete;
  float_environment& operator=(const float_environment&) = delete;

 private:
  std::fenv_t caller_;
  // x86-64: all that has to come back where the x87 unit stands as every program starts.
  [[maybe_unused]] unsigned caller_sse_ = 0;
  [[maybe_unused]] bool only_sse_ = false;
};

}  // namespace attest::kernel
