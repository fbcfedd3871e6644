// Compile cost: enclosures of 16 x 16 weights to 192 bits, under the compilers' own limits. Integer scores
// between -20 and 20 over √7, so that every score but a row's largest takes an exponential.
//
//   time g++ -std=c++20 -Iinclude -fsyntax-only bench/compile/weights_16x16.cpp
//
// Marks, on one core: g++ 12 at most 3 s, clang 19 at most 4 s; about 1 s of each is the headers.
#include <attest/proof.hpp>

namespace {

using namespace attest;

constexpr auto D = [] {
  matrix<integer, 16, 16> scores;
  std::uint64_t x = 88172645463325252;  // xorshift64
  for (std::size_t i = 0; i < 16; ++i)
    for (std::size_t j = 0; j < 16; ++j) {
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
      scores(i, j) = integer(static_cast<long long>(x % 41) - 20);
    }
  return scores;
}();
constexpr auto A = softmax(D / root(7));

template <std::size_t Row>
constexpr auto enclosures = evaluate_row<compiler_limbs>(A, Row, 192);

// Each weight is known to 2^-180 or better.
constexpr bool narrow = []<std::size_t... Row>(std::index_sequence<Row...>) {
  const auto row_is_narrow = [](const auto& row) {
    for (std::size_t j = 0; j < 16; ++j)
      if (width_exponent(row[j]) > -180) return false;
    return true;
  };
  return (row_is_narrow(enclosures<Row>) && ...);
}
(std::make_index_sequence<16>{});
static_assert(narrow);

}  // namespace
