// trap: std::clamp with its bounds exchanged is no error
// claim: 5 clamped to [7, 3] is a number
// attest: bounds are compared before they are used
#include <algorithm>
constexpr bool exists(int) {
  return true;
}
constexpr int checked_clamp(int x, int low, int high) {
  if (high < low) throw "bounds exchanged";
  return std::clamp(x, low, high);
}

static_assert(exists(std::clamp(5, 3, 7)) && exists(checked_clamp(5, 3, 7)));
#if defined TRAP
static_assert(exists(std::clamp(5, 7, 3)));
#elif defined IMMUNE
static_assert(exists(checked_clamp(5, 7, 3)));
#endif
