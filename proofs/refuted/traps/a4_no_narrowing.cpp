// trap: under -Wno-narrowing a template argument that does not fit is truncated
// claim: the low byte's template, given 300, holds 44
// attest: a configuration with -Wno-narrowing is refused; claims carry 64-bit words
// flags: -Wno-narrowing
template <unsigned char N>
inline constexpr int held = N;
template <unsigned long long N>
inline constexpr unsigned long long held_in_a_word = N;

static_assert(held<30> == 30);
#if defined TRAP
static_assert(held<300> == 44);
#elif defined IMMUNE
static_assert(held_in_a_word<300> == 44);
#else
static_assert(held_in_a_word<300> == 300);
#endif
