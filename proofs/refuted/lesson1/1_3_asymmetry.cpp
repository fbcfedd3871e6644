// The claims of lesson1/1_3_asymmetry.cpp, each beside a false twin: one number changed at a time, of a long list one in each row.
#include "../../lesson1/head.hpp"

#include <attest/proof/twin.hpp>

namespace lesson1 {

// ---- Query and key of 't', to 4 decimals (NumPy drops trailing zeros: it prints 0.827 for 0.8270)
constexpr auto Q00 = row_of(Q[0], 0);
constexpr auto K00 = row_of(K[0], 0);
static_assert(decimal<Q00, TWIN("[0.4591, 0.8270, 0.1790, 0.0736]", "[0.4592, 0.8270, 0.1790, 0.0736]")>);
static_assert(decimal<Q00, TWIN("[0.4591, 0.8270, 0.1790, 0.0736]", "[0.4591, 0.8271, 0.1790, 0.0736]")>);
static_assert(decimal<Q00, TWIN("[0.4591, 0.8270, 0.1790, 0.0736]", "[0.4591, 0.8270, 0.1791, 0.0736]")>);
static_assert(decimal<Q00, TWIN("[0.4591, 0.8270, 0.1790, 0.0736]", "[0.4591, 0.8270, 0.1790, 0.0737]")>);
static_assert(decimal<K00, TWIN("[-0.1142, -0.1084, 0.2109, 0.0254]", "[-0.1143, -0.1084, 0.2109, 0.0254]")>);
static_assert(decimal<K00, TWIN("[-0.1142, -0.1084, 0.2109, 0.0254]", "[-0.1142, -0.1085, 0.2109, 0.0254]")>);
static_assert(decimal<K00, TWIN("[-0.1142, -0.1084, 0.2109, 0.0254]", "[-0.1142, -0.1084, 0.2100, 0.0254]")>);
static_assert(decimal<K00, TWIN("[-0.1142, -0.1084, 0.2109, 0.0254]", "[-0.1142, -0.1084, 0.2109, 0.0255]")>);

// ---- Q[0,0] is not K[0,0], in any coordinate, by more than np.allclose allows: 1e-8 + 1e-5 |b|, here below 2e-5
constexpr auto allowed = ratio(2, 100'000);
constexpr auto gaps = map(Q00 - K00, [](dyadic x) { return absolute(x); });
static_assert(TWIN(!equal<Q00, K00>, equal<Q00, K00>));
static_assert(TWIN(greater, less)<gaps, allowed>);

// ---- scores[0,0,1], query 0 with key 1, and scores[0,1,0], query 1 with key 0
constexpr auto S01 = S[0](0, 1);
constexpr auto S10 = S[0](1, 0);
static_assert(shape<S, TWIN(1, 2), 8, 8>);
static_assert(shape<S, 1, TWIN(8, 9), 8>);
static_assert(shape<S, 1, 8, TWIN(8, 9)>);
static_assert(decimal<S01, TWIN("-0.1481", "-0.1482")>);
static_assert(decimal<S10, TWIN("-0.0016", "-0.0017")>);
static_assert(less<TWIN(S01, S10), S10>);

// ---- Neither QKᵀ nor the scaled scores are symmetric ...
constexpr auto D_transposed = transpose(D);
constexpr auto S_transposed = transpose(S);
static_assert(TWIN(!equal<D, D_transposed>, equal<D, D_transposed>));
static_assert(TWIN(!equal<S, S_transposed>, equal<S, S_transposed>));

// ---- ... by more than np.allclose allows in each of the 28 pairs
constexpr integer asymmetric_pairs = [] {
  long long count = 0;
  for (std::size_t i = 0; i < 8; ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const auto gap = S[0](i, j) - S[0](j, i);
      if (compare(gap, allowed) > 0 || compare(-gap, allowed) > 0) ++count;
    }
  return integer(count);
}();
static_assert(exactly<asymmetric_pairs, TWIN("28", "29")>);

}  // namespace lesson1
