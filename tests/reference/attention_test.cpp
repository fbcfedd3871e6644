#include "catch.hpp"
#include "mpfr_attention.hpp"

#include <attest/io/case_file.hpp>
#include <attest/reference/attention.hpp>
#include <attest/reference/exact_head.hpp>
#include <attest/reference/rounded.hpp>

#include <bit>
#include <cmath>
#include <random>
#include <string>

using namespace attest;
using attest_testing::mp;
using attest_testing::mpfr_attention;

namespace {

std::mt19937_64 generator(15);

int random_integer(int least, int greatest) { return std::uniform_int_distribution<int>(least, greatest)(generator); }

enum class numbers { integers, floats, rationals };

exact_scalar random_scalar(numbers kind) {
  switch (kind) {
    case numbers::integers: return unbounded_dyadic(unbounded_integer(random_integer(-3, 3)));
    case numbers::floats: return exact_value<unbounded_integer>(std::normal_distribution<double>(0, 1)(generator));
    case numbers::rationals: return exact_ratio(unbounded_integer(random_integer(-9, 9)), unbounded_integer(random_integer(1, 7)));
  }
  return unbounded_dyadic(0);
}
exact_matrix random_matrix(std::size_t rows, std::size_t columns, numbers kind) {
  std::vector<exact_scalar> elements;
  for (std::size_t i = 0; i < rows * columns; ++i) elements.push_back(random_scalar(kind));
  return make_exact_matrix(rows, columns, elements);
}
exact_matrix integers(std::initializer_list<std::initializer_list<long long>> rows) {
  std::vector<exact_scalar> elements;
  for (const auto& row : rows)
    for (const long long x : row) elements.push_back(unbounded_dyadic(unbounded_integer(x)));
  return make_exact_matrix(rows.size(), rows.begin()->size(), elements);
}
exact_matrix column(const std::vector<exact_scalar>& elements) { return make_exact_matrix(elements.size(), 1, elements); }
exact_scalar number(std::string_view text) { return io::read_exact(text); }

std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }

// The decimal's significant digits, and its exponent as in 0.d1d2... times 10^exponent.
std::string digits_of(const std::string& decimal, long& exponent) {
  std::string digits;
  std::string sign;
  long before = 0;
  long written = 0;
  bool point = false;
  std::size_t i = 0;
  if (decimal[0] == '-') sign = "-", ++i;
  for (; i < decimal.size() && decimal[i] != 'e'; ++i) {
    if (decimal[i] == '.') {
      point = true;
    } else {
      digits += decimal[i];
      if (!point) ++before;
    }
  }
  if (i < decimal.size()) written = std::stol(decimal.substr(i + 1));
  const std::size_t zeros = digits.find_first_not_of('0');
  exponent = before + written - static_cast<long>(zeros);
  return sign + digits.substr(zeros);
}

void check_value(const reference_value& ours, const mp& theirs, unsigned digits) {
  if (ours.exact && ours.decimal == "0") {
    CHECK(bits(ours.nearest) == 0);
    CHECK(std::abs(theirs.nearest()) < 1e-300);
    return;
  }
  CHECK(bits(ours.nearest) == bits(theirs.nearest()));
  long our_exponent = 0;
  long their_exponent = 0;
  CAPTURE(ours.decimal);
  CHECK(digits_of(ours.decimal, our_exponent) == theirs.digits(digits, their_exponent));
  CHECK(our_exponent == their_exponent);
  if (ours.exact) CHECK(bits(nearest_binary64(*ours.exact)) == bits(ours.nearest));
}

