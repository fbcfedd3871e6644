// trap: unsigned subtraction wraps
// claim: 3 - 4 is positive
// attest: checked integers with a sign
constexpr unsigned a = 3, b = 4;
constexpr int checked_difference(int x, int y) {
  return x - y;
}

#if defined TRAP
static_assert(a - b > 0);
#elif defined IMMUNE
static_assert(checked_difference(3, 4) > 0);
#else
static_assert(checked_difference(3, 4) < 0);
#endif
