// trap: assert() is nothing under NDEBUG
// claim: the inverse of 4 among the integers passes a function that asserts that it exists
// attest: preconditions are checked in every build
// flags: -DNDEBUG
#include <cassert>
constexpr int inverse(int x) {
  assert(x == 1 || x == -1);
  return x;
}
constexpr int checked_inverse(int x) {
  if (x != 1 && x != -1) throw "no inverse";
  return x;
}

static_assert(inverse(1) == 1 && checked_inverse(1) == 1);
#if defined TRAP
static_assert(inverse(4) == 4);
#elif defined IMMUNE
static_assert(checked_inverse(4) == 4);
#endif
