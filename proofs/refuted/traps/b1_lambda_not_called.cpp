// trap: a lambda that is not called is true
// claim: 1 == 2, in a lambda
// attest: claims are concepts and comparisons, which have nothing to call
#if defined TRAP
static_assert([] { return 1 == 2; });
#elif defined IMMUNE
static_assert([] { return 1 == 2; }());
#endif
