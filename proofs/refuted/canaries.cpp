// False claims of each kind that a proof can make. Every configuration tries them on the compiler at hand and stops at
// one that it accepts, with the canary's name.
#include <attest/proof.hpp>
#include <attest/proof/twin.hpp>

using namespace attest;

// ---- Matrices: an error in any one place, seen by == and by a claim
constexpr matrix M({{1, 0, 2}, {0, 1, 3}});
static_assert(M == matrix({{TWIN(1, 2), 0, 2}, {0, 1, 3}}));         // canary: matrix equality, row 0 column 0
static_assert(M == matrix({{1, TWIN(0, 1), 2}, {0, 1, 3}}));         // canary: matrix equality, row 0 column 1
static_assert(M == matrix({{1, 0, TWIN(2, 3)}, {0, 1, 3}}));         // canary: matrix equality, row 0 column 2
static_assert(M == matrix({{1, 0, 2}, {TWIN(0, 1), 1, 3}}));         // canary: matrix equality, row 1 column 0
static_assert(M == matrix({{1, 0, 2}, {0, TWIN(1, 2), 3}}));         // canary: matrix equality, row 1 column 1
static_assert(M == matrix({{1, 0, 2}, {0, 1, TWIN(3, 4)}}));         // canary: matrix equality, row 1 column 2
static_assert(exactly<M, TWIN("1 0 2 0 1 3", "2 0 2 0 1 3")>);       // canary: claim of a matrix, row 0 column 0
static_assert(exactly<M, TWIN("1 0 2 0 1 3", "1 1 2 0 1 3")>);       // canary: claim of a matrix, row 0 column 1
static_assert(exactly<M, TWIN("1 0 2 0 1 3", "1 0 3 0 1 3")>);       // canary: claim of a matrix, row 0 column 2
static_assert(exactly<M, TWIN("1 0 2 0 1 3", "1 0 2 1 1 3")>);       // canary: claim of a matrix, row 1 column 0
static_assert(exactly<M, TWIN("1 0 2 0 1 3", "1 0 2 0 2 3")>);       // canary: claim of a matrix, row 1 column 1
static_assert(exactly<M, TWIN("1 0 2 0 1 3", "1 0 2 0 1 4")>);       // canary: claim of a matrix, row 1 column 2
static_assert(exactly<M, TWIN("1 0 2 0 1 3", "1 0 2 0 1")>);         // canary: a numeral too few
static_assert(exactly<M, TWIN("1 0 2 0 1 3", "1 0 2 0 1 3 0")>);     // canary: a numeral too many
static_assert(shape<M, TWIN(2, 3), 3>);                              // canary: rows
static_assert(shape<M, 2, TWIN(3, 2)>);                              // canary: columns

// ---- Values that g++ 12 and 14 take for one another as template arguments: all zeros but one, each in another place
constexpr matrix<integer, 2, 2> only(std::size_t i, std::size_t j) {
  matrix<integer, 2, 2> m;
  m(i, j) = 5;
  return m;
}
constexpr auto only_01 = only(0, 1);
constexpr auto only_10 = only(1, 0);
static_assert(exactly<only_01, TWIN("0 5 0 0", "0 0 5 0")>);         // canary: sparse matrix, first
static_assert(exactly<only_10, TWIN("0 0 5 0", "0 5 0 0")>);         // canary: sparse matrix, second
static_assert(equal<only_01, TWIN(only_01, only_10)>);               // canary: sparse matrices as references
static_assert(text<8>("0 5 0 0").view() == TWIN("0 5 0 0", "0 0 5 0")); // canary: texts

// ---- Products and shapes
constexpr matrix N({{1, 2}, {3, 4}, {5, 6}});
constexpr auto MN = M * N;
static_assert(exactly<MN, TWIN("11 14 18 22", "11 14 18 23")>);      // canary: matrix product
constexpr auto misfit = M * TWIN(N, M);                              // canary: shape mismatch in a product
constexpr auto misfit_sum = M + TWIN(M, N);                          // canary: shape mismatch in a sum
constexpr auto misfit_element = M(TWIN(1, 2), 0);                    // canary: index out of range

