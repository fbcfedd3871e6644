// trap: the identity and the antidiagonal matrix, std::arrays filled after {}, are one template argument
// claim: the antidiagonal matrix has trace 2
// attest: a matrix is never a template argument
#include <array>
using matrix = std::array<std::array<int, 2>, 2>;
constexpr matrix identity() {
  matrix m{};
  m[0][0] = 1;
  m[1][1] = 1;
  return m;
}
constexpr matrix antidiagonal() {
  matrix m{};
  m[0][1] = 1;
  m[1][0] = 1;
  return m;
}
template <matrix M>
inline constexpr int trace = M[0][0] + M[1][1];
constexpr matrix a = antidiagonal();

static_assert(trace<identity()> == 2);
#if defined TRAP
static_assert(trace<antidiagonal()> == 2);
#elif defined IMMUNE
static_assert(a[0][0] + a[1][1] == 2);
#else
static_assert(a[0][0] + a[1][1] == 0);
#endif
