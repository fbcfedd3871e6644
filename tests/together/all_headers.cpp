// Every public header in one translation unit: no name of one collides with a name of another.
#include <attest/check.hpp>
#include <attest/inputs/numpy_random.hpp>
#include <attest/inputs/numpy_stream.hpp>
#include <attest/io/attention_file.hpp>
#include <attest/io/case_file.hpp>
#include <attest/io/expected_arrays.hpp>
#include <attest/kernel.hpp>
#include <attest/problem.hpp>
#include <attest/proof.hpp>
#include <attest/reference/attention.hpp>
#include <attest/reference/high_precision.hpp>
#include <attest/trace/trace.hpp>

#include "catch.hpp"

namespace {

using namespace attest;

constexpr auto A = softmax(matrix({{1, 0, 1}}) / root(2));

}  // namespace

TEST_CASE("a claim about a symbolic value and a comparison of arrays live in one file") {
  CHECK((decimal<A, "0.401112 0.197776 0.401112">));
  CHECK_FALSE((decimal<A, "0.401112 0.197777 0.401112">));
  CHECK(judgement::passed != judgement::failed);
}
