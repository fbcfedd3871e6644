#include "catch.hpp"

#include <attest/reference/certified_attention.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

// What a call counts, in which order it lists what is undecided, and what it knows of one head only: facts of
// the head before would be wrong of the next.

using namespace attest;

namespace {

/// Arrays [B, 1, T, 1] of binary64.
struct column_arrays {
  std::size_t batch, queries, keys;
  std::vector<double> q, k, v;

  certified_inputs in() const {
    const layout of_queries{batch, std::size_t{1}, queries, std::size_t{1}};
    const layout of_keys{batch, std::size_t{1}, keys, std::size_t{1}};
    return {any_tensor(q.data(), dtype::binary64, of_queries), any_tensor(k.data(), dtype::binary64, of_keys),
            any_tensor(v.data(), dtype::binary64, of_keys)};
  }
  layout outputs() const { return layout{batch, std::size_t{1}, queries, std::size_t{1}}; }
  layout weights() const { return layout{batch, std::size_t{1}, queries, keys}; }
};

using tiers = std::array<std::size_t, reference_tiers>;

/// The mean of 1 and this is 1 + 2^-24, a tie of binary32, and n 2^-53.
double off_the_tie(double n) { return 1 + 0x1p-23 + n * 0x1p-52; }

}  // namespace

TEST_CASE("Counts of all threads add up to the elements, those of exact ones to their certificates") {
  // Of every three heads the first has equal keys and the last near ties.
  constexpr std::size_t batch = 12, queries = 400, keys = 40;  // enough work for several threads
  column_arrays a{batch, queries, keys, std::vector<double>(batch * queries), {}, {}};
  for (std::size_t i = 0; i < a.q.size(); ++i) a.q[i] = 0.01 * static_cast<double>(i % 101) + 0.1;
  for (std::size_t b = 0; b < batch; ++b)
    for (std::size_t j = 0; j < keys; ++j) {
      a.k.push_back(b % 3 == 0 ? 1 : b % 3 == 1 ? static_cast<double>(j % 7) : j == 0 ? 0x1p-60 : 0);
      a.v.push_back(b % 3 == 2 ? (j % 2 == 0 ? 1 : off_the_tie(3)) : static_cast<double>(j * j % 11));
    }
  certification one;
  for (const unsigned threads : {1u, 2u, 3u, 7u}) {
    std::vector<float> x(batch * queries);
    std::vector<certificate> c(x.size(), certificate::undecided);
    certified_results r{any_result(x.data(), dtype::binary32, a.outputs())};
    r.output_certificates = tensor<certificate>(c.data(), a.outputs());
    certified_options how;
    how.threads = threads;
    const certification all = certified_attention(a.in(), {}, r, how);
    CHECK(std::accumulate(all.settled.begin(), all.settled.end(), std::size_t{0}) == x.size());
    CHECK(all.undecided == 0);
    CHECK(all.exact == static_cast<std::size_t>(std::count(c.begin(), c.end(), certificate::exact)));
    if (threads == 1) one = all;
    CHECK(all.settled == one.settled);
    CHECK(all.exact == one.exact);
    CHECK(all.most_bits == one.most_bits);
  }
  // Four heads with equal scores: means of 40 integers that are 0 to 10, eighths or not.
  CHECK(one.exact % (4 * queries) == 0);
  CHECK(one.settled[0] >= 4 * queries);
  CHECK(one.settled[1] == 4 * queries);
  CHECK(one.settled[3] == 4 * queries);
}