// ---- Numbers: rationals, floats, roots
constexpr auto third = ratio(1, 3);
constexpr auto tenth = exact_value(0.1);
constexpr auto root_2 = 2 / root(2);
static_assert(exactly<third, TWIN("1/3", "1/4")>);                   // canary: rational
static_assert(exactly<tenth, TWIN("0.1000000000000000055511151231257827021181583404541015625", "0.1")>);  // canary: float
static_assert(exactly<root_2, TWIN("2/sqrt(2)", "2/sqrt(3)")>);      // canary: surd
static_assert(exactly<root_2, TWIN("4/sqrt(8)", "3/sqrt(8)")>);      // canary: surd of one field
static_assert(root_2 == TWIN(4, 3) / root(8));                       // canary: surd equality

// ---- Expressions
constexpr auto s = 1 / root(2);
constexpr auto r = exp(s);
constexpr auto A = softmax(matrix({{1, 0, 1}}) / root(2));
constexpr auto A_row = A.row(0);
constexpr auto A_printed = row(r, 1, r) / (2 * r + 1);
constexpr auto A_misprinted = row(r, 1, r) / (2 * r + 2);
constexpr auto A12 = A(0, 1);
static_assert(equal<A_row, TWIN(A_printed, A_misprinted)>);          // canary: symbolic equality of a row
static_assert(r * r == exp(TWIN(2, 1) / root(2)));                   // canary: symbolic equality of sums
static_assert(reads<A_row, TWIN("[r, 1, r]/(2r + 1)", "[r, 1, r]/(2r + 2)")>);  // canary: written form

// ---- Decimals, bit patterns, order
static_assert(decimal<A, TWIN("0.401112 0.197776 0.401112", "0.401113 0.197776 0.401112")>);  // canary: decimal, column 0
static_assert(decimal<A, TWIN("0.401112 0.197776 0.401112", "0.401112 0.197775 0.401112")>);  // canary: decimal, column 1
static_assert(decimal<A, TWIN("0.401112 0.197776 0.401112", "0.401112 0.197776 0.401111")>);  // canary: decimal, column 2
static_assert(decimal<A12, TWIN("0.19777581464042817937", "0.19777581464042817938")>);        // canary: 20 decimals
static_assert(!decimal<A12, TWIN("0.1977", "0.1978")>);              // canary: negated decimal
static_assert(binary64<A12, TWIN("0.19777581464042818", "0.1977758146404282")>);              // canary: binary64 numeral
static_assert(binary64_bits<A12, TWIN(0x3fc950b7c7e902c5, 0x3fc950b7c7e902c6)>);              // canary: bit pattern, lowest bit
static_assert(binary64_bits<A12, TWIN(0x3fc950b7c7e902c5, 0xbfc950b7c7e902c5)>);              // canary: bit pattern, sign
static_assert(has_bits<A12, formats::binary16, TWIN(0x3254, 0x3255)>);                        // canary: bit pattern, binary16
static_assert(within<A12, "0.1978", TWIN("3e-5", "2e-5")>);          // canary: tolerance
static_assert(less<A12, TWIN(r, A12)>);                              // canary: order, strict
static_assert(at_most<r, TWIN(r, A12)>);                             // canary: order, not strict
static_assert(greater<r, TWIN(s, r)>);                               // canary: order of an expression and a surd

// ---- What is not a claim that fails, but an error: it must not become "false" and pass when negated
static_assert(!exactly<third, TWIN("0.3", "1/0")>);                  // canary: negated claim, zero denominator
static_assert(!exactly<third, TWIN("0.3", "0.3x")>);                 // canary: negated claim, no number
static_assert(!exactly<third, TWIN("0.3", "3e300")>);                // canary: negated claim, overflow
constexpr auto wide = shift_left(integer(1), TWIN(511, 512));        // canary: integer overflow
constexpr auto wide_dyadic = exact_value(TWIN(0x1p200, 0x1p1000)) + exact_value(0x1p-200);    // canary: dyadic overflow
constexpr auto far_dyadic = dyadic(integer(1), TWIN(32, 4294967296L)) + dyadic(1);             // canary: dyadic of a far exponent
constexpr auto far_rational = exact_cast<rational>(dyadic(integer(1), TWIN(-32, -4294967296L)));  // canary: rational of a far exponent
constexpr auto over_zero = ratio(1, TWIN(1, 0));                     // canary: zero denominator
constexpr auto not_finite = exact_value(TWIN(0.5, __builtin_nan(""))); // canary: NaN as a number
constexpr auto empty_row = softmax(matrix({{1, 0}}) / root(2), matrix({{TWIN(true, false), false}}));  // canary: empty row
