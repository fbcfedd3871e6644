#include <attest/proof.hpp>

#include "catch.hpp"

#include <string>

// Every kind of claim, true and false; and what a false one names: the first element that drifted, in row
// order, with its actual and its expected value, or the counts where they differ. (That a false claim also
// stops a build is the business of proofs/refuted.)

using attest::matrix;
using attest::ratio;
using attest::root;
using attest::detail::claim_finding;
using attest::detail::finding;

namespace {

// The chapter's head.
inline constexpr matrix Q({{1, 0}, {0, 1}, {1, 1}});
inline constexpr matrix K({{1, 1}, {0, 1}, {1, 2}});
inline constexpr matrix V({{1, 0}, {1, 2}, {2, 2}});
inline constexpr auto D = scores(Q, K);
inline constexpr auto S = D / root(2);
inline constexpr auto A = softmax(S);
inline constexpr auto O = A * V;
inline constexpr auto first_row = A.row(0);
inline constexpr auto r = exp(1 / root(2));
inline constexpr auto L = log_sum_exp(A, attest::log_base::e);

inline constexpr matrix eighths({{0.125, -0.375}});
inline constexpr auto third = ratio(1, 3);
inline constexpr matrix quarters({{0.25}, {0.5}, {0.75}});

constexpr std::string_view actual(const finding& f) { return f.actual.view(); }
constexpr std::string_view expected(const finding& f) { return f.expected.view(); }

constexpr bool names(const finding& f, std::size_t row, std::size_t column, std::string_view is,
                     std::string_view should_be) {
  return !f.holds && f.row == row && f.column == column && actual(f) == is && expected(f) == should_be;
}

// --- shape -------------------------------------------------------------------------------------------------
using attest::shape;
static_assert(shape<D, 3, 3>);
static_assert(shape<V, 3, 2>);
static_assert(shape<third, 1, 1>);
static_assert(!shape<V, 2, 3>);
static_assert(!shape<V, 3, 3>);
static_assert(names(attest::detail::shape_finding<V, 2, 3>, 0, 0, "[3, 2]", "[2, 3]"));

// --- exactly: every element in turn is the one that is wrong -----------------------------------------------
using attest::exactly;
static_assert(exactly<D, "[[1, 0, 1], [1, 1, 2], [2, 1, 3]]">);
static_assert(exactly<D, "1 0 1  1 1 2  2 1 3">);
static_assert(exactly<D, "1.0 0/5 1e0  1 1 2  2 1 6/2">);
static_assert(
    exactly<S, "1/sqrt(2) 0 1/sqrt(2)  1/sqrt(2) 1/sqrt(2) 2/sqrt(2)  2/sqrt(2) 1/sqrt(2) 3/sqrt(2)">);
static_assert(
    exactly<S, "2/sqrt(8) 0 1/sqrt(2)  1/sqrt(2) 1/sqrt(2) 2/sqrt(2)  4/sqrt(8) 1/sqrt(2) 3/sqrt(2)">);
static_assert(
    !exactly<S, "1/sqrt(3) 0 1/sqrt(2)  1/sqrt(2) 1/sqrt(2) 2/sqrt(2)  2/sqrt(2) 1/sqrt(2) 3/sqrt(2)">);
static_assert(exactly<third, "1/3">);
static_assert(!exactly<third, "0.3333333333333333333333333333333333333333">);
static_assert(exactly<eighths, "1/8 -0.375">);
static_assert(!exactly<eighths, "1/8 0.375">);
static_assert(!exactly<D, "9 0 1  1 1 2  2 1 3">);
static_assert(!exactly<D, "1 9 1  1 1 2  2 1 3">);
static_assert(!exactly<D, "1 0 9  1 1 2  2 1 3">);
static_assert(!exactly<D, "1 0 1  9 1 2  2 1 3">);
static_assert(!exactly<D, "1 0 1  1 9 2  2 1 3">);
static_assert(!exactly<D, "1 0 1  1 1 9  2 1 3">);
static_assert(!exactly<D, "1 0 1  1 1 2  9 1 3">);
static_assert(!exactly<D, "1 0 1  1 1 2  2 9 3">);
static_assert(!exactly<D, "1 0 1  1 1 2  2 1 9">);
template <attest::text T>
constexpr const finding& exact_finding = claim_finding<attest::detail::exact_claim<T>, D>;
static_assert(exact_finding<"1 0 1  1 1 2  2 1 3">.holds);
static_assert(names(exact_finding<"9 0 1  1 1 2  2 1 3">, 0, 0, "1", "9"));
static_assert(names(exact_finding<"1 0 1  1 1 -7/2  9 1 9">, 1, 2, "2", "-7/2"));
static_assert(names(exact_finding<"1 0 1  1 1 2  2 1 9">, 2, 2, "3", "9"));
static_assert(names(exact_finding<"1 0 1  1 1 2  2 1">, 0, 0, "9 elements", "8 numerals"));
static_assert(names(exact_finding<"1 0 1  1 1 2  2 1 3 0">, 0, 0, "9 elements", "10 numerals"));
static_assert(names(exact_finding<"">, 0, 0, "9 elements", "0 numerals"));
static_assert(names(claim_finding<attest::detail::exact_claim<"1/2">, third>, 0, 0, "1/3", "1/2"));

// --- decimal -----------------------------------------------------------------------------------------------
// r/(2r + 1) = 0.40111209267978589.., 1/(2r + 1) = 0.19777581464042819.., 1/(2 + r) = 0.24825507825772309..,
// ...
using attest::decimal;
static_assert(
    decimal<A, "0.401112 0.197776 0.401112  0.248255 0.248255 0.503490  0.283995 0.140029 0.575975">);
static_assert(decimal<A, "0.4 0.2 0.40  0.248255 0.248255 0.503490  0 0.14 1">);
static_assert(
    !decimal<A, "0.401112 0.197776 0.401113  0.248255 0.248255 0.503490  0.283995 0.140029 0.575975">);
static_assert(
    !decimal<A, "0.401112 0.197776 0.401112  0.248255 0.248254 0.503490  0.283995 0.140029 0.575975">);
static_assert(
    !decimal<A, "0.401112 0.197776 0.401112  0.248255 0.248255 0.503490  0.283995 0.140029 0.575976">);
static_assert(decimal<third, "0.3">);
static_assert(decimal<third, "0.33333333333333333333">);
static_assert(!decimal<third, "0.33333333333333333334">);
static_assert(!decimal<third, "0.30">);         // trailing zeros are significant
static_assert(decimal<eighths, "0.12 -0.38">);  // at an exact tie either neighbour
static_assert(decimal<eighths, "0.13 -0.37">);
static_assert(!decimal<eighths, "0.12 -0.36">);
// ln(2r + 1), ln(2r + r^2), ln(r + r^2 + r^3), by a pocket calculator: 1.62062114, 2.10040530, 2.67301077
static_assert(decimal<L, "1.620621 2.100405 2.673011">);
static_assert(!decimal<L, "1.620621 2.100405 2.673010">);
template <attest::text T>
constexpr const finding& decimal_finding = claim_finding<attest::detail::decimal_claim<T>, A>;
static_assert(names(
    decimal_finding<"0.401112 0.197776 0.401112  0.248255 0.248254 0.503491  0.283995 0.140029 0.575975">, 1,
    1, "0.248255", "0.248254"));
static_assert(
    decimal_finding<"0.401112 0.197776 0.401112  0.248255 0.248255 0.503490  0.283995 0.140029 0.58">.holds);
static_assert(
    names(decimal_finding<"0.401112 0.197776 0.401112  0.248255 0.248255 0.503490  0.283995 0.140029 0.59">,
          2, 2, "0.58", "0.59"));
static_assert(names(decimal_finding<"0.401112">, 0, 0, "9 elements", "1 numerals"));

// --- binary64, rounds_to, bits -----------------------------------------------------------------------------
inline constexpr auto weight = A(0, 1);
using attest::binary64;
using attest::binary64_bits;
using attest::has_bits;
using attest::rounds_to;
static_assert(binary64<weight, "0.19777581464042818">);
static_assert(!binary64<weight, "0.1977758146404282">);  // one ulp above, though the right 16-digit decimal
static_assert(!binary64<weight, "0.1977758146404283">);
static_assert(decimal<weight, "0.1977758146404282">);
static_assert(!decimal<weight, "0.1977758146404283">);
inline constexpr auto other_weight = A(1, 0);
static_assert(binary64<other_weight, "0.24825507825772308">);
static_assert(!decimal<other_weight, "0.24825507825772308">);  // right as a double, and no 17-digit rounding
static_assert(rounds_to<weight, attest::formats::binary32, "0.19777581">);
static_assert(!rounds_to<weight, attest::formats::binary32, "0.19777583">);
static_assert(rounds_to<weight, attest::formats::binary16, "0.1978">);
static_assert(rounds_to<eighths, attest::formats::bfloat16, "0.125 -0.375">);
static_assert(!rounds_to<eighths, attest::formats::bfloat16, "0.125 0.375">);
static_assert(names(
    claim_finding<attest::detail::rounding_claim<attest::formats::binary64, "0.1977758146404282">, weight>, 0,
    0, "0.19777581464042818 (0x3fc950b7c7e902c5)", "0.1977758146404282"));
static_assert(binary64_bits<eighths, 0x3fc0000000000000, 0xbfd8000000000000>);
static_assert(!binary64_bits<eighths, 0x3fc0000000000000, 0x3fd8000000000000>);
static_assert(!binary64_bits<eighths, 0x3fc0000000000001, 0xbfd8000000000000>);
static_assert(!binary64_bits<eighths, 0x3fc0000000000000>);
static_assert(has_bits<eighths, attest::formats::binary16, 0x3000, 0xb600>);
static_assert(!has_bits<eighths, attest::formats::binary16, 0x3000, 0xb601>);
template <std::uint64_t... Patterns>
constexpr const finding& bits_finding =
    claim_finding<attest::detail::bits_claim<attest::formats::binary64, Patterns...>, eighths>;
static_assert(names(bits_finding<0x3fc0000000000000, 0xbfd8000000000001>, 0, 1, "-0.375 (0xbfd8000000000000)",
                    "-0.37500000000000006 (0xbfd8000000000001)"));
static_assert(names(bits_finding<0x3fc0000000000000>, 0, 0, "2 elements", "1 patterns"));

// --- within ------------------------------------------------------------------------------------------------
using attest::within;
static_assert(within<weight, "0.1977758146404283", "1e-12">);
static_assert(!within<weight, "0.1977758146404283", "1e-16">);
static_assert(within<third, "0.3", "0.04">);
static_assert(!within<third, "0.3", "0.03">);
static_assert(within<eighths, "0.126 -0.376", "0.001">);  // the tolerance itself is within
static_assert(!within<eighths, "0.126 -0.376", "0.0009">);
static_assert(names(claim_finding<attest::detail::within_claim<"0.125 -0.38", "0.001">, eighths>, 0, 1,
                    "-0.38", "-0.38"));

// --- equal -------------------------------------------------------------------------------------------------
using attest::equal;
inline constexpr auto claimed_row = attest::row(r, 1, r) / (2 * r + 1);
inline constexpr auto other_form = attest::row(r * r, r, r* r) / (2 * (r * r) + r);
inline constexpr auto wrong_row = attest::row(r, 1, 1) / (2 * r + 1);
inline constexpr auto D_again = Q * transpose(K);
inline constexpr matrix D_wrong({{1, 0, 1}, {1, 1, 2}, {2, 0, 3}});
inline constexpr matrix D_floats({{1.0, 0.0, 1.0}, {1.0, 1.0, 2.0}, {2.0, 1.0, 3.0}});
static_assert(equal<D, D_again>);
static_assert(equal<D, D_floats>);
static_assert(!equal<D, D_wrong>);
static_assert(equal<first_row, claimed_row>);
static_assert(equal<first_row, other_form>);
static_assert(!equal<first_row, wrong_row>);
static_assert(!equal<D, V>);  // shapes differ
static_assert(names(claim_finding<attest::detail::equality_claim<D_wrong>, D>, 2, 1, "1", "0"));
static_assert(names(claim_finding<attest::detail::equality_claim<wrong_row>, first_row>, 0, 2, "r/(2r + 1)",
                    "1/(2r + 1)"));

// --- order -------------------------------------------------------------------------------------------------
using attest::at_least;
using attest::at_most;
using attest::greater;
using attest::less;
inline constexpr auto smallest = column_minima(V);
inline constexpr auto largest = column_maxima(V);
inline constexpr auto one = ratio(1, 1);
inline constexpr auto two_fifths = ratio(2, 5);
static_assert(at_least<O, smallest>);
static_assert(at_most<O, largest>);
static_assert(greater<O, smallest>);
static_assert(less<O, largest>);
static_assert(!less<O, smallest>);
static_assert(!at_most<O, smallest>);
static_assert(!greater<O, largest>);
static_assert(!at_least<O, largest>);
static_assert(at_most<V, largest>);
static_assert(!less<V, largest>);  // met
static_assert(at_least<V, smallest>);
static_assert(!greater<V, smallest>);
static_assert(less<A, one>);
static_assert(!less<A, two_fifths>);
static_assert(at_most<quarters, quarters>);
static_assert(!less<quarters, quarters>);
static_assert(names(claim_finding<attest::detail::order_claim<two_fifths, attest::detail::order::less>, A>, 0,
                    0, "r/(2r + 1)", "less than 2/5"));
static_assert(names(claim_finding<attest::detail::order_claim<largest, attest::detail::order::less>, V>, 1, 1,
                    "2", "less than 2"));
static_assert(names(claim_finding<attest::detail::order_claim<smallest, attest::detail::order::greater>, V>,
                    0, 0, "1", "greater than 1"));
static_assert(names(claim_finding<attest::detail::order_claim<largest, attest::detail::order::at_least>, V>,
                    0, 0, "1", "at least 2"));
static_assert(names(claim_finding<attest::detail::order_claim<smallest, attest::detail::order::at_most>, V>,
                    1, 1, "2", "at most 0"));

// --- reads -------------------------------------------------------------------------------------------------
using attest::reads;
static_assert(reads<first_row, "[r, 1, r]/(2r + 1)">);
static_assert(!reads<first_row, "[r, 1, r]/(2r + 2)">);
static_assert(!reads<first_row, "[r, 1, r]/(2r + 1">);
static_assert(!reads<first_row, "[r, 1, r]/(2r + 1) ">);
static_assert(names(attest::detail::text_finding<first_row, "r">, 0, 0, "[r, 1, r]/(2r + 1)", "r"));
// 130 digits are longer than a message: what is cut off still counts.
inline constexpr auto long_number = attest::power_of_ten<attest::integer>(129);
static_assert(reads<long_number,
                    "1000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
                    "000000000000000000000000000000000000000000">);
static_assert(!reads<long_number,
                     "100000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
                     "0000000000000000000000000000000000000000001">);
static_assert(!reads<long_number,
                     "100000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
                     "000000000000000000000000000000...">);

}  // namespace

