// trap: under -fpermissive an overflow in a constant is a warning
// claim: the successor of the largest int is a constant
// attest: a configuration with -fpermissive is refused; and a checked overflow is an error under it, too
// flags: -fpermissive
constexpr int largest = 2147483647;
constexpr int checked_successor(int x) {
  if (x == largest) throw "overflow";
  return x + 1;
}

#if defined TRAP
constexpr int successor = largest + 1;
#elif defined IMMUNE
constexpr int successor = checked_successor(largest);
#else
constexpr int successor = checked_successor(1);
#endif
