// The three projections: their shapes, their parameters, and what their weights are.
#include "head.hpp"

namespace lesson1 {

// ---- (C, hs), and (B, T, C) @ (C, hs) -> (B, T, hs)
static_assert(shape<WQ, 8, 4>);
static_assert(shape<WK, 8, 4>);
static_assert(shape<WV, 8, 4>);
static_assert(shape<Q, 1, 8, 4>);
static_assert(shape<K, 1, 8, 4>);
static_assert(shape<V, 1, 8, 4>);

// ---- What one head learns: 3 C hs numbers, here and in the real configuration, whose heads have C / n_head dimensions
constexpr integer parameters(WQ.rows() * WQ.columns() + WK.rows() * WK.columns() + WV.rows() * WV.columns());
constexpr integer real_head_size(64 / 4);
constexpr integer real_parameters(3 * 64 * 16);
static_assert(exactly<parameters, "96">);
static_assert(exactly<real_head_size, "16">);
static_assert(exactly<real_parameters, "3072">);

// ---- A weight is the double nearest to a drawn value times the double 0.1. It is not that product itself,
constexpr auto value_196 = values(0, 196);
constexpr auto W_q10 = WQ(1, 0);
constexpr auto product = value_196 * exact_value(0.1);
constexpr auto rounded_product = pattern_value(0xbfb6a072b647f168, formats::binary64);
static_assert(binary64_bits<value_196, 0xbfec488f63d9edc1>);
static_assert(equal<W_q10, rounded_product>);
static_assert(!equal<W_q10, product>);

// ---- ... nor what a division by ten would give, one ulp nearer to zero
constexpr auto tenth = exact_cast<rational>(value_196) * ratio(1, 10);
static_assert(binary64_bits<product, 0xbfb6a072b647f168>);
static_assert(binary64_bits<tenth, 0xbfb6a072b647f167>);

}  // namespace lesson1
