// trap: the value of a static member of an instantiated class is not computed
// claim: a proof that throws has a result
// attest: claims stand at namespace scope, each over a named constexpr variable
constexpr bool prove(int n) {
  if (n > 2) throw "it does not hold";
  return true;
}
template <int N>
struct proof {
  static constexpr bool ok = prove(N);
};

#if defined TRAP
proof<3> instance;
#elif defined IMMUNE
constexpr bool ok = prove(3);
#else
constexpr bool ok = prove(2) && proof<2>::ok;
#endif
