// trap: a defaulted == compares only the first row of a two-dimensional array
// claim: {{1, 2}, {3, 4}} equals {{1, 2}, {3, 5}}
// attest: storage is flat, and == is a written loop
struct matrix {
  int at[2][2];
  friend constexpr bool operator==(const matrix&, const matrix&) = default;
};
struct flat_matrix {
  int at[4];
  friend constexpr bool operator==(const flat_matrix& a, const flat_matrix& b) {
    for (int i = 0; i < 4; ++i)
      if (a.at[i] != b.at[i]) return false;
    return true;
  }
};
constexpr matrix a{{{1, 2}, {3, 4}}}, b{{{1, 2}, {3, 5}}};
constexpr flat_matrix c{{1, 2, 3, 4}}, d{{1, 2, 3, 5}};

#if defined TRAP
static_assert(a == b);
#elif defined IMMUNE
static_assert(c == d);
#else
static_assert(a == a && !(c == d));
#endif
