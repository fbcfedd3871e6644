// `stable` against the exact symbolic layer. Which keys are seen and what is added to a score stands here by
// hand, as tables.
#include "catch.hpp"
#include "head.hpp"

#include <attest/rounding.hpp>
#include <attest/symbolic.hpp>

#include <bit>

using attest::causal_corner;
using testing::call;

namespace {

using number = attest::basic_dyadic<attest::unbounded_integer>;
using exact_scores = attest::matrix<attest::surd<number>>;
using table = std::vector<std::vector<double>>;  // by rows

number exact(double x) { return attest::exact_value<attest::unbounded_integer>(x); }

/// What the options come to for one head.
struct expectation {
  table added = {};               // to the scores, a row for each query; empty: nothing
  std::vector<std::string> seen;  // a row for each query: 'o' seen, '.' hidden
  std::optional<double> sink = {};
};

template <class Expression>
double rounded(const Expression& x) {
  return std::bit_cast<double>(attest::round_correctly(x, attest::formats::binary64));
}

/// The call's head h of batch element b, with key/value head kv, against the exact value rounded once.
/// Returns the largest part of its bound (plus that rounding) that an error uses up.
template <class T>
double compare_head(const call<T>& c, std::size_t b, std::size_t h, std::size_t kv,
                    const expectation& expected) {
  const std::size_t extra = expected.sink ? 1 : 0;  // a sink is one more key with value 0
  exact_scores scores(c.queries, c.keys + extra);
  attest::matrix<bool> visible(c.queries, c.keys + extra);
  attest::matrix<number> values(c.keys + extra, c.value_width);
  for (std::size_t j = 0; j < c.keys; ++j)
    for (std::size_t x = 0; x < c.value_width; ++x) {
      const auto v = static_cast<double>(c.v[((b * c.key_heads + kv) * c.keys + j) * c.value_width + x]);
      values(j, x) = std::isfinite(v) ? exact(v) : number(0);
    }
  for (std::size_t i = 0; i < c.queries; ++i) {
    for (std::size_t j = 0; j < c.keys; ++j) {
      visible(i, j) = expected.seen[i][j] == 'o';
      if (!visible(i, j)) continue;
      number dot(0);
      for (std::size_t x = 0; x < c.key_width; ++x)
        dot = dot +
              exact(static_cast<double>(c.q[c.q_index(b, h, i, x)])) *
                  exact(static_cast<double>(c.k[((b * c.key_heads + kv) * c.keys + j) * c.key_width + x]));
      auto s = c.options.scale ? attest::surd<number>(dot * exact(*c.options.scale))
                               : dot / attest::root(c.key_width);
      if (!expected.added.empty()) s = s + attest::surd<number>(exact(expected.added[i][j]));
      scores(i, j) = s;
    }
    if (expected.sink) {
      scores(i, c.keys) = attest::surd<number>(exact(*expected.sink));
      visible(i, c.keys) = true;
    }
  }
  const auto weights = attest::softmax(scores, visible);
  const auto outputs = weights * values;
  const auto r = c.stable();
  const double half_ulp = 0x1p-53;
  double worst = 0;
  const auto compare = [&](T calculated, double right, double bound) {
    const double error = std::abs(static_cast<double>(calculated) - right);
    worst = std::max(worst, error == 0 ? 0 : error / (bound + half_ulp * std::abs(right)));
  };
  for (std::size_t i = 0; i < c.queries; ++i) {
    const auto bound = attest::kernel::stable_bound<T>(testing::true_row(c, b, h, i).size);
    const std::size_t at = c.row_index(b, h, i);
    for (std::size_t j = 0; j < c.keys; ++j) {
      if (expected.seen[i][j] == 'o')
        compare(r.weights[at * c.keys + j], rounded(weights(i, j)), bound.weight);
      else
        CHECK(r.weights[at * c.keys + j] == 0);
    }
    for (std::size_t x = 0; x < c.value_width; ++x)
      compare(r.output[at * c.value_width + x], rounded(outputs(i, x)), bound.output);
    if (c.options.log_sum_exp) {
      const auto base = c.options.log_sum_exp->base == attest::log_sum_exp_base::e ? attest::log_base::e
                                                                                   : attest::log_base::two;
      const auto log_sum_exps = attest::log_sum_exp(weights, base);
      compare(r.log_sum_exp[at], rounded(log_sum_exps(i, 0)), bound.log_sum_exp);
    }
  }
  return worst;
}

/// Whether all heads are as expected, `expected[h]` for each query head and `owner[h]` its key/value head.
template <class T>
void check_heads(const call<T>& c, const std::vector<expectation>& expected,
                 const std::vector<std::size_t>& owner = {}) {
  for (std::size_t b = 0; b < c.batch; ++b)
    for (std::size_t h = 0; h < c.query_heads; ++h) {
      const double used =
          compare_head(c, b, h, owner.empty() ? h : owner[h], expected[expected.size() == 1 ? 0 : h]);
      CAPTURE(b, h, used);
      CHECK(used <= 1);
    }
}

/// Small numbers of few bits: the exact side stays cheap.
template <class T = double>
call<T> random_call(std::uint64_t seed, std::size_t queries, std::size_t keys, std::size_t heads = 1,
                    std::size_t key_heads = 1, std::size_t batch = 1) {
  testing::random_source source(seed);
  call<T> c;
  c.batch = batch;
  c.query_heads = heads;
  c.key_heads = key_heads;
  c.queries = queries;
  c.keys = keys;
  c.key_width = 3;
  c.value_width = 2;
  const auto draw = [&](std::vector<T>& a, std::size_t size) {
    for (std::size_t n = 0; n < size; ++n)
      a.push_back(static_cast<T>(static_cast<double>(source.between(-40, 40)) / 16));
  };
  draw(c.q, batch * heads * queries * 3);
  draw(c.k, batch * key_heads * keys * 3);
  draw(c.v, batch * key_heads * keys * 2);
  return c;
}

const std::vector<std::string> all_of_3_by_4 = {"oooo", "oooo", "oooo"};

}  // namespace

