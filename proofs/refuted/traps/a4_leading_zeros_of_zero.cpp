// trap: __builtin_clzll(0), undefined, is a constant
// claim: the number of leading zeros of 0, by the built-in, is a constant
// attest: std::countl_zero, which is defined for 0
#include <bit>
#include <cstdint>
constexpr bool counts(std::uint64_t x) {
  return __builtin_clzll(x) >= 0;
}

static_assert(counts(1) && std::countl_zero(std::uint64_t{0}) == 64);
#if defined TRAP
static_assert(counts(0));
#elif defined IMMUNE
static_assert(std::countl_zero(std::uint64_t{0}) != 64);
#endif
