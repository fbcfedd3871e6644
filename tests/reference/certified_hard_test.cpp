#include "certified_hard.hpp"

#include "catch.hpp"

using namespace certified_hard;

// Near ties of both kinds, with answers by arithmetic; and every problem of two keys over formats of eight
// bits.

TEST_CASE("Far exponents: 6000 rows on a boundary but for a key up to 10^15 lower") {
  generator g(1);
  std::size_t wrong = 0;
  for (int i = 0; i < 6000; ++i)
    if (!right(far(g))) ++wrong;
  CHECK(wrong == 0);
}

TEST_CASE(
    "Close exponents: 4000 rows on a boundary but for scores that differ by as little as 2^-2148, up to "
    "eighth order") {
  generator g(2);
  std::size_t wrong = 0;
  for (int i = 0; i < 4000; ++i)
    if (!right(close(g))) ++wrong;
  CHECK(wrong == 0);
}

TEST_CASE("Close exponents: the first moment that is not zero need not decide") {
  // Scores 0, 2x and x, whose values add up to 1 - η, 1 and η - 2: sum 0, first moment η x, second (2 + η) x².
  // With x = 2^-71 the output is (η x + x² + ...)/8, where for η = -2^-75 the first term, of the other sign,
  // is a sixteenth of the second; for -2^-60 it is 2000 times the second. That 2^-60 of
  // the second score's value is moved up by 2^-122 changes nothing.
  for (const auto& [eta, negative] : {std::pair{-0x1p-75, false}, {-0x1p-60, true}, {0x1p-75, false}}) {
    head h;
    h.q = {1};
    h.k = {0, 0, 0x1p-71, 0x1p-71, 0x1p-71, 0x1p-70 + 0x1p-122, 0x1p-70, 0x1p-70};
    h.v = {1, -eta, -1, -1, eta, 0x1p-60, 1, -0x1p-60};
    h.keys = 8;
    request r;
    r.type = dtype::binary16;
    r.direction = rounding::up;
    CHECK(pattern_at(ask(h, r).output, 0, r.type) == (negative ? 0x8000 : 1));
    r.direction = rounding::down;
    CHECK(pattern_at(ask(h, r).output, 0, r.type) == (negative ? 0x8001 : 0));
  }
}

TEST_CASE("Close exponents: a root and a bias") {
  // The second score is x/√2 - bias, which has the sign of 1/√2 - bias/x: its value has more or less than half
  // the weight, so that the mean of 1 and 1 + 2^-52 is above or below the midpoint.
  for (const auto& [bias, expected] : {std::pair{0x1p-200, 1.0}, {0x1p-201, 1 + 0x1p-52}}) {
    head h;
    h.width = 2;
    h.q = {1, 0};
    h.k = {0, 0, 0x1p-200, 0};
    h.v = {1, 1 + 0x1p-52};
    h.keys = 2;
    h.bias = {0, -bias};
    CHECK(pattern_at(ask(h, {}).output, 0, dtype::binary64) == std::bit_cast<std::uint64_t>(expected));
  }
}

TEST_CASE("The log-sum-exp just above its largest score, and just above a power of two of equal ones") {
  for (const double drop : {-50.0, -1e3, -1e6, -1e12}) {
    head h;
    h.q = {1};
    h.keys = 2;
    h.v = {0, 0};
    h.k = {0.75, drop};
    request r;
    r.log_sum_exp = attest::log_sum_exp_base::e;
    const double above = std::nextafter(0.75, 1.0);
    for (const auto& [direction, expected] :
         {std::pair{rounding::nearest_even, 0.75}, {rounding::down, 0.75}, {rounding::up, above}}) {
      r.direction = direction;
      const answer a = ask(h, r);
      CHECK(pattern_at(a.log_sum_exp, 0, r.type) == std::bit_cast<std::uint64_t>(expected));
      CHECK(a.log_sum_exp_certificates[0] == certificate::certified);
    }
    h.keys = 5;
    h.v.assign(5, 0);
    h.k = {0, 0, 0, 0, drop};
    r.log_sum_exp = attest::log_sum_exp_base::two;
    for (const auto& [direction, expected] : {std::pair{rounding::nearest_even, 2.0},
                                              {rounding::down, 2.0},
                                              {rounding::up, std::nextafter(2.0, 3.0)}}) {
      r.direction = direction;
      const answer a = ask(h, r);
      CHECK(pattern_at(a.log_sum_exp, 0, r.type) == std::bit_cast<std::uint64_t>(expected));
      CHECK(a.log_sum_exp_certificates[0] == certificate::certified);
    }
    h.keys = 4;
    h.v.assign(4, 0);
    h.k = {0, 0, 0, 0};
    r.direction = rounding::up;
    const answer a = ask(h, r);
    CHECK(pattern_at(a.log_sum_exp, 0, r.type) == std::bit_cast<std::uint64_t>(2.0));
    CHECK(a.log_sum_exp_certificates[0] == certificate::exact);
    // ln(1 + e^drop) is e^drop (1 - ...): below it, and by far not 0.
    h.keys = 2;
    h.v.assign(2, 0);
    h.k = {0, drop};
    r.log_sum_exp = attest::log_sum_exp_base::e;
    const answer tiny = ask(h, r);
    const auto expected = static_cast<double>(std::exp(static_cast<long double>(drop)));
    if (drop == -50)
      CHECK(std::fabs(std::bit_cast<double>(pattern_at(tiny.log_sum_exp, 0, r.type)) / expected - 1) < 1e-14);
    else if (drop <= -1e3)
      CHECK(pattern_at(tiny.log_sum_exp, 0, r.type) == 1);  // the smallest number, upward
  }
}

