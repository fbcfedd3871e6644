// The second claim turns false because of the first line's macro, without a mark of its own.
// expect: line 12: rejected, but it has no TWIN:
#include <attest/proof/twin.hpp>
#ifdef ATTEST_REFUTE
constexpr int one = 2;
#else
constexpr int one = 1;
#endif
template <int N>
constexpr int same = N;
static_assert(same<TWIN(3, 4)> == 3);
static_assert(same<one> == 1);
