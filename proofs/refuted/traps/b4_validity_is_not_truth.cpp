// trap: requires { a == b; } asks whether the comparison can be written, not whether it is true
// claim: 1 == 2, in a requires-expression
// attest: claims are the comparisons themselves
constexpr int a = 1, b = 2;
template <int A, int B>
concept equal = requires { A == B; };
template <int A, int B>
concept really_equal = A == B;

static_assert(equal<a, a> && really_equal<a, a>);
#if defined TRAP
static_assert(equal<a, b>);
#elif defined IMMUNE
static_assert(really_equal<a, b>);
#endif
