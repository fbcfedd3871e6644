// Pairs of doubles: a problem for each term of their bounds that random inputs leave far below the rest.
// Equal terms make residuals that all go one way; the truth is MPFR at 500 bits.
#include "catch.hpp"
#include "double_double_reference.hpp"
#include "support/random.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace attest::double_double_tier;
using attest_testing::real;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// One query that sees all keys.
struct one_row {
  one_row(std::size_t of_keys, std::size_t of_width)
      : keys(of_keys), width(of_width), q(width), k(keys * width), v(keys) {
    for (std::size_t j = 0; j < keys; ++j) v[j] = j % 2 == 0 ? 1 : -1;
  }
  void fill_query(double x) { std::fill(q.begin(), q.end(), x); }
  void fill_key(std::size_t j, double x) {
    std::fill_n(k.begin() + static_cast<std::ptrdiff_t>(j * width), width, x);
  }

  std::size_t keys, width;
  std::vector<double> q, k, v;
  std::vector<double> bias = {};
  score_steps steps{.scale = 1.0};
};

/// |exact - (high + low)| / error; 0 where nothing is claimed, infinity for an error that is no bound at all.
double used(const real& exact, double high, double low, double error) {
  if (error == infinity) return 0;
  if (!(error >= 0)) return infinity;
  const double e = abs(exact - real(high) - real(low)).nearest();
  return e == 0 ? 0 : e / error;
}

struct shares {
  double output, weight, log_sum_exp;  // how much of the bound is used, of weights the most
  bool claimed;                        // a bound for all of them
};

shares evaluated(const one_row& p) {
  const packed_head head(p.keys, p.width, 1, p.k.data(), p.width, p.v.data(), 1);
  const query_row row{p.q.data(), 0, p.keys, 0, nullptr, p.bias.empty() ? nullptr : p.bias.data()};
  double output[3], log[3];
  std::vector<double> high(p.keys), low(p.keys), error(p.keys);
  const row_results results{&output[0], &output[1], &output[2], log, high.data(), low.data(), error.data()};
  scratch memory;
  evaluate(head, p.steps, {&row, 1}, {&results, 1}, memory);
  const auto exact = attest_testing::attention_row(row, p.steps, p.width, 1, p.k.data(), p.v.data());
  shares s{used(exact.output[0], output[0], output[1], output[2]), 0,
           used(exact.log_sum_exp, log[0], log[1], log[2]), output[2] != infinity && log[2] != infinity};
  for (std::size_t j = 0; j < p.keys; ++j) {
    s.weight = std::max(s.weight, used(exact.weights[j], high[j], low[j], error[j]));
    s.claimed = s.claimed && error[j] != infinity;
  }
  return s;
}

void check(const shares& s) {
  CHECK(s.output <= 1);
  CHECK(s.weight <= 1);
  CHECK(s.log_sum_exp <= 1);
}

}  // namespace

// Where products are multiples of 2^-40 of the grid's last place g and not too many, the sum of the residuals
// is exact. Equal residuals, each up to g/2, add up to more bits than a double has from 2^14 on, and with
// last bits of 2^-50 g from 16 on; the tie of each addition then goes the same way.
TEST_CASE("pairs of doubles: sums of residuals that are rounded", "[double_double]") {
  const auto largest_share = [](std::size_t width, int bits) {
    shares most{};
    for (int n = 1; n < 20; n += 2) {
      // The key in any lane of a vector, with zeros around it; of either sign; the last coordinates 0.
      const std::size_t key = static_cast<std::size_t>(n) / 2 % 9;
      one_row p(9, width);
      // Odd multiples of 2^-bits, and norms between 1/4 and 1/2.
      const double size = std::ldexp(0.5, -static_cast<int>(std::ceil(std::log2(std::sqrt(width)))));
      p.fill_query(size - std::ldexp(n, -bits));
      p.fill_key(key, (n % 4 == 1 ? 1 : -1) * (size - std::ldexp(2 * n + 1, -bits)));
      for (std::size_t c = width - 17; c < width; ++c) p.q[c] = p.k[key * width + c] = 0;
      const shares s = evaluated(p);
      CHECK(s.claimed);
      check(s);
      most.log_sum_exp = std::max(most.log_sum_exp, s.log_sum_exp);
    }
    return most.log_sum_exp;
  };
  CHECK(largest_share(40000, 46) > 1e-7);
  CHECK(largest_share(2048, 50) > 0.001);
}