void check_against_mpfr(const problem& p, unsigned digits) {
  const attention_reference ours = attention(p, {digits});
  const mpfr_attention theirs(p);
  for (std::size_t i = 0; i < ours.weights.rows(); ++i) {
    for (std::size_t j = 0; j < ours.weights.columns(); ++j) {
      CAPTURE(i, j);
      CHECK(bits(nearest_binary64(element(ours.dots, i, j))) == bits(theirs.dots[i][j].nearest() + 0.0));
      check_value(ours.weights(i, j), theirs.weights[i][j], digits);
    }
    for (std::size_t c = 0; c < ours.output.columns(); ++c) {
      CAPTURE(i, c);
      check_value(ours.output(i, c), theirs.output[i][c], digits);
    }
    check_value(ours.log_sum_exp[i], theirs.log_sum_exp[i], digits);
  }
}

problem chapter() {
  return {projected_inputs{integers({{1, 0}, {0, 1}, {1, 1}}), {}, integers({{1, 0}, {0, 1}}), integers({{1, 1}, {0, 1}}),
                           integers({{1, 0}, {1, 2}})},
          {},
          {}};
}

// One query of scores `scores` (d_k = 1) over the values, unmasked.
problem one_row(const std::vector<exact_scalar>& scores, const std::vector<exact_scalar>& values) {
  return {head_inputs{integers({{1}}), column(scores), column(values)}, {}, {}};
}
double output_of(const problem& p) { return attention(p).output(0, 0).nearest; }

}  // namespace

// The figures of the file as its authors published it.
TEST_CASE("the chapter's published file holds, but for one binary64") {
  const double weights[3][3] = {{0.4011120926797859, 0.1977758146404282, 0.4011120926797859},
                                {0.24825507825772308, 0.24825507825772308, 0.5034898434845538},
                                {0.28399540974126003, 0.14002924504337802, 0.575975345215362}};
  const double output[3][2] = {{1.401112092679786, 1.1977758146404283},
                               {1.5034898434845538, 1.5034898434845538},
                               {1.575975345215362, 1.43200918051748}};
  const attention_reference ours = attention(chapter());
  CHECK(ours.queries == integers({{1, 0}, {0, 1}, {1, 1}}));
  CHECK(ours.keys == integers({{1, 1}, {0, 1}, {1, 2}}));
  CHECK(ours.values == integers({{1, 0}, {1, 2}, {2, 2}}));
  CHECK(ours.dots == integers({{1, 0, 1}, {1, 1, 2}, {2, 1, 3}}));
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      CAPTURE(i, j);
      if (i == 0 && j == 1) continue;
      CHECK(bits(ours.weights(i, j).nearest) == bits(weights[i][j]));
    }
    for (std::size_t c = 0; c < 2; ++c) {
      CAPTURE(i, c);
      CHECK(bits(ours.output(i, c).nearest) == bits(output[i][c]));
    }
  }
  // The published numeral is right to its 16 digits, and reads back one ulp above the correctly rounded value.
  CHECK(bits(ours.weights(0, 1).nearest) == bits(0.19777581464042818));
  CHECK(bits(ours.weights(0, 1).nearest) + 1 == bits(weights[0][1]));
  CHECK(attention(chapter(), {16}).weights(0, 1).decimal == "0.1977758146404282");
}

TEST_CASE("the chapter's symbolic rows and decimals") {
  const attention_reference ours = attention(chapter(), {30});
  CHECK(ours.weight_rows == std::vector<std::string>{"[r, 1, r]/(2r + 1)", "[1, 1, r]/(2 + r)", "[r, 1, r^2]/(r + 1 + r^2)"});
  CHECK(ours.r_meaning == std::optional<std::string>("exp(1/sqrt(2))"));
  CHECK(ours.r_decimal == std::optional<std::string>("2.02811498164747245110812611275"));
  CHECK(ours.weights(0, 0).decimal == "0.401112092679785910314010446311");
  CHECK(ours.output(0, 1).decimal == "1.19777581464042817937197910738");
  CHECK(ours.output_rows == std::vector<std::string>{"[3r + 1, 2 + 2r]/(2r + 1)", "[2 + 2r, 2 + 2r]/(2 + r)",
                                                     "[r + 1 + 2r^2, 2 + 2r^2]/(r + 1 + r^2)"});
  CHECK_FALSE(ours.weights(0, 0).exact.has_value());
}