namespace {

/// What (v1 + v2 e^s) / (1 + e^s) rounds to. In long double it is off by less than 2^-60 of the larger value.
/// Where a number or a midpoint is that near, it is exactly that (s = 0 or v1 = v2), or else beside the value
/// of the key that outweighs the other by far, on the other's side.
std::uint64_t two_keys(double v1, double v2, double s, const attest::format& f, rounding direction,
                       bool& exact) {
  oracle::real x(128);
  const long double e = std::exp(static_cast<long double>(s));
  exact = false;
  if (s == 0 || v1 == v2) {
    oracle::fraction q;
    mpq_set_d(q.get(), v1 == v2 ? v1 : (v1 + v2) / 2);  // exact: 8-bit values span fewer than 53 bits
    const auto rounded = oracle::round_to_format(q.get(), f, direction);
    exact = rounded.half_step;
    return rounded.pattern;
  }
  const long double value = (v1 + v2 * e) / (1 + e);
  const long double margin = 0x1p-58L * std::max(std::fabs(v1), std::fabs(v2));
  const auto rounded = [&](long double y) {
    mpfr_set_ld(x.get(), y, MPFR_RNDN);
    return oracle::round_to_format(x.get(), f, direction);
  };
  if (rounded(value - margin) == rounded(value + margin)) return rounded(value);
  const double near = s > 0 ? v2 : v1, other = s > 0 ? v1 : v2;
  REQUIRE(std::fabs(value - near) <= margin);
  mpfr_set_d(x.get(), near, MPFR_RNDN);
  if (other > near)
    mpfr_nextabove(x.get());
  else
    mpfr_nextbelow(x.get());
  return oracle::round_to_format(x.get(), f, direction);
}

}  // namespace

TEST_CASE("Every problem of two keys with values of eight bits") {
  std::size_t elements = 0, wrong = 0, exact_ones = 0;
  for (const dtype type : {dtype::float8_e4m3fn, dtype::float8_e5m2, dtype::float8_e5m2fnuz}) {
    const attest::format& f = *attest::format_of(type);
    std::vector<double> values;
    for (std::uint64_t pattern = 0; pattern < 256; ++pattern)
      if (attest::decode(pattern, f).kind == attest::number_kind::finite) values.push_back(value(pattern, f));
    int turn = 0;
    for (const double s : {0.0, 0.5, -1.0, 3.0, -20.0, 100.0, 0x1p-40})
      for (std::size_t n = 0; n < values.size(); ++n) {
        head h;
        h.keys = 2;
        h.q = {1};
        h.k = {0, s};
        h.value_width = values.size();
        h.v.assign(values.size(), values[n]);
        h.v.insert(h.v.end(), values.begin(), values.end());
        request r;
        r.type = type;
        r.direction = directions[turn++ % 5];
        const answer a = ask(h, r);
        for (std::size_t c = 0; c < values.size(); ++c) {
          bool exact = false;
          const std::uint64_t expected = two_keys(values[n], values[c], s, f, r.direction, exact);
          ++elements;
          exact_ones += exact ? 1 : 0;
          if (pattern_at(a.output, c, type) != expected ||
              (a.output_certificates[c] == certificate::exact) != exact)
            ++wrong;
        }
      }
  }
  CHECK(wrong == 0);
  CHECK(elements == 7 * (254 * 254 + 248 * 248 + 255 * 255));
  CHECK(exact_ones > 20000);
}
