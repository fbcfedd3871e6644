// The claims of lesson1/1_6_exercises.cpp, each beside a false twin: one number changed at a time, of a long list one in each row.
// fractions.
#include "../../lesson1/head.hpp"

#include <attest/proof/twin.hpp>

namespace lesson1 {

// ---- Exercise 1: sharing W_k = W_q makes keys of queries, and the scores symmetric: Q_i · Q_j = Q_j · Q_i
//      (tests/exact/shared_projection.cpp has it as a property of any X and W)
constexpr auto shared_K = X * WQ;
constexpr auto shared_D = Q * transpose(shared_K);
constexpr auto shared_S = shared_D / root(hs);
constexpr auto shared_D_transposed = transpose(shared_D);
constexpr auto shared_S_transposed = transpose(shared_S);
constexpr auto shared_S01 = shared_S[0](0, 1);
constexpr auto shared_S10 = shared_S[0](1, 0);
static_assert(equal<shared_K, TWIN(Q, K)>);
static_assert(equal<shared_D, TWIN(shared_D_transposed, D)>);
static_assert(equal<shared_S, TWIN(shared_S_transposed, S)>);
static_assert(decimal<shared_S01, TWIN("-0.1507", "-0.1508")>);
static_assert(decimal<shared_S10, TWIN("-0.1507", "-0.1508")>);

// ---- Exercise 2: hs = 6, the three matrices drawn on from where the lesson stopped
constexpr std::size_t wide_hs = 6;
constexpr auto& more_values = numpy_randn<42, drawn + 3 * C * wide_hs>;
constexpr auto wide_WQ = weight_matrix<wide_hs>(more_values, drawn);
constexpr auto wide_WK = weight_matrix<wide_hs>(more_values, drawn + C * wide_hs);
constexpr auto wide_WV = weight_matrix<wide_hs>(more_values, drawn + 2 * C * wide_hs);
constexpr auto wide_Q = X * wide_WQ;
constexpr auto wide_K = X * wide_WK;
constexpr auto wide_V = X * wide_WV;
constexpr auto wide_scale = 1 / root(wide_hs);
constexpr auto wide_S = wide_Q * transpose(wide_K) * exact_cast<dyadic>(wide_scale);
constexpr integer wide_parameters(wide_WQ.rows() * wide_WQ.columns() + wide_WK.rows() * wide_WK.columns() +
                                  wide_WV.rows() * wide_WV.columns());
constexpr auto wide_S01 = wide_S[0](0, 1);
static_assert(shape<wide_WQ, TWIN(8, 9), 6>);
static_assert(shape<wide_WQ, 8, TWIN(6, 7)>);
static_assert(shape<wide_WK, TWIN(8, 9), 6>);
static_assert(shape<wide_WK, 8, TWIN(6, 7)>);
static_assert(shape<wide_WV, TWIN(8, 9), 6>);
static_assert(shape<wide_WV, 8, TWIN(6, 7)>);
static_assert(shape<wide_Q, TWIN(1, 2), 8, 6>);
static_assert(shape<wide_Q, 1, TWIN(8, 9), 6>);
static_assert(shape<wide_Q, 1, 8, TWIN(6, 7)>);
static_assert(shape<wide_K, TWIN(1, 2), 8, 6>);
static_assert(shape<wide_K, 1, TWIN(8, 9), 6>);
static_assert(shape<wide_K, 1, 8, TWIN(6, 7)>);
static_assert(shape<wide_V, TWIN(1, 2), 8, 6>);
static_assert(shape<wide_V, 1, TWIN(8, 9), 6>);
static_assert(shape<wide_V, 1, 8, TWIN(6, 7)>);
static_assert(shape<wide_S, TWIN(1, 2), 8, 8>);
static_assert(shape<wide_S, 1, TWIN(8, 9), 8>);
static_assert(shape<wide_S, 1, 8, TWIN(8, 9)>);  // as with hs = 4
static_assert(exactly<wide_parameters, TWIN("144", "145")>);
static_assert(exactly<wide_scale, TWIN("1/sqrt(6)", "2/sqrt(6)")>);
static_assert(decimal<wide_scale, TWIN("0.4082", "0.4083")>);
static_assert(decimal<wide_S01, TWIN("0.0119", "0.0110")>);

// ---- Exercise 3: V[0,0] is neither Q[0,0] nor K[0,0]; with W_v = W_k, the values are the keys
constexpr auto Q00 = row_of(Q[0], 0);
constexpr auto K00 = row_of(K[0], 0);
constexpr auto V00 = row_of(V[0], 0);
constexpr auto shared_V = X * WK;
static_assert(decimal<V00, TWIN("[0.2693, -0.2327, -0.5393, 0.2382]", "[0.2694, -0.2327, -0.5393, 0.2382]")>);
static_assert(decimal<V00, TWIN("[0.2693, -0.2327, -0.5393, 0.2382]", "[0.2693, -0.2328, -0.5393, 0.2382]")>);
static_assert(decimal<V00, TWIN("[0.2693, -0.2327, -0.5393, 0.2382]", "[0.2693, -0.2327, -0.5394, 0.2382]")>);
static_assert(decimal<V00, TWIN("[0.2693, -0.2327, -0.5393, 0.2382]", "[0.2693, -0.2327, -0.5393, 0.2383]")>);
static_assert(TWIN(!equal<V00, Q00>, equal<V00, Q00>));
static_assert(TWIN(!equal<V00, K00>, equal<V00, K00>));
static_assert(TWIN(!equal<V, K>, equal<V, K>));
static_assert(equal<shared_V, TWIN(K, V)>);

}  // namespace lesson1
