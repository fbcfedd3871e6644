// The claims of lesson1/1_2_projections.cpp, each beside a false twin: one number changed at a time, of a long list one in each row.
#include "../../lesson1/head.hpp"

#include <attest/proof/twin.hpp>

namespace lesson1 {

// ---- (C, hs), and (B, T, C) @ (C, hs) -> (B, T, hs)
static_assert(shape<WQ, TWIN(8, 9), 4>);
static_assert(shape<WQ, 8, TWIN(4, 5)>);
static_assert(shape<WK, TWIN(8, 9), 4>);
static_assert(shape<WK, 8, TWIN(4, 5)>);
static_assert(shape<WV, TWIN(8, 9), 4>);
static_assert(shape<WV, 8, TWIN(4, 5)>);
static_assert(shape<Q, TWIN(1, 2), 8, 4>);
static_assert(shape<Q, 1, TWIN(8, 9), 4>);
static_assert(shape<Q, 1, 8, TWIN(4, 5)>);
static_assert(shape<K, TWIN(1, 2), 8, 4>);
static_assert(shape<K, 1, TWIN(8, 9), 4>);
static_assert(shape<K, 1, 8, TWIN(4, 5)>);
static_assert(shape<V, TWIN(1, 2), 8, 4>);
static_assert(shape<V, 1, TWIN(8, 9), 4>);
static_assert(shape<V, 1, 8, TWIN(4, 5)>);

// ---- What one head learns: 3 C hs numbers, here and in the real configuration, whose heads have C / n_head dimensions
constexpr integer parameters(WQ.rows() * WQ.columns() + WK.rows() * WK.columns() + WV.rows() * WV.columns());
constexpr integer real_head_size(64 / 4);
constexpr integer real_parameters(3 * 64 * 16);
static_assert(exactly<parameters, TWIN("96", "97")>);
static_assert(exactly<real_head_size, TWIN("16", "17")>);
static_assert(exactly<real_parameters, TWIN("3072", "3073")>);

// ---- A weight is the double nearest to a drawn value times the double 0.1. It is not that product itself,
constexpr auto value_196 = values(0, 196);
constexpr auto W_q10 = WQ(1, 0);
constexpr auto product = value_196 * exact_value(0.1);
constexpr auto rounded_product = pattern_value(0xbfb6a072b647f168, formats::binary64);
static_assert(binary64_bits<value_196, TWIN(0xbfec488f63d9edc1, 0xbfec488f63d9edc2)>);
static_assert(equal<W_q10, TWIN(rounded_product, product)>);
static_assert(TWIN(!equal<W_q10, product>, equal<W_q10, product>));

// ---- ... nor what a division by ten would give, one ulp nearer to zero
constexpr auto tenth = exact_cast<rational>(value_196) * ratio(1, 10);
static_assert(binary64_bits<product, TWIN(0xbfb6a072b647f168, 0xbfb6a072b647f169)>);
static_assert(binary64_bits<tenth, TWIN(0xbfb6a072b647f167, 0xbfb6a072b647f168)>);

}  // namespace lesson1
