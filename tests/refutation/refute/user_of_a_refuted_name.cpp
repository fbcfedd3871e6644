// Once `denominator` is rejected, so is all that uses it, true or false.
// expect: line 8: uses 'denominator', whose declaration on line 7 has a TWIN
#include <attest/proof/twin.hpp>
constexpr int inverse(int x) {
  return 10 / x;
}
constexpr int denominator = inverse(TWIN(1, 0));
static_assert(denominator + TWIN(0, 0) == 10);
