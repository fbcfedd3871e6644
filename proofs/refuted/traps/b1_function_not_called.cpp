// trap: the name of a function is true
// claim: 1 == 2, in a function
// attest: claims are concepts and comparisons, which have nothing to call
constexpr bool check() {
  return 1 == 2;
}

#if defined TRAP
static_assert(check);
#elif defined IMMUNE
static_assert(check());
#else
static_assert(!check());
#endif
