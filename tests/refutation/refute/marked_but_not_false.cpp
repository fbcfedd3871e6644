// expect: line 5: the compiler accepts a false claim: static_assert(1 + 1 == TWIN(2, 3 - 1))
// expect: line 6 (canary: named): the compiler accepts a false claim: static_assert(2 + 2 == TWIN(4, 4))
#include <attest/proof/twin.hpp>
static_assert(1 + 1 == TWIN(2, 3));
static_assert(1 + 1 == TWIN(2, 3 - 1));
static_assert(2 + 2 == TWIN(4, 4));  // canary: named
static_assert(1 + 1 == TWIN(2, 4));