TEST_CASE("Undecided elements are listed by array, then index") {
  // Ties that 128 bits do not settle: means but for 2^-2148, of two batch elements and two queries.
  column_arrays a{2, 2, 2, {}, {}, {}};
  a.q.assign(4, 0x1p-1074);
  a.k = {0, 0x1p-1074, 0, 0x1p-1074};
  a.v = {1, 1 + 0x1p-52, 1, 1 + 0x1p-52};
  std::vector<double> output(4), weights(8), log(4);
  std::vector<float> output_low(4), weights_low(8), log_low(4);
  certified_results r{any_result(output.data(), dtype::binary64, a.outputs())};
  r.output_low = any_result(output_low.data(), dtype::binary32, a.outputs());
  r.weights = any_result(weights.data(), dtype::binary64, a.weights());
  r.weights_low = any_result(weights_low.data(), dtype::binary32, a.weights());
  r.log_sum_exp = any_result(log.data(), dtype::binary64, a.outputs());
  r.log_sum_exp_low = any_result(log_low.data(), dtype::binary32, a.outputs());
  attention_options options;
  options.scale = 1.0;
  options.log_sum_exp = log_sum_exp_form{log_sum_exp_base::two, {}};
  certified_options how;
  how.max_bits = 128;
  how.tiers[3] = false;
  const certification c = certified_attention(a.in(), options, r, how);
  CHECK(c.undecided == 16);
  REQUIRE(c.undecided_elements.size() == 16);
  for (std::size_t n = 1; n < c.undecided_elements.size(); ++n) {
    const undecided_element& x = c.undecided_elements[n - 1];
    const undecided_element& y = c.undecided_elements[n];
    CHECK(std::tie(x.array, x.index) < std::tie(y.array, y.index));
  }
  const auto listed = [&](reference_array array, bool low) {
    return std::count_if(c.undecided_elements.begin(), c.undecided_elements.end(),
                         [&](const undecided_element& e) { return e.array == array && e.low_word == low; });
  };
  CHECK(listed(reference_array::output, false) == 4);
  CHECK(listed(reference_array::weights, true) == 8);
  CHECK(listed(reference_array::log_sum_exp, true) == 4);
}

TEST_CASE("The bound of a column is of the head at hand") {
  // 10u and 5000u beside a tie; bounds of 18.8u max|V|, where max|V| is 1 and 1000.
  column_arrays a{2, 1, 2, {1, 1}, {0, 0x1p-60, 0, 0x1p-60}, {1, off_the_tie(10), 1000, 0}};
  a.v[3] = off_the_tie(5000) - 999;
  std::vector<float> x(2);
  const tiers t =
      certified_attention(a.in(), {}, {any_result(x.data(), dtype::binary32, a.outputs())}).settled;
  CHECK(t == tiers{0, 2, 0, 0});
}

TEST_CASE("The mean of a column is not excluded by rounding, whatever the head before") {
  // Values a pair of which has the mean x, a number of binary32, and four scores with one pair each: the
  // output is x. A plain sum of those of 2^29 is off by 2^-22, more than a bound for those of 2^-10 allows.
  const auto values = [](double x, double size) {
    std::vector<double> v;
    for (const double sign : {1.0, -1.0})
      for (const double a : {1.0, 1.25, 1.125, 1.0625}) v.push_back(x + sign * size * a);
    return v;
  };
  const double x = 1 + 0x1p-23;
  const std::vector<double> large = values(x, 0x1p29);
  REQUIRE(std::fabs(std::accumulate(large.begin(), large.end(), 0.0) - 8 * x) > 0x1p-24);
  column_arrays a{2, 1, 8, {1, 1}, {}, values(x, 0x1p-10)};
  for (int n = 0; n < 16; ++n) a.k.push_back(n % 4 * 0x1p-3);
  a.v.insert(a.v.end(), large.begin(), large.end());
  std::vector<float> out(2);
  std::vector<certificate> c(2);
  certified_results r{any_result(out.data(), dtype::binary32, a.outputs())};
  r.output_certificates = tensor<certificate>(c.data(), a.outputs());
  const certification of_both = certified_attention(a.in(), {}, r);
  CHECK(out == std::vector<float>(2, static_cast<float>(x)));
  CHECK(c == std::vector<certificate>(2, certificate::exact));
  CHECK(of_both.exact == 2);
}

TEST_CASE("Which columns are constant, and sums of equal scores, are of the head at hand") {
  // Equal keys: means. One head is constant, of the others the means are 3/2, 5/2, and -1.
  for (const bool low_words : {false, true}) {
    const column_arrays a{4, 1, 2, {1, 1, 1, 1}, {1, 1, 1, 1, 1, 1, 1, 1}, {7, 7, 1, 2, 2, 3, -3, 1}};
    std::vector<float> x(4), low(4, 9);
    certified_results r{any_result(x.data(), dtype::binary32, a.outputs())};
    if (low_words) r.output_low = any_result(low.data(), dtype::binary32, a.outputs());
    certified_attention(a.in(), {}, r);
    CHECK(x == std::vector<float>{7, 1.5, 2.5, -1});
    if (low_words) CHECK(low == std::vector<float>(4, 0));
  }
  const column_arrays a{3, 1, 2, {1, 1, 1}, {1, 2, 1, 2, 1, 2}, {7, 7, 1, 0, 5, 5}};
  std::vector<float> x(3);
  certified_attention(a.in(), {}, {any_result(x.data(), dtype::binary32, a.outputs())});
  CHECK(x[0] == 7);
  CHECK(x[1] == 0.26894143f);  // 1/(1 + e) = 0.268941421...
  CHECK(x[2] == 5);
}

