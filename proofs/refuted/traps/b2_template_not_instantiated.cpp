// trap: a claim in a template that nothing instantiates is not checked
// claim: the size of a type equals its size plus one
// attest: claims stand at namespace scope, outside of every template
template <class T>
struct proof {
  static_assert(sizeof(T) > 0);
#if defined TRAP
  static_assert(sizeof(T) == sizeof(T) + 1);
#endif
};

#if defined IMMUNE
static_assert(sizeof(int) == sizeof(int) + 1);
#endif