TEST_CASE("exact: the default scale is exactly 1/√d_k, also where that is no float") {
  check_heads(random_call(1, 3, 4), {{{}, all_of_3_by_4}});
  check_heads(random_call<float>(2, 3, 4), {{{}, all_of_3_by_4}});
}

TEST_CASE("exact: a float scale is that float") {
  for (const double scale : {0.1, 1.0, -0.3, 0.0, 1e-3}) {
    auto c = random_call(3, 3, 4);
    c.options.scale = scale;
    check_heads(c, {{{}, all_of_3_by_4}});
    auto f = random_call<float>(3, 3, 4);
    f.options.scale = scale;
    check_heads(f, {{{}, all_of_3_by_4}});
  }
}

TEST_CASE("exact: masks, boolean and as a bias") {
  const std::vector<std::string> seen = {"o..o", ".o..", "oooo"};
  auto c = random_call(4, 3, 4);
  c.mask = {1, 0, 0, 1, 0, 1, 0, 0, 1, 1, 1, 1};
  check_heads(c, {{{}, seen}});
  const auto with_mask = c.stable();
  c.mask.clear();
  const double no = -testing::infinity;
  c.bias = {0, no, no, 0, no, 0, no, no, 0, 0, 0, 0};
  check_heads(c, {{{}, seen}});
  CHECK(c.stable().output == with_mask.output);
  c.bias = {0.1, no, no, -3.7, no, 5, no, no, 1e-3, 0, 0.25, -0.75};
  check_heads(c, {{{{0.1, 0, 0, -3.7}, {0, 5, 0, 0}, {1e-3, 0, 0.25, -0.75}}, seen}});
}

TEST_CASE("exact: causal at both corners, and past keys") {
  auto c = random_call(5, 3, 4);
  c.options.causal = true;
  c.options.corner = causal_corner::top_left;
  check_heads(c, {{{}, {"o...", "oo..", "ooo."}}});
  c.options.corner = causal_corner::bottom_right;
  check_heads(c, {{{}, {"oo..", "ooo.", "oooo"}}});
  c.options.corner.reset();
  c.options.past_keys = 1;
  check_heads(c, {{{}, {"oo..", "ooo.", "oooo"}}});
  c.options.past_keys = 0;
  check_heads(c, {{{}, {"o...", "oo..", "ooo."}}});
  auto tall = random_call(6, 4, 2);
  tall.options.causal = true;
  tall.options.corner = causal_corner::top_left;
  check_heads(tall, {{{}, {"o.", "oo", "oo", "oo"}}});
}

TEST_CASE("exact: windows") {
  auto c = random_call(7, 4, 4);
  c.options.window = attest::key_window{1, 2};
  check_heads(c, {{{}, {"ooo.", "oooo", ".ooo", "..oo"}}});
  c.options.window = attest::key_window{{}, 0};
  check_heads(c, {{{}, {"o...", "oo..", "ooo.", "oooo"}}});
  c.options.window = attest::key_window{0, {}};
  check_heads(c, {{{}, {"oooo", ".ooo", "..oo", "...o"}}});
  c.options.window = attest::key_window{2, 3};
  c.options.causal = true;
  check_heads(c, {{{}, {"o...", "oo..", "ooo.", ".ooo"}}});
  auto wide = random_call(8, 2, 5);
  wide.options.window = attest::key_window{1, 1};
  wide.options.corner = causal_corner::bottom_right;
  check_heads(wide, {{{}, {"..ooo", "...oo"}}});
  wide.options.corner = causal_corner::top_left;
  check_heads(wide, {{{}, {"oo...", "ooo.."}}});
  wide.options.corner.reset();
  wide.options.past_keys = 2;
  check_heads(wide, {{{}, {".ooo.", "..ooo"}}});
}