// Four keys of one score with the values 1/4, 3/4, 5/4, 3/4 and two of another with 1/2 and 1. What sees keys
// of one score has their mean exactly, and so has what sees all six: 3/4 both. Whether a number is the plain
// mean of what a row sees is asked for every row; what the row before saw does not count.
namespace {

/// The certificates of [Hq, Tq] outputs of one key/value head, and what was rounded.
std::pair<std::vector<certificate>, std::vector<float>> outputs_of(const std::vector<double>& k,
                                                                   const std::vector<double>& v,
                                                                   std::size_t heads, std::size_t queries,
                                                                   const attention_options& options) {
  const std::vector<double> q(heads * queries, 1);
  std::vector<float> x(heads * queries);
  std::vector<certificate> c(x.size());
  const layout outputs{std::size_t{1}, heads, queries, std::size_t{1}};
  const layout of_keys{std::size_t{1}, std::size_t{1}, k.size(), std::size_t{1}};
  certified_results r{any_result(x.data(), dtype::binary32, outputs)};
  r.output_certificates = tensor<certificate>(c.data(), outputs);
  certified_attention(
      {any_tensor(q.data(), dtype::binary64, outputs), any_tensor(k.data(), dtype::binary64, of_keys),
       any_tensor(v.data(), dtype::binary64, of_keys)},
      options, r);
  return {c, x};
}

const std::vector<double> two_scores{1, 1, 1, 1, 2, 2};
const std::vector<double> their_values{0.25, 0.75, 1.25, 0.75, 0.5, 1};
constexpr certificate exact = certificate::exact, inexact = certificate::certified;

}  // namespace

TEST_CASE("The mean of what a row sees, after rows that see less or more of the same keys") {
  const double hides = -std::numeric_limits<double>::infinity();
  const std::vector<double> bias{0, 0, hides, hides, hides, hides,  //
                                 0, 0, 0,     0,     0,     0,      //
                                 0, 0, hides, hides, hides, hides,  //
                                 0, 0, 0,     0,     0,     hides};
  attention_options o;
  o.bias = any_tensor(bias.data(), dtype::binary64, layout{std::size_t{4}, std::size_t{6}});
  const auto [c, x] = outputs_of(two_scores, their_values, 1, 4, o);
  CHECK(c == std::vector<certificate>{exact, exact, exact, inexact});
  CHECK(x[0] == 0.5f);
  CHECK(x[1] == 0.75f);
  CHECK(x[2] == 0.5f);
}

TEST_CASE("The mean of what a row sees, after rows that see other ranges of keys") {
  // Two query heads of one key/value head: the second begins with one key again.
  const auto twice = [](auto x) {
    x.insert(x.end(), x.begin(), x.begin() + 6);
    return x;
  };
  attention_options o;
  o.causal = true;
  const auto causal = outputs_of(two_scores, their_values, 2, 6, o);
  CHECK(causal.first == twice(std::vector{exact, exact, exact, exact, inexact, exact}));
  for (const std::size_t n : {0u, 6u}) {
    CHECK(causal.second[n] == 0.25f);
    CHECK(causal.second[n + 1] == 0.5f);
    CHECK(causal.second[n + 2] == 0.75f);
    CHECK(causal.second[n + 3] == 0.75f);
    CHECK(causal.second[n + 5] == 0.75f);
  }
  o.causal = false;
  o.window = key_window{1, 0};
  const auto window = outputs_of(two_scores, their_values, 2, 6, o);
  CHECK(window.first == twice(std::vector{exact, exact, exact, exact, inexact, exact}));
  for (const std::size_t n : {0u, 6u}) {
    CHECK(window.second[n + 1] == 0.5f);
    CHECK(window.second[n + 2] == 1);
    CHECK(window.second[n + 3] == 1);
    CHECK(window.second[n + 5] == 0.75f);
  }
}

