// Cases: products rounded as the machine rounds them; a matrix element by element; ties, other formats, overflow.
#include "catch.hpp"

#include <attest/rounding.hpp>

#include "support/random.hpp"

namespace {

using namespace attest;

constexpr matrix W({{0.5, -1.25, 3.0}});
constexpr auto scaled = nearest(W * exact_value(0.1), formats::binary64);
static_assert(scaled == matrix({{0.05, -0.125, 0x1.3333333333334p-2}}));
static_assert(!(scaled == W * exact_value(0.1)));

}  // namespace

TEST_CASE("the nearest double of an exact product is what the machine computes") {
  testing::random_source random(7);
  for (int i = 0; i < 2000; ++i) {
    const double x = random.double_between(-300, 300);
    const double y = random.double_between(-300, 300);
    const double product = x * y;
    CHECK(nearest(exact_value(x) * exact_value(y), formats::binary64) == exact_value(product));
  }
}

TEST_CASE("ties go to even, in the format asked for; a third has a nearest float") {
  CHECK(nearest(exact_value(0x1.01p0), formats::bfloat16) == exact_value(1.0));
  CHECK(nearest(exact_value(0x1.03p0), formats::bfloat16) == exact_value(0x1.04p0));
  CHECK(nearest(ratio(1, 3), formats::binary64) == exact_value(1.0 / 3.0));
  CHECK_THROWS_AS(nearest(exact_value(0x1p20), formats::binary16), std::domain_error);
}

TEST_CASE("a matrix is reshaped by rows, from any of its elements on") {
  const matrix m({{0, 1, 2, 3}, {4, 5, 6, 7}});
  CHECK(reshape<2, 3>(m) == matrix({{0, 1, 2}, {3, 4, 5}}));
  CHECK(reshape<2, 3>(m, 2) == matrix({{2, 3, 4}, {5, 6, 7}}));
  CHECK_THROWS_AS((reshape<2, 3>(m, 3)), std::out_of_range);
  CHECK(m * integer(3) == matrix({{0, 3, 6, 9}, {12, 15, 18, 21}}));
}
