// trap: where the compiler gives up inside a requires-expression, the requirement counts as not met
// claim: a loop of twenty million steps has no value
// attest: a claim is never the failure of a requirement; evaluation that stops is an error of its own
constexpr unsigned long steps(unsigned long n) {
  unsigned long done = 0;
  for (unsigned long i = 0; i < n; ++i)
    for (unsigned long j = 0; j < 100000; ++j) ++done;
  return done;
}
template <unsigned long N>
struct value {};
template <unsigned long N>
concept has_value = requires { typename value<steps(N)>; };

static_assert(has_value<2>);
#if defined TRAP
static_assert(!has_value<400>);
#elif defined IMMUNE
static_assert(steps(400) != 40000000);
#endif
