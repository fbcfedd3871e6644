// trap: an integer that is compared with a double is rounded first
// claim: 9007199254740993 equals the double 9007199254740992
// attest: a double is compared as the exact dyadic number that it is
constexpr long long odd = 9007199254740993;
constexpr double even = 9007199254740992.0;

#if defined TRAP
static_assert(odd == even);
#elif defined IMMUNE
static_assert(odd == static_cast<long long>(even));
#else
static_assert(odd != static_cast<long long>(even));
#endif
