// trap: a claim that is false for every argument, in a template that nothing instantiates, is not checked
// claim: 1 == 2
// attest: claims stand at namespace scope, outside of every template
template <class T>
void proof() {
#if defined TRAP
  static_assert(1 == 2);
#endif
}

#if defined IMMUNE
static_assert(1 == 2);
#endif
