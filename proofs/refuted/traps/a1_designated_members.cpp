// trap: {.y = 5} and {.z = 5} are one template argument
// claim: y of {.z = 5} is 5
// attest: no class value is a template argument
struct point {
  int x, y, z;
};
template <point P>
inline constexpr int y_of = P.y;
constexpr point p{.z = 5};

static_assert(y_of<point{.y = 5}> == 5);
#if defined TRAP
static_assert(y_of<point{.z = 5}> == 5);
#elif defined IMMUNE
static_assert(p.y == 5);
#else
static_assert(p.y == 0);
#endif
