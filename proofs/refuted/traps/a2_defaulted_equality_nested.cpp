// trap: the same in a class that has such a class as a member
// claim: two heads are equal whose matrices differ in the second row
// attest: no class of the library has a defaulted == over an array
struct matrix {
  int at[2][2];
  constexpr bool operator==(const matrix&) const = default;
};
struct head {
  matrix scores;
  constexpr bool operator==(const head&) const = default;
};
constexpr head a{{{{1, 2}, {3, 4}}}}, b{{{{1, 2}, {3, 5}}}};

#if defined TRAP
static_assert(a == b);
#elif defined IMMUNE
static_assert(a.scores.at[1][0] == b.scores.at[1][0] && a.scores.at[1][1] == b.scores.at[1][1]);
#else
static_assert(a == a);
#endif
