// trap: the product of two 128-bit unsigned numbers wraps
// claim: 2^64 * 2^64 is 0
// attest: products are made of checked integers or of 64-bit limbs with their carries
#include <cstdint>
__extension__ typedef unsigned __int128 wide;
constexpr wide two_to_the_64 = wide{1} << 64;
constexpr wide checked_product(wide a, wide b) {
  if (b != 0 && a > ~wide{0} / b) throw "overflow";
  return a * b;
}

#if defined TRAP
static_assert(two_to_the_64 * two_to_the_64 == 0);
#elif defined IMMUNE
static_assert(checked_product(two_to_the_64, two_to_the_64) == 0);
#else
static_assert(checked_product(two_to_the_64, 3) != 0);
#endif
