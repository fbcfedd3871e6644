// Every public header in one translation unit: no name of one collides with a name of another.
#include <attest/check.hpp>
#include <attest/check/arrays.hpp>
#include <attest/check/attention.hpp>
#include <attest/check/certified.hpp>
#include <attest/check/compare.hpp>
#include <attest/check/conventions.hpp>
#include <attest/check/report.hpp>
#include <attest/check/ulp.hpp>
#include <attest/enclosure.hpp>
#include <attest/enclosure/elementary.hpp>
#include <attest/enclosure/evaluate.hpp>
#include <attest/enclosure/fixed_point.hpp>
#include <attest/enclosure/interval.hpp>
#include <attest/enclosure/printed.hpp>
#include <attest/exact.hpp>
#include <attest/exact/batch.hpp>
#include <attest/exact/decimal.hpp>
#include <attest/exact/dyadic.hpp>
#include <attest/exact/error.hpp>
#include <attest/exact/integer.hpp>
#include <attest/exact/list.hpp>
#include <attest/exact/matrix.hpp>
#include <attest/exact/number.hpp>
#include <attest/exact/projections.hpp>
#include <attest/exact/rational.hpp>
#include <attest/exact/scores.hpp>
#include <attest/inputs/numpy_random.hpp>
#include <attest/inputs/numpy_stream.hpp>
#include <attest/io/array_file.hpp>
#include <attest/io/attention_arrays.hpp>
#include <attest/io/attention_file.hpp>
#include <attest/io/case_file.hpp>
#include <attest/io/expected_arrays.hpp>
#include <attest/io/files.hpp>
#include <attest/io/input_error.hpp>
#include <attest/io/json.hpp>
#include <attest/io/near_name.hpp>
#include <attest/io/number.hpp>
#include <attest/io/rounded_array.hpp>
#include <attest/io/sha256.hpp>
#include <attest/kernel.hpp>
#include <attest/kernel/arrays.hpp>
#include <attest/kernel/error_bound.hpp>
#include <attest/kernel/float_environment.hpp>
#include <attest/kernel/fused.hpp>
#include <attest/kernel/naive.hpp>
#include <attest/kernel/stable.hpp>
#include <attest/problem.hpp>
#include <attest/problem/attention_error.hpp>
#include <attest/problem/one_line.hpp>
#include <attest/problem/options.hpp>
#include <attest/problem/shape_text.hpp>
#include <attest/problem/tensor.hpp>
#include <attest/problem/visibility.hpp>
#include <attest/proof.hpp>
#include <attest/proof/claims.hpp>
#include <attest/proof/product.hpp>
#include <attest/proof/text.hpp>
#include <attest/proof/twin.hpp>
#include <attest/prove/claims.hpp>
#include <attest/prove/proof_file.hpp>
#include <attest/reference/attention.hpp>
#include <attest/reference/certified_attention.hpp>
#include <attest/reference/exact_head.hpp>
#include <attest/reference/exact_values.hpp>
#include <attest/reference/high_precision.hpp>
#include <attest/reference/number_text.hpp>
#include <attest/reference/problem.hpp>
#include <attest/reference/rounded.hpp>
#include <attest/rounding.hpp>
#include <attest/rounding/direction.hpp>
#include <attest/rounding/format.hpp>
#include <attest/rounding/nearest.hpp>
#include <attest/rounding/numeral.hpp>
#include <attest/rounding/round.hpp>
#include <attest/rounding/rounding_test.hpp>
#include <attest/symbolic.hpp>
#include <attest/symbolic/equality.hpp>
#include <attest/symbolic/exp_fraction.hpp>
#include <attest/symbolic/exp_sum.hpp>
#include <attest/symbolic/notation.hpp>
#include <attest/symbolic/print.hpp>
#include <attest/symbolic/softmax.hpp>
#include <attest/symbolic/surd.hpp>
#include <attest/symbolic/written.hpp>
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