TEST_CASE("random heads agree with MPFR: integers, floats and rationals, every width, cross-attention") {
  for (numbers kind : {numbers::integers, numbers::floats, numbers::rationals})
    for (std::size_t width = 1; width <= 9; ++width)
      for (int round = 0; round < 3; ++round) {
        CAPTURE(static_cast<int>(kind), width, round);
        const auto queries = static_cast<std::size_t>(random_integer(1, 3));
        const auto keys = static_cast<std::size_t>(random_integer(1, 5));
        const auto values = static_cast<std::size_t>(random_integer(1, 3));
        problem p;
        if (round == 0) {
          p.inputs = head_inputs{random_matrix(queries, width, kind), random_matrix(keys, width, kind),
                                 random_matrix(keys, values, kind)};
        } else {
          projected_inputs in{random_matrix(queries, 2, kind), {}, random_matrix(2, width, kind), {}, {}};
          const std::size_t contributing = round == 1 ? 2 : 3;
          if (round == 2) in.y = random_matrix(keys, contributing, kind);
          in.wk = random_matrix(contributing, width, kind);
          in.wv = random_matrix(contributing, values, kind);
          p.inputs = in;
        }
        if (round == 1) p.scale = random_scalar(kind);
        const extents e = checked_extents(p);
        if (round > 0) {
          p.mask = matrix<bool>(e.queries, e.keys);
          for (std::size_t i = 0; i < e.queries; ++i) {
            for (std::size_t j = 0; j < e.keys; ++j) (*p.mask)(i, j) = random_integer(0, 2) > 0;
            (*p.mask)(i, static_cast<std::size_t>(random_integer(0, static_cast<int>(e.keys) - 1))) = true;
          }
        }
        check_against_mpfr(p, static_cast<unsigned>(random_integer(1, 60)));
      }
}

TEST_CASE("weights from one to below the subnormals agree with MPFR") {
  for (const char* gap : {"0.5", "36", "709", "744", "745", "745.2", "2000", "100000", "0x1p-80"})
    for (const char* value : {"1", "-3", "1/7"}) {
      CAPTURE(gap, value);
      check_against_mpfr(one_row({number("0"), number(std::string("-") + gap), number("-1")},
                                 {number("0"), number(value), number("0")}),
                         20);
    }
}

TEST_CASE("ties and near ties are decided") {
  const exact_scalar one = number("1"), next = number("0x1.0000000000001p0"), above = number("0x1.0000000000002p0");
  const double u = std::ldexp(1.0, -52);
  // The mean of neighbours is a tie: to even.
  CHECK(output_of(one_row({number("5"), number("5")}, {one, next})) == 1.0);
  CHECK(output_of(one_row({number("5"), number("5")}, {next, above})) == 1.0 + 2 * u);
  // A third key far below the two decides, though its weight is e^-1000000.
  const auto far_below = [&](const char* third) {
    return output_of(one_row({number("0"), number("0"), number("-1000000")}, {one, next, number(third)}));
  };
  CHECK(far_below("2") == 1.0 + u);
  CHECK(far_below("1") == 1.0);
  CHECK(far_below("-2") == 1.0);
  // A tie of decimals: 0.5 and 0.05 exactly, to one digit less than they have.
  CHECK(attention(one_row({number("0"), number("0")}, {number("0.25"), number("0.45")}), {1}).output(0, 0).decimal == "0.4");
  CHECK(attention(one_row({number("0"), number("0")}, {number("0.1"), number("0.4")}), {1}).output(0, 0).decimal == "0.2");
  CHECK(attention(one_row({number("0"), number("0"), number("-100000")}, {number("0.1"), number("0.4"), number("1")}), {1})
            .output(0, 0).decimal == "0.3");
  CHECK(attention(one_row({number("0"), number("0"), number("-100000")}, {number("0.1"), number("0.4"), number("0")}), {1})
            .output(0, 0).decimal == "0.2");
  const auto negative_tie = [&](const char* third) {
    return attention(one_row({number("0"), number("0"), number("-100000")}, {number("-0.1"), number("-0.4"), number(third)}), {1})
        .output(0, 0).decimal;
  };
  CHECK(negative_tie("-1") == "-0.3");
  CHECK(negative_tie("0") == "-0.2");
  // Close to a power of ten from below and from above.
  CHECK(attention(one_row({number("0"), number("-10000")}, {number("1"), number("0")}), {5}).output(0, 0).decimal == "1.0000");
  CHECK(attention(one_row({number("0"), number("-10000")}, {number("1"), number("2")}), {5}).output(0, 0).decimal == "1.0000");
  CHECK(attention(one_row({number("0"), number("-10000")}, {number("-10"), number("0")}), {5}).output(0, 0).decimal == "-10.000");
}