TEST_CASE("every claim above is decided alike at run time") {
  // The same checks, called on run-time copies.
  const auto decided = [](const auto& x, std::string_view numeral) {
    const auto value = attest::evaluate<attest::compiler_limbs>(x, 192);
    return attest::is_rounding_of(x, value, attest::parse_decimal(numeral));
  };
  const auto weights = A;
  const std::string_view printed[3][3] = {{"0.401112", "0.197776", "0.401112"},
                                          {"0.248255", "0.248255", "0.503490"},
                                          {"0.283995", "0.140029", "0.575975"}};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      CHECK(decided(weights(i, j), printed[i][j]));
      CHECK_FALSE(decided(weights(i, j), std::string(printed[i][j]) + "9"));
    }
  CHECK(std::string(exact_finding<"1 0 1  1 1 2  2 1 9">.actual.view()) == "3");
  CHECK(std::string(attest::to_text(first_row)) == "[r, 1, r]/(2r + 1)");
}

TEST_CASE("a list of numerals is counted and read in row order") {
  using claim = attest::detail::numerals<"[[1, 2], [3, 4]]">;
  for (std::size_t index = 0; index < 4; ++index) {
    std::size_t at = claim::start(index);
    CHECK(claim::next(at) == std::to_string(index + 1));
  }
  finding found;
  claim::check_count(found, 4);
  CHECK(found.holds);
  claim::check_count(found, 5);
  CHECK_FALSE(found.holds);
  CHECK(found.actual.view() == "5 elements");
  CHECK(found.expected.view() == "4 numerals");
}
