// expect: line 6: not refuted, it is no valid claim:
// expect: line 7: not refuted, it is no valid claim:
#include <attest/proof/twin.hpp>
constexpr int two = 2;
static_assert(two == TWIN(2, 3));
static_assert(two == TWIN(2, tow));
static_assert(two == TWIN(2, -));
