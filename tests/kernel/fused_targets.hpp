#pragma once

#include <hwy/targets.h>

#include <string>

namespace testing {

/// Calls f once for every instruction set that the fused kernel has code for and this machine can run, while
/// the kernel uses that one.
template <class F>
void for_each_target(F f) {
  const std::int64_t here = hwy::SupportedTargets() | HWY_STATIC_TARGET;
  for (const std::int64_t target : {std::int64_t{HWY_AVX3}, std::int64_t{HWY_AVX2}, std::int64_t{HWY_SSE4},
                                    std::int64_t{HWY_NEON}, std::int64_t{HWY_STATIC_TARGET}}) {
    if ((here & target) == 0) continue;
    hwy::SetSupportedTargetsForTest(target);
    f(hwy::TargetName(target));
  }
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace testing
