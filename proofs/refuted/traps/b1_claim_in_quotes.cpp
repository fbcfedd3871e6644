// trap: a literal is true
// claim: "1 == 2", in quotes
// attest: every claim has a refuted twin, and a literal cannot be refuted
#if defined TRAP
static_assert("1 == 2");
#elif defined IMMUNE
static_assert(1 == 2);
#endif
