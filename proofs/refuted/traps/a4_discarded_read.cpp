// trap: a read outside of an array whose value is not used is no error
// claim: a[3] of three elements can be read
// attest: elements are reached through an index that is checked
constexpr int a[3] = {1, 2, 3};
constexpr bool can_read(unsigned long i) {
  (void)a[i];
  return true;
}
constexpr int at(unsigned long i) {
  if (i >= 3) throw "index out of range";
  return a[i];
}
constexpr bool can_read_checked(unsigned long i) {
  (void)at(i);
  return true;
}

static_assert(can_read(2) && can_read_checked(2));
#if defined TRAP
static_assert(can_read(3));
#elif defined IMMUNE
static_assert(can_read_checked(3));
#endif