TEST_CASE("a fraction beside a tie of binary64 is rounded to its side") {
  const unbounded_integer unit = boost::multiprecision::pow(unbounded_integer(10), 30);
  const unbounded_integer tie = unit * unbounded_integer("9007199254740993");  // between 2^53 and 2^53 + 2
  CHECK(nearest_binary64(exact_ratio(tie + 1, unit)) == 9007199254740994.0);
  CHECK(nearest_binary64(exact_ratio(tie - 1, unit)) == 9007199254740992.0);
  CHECK(nearest_binary64(exact_ratio(tie, unit)) == 9007199254740992.0);
  CHECK(nearest_binary64(exact_ratio(-tie - 1, unit)) == -9007199254740994.0);
}

TEST_CASE("what is rational is known to be") {
  // One visible key; equal scores; a constant column; a zero column.
  problem p = one_row({number("3"), number("-1000")}, {number("7"), number("100")});
  p.mask = matrix<bool>(1, 2);
  (*p.mask)(0, 0) = true;
  const attention_reference single = attention(p);
  CHECK(single.output(0, 0).exact == number("7"));
  CHECK(single.weights(0, 0).exact == number("1"));
  CHECK(single.weights(0, 1).exact == number("0"));
  CHECK(single.weights(0, 1).decimal == "0");
  CHECK(single.log_sum_exp[0].exact == number("3"));

  const attention_reference equal = attention(one_row({number("2"), number("2"), number("2")}, {number("1"), number("2"), number("2")}), {6});
  CHECK(equal.weights(0, 2).exact == number("1/3"));
  CHECK(equal.weights(0, 2).decimal == "0.333333");
  CHECK(equal.output(0, 0).exact == number("5/3"));
  CHECK(equal.output_rows == std::vector<std::string>{"[5]/3"});
  CHECK_FALSE(equal.log_sum_exp[0].exact.has_value());
  CHECK(equal.log_sum_exp[0].decimal == "3.09861");

  const attention_reference constant = attention(one_row({number("1"), number("2"), number("5")}, {number("1/3"), number("1/3"), number("1/3")}));
  CHECK(constant.output(0, 0).exact == number("1/3"));
  CHECK_FALSE(constant.weights(0, 0).exact.has_value());
  const attention_reference zero = attention(one_row({number("1"), number("2")}, {number("0"), number("0")}));
  CHECK(zero.output(0, 0).exact == number("0"));

  // Differently scored keys in equal shares: (1 + 2)/2 on both scores.
  const attention_reference shares = attention(one_row({number("1"), number("1"), number("9"), number("9")},
                                             {number("1"), number("2"), number("2"), number("1")}));
  CHECK(shares.output(0, 0).exact == number("3/2"));
}

