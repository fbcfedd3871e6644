// trap: std::lcm overflows without an error
// claim: lcm(2^62, 3) is a 64-bit signed integer
// attest: gcd and lcm are those of the checked integer
#include <cstdint>
#include <numeric>
constexpr std::int64_t big = std::int64_t{1} << 62;
constexpr std::int64_t checked_lcm(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = a / std::gcd(a, b);
  if (quotient > INT64_MAX / b) throw "overflow";
  return quotient * b;
}
constexpr bool exists(std::int64_t) {
  return true;
}

static_assert(exists(std::lcm(std::int64_t{4}, std::int64_t{6})) && checked_lcm(4, 6) == 12);
#if defined TRAP
static_assert(exists(std::lcm(big, std::int64_t{3})));
#elif defined IMMUNE
static_assert(exists(checked_lcm(big, 3)));
#endif
