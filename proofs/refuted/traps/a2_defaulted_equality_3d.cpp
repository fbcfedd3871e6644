// trap: a defaulted == compares two of the eight elements of a three-dimensional array
// claim: {1, 2, 3, 4, 5, 6, 7, 8} equals {1, 2, 3, 4, 5, 6, 7, 9}, as [2][2][2]
// attest: storage is flat, and == is a written loop
struct cube {
  int at[2][2][2];
  constexpr bool operator==(const cube&) const = default;
};
constexpr cube a{{{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}}, b{{{{1, 2}, {3, 4}}, {{5, 6}, {7, 9}}}};

#if defined TRAP
static_assert(a == b);
#elif defined IMMUNE
static_assert(a.at[1][1][1] == b.at[1][1][1]);
#else
static_assert(a.at[1][1][1] != b.at[1][1][1]);
#endif
