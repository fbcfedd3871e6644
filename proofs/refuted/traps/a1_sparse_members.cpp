// trap: two values of a class with two scalars are one template argument where a member was left to its default
// claim: the numerator of 0/5 is 5
// attest: a rational is never a template argument; claims carry its digits
struct fraction {
  int numerator;
  int denominator;
};
constexpr fraction zero_fifths() {
  fraction f{};
  f.denominator = 5;
  return f;
}
template <fraction F>
inline constexpr int numerator = F.numerator;
constexpr fraction f = zero_fifths();

static_assert(numerator<fraction{5}> == 5);
#if defined TRAP
static_assert(numerator<zero_fifths()> == 5);
#elif defined IMMUNE
static_assert(f.numerator == 5);
#else
static_assert(f.numerator == 0);
#endif
