#include <attest/proof.hpp>

#include "catch.hpp"

// product<A, B> is A * B: with a block for each part of a row, with one block for several columns, of each kind of number,
// and where A * B in one constant is past clang's limit.

namespace {

using namespace attest;

constexpr matrix A({{1, -2, 3}, {4, 5, -6}});
constexpr matrix B({{7, 8}, {9, 10}, {11, -12}});
constexpr auto AB = product<A, B>;
constexpr auto AB_at_once = A * B;
static_assert(AB == AB_at_once);
static_assert(exactly<AB, "22 -48  7 154">);

constexpr matrix F({{0.5, 0.25}, {-1.5, 3.0}});
constexpr matrix R({{ratio(1, 3), ratio(-1, 7)}, {ratio(2, 5), ratio(0, 1)}});
constexpr auto FR = product<F, R>;
constexpr auto FR_at_once = F * R;
static_assert(FR == FR_at_once);
static_assert(exactly<FR, "4/15 -1/14 7/10 3/14">);

template <std::size_t Rows, std::size_t Columns>
constexpr auto ramp(int step) {
  matrix<dyadic, Rows, Columns> m;
  for (std::size_t i = 0; i < Rows; ++i)
    for (std::size_t j = 0; j < Columns; ++j) m(i, j) = dyadic(integer(static_cast<int>(i * Columns + j) * step % 1009), -3);
  return m;
}

// 100 inner elements: two columns at once, and one that is left over.
constexpr auto wide = ramp<2, 100>(7);
constexpr auto tall = ramp<100, 5>(11);
constexpr auto wide_tall = product<wide, tall>;
// 300 inner elements: a column at once.
constexpr auto wider = ramp<1, 300>(3);
constexpr auto taller = ramp<300, 2>(5);
constexpr auto wider_taller = product<wider, taller>;
// 4096 products.
constexpr auto square = ramp<16, 16>(13);
constexpr auto squared = product<square, square>;

template <class M, class N, class P>
bool is_product(const M& m, const N& n, const P& p) {
  return m * n == p;
}

}  // namespace

TEST_CASE("product<A, B> in pieces is A * B") {
  CHECK(is_product(A, B, AB));
  CHECK(is_product(F, R, FR));
  CHECK(is_product(wide, tall, wide_tall));
  CHECK(is_product(wider, taller, wider_taller));
  CHECK(is_product(square, square, squared));
  CHECK_FALSE(is_product(square, square, square));
}
