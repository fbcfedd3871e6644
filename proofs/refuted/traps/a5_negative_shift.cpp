// trap: Boost.Multiprecision shifts a checked temporary to the right by a negative count
// claim: 8 >> -1 is 0
// attest: shift counts are unsigned, and shifts are done on named values
#include <boost/multiprecision/cpp_int.hpp>
namespace mp = boost::multiprecision;
using integer = mp::number<mp::cpp_int_backend<256, 256, mp::signed_magnitude, mp::checked, void>, mp::et_off>;
constexpr integer shifted(int count) {
  return integer(8) >> count;
}
constexpr integer shifted_named(int count) {
  integer n(8);
  n >>= count;
  return n;
}

#if defined TRAP
static_assert(shifted(-1).is_zero());
#elif defined IMMUNE
static_assert(shifted_named(-1).is_zero());
#else
static_assert(!shifted_named(3).is_zero());
#endif