TEST_CASE("a zero keeps the sign of what rounded to it") {
  const attention_reference tiny = attention(one_row({number("0"), number("-1e13")}, {number("0"), number("-1")}));
  CHECK(bits(tiny.weights(0, 1).nearest) == 0);
  CHECK(tiny.weights(0, 1).decimal == "<1e-330985980541");
  CHECK(bits(tiny.output(0, 0).nearest) == bits(-0.0));
  CHECK(tiny.output(0, 0).decimal == ">-1e-330985980541");
  const attention_reference small = attention(one_row({number("0"), number("-1e9")}, {number("0"), number("-1")}), {5});
  CHECK(small.weights(0, 1).decimal == "1.2495e-434294482");  // 10^9 log10(e) = 434294481.90325, and 10^0.09675 = 1.2495
  CHECK(bits(small.output(0, 0).nearest) == bits(-0.0));
}

TEST_CASE("a log-sum-exp as close to zero as its smaller exponentials") {
  const auto of = [](const char* gap, unsigned digits) {
    return attention(one_row({number("0"), number(gap)}, {number("1"), number("2")}), {digits}).log_sum_exp[0];
  };
  // ln(1 + e^-x) = e^-x (1 - e^-x / 2 + ...)
  CHECK(of("-1e9", 5).decimal == "1.2495e-434294482");
  CHECK(of("-1e13", 5).decimal == "<1e-330985980541");
  CHECK(bits(of("-1e13", 5).nearest) == 0);
  CHECK(of("-100", 60).decimal == "3.72007597602083596295969580386311833735889222318195563028374e-44");
  CHECK(attention(one_row({number("0.25"), number("-1e9")}, {number("1"), number("2")}), {1}).log_sum_exp[0].decimal == "0.3");
  CHECK(attention(one_row({number("0.25")}, {number("1")}), {1}).log_sum_exp[0].decimal == "0.2");
}

TEST_CASE("known answers of other people's mistakes") {
  CHECK(attention(one_row({number("0"), number("0")}, {number("1"), number("1")}), {10}).log_sum_exp[0].decimal == "0.6931471806");
  CHECK(output_of(one_row({number("133120")}, {number("133120")})) == 133120.0);
  CHECK(output_of(one_row({number("-20000"), number("-30000")}, {number("1"), number("100")})) == 1.0);
  problem masked = one_row({number("0"), number("0")}, {number("1"), number("3")});
  masked.mask = matrix<bool>(1, 2);
  (*masked.mask)(0, 0) = true;
  CHECK(output_of(masked) == 1.0);
  // d = 16, raw scores {4, 0}: divided by 4, not by 8.
  problem wide{head_inputs{random_matrix(1, 16, numbers::integers), {}, integers({{1}, {0}})}, {}, {}};
  std::vector<exact_scalar> q(16, number("0")), k(32, number("0"));
  q[0] = number("1");
  k[0] = number("4");
  wide.inputs = head_inputs{make_exact_matrix(1, 16, q), make_exact_matrix(2, 16, k), integers({{1}, {0}})};
  CHECK(attention(wide, {6}).output(0, 0).decimal == "0.731059");
}

