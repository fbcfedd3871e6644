// trap: a subnormal double becomes a float above zero in the compiler, and zero at run time
// claim: the double 503489155 * 2^-1074 rounds to a float that is not zero
// attest: rounding is integer code on the bits; no floating-point operation is evaluated in a proof
#include <bit>
#include <cstdint>
constexpr std::uint64_t bits = 503489155;         // the double bits * 2^-1074
constexpr int half_of_smallest_float = -150 + 1074;  // as a power of two, counted like the bits

#if defined TRAP
static_assert(std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits))) != 0);
#elif defined IMMUNE
static_assert(std::bit_width(bits) > half_of_smallest_float);
#else
static_assert(std::bit_width(bits) < half_of_smallest_float);
#endif