// One coordinate is 1, the last is 0, and those between have their bits below 2^-48.
TEST_CASE("pairs of doubles: bits far below those of the largest coordinate", "[double_double]") {
  testing::random_source source(20);
  for (const bool in_query : {true, false})
    for (int n = 0; n < 20; ++n) {
      one_row p(2, 2048);
      p.fill_query(1);
      p.fill_key(0, 1);
      const double small = std::abs(source.double_between(-48, -48));
      if (in_query)
        p.fill_query(small);
      else
        p.fill_key(0, small);
      p.q[0] = p.k[0] = 1;
      p.q[2047] = p.k[2047] = 0;
      const shares s = evaluated(p);
      CHECK(s.claimed);
      check(s);
    }
}

// Equal keys, and equal values of a column: the output is the value.
TEST_CASE("pairs of doubles: ten blocks of values that leave the same residuals", "[double_double]") {
  constexpr std::size_t keys = 1280, columns = 64;
  testing::random_source source(3);
  double most = 0;
  for (int n = 0; n < 40; ++n) {
    const std::vector<double> k(keys, 0.3);
    std::vector<double> v;
    for (std::size_t c = 0; c < columns; ++c) v.push_back(source.double_between(0, 0));
    v.reserve(keys * columns);
    for (std::size_t x = columns; x < keys * columns; ++x) v.push_back(v[x - columns]);
    const packed_head head(keys, 1, columns, k.data(), 1, v.data(), columns);
    const double q = 0.1 + n * 0.04;
    const query_row row{&q, 0, keys, 0, nullptr, nullptr};
    std::vector<double> out(3 * columns);
    const row_results results{&out[0], &out[columns], &out[2 * columns], nullptr, nullptr, nullptr, nullptr};
    scratch memory;
    evaluate(head, {}, {&row, 1}, {&results, 1}, memory);
    for (std::size_t c = 0; c < columns; ++c) {
      const double share = used(real(v[c]), out[c], out[columns + c], out[2 * columns + c]);
      CHECK(share <= 1);
      most = std::max(most, share);
    }
  }
  CHECK(most > 0.02);
}

TEST_CASE("pairs of doubles: biases that put scores out of reach", "[double_double]") {
  for (int exponent = 28; exponent < 75; ++exponent) {
    one_row p(2, 1);
    p.q = {1};
    p.k = {1, 0.3};
    p.bias = {std::ldexp(1.3, exponent), std::ldexp(1.3, exponent)};
    const shares s = evaluated(p);
    CAPTURE(exponent);
    check(s);
    CHECK(s.claimed == (exponent < 32));
  }
}

// The bound of a row that one key takes nearly all of counts the error of that key's score by the weight of
// the others. It needs an exponential of that key from below, less what the low word of the score may be.
TEST_CASE("pairs of doubles: one key that has nearly all the weight, by a score with a large low word",
          "[double_double]") {
  for (int n = 1; n < 60; ++n) {
    one_row p(2, 64);
    p.fill_query((1 + n * 0x1.2346789p-9) / 8);
    p.fill_key(0, std::ldexp(1.99 - n * 0x1.2347p-12, 21));
    const shares s = evaluated(p);
    CAPTURE(n);
    CHECK(s.claimed);
    check(s);
  }
}

// 128 keys of few bits, whose scores are exact, and one in the next block, whose score is not.
TEST_CASE("pairs of doubles: a block of keys with larger errors than the others", "[double_double]") {
  const auto largest_shares = [](double scores, double score) {
    shares most{};
    for (int n = 0; n < 20; ++n) {
      one_row p(129, 256);
      p.fill_query(0x1p-4);
      for (std::size_t j = 0; j < 128; ++j) p.fill_key(j, scores / 16);
      p.fill_key(128, (score + n * 0x1.1p-8) / 16 * (1 + n * 0x1p-40));
      std::fill(p.v.begin(), p.v.end(), -1.0);
      p.v[128] = 1;
      const shares s = evaluated(p);
      CHECK(s.claimed);
      check(s);
      most.output = std::max(most.output, s.output);
      most.weight = std::max(most.weight, s.weight);
    }
    return most;
  };
  // It has a weight of about e^-8/128, whose error is that of its own score.
  CHECK(largest_shares(1000, 992).weight > 0.02);
  // It has about 0.96 of the weight: the output is off by that error times the weight of the others.
  CHECK(largest_shares(10000, 10008).output > 0.01);
}

