// trap: an assumption that is false is no error
// claim: 1 > 2, by [[assume]]
// attest: what is required is checked, never assumed
// flags: -Wno-unknown-attributes -Wno-c++23-extensions
constexpr bool assumed(int a, int b) {
  [[assume(a > b)]];
  return true;
}
constexpr bool checked(int a, int b) {
  if (!(a > b)) throw "not greater";
  return true;
}

static_assert(assumed(2, 1) && checked(2, 1));
#if defined TRAP
static_assert(assumed(1, 2));
#elif defined IMMUNE
static_assert(checked(1, 2));
#endif
