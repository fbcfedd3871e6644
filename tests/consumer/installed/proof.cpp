#include <attest/proof.hpp>

constexpr auto scores = attest::matrix({{7, 7, 7}}) / attest::root(2);
constexpr auto weights = attest::softmax(scores);
constexpr auto first = weights(0, 0);
static_assert(attest::decimal<first, CLAIMED_WEIGHT>);
static_assert(attest::exactly<first, "1/3">);
