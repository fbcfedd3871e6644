// flags: -Wall -Wextra -Wsign-conversion -Werror
// expect: line 6: the compiler accepts a false claim:
#include <attest/proof/twin.hpp>
constexpr int minus_one = -1;
static_assert(minus_one == TWIN(-1, -2));
constexpr bool converted(unsigned x = TWIN(1u, minus_one)) { return x == 1; }