TEST_CASE("exact: ALiBi slopes are the floats they are given as") {
  auto c = random_call(9, 2, 3, 2, 1);
  c.options.alibi_slopes = {0.5, 0.1};
  c.options.corner = causal_corner::top_left;
  const table top_half = {{0, -0.5, -1}, {-0.5, 0, -0.5}};
  // 0.1 · 2 is exact; both are multiples of the float 0.1
  const table top_tenth = {{0, -0.1, -0.2}, {-0.1, 0, -0.1}};
  check_heads(c, {{top_half, {"ooo", "ooo"}}, {top_tenth, {"ooo", "ooo"}}}, {0, 0});
  c.options.corner = causal_corner::bottom_right;
  const table bottom_half = {{-0.5, 0, -0.5}, {-1, -0.5, 0}};
  const table bottom_tenth = {{-0.1, 0, -0.1}, {-0.2, -0.1, 0}};
  check_heads(c, {{bottom_half, {"ooo", "ooo"}}, {bottom_tenth, {"ooo", "ooo"}}}, {0, 0});
  c.options.causal = true;
  check_heads(c, {{bottom_half, {"oo.", "ooo"}}, {bottom_tenth, {"oo.", "ooo"}}}, {0, 0});
}

TEST_CASE("exact: bias and ALiBi add up") {
  auto c = random_call(10, 2, 2);
  c.options.alibi_slopes = {0.25};
  c.bias = {1, 2, 3, 4};
  check_heads(c, {{{{1, 1.75}, {2.75, 4}}, {"oo", "oo"}}});
}

TEST_CASE("exact: sinks are one more key with value 0") {
  auto c = random_call(11, 3, 4, 2, 2);
  c.options.sinks = {0.3, -2};
  c.options.log_sum_exp = {attest::log_sum_exp_base::e, {}};
  check_heads(c, {{{}, all_of_3_by_4, 0.3}, {{}, all_of_3_by_4, -2.0}});
  c.options.sinks = {700, 1e4};
  check_heads(c, {{{}, all_of_3_by_4, 700.0}, {{}, all_of_3_by_4, 1e4}});
}

TEST_CASE("exact: grouped heads, several batch elements") {
  check_heads(random_call(12, 2, 3, 4, 2, 2), {{{}, {"ooo", "ooo"}}}, {0, 0, 1, 1});
  check_heads(random_call(13, 2, 3, 6, 3, 2), {{{}, {"ooo", "ooo"}}}, {0, 0, 1, 1, 2, 2});
  check_heads(random_call(14, 2, 3, 6, 2), {{{}, {"ooo", "ooo"}}}, {0, 0, 0, 1, 1, 1});
  check_heads(random_call<float>(15, 2, 3, 3, 1), {{{}, {"ooo", "ooo"}}}, {0, 0, 0});
}

TEST_CASE("exact: key lengths are where K and V end") {
  auto c = random_call(16, 2, 4);
  c.options.key_lengths = {3};
  check_heads(c, {{{}, {"ooo.", "ooo."}}});
  c.options.causal = true;
  c.options.corner = causal_corner::bottom_right;
  check_heads(c, {{{}, {"oo..", "ooo."}}});
  c.options.corner = causal_corner::top_left;
  check_heads(c, {{{}, {"o...", "oo.."}}});
}

TEST_CASE("exact: log-sum-exp in both bases") {
  for (const auto base : {attest::log_sum_exp_base::e, attest::log_sum_exp_base::two}) {
    auto c = random_call(17, 3, 4);
    c.options.log_sum_exp = {base, {}};
    check_heads(c, {{{}, all_of_3_by_4}});
    auto f = random_call<float>(18, 3, 4);
    f.options.log_sum_exp = {base, {}};
    check_heads(f, {{{}, all_of_3_by_4}});
  }
}

TEST_CASE("exact: an unequal pair of scores far apart") {
  auto c = testing::one_head<double>(1, {0, -700, -740, -1000}, {0, 1, 1e300, 1e308});
  c.options.log_sum_exp = {attest::log_sum_exp_base::e, {}};
  check_heads(c, {{{}, {"oooo"}}});
}
