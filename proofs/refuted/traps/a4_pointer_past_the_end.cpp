// trap: pointer arithmetic beyond an array is no error until the pointer is read
// claim: the fifth successor of the first of three elements exists
// attest: elements are reached through an index that is checked
constexpr int a[3] = {1, 2, 3};
constexpr bool has_element(long i) {
  const int* p = a + i;
  (void)p;
  return true;
}
constexpr int at(long i) {
  if (i < 0 || i >= 3) throw "index out of range";
  return a[i];
}

static_assert(has_element(2) && at(2) == 3);
#if defined TRAP
static_assert(has_element(5));
#elif defined IMMUNE
static_assert((at(5), true));
#endif
