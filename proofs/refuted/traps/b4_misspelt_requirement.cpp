// trap: !requires { ... } also holds for a spelling mistake
// claim: a pair of equal shape cannot be added, by a misspelt name
// attest: what must not compile stands in a refuted file that must compile when its one mistake is taken out
struct pair {
  int x, y;
};
constexpr pair added(pair a, pair b) {
  return {a.x + b.x, a.y + b.y};
}
template <class T>
concept cannot_be_added = !requires(T a) { add(a, a); };
template <class T>
concept cannot_really_be_added = !requires(T a) { added(a, a); };

#if defined TRAP
static_assert(cannot_be_added<pair>);
#elif defined IMMUNE
static_assert(cannot_really_be_added<pair>);
#else
static_assert(!cannot_really_be_added<pair>);
#endif
