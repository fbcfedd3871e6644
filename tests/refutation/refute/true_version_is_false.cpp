// expect: line 5: the true claims do not compile:
#include <attest/proof/twin.hpp>
// The one claim is false as it stands and the other way round.
static_assert(1 + 1 == TWIN(2, 3));
static_assert(1 + 1 == TWIN(3, 4));
