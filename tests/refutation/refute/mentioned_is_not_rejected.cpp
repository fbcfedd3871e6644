// Notes speak of the operator on line 10 ("declared here"), but the compiler does not reject it.
// expect: line 10: the compiler accepts a false claim:
#include <attest/proof/twin.hpp>
template <int Rows, int Columns>
struct shape {};
template <int R, int K, int C>
constexpr shape<R, C> operator*(shape<R, K>, shape<K, C>) {
  return {};
}
template <int R, int K, int J, int C> requires(K != J + TWIN(0, 0)) void operator*(shape<R, K>, shape<J, C>) = delete;
constexpr auto product = shape<2, 3>{} * shape<TWIN(3, 2), 3>{};
