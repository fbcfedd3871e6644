// trap: a comparison of a negative with an unsigned number converts the first
// claim: -1 equals 4294967295
// attest: both sides of a comparison are converted to one exact type first
#include <utility>
constexpr int minus_one = -1;
constexpr unsigned largest = 0xFFFFFFFFu;

#if defined TRAP
static_assert(minus_one == largest);
#elif defined IMMUNE
static_assert(std::cmp_equal(minus_one, largest));
#else
static_assert(!std::cmp_equal(minus_one, largest));
#endif