TEST_CASE("Exact means of equal keys, after rows that see other ranges of keys") {
  const std::vector<double> k(6, 1);
  attention_options o;
  o.causal = true;
  const auto causal = outputs_of(k, their_values, 2, 6, o).second;
  for (const std::size_t n : {0u, 6u}) {
    CHECK(causal[n + 1] == 0.5f);
    CHECK(causal[n + 2] == 0.75f);
    CHECK(causal[n + 4] == 0.7f);  // 3.5 / 5
    CHECK(causal[n + 5] == 0.75f);
  }
  // Queries at positions 4 and 5 that see keys 1 to 4 and 2 to 5.
  o.causal = false;
  o.window = key_window{3, 0};
  o.corner = causal_corner::bottom_right;
  const auto window = outputs_of(k, their_values, 2, 2, o).second;
  for (const std::size_t n : {0u, 2u}) {
    CHECK(window[n] == 0.8125f);     // (3/4 + 5/4 + 3/4 + 1/2) / 4
    CHECK(window[n + 1] == 0.875f);  // (5/4 + 3/4 + 1/2 + 1) / 4
  }
}

TEST_CASE("Every range of rows: these are written and counted, and no others") {
  // Two batches, two query heads for each of two key/value heads, three queries.
  constexpr std::size_t rows = 2 * 4 * 3;
  std::vector<double> q, k, v;
  for (std::size_t n = 0; n < rows; ++n) q.push_back(0.37 * static_cast<double>(n % 7) + 0.1);
  for (std::size_t n = 0; n < 2 * 2 * 5; ++n) {
    k.push_back(0.21 * static_cast<double>(n % 5));
    v.push_back(1 / static_cast<double>(n + 3));
  }
  const layout queries{2, 4, 3, 1}, keys{2, 2, 5, 1};
  const certified_inputs in{any_tensor(q.data(), dtype::binary64, queries),
                            any_tensor(k.data(), dtype::binary64, keys),
                            any_tensor(v.data(), dtype::binary64, keys)};
  std::vector<float> all(rows);
  certified_attention(in, {}, {any_result(all.data(), dtype::binary32, queries)});
  for (std::size_t first = 0; first < rows; ++first)
    for (std::size_t last = first; last <= rows; ++last) {
      std::vector<float> some(rows, -99);
      certified_options how;
      how.rows = {first, last};
      how.threads = 1 + static_cast<unsigned>(last % 3);
      const tiers t =
          certified_attention(in, {}, {any_result(some.data(), dtype::binary32, queries)}, how).settled;
      std::vector<float> expected(rows, -99);
      std::copy(all.begin() + static_cast<std::ptrdiff_t>(first),
                all.begin() + static_cast<std::ptrdiff_t>(last),
                expected.begin() + static_cast<std::ptrdiff_t>(first));
      CAPTURE(first, last);
      CHECK(some == expected);
      CHECK(std::accumulate(t.begin(), t.end(), std::size_t{0}) == last - first);
    }
}

TEST_CASE("A low word whose difference rounds: rounded up to the smallest number, just above a tie") {
  // The output is 17 · 2^-34 - 2^-64 and a little: 2^-9, the smallest number of the format, is above it, and
  // the difference is a tie of binary32 but for 2^-64, which a double beside 2^-9 does not hold.
  for (const double sign : {1.0, -1.0})
    for (const double side : {1.0, -1.0}) {
      const double mean = 17 * 0x1p-34 - side * 0x1p-64;
      column_arrays a{1, 1, 2, {1}, {0, 0x1p-60}, {mean - sign * 0x1p-36, mean + sign * 0x1p-36}};
      std::uint8_t high[2] = {};
      float low[2] = {};
      for (const int n : {0, 1}) {
        certified_results r{any_result(&high[n], dtype::float8_e4m3fn, a.outputs())};
        r.output_low = any_result(&low[n], dtype::binary32, a.outputs());
        certified_options how;
        how.direction = rounding::up;
        if (n == 1) how.tiers = {false, false, true, true};
        certified_attention(a.in(), {}, r, how);
      }
      CHECK(high[0] == 1);
      CHECK(high[1] == 1);
      CHECK(low[0] == low[1]);
      CHECK(low[1] < 0);
    }
}
