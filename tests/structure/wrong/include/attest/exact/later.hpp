#include <attest/exact/number.hpp>
#include <attest/symbolic/softmax.hpp>

#include <algorithm>
