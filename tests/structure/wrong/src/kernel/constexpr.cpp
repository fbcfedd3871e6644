#include <attest/problem/tensor.hpp>
#include <attest/exact.hpp>
