// trap: a claim in the body of a member function that nothing calls is not checked, though its class is instantiated
// claim: 3 > 4
// attest: claims stand at namespace scope, outside of every template
template <int N>
struct proof {
  void holds() {
#if defined TRAP
    static_assert(N > 4);
#endif
  }
};
proof<3> instance;

#if defined IMMUNE
static_assert(3 > 4);
#endif
