// expect: line 10: not refuted, a limit of the compiler stopped it:
#include <attest/proof/twin.hpp>
constexpr int count(unsigned long steps) {
  int counted = 0;
  for (unsigned long i = 0; i < steps; ++i)
    for (unsigned long j = 0; j < 100000; ++j) counted ^= 1;
  return counted;
}
static_assert(count(1) == TWIN(0, 1));
static_assert(count(TWIN(2, 400)) == 0);
