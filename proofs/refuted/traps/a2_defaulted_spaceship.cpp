// trap: a defaulted <=> orders by the first row of a two-dimensional array only
// claim: {{1, 2}, {3, 4}} is not less than {{1, 2}, {3, 5}}
// attest: order is decided by written comparisons of scalars
#include <compare>
struct matrix {
  int at[2][2];
  friend constexpr auto operator<=>(const matrix&, const matrix&) = default;
};
constexpr matrix a{{{1, 2}, {3, 4}}}, b{{{1, 2}, {3, 5}}};

#if defined TRAP
static_assert(!(a < b));
#elif defined IMMUNE
static_assert(!(a.at[1][1] < b.at[1][1]));
#else
static_assert(a.at[1][1] < b.at[1][1]);
#endif
