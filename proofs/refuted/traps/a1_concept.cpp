// trap: a concept over a class value gives the answer that it gave for another value
// claim: element 1 of {0, 0, 5} is positive, by a concept
// attest: the concepts that state claims take references to named variables, never values of class type
struct vector3 {
  int at[3];
};
constexpr vector3 second() {
  vector3 v{};
  v.at[1] = 5;
  return v;
}
constexpr vector3 third() {
  vector3 v{};
  v.at[2] = 5;
  return v;
}
template <vector3 V>
concept positive_middle = V.at[1] > 0;
template <const auto& V>
concept positive_middle_of = V.at[1] > 0;
constexpr vector3 v = third();

static_assert(positive_middle<second()>);
#if defined TRAP
static_assert(positive_middle<third()>);
#elif defined IMMUNE
static_assert(positive_middle_of<v>);
#else
static_assert(!positive_middle_of<v>);
#endif