TEST_CASE("properties of random heads") {
  for (int round = 0; round < 12; ++round) {
    const auto kind = static_cast<numbers>(round % 3);
    const std::size_t keys = 4, width = 1 + static_cast<std::size_t>(round) % 5;
    const exact_matrix q = random_matrix(2, width, kind), k = random_matrix(keys, width, kind), v = random_matrix(keys, 2, kind);
    const attention_reference base = attention({head_inputs{q, k, v}, {}, {}});

    // Permuting keys permutes the weights and leaves the outputs.
    const std::size_t order[keys] = {2, 0, 3, 1};
    std::vector<exact_scalar> permuted_k, permuted_v, shifted_v;
    for (const std::size_t j : order) {
      for (std::size_t d = 0; d < width; ++d) permuted_k.push_back(element(k, j, d));
      for (std::size_t c = 0; c < 2; ++c) permuted_v.push_back(element(v, j, c));
    }
    const attention_reference permuted = attention(
        {head_inputs{q, make_exact_matrix(keys, width, permuted_k), make_exact_matrix(keys, 2, permuted_v)}, {}, {}});
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t j = 0; j < keys; ++j) CHECK(permuted.weights(i, j).decimal == base.weights(i, order[j]).decimal);
      for (std::size_t c = 0; c < 2; ++c) CHECK(permuted.output(i, c).decimal == base.output(i, c).decimal);
    }

    // The exact log-sum-exp and the mask: a masked key is the same as no key.
    problem masked{head_inputs{q, k, v}, matrix<bool>(2, keys), {}};
    for (std::size_t i = 0; i < 2; ++i)
      for (std::size_t j = 0; j + 1 < keys; ++j) (*masked.mask)(i, j) = true;
    std::vector<exact_scalar> fewer_k, fewer_v;
    for (std::size_t j = 0; j + 1 < keys; ++j) {
      for (std::size_t d = 0; d < width; ++d) fewer_k.push_back(element(k, j, d));
      for (std::size_t c = 0; c < 2; ++c) fewer_v.push_back(element(v, j, c));
    }
    const attention_reference with_mask = attention(masked);
    const attention_reference without = attention(
        {head_inputs{q, make_exact_matrix(keys - 1, width, fewer_k), make_exact_matrix(keys - 1, 2, fewer_v)}, {}, {}});
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t c = 0; c < 2; ++c) CHECK(with_mask.output(i, c).decimal == without.output(i, c).decimal);
      CHECK(with_mask.log_sum_exp[i].decimal == without.log_sum_exp[i].decimal);
      CHECK(with_mask.weights(i, keys - 1).decimal == "0");
    }

    // A scale of 1/√d given as a number where it is one.
    if (width == 4 || width == 1) {
      problem scaled{head_inputs{q, k, v}, {}, exact_ratio(unbounded_integer(1), unbounded_integer(width == 4 ? 2 : 1))};
      const attention_reference same = attention(scaled);
      CHECK_FALSE(same.r_meaning.has_value());
      for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t c = 0; c < 2; ++c) CHECK(same.output(i, c).decimal == base.output(i, c).decimal);
    }

    // More digits begin with fewer digits, up to rounding: bits do not depend on the digits asked for.
    const attention_reference few = attention({head_inputs{q, k, v}, {}, {}}, {7});
    for (std::size_t i = 0; i < 2; ++i)
      for (std::size_t j = 0; j < keys; ++j) CHECK(bits(few.weights(i, j).nearest) == bits(base.weights(i, j).nearest));
  }
}

TEST_CASE("a problem that does not fit is refused, and so is a reference without digits") {
  problem p = chapter();
  std::get<projected_inputs>(p.inputs).wk = integers({{1, 1, 1}, {0, 1, 1}});
  CHECK_THROWS_AS(attention(p), problem_error);
  CHECK_THROWS_AS(attention(chapter(), {0}), std::invalid_argument);
  std::get<projected_inputs>(p.inputs).wk = matrix<unbounded_dyadic>(0, 0);
  CHECK_THROWS_AS(attention(p), problem_error);
}

TEST_CASE("dyadic problems never become fractions, others do") {
  CHECK(is_dyadic(chapter()));
  CHECK(is_dyadic(attention(chapter()).values));
  problem p = chapter();
  p.scale = number("1/3");
  CHECK_FALSE(is_dyadic(p));
  CHECK_THROWS(exact_head_of<unbounded_dyadic>(p));
  CHECK_NOTHROW(exact_head_of<unbounded_rational>(p));
}

TEST_CASE("progress counts every row") {
  std::vector<std::size_t> seen;
  attention(chapter(), {5, [&](std::size_t done, std::size_t rows) {
                          CHECK(rows == 3);
                          seen.push_back(done);
                        }});
  CHECK(seen == std::vector<std::size_t>{1, 2, 3});
}
