// trap: an overflow in a value that is not used is no error
// claim: the successor of the largest int can be computed
// attest: integers are Boost's checked ones, which throw, and a throw is an error even where the value is unused
constexpr int largest = 2147483647;
constexpr bool has_successor(int x) {
  (void)(x + 1);
  return true;
}
constexpr int checked_successor(int x) {
  if (x == largest) throw "overflow";
  return x + 1;
}
constexpr bool has_checked_successor(int x) {
  (void)checked_successor(x);
  return true;
}

static_assert(has_successor(1) && has_checked_successor(1));
#if defined TRAP
static_assert(has_successor(largest));
#elif defined IMMUNE
static_assert(has_checked_successor(largest));
#endif
