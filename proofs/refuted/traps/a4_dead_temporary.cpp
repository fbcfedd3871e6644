// trap: a read through a reference to a temporary that is gone is no error
// claim: std::min(3, 4), bound to a reference, is 3 in the next statement
// attest: functions take and return numbers by value
#include <algorithm>
constexpr int smaller() {
  const int& least = std::min(3, 4);
  return least;
}
constexpr int smaller_by_value() {
  const int least = std::min(3, 4);
  return least;
}

static_assert(smaller_by_value() == 3);
#if defined TRAP
static_assert(smaller() == 3);
#elif defined IMMUNE
static_assert(smaller_by_value() != 3);
#endif
