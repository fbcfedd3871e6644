// A claim whose second weight has a wrong last digit.
#include <attest/proof.hpp>

using namespace attest;
constexpr auto A = softmax(matrix({{1, 0, 1}}) / root(2));

static_assert(decimal<A, "0.401112 0.197777 0.401112">);
