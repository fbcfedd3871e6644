// trap: a const variable whose value cannot be computed in the compiler is computed at run time
// claim: inverse(0) has a value
// attest: every value in a proof is constexpr
constexpr int inverse(int x) {
  if (x == 0) throw "division by zero";
  return 1 / x;
}

#if defined TRAP
const int value = inverse(0);
#elif defined IMMUNE
constexpr int value = inverse(0);
#else
constexpr int value = inverse(1);
#endif
