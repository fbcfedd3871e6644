// trap: two values of a class with an array are one template argument where elements were left to their default
// claim: element 1 of {0, 0, 5} is 5
// attest: no computed class value is ever a template argument; claims carry references and scalars
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
inline constexpr int middle = V.at[1];
constexpr vector3 v = third();
template <const auto& V>
inline constexpr int middle_of = V.at[1];

static_assert(middle<second()> == 5);
#if defined TRAP
static_assert(middle<third()> == 5);
#elif defined IMMUNE
static_assert(middle_of<v> == 5);
#else
static_assert(middle_of<v> == 0);
#endif
