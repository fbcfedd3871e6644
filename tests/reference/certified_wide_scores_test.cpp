#include "catch.hpp"

#include <attest/reference/certified_attention.hpp>

#include <cmath>
#include <numbers>
#include <vector>

// Scores whose parts are far larger than what is left of them: beyond a softcap, or where a bias takes away
// what q·k/√d adds.

using namespace attest;

namespace {

struct answer {
  double output = -1;
  std::vector<double> weights;
  double log_sum_exp = -1;
  std::vector<certificate> certificates;  // of output, weights, log-sum-exp
  certification all;
};

/// One query of ones, values 1 and 3.
template <class T>
answer ask(double factor, std::vector<double> keys, const attention_options& options,
           const certified_options& how = {}) {
  const std::size_t width = keys.size() / 2;
  const std::vector<T> q(width, static_cast<T>(factor)), v{1, 3};
  const std::vector<T> k(keys.begin(), keys.end());
  std::vector<double> output(1), weights(2), sum(1);
  std::vector<certificate> c(4, certificate::undecided);
  certified_results r{tensor<double>(output.data(), {1, 1})};
  r.weights = tensor<double>(weights.data(), {1, 2});
  r.log_sum_exp = tensor<double>(sum.data(), {1, 1});
  r.output_certificates = tensor<certificate>(c.data(), {1, 1});
  r.weights_certificates = tensor<certificate>(c.data() + 1, {1, 2});
  r.log_sum_exp_certificates = tensor<certificate>(c.data() + 3, {1, 1});
  attention_options asked = options;
  asked.log_sum_exp = {log_sum_exp_base::e};
  answer x;
  x.all = certified_attention({tensor<const T>(q.data(), {1, width}), tensor<const T>(k.data(), {2, width}),
                               tensor<const T>(v.data(), {2, 1})},
                              asked, r, how);
  x.output = output[0];
  x.weights = weights;
  x.log_sum_exp = sum[0];
  x.certificates = c;
  return x;
}

const std::vector<certificate> all_certified(4, certificate::certified);

}  // namespace

TEST_CASE("Softcapped scores of any size are the cap, but for what no precision shows") {
  // cap tanh(s/cap) for s = x and 1.5 x, x far above the cap: cap - 2 cap e^(-2 x/cap) both, so that the
  // weights differ from 1/2 by less than 2^-(2^100) and round to it.
  attention_options o;
  o.scale = 1;
  certified_options how;
  const auto check = [&](const answer& x) {
    CHECK(x.output == 2);
    CHECK(x.weights == std::vector<double>{0.5, 0.5});
    CHECK(x.certificates == all_certified);
    CHECK(x.all.most_bits == 128);
  };
  for (const int exponent : {150, 153, 154, 156, 160, 170})
    for (const double cap : {64.0, 100.0, 1000.0, 30000.0}) {
      CAPTURE(exponent, cap);
      o.softcap = cap;
      const double key = std::ldexp(1.0, exponent - exponent / 2);
      check(ask<float>(std::ldexp(1.0, exponent / 2), {key, 1.5 * key}, o, how));
    }
  for (const auto& [cap, size] : {std::pair{0x1p70, 0x1p170}, {0x1p300, 0x1p700}, {0x1.3p423, 0x1p784}}) {
    CAPTURE(cap, size);
    o.softcap = cap;
    check(ask<double>(0x1p60, {size, 1.5 * size}, o, how));
    // The other sign is 2 cap lower.
    const answer apart = ask<double>(0x1p60, {size, -size}, o, how);
    CHECK(apart.output == 1);
    CHECK(apart.weights == std::vector<double>{1, 0});
    CHECK(apart.log_sum_exp == cap);
  }
  SECTION("what no precision shows ends undecided in a directed rounding, in its enclosure") {
    how.direction = rounding::down;
    o.softcap = 100;
    const answer x = ask<double>(0x1p60, {0x1p100, 0x1.8p100}, o, how);
    CHECK(x.all.undecided == 3);  // the log-sum-exp, 100 + ln 2 but for as little, is no number of the format
    CHECK(x.all.most_bits == 4096);
    CHECK(x.certificates[0] == certificate::undecided);
    CHECK((x.output == 2 || x.output == std::nextafter(2.0, 0)));
  }
}

TEST_CASE("A bias that takes away all but a trace of q·k/√d") {
  // The eight pieces are the 424 leading bits of 2^300 √8; the score of their key, Σ/√8 - 2^300, is below
  // 2^-122.
  // So the weights are 1/2, the output 2 and the log-sum-exp ln 2, but for less than half an ulp.
  const std::vector<double> leading{0x1.6a09e667f3bcdp+1,   -0x1.bdd3413b26456p-53, 0x1.57d3e3adec175p-107,
                                    0x1.2775099da2f59p-163, 0x1.60cce64552bf2p-220, 0x1.821d5c5161d46p-277,
                                    -0x1.c032046f8498ep-331, 0x1.ee950bc800000p-387};
  attention_options o;
  for (const int size : {100, 195, 200, 300, 600}) {
    CAPTURE(size);
    const std::vector<double> bias{-std::ldexp(1.0, size), 0};
    o.bias = any_tensor(bias.data(), dtype::binary64, layout{1, 2});
    std::vector<double> k(16);
    for (std::size_t c = 0; c < 8; ++c) k[c] = std::ldexp(leading[c], size);
    const answer x = ask<double>(1, k, o);
    CHECK(x.certificates == all_certified);
    if (size > 300) {
      // So much larger, what the pieces lack makes it the larger score, or the smaller: ±2^177 or so.
      CHECK((x.output == 1 || x.output == 3));
      continue;
    }
    CHECK(x.output == 2);
    CHECK(x.weights == std::vector<double>{0.5, 0.5});
    CHECK(x.log_sum_exp == std::numbers::ln2);
  }
  SECTION("the slope of ALiBi, too") {
    // Query 0 sees key 0 at a distance of 0 and key 1 at 1: the second key's score has the slope taken away.
    o.bias.reset();
    o.corner = causal_corner::top_left;
    o.alibi_slopes = {0x1p300};
    std::vector<double> k(16);
    for (std::size_t c = 0; c < 8; ++c) k[8 + c] = std::ldexp(leading[c], 300);
    const answer x = ask<double>(1, k, o);
    CHECK(x.output == 2);
    CHECK(x.weights == std::vector<double>{0.5, 0.5});
    CHECK(x.certificates == all_certified);
  }
}