// The sums over many blocks of equal keys lose the same bits again and again. Weights are 1/n, the
// log-sum-exp is the score and log n.
TEST_CASE("pairs of doubles: the sums over thousands of blocks", "[double_double]") {
  for (const std::size_t keys : {std::size_t{1} << 18, std::size_t{700'000}}) {
    const double q = 1.1;
    const std::vector<double> k(keys, 0.3);
    const packed_head head(keys, 1, 0, k.data(), 1, nullptr, 0);
    const query_row row{&q, 0, keys, 0, nullptr, nullptr};
    std::vector<double> weights(3 * keys);
    double of_log[3];
    const row_results results{nullptr,     nullptr,        nullptr,           of_log,
                              &weights[0], &weights[keys], &weights[2 * keys]};
    scratch memory;
    evaluate(head, {}, {&row, 1}, {&results, 1}, memory);
    const real n(static_cast<double>(keys));
    for (const std::size_t j : {std::size_t{0}, keys / 2, keys - 1}) {
      CHECK(weights[2 * keys + j] != infinity);
      CHECK(used(real(1) / n, weights[j], weights[keys + j], weights[2 * keys + j]) <= 1);
    }
    CHECK(of_log[2] != infinity);
    CHECK(used(log(n) + real(q) * real(0.3), of_log[0], of_log[1], of_log[2]) <= 1);
  }
}

// Those of a block are scaled to the largest of all: by 2^-1000 at the least, which is below every bound.
TEST_CASE("pairs of doubles: weights down to the smallest that are told from 0", "[double_double]") {
  for (int e = 800; e < 1010; e += 7) {
    one_row p(129, 1);
    p.q = {1};
    p.k[128] = e * 0.6931;
    const shares s = evaluated(p);
    CAPTURE(e);
    CHECK(s.claimed);
    check(s);
  }
}

// Scores of 2^40: from 300 bits on one key is said to have all the weight, and nothing is claimed below.
TEST_CASE("pairs of doubles: what one key of a large score leaves to another", "[double_double]") {
  for (int difference = 1; difference < 300; difference += 3) {
    one_row p(2, 1);
    p.q = {1};
    p.k = {0x1p40, 0x1p40 + difference};
    const shares s = evaluated(p);
    CAPTURE(difference);
    check(s);
    CHECK(s.claimed == (difference > 207));  // 300 log 2 = 207.9
  }
}

TEST_CASE("pairs of doubles: the log-sum-exp of one key of a large score", "[double_double]") {
  double most = 0;
  for (int n = 1; n < 60; ++n) {
    one_row p(2, 1024);
    p.fill_query((1 + n * 0x1.2346789p-9) / 32);
    p.fill_key(0, std::ldexp(1.99 - n * 0x1.2347p-12, 24));
    const shares s = evaluated(p);
    CAPTURE(n);
    CHECK(s.claimed);
    check(s);
    most = std::max(most, s.log_sum_exp);
  }
  CHECK(most > 0.01);
}

// Products of 2^120 that cancel: what is left is rounding, as large as differences that decide.
TEST_CASE("pairs of doubles: large products that cancel are no large score", "[double_double]") {
  testing::random_source source(5);
  for (int n = 0; n < 200; ++n) {
    constexpr std::size_t width = 512;
    one_row p(2, width);
    p.fill_query(1.0 / 3);
    for (std::size_t c = 0; c < width / 2; ++c) {
      p.k[c] = source.double_between(100 + n / 10, 100 + n / 10);
      p.k[width - 1 - c] = -p.k[c];
    }
    const shares s = evaluated(p);
    CAPTURE(n);
    check(s);
    CHECK(!s.claimed);
  }
}

// A score of 2^1000 is taken for a smaller one, which no comparison with a sink may rest on.
TEST_CASE("pairs of doubles: a sink beside scores of any size", "[double_double]") {
  for (int e = 880; e < 1020; e += 3)
    for (const int sink : {e - 40, e + 2}) {
      one_row p(2, 1);
      p.q = {std::ldexp(1, e / 2)};
      p.k = {std::ldexp(1, e - e / 2), std::ldexp(1, e - e / 2 - 1)};
      p.steps.sink = std::ldexp(1, sink);
      CAPTURE(e, sink);
      check(evaluated(p));
    }
}

TEST_CASE("pairs of doubles: one key of a large score in another block than the last", "[double_double]") {
  one_row p(300, 1);
  p.q = {1};
  p.k[140] = 0x1p40;
  const shares s = evaluated(p);
  check(s);
  CHECK(s.claimed);
}
