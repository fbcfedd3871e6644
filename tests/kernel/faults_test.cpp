// Faults that people met in attention code, each as the small input that tells the right value from the
// reported wrong one. d = 1, scale 1, and scores are 0 unless said otherwise.
#include "catch.hpp"
#include "head.hpp"

#include <numbers>

using attest::causal_corner;
using attest::empty_row_policy;
using attest::log_sum_exp_base;
using testing::one_head;

namespace {

constexpr double e = std::numbers::e;

/// `right` to a few roundings, and told apart from `wrong`.
void check_value(double value, double right, double wrong) {
  CHECK(std::abs(value - right) <= 1e-15 * std::max(1.0, std::abs(right)));
  CHECK(!(std::abs(value - wrong) <= 1e-3 * std::abs(right - wrong)));
}

/// What stable gives. The fused kernel, with weights and without, has to give the same to a few roundings.
template <class T>
testing::results<T> calculated(const testing::call<T>& c) {
  const auto expected = c.stable();
  const auto same = [](const std::vector<T>& a, const std::vector<T>& b) {
    bool result = a.size() == b.size();
    for (std::size_t n = 0; result && n < a.size(); ++n)
      result =
          a[n] == b[n] || (std::isnan(a[n]) && std::isnan(b[n])) ||
          std::abs(a[n] - b[n]) <= 8 * std::numeric_limits<T>::epsilon() * std::max(T(1), std::abs(b[n]));
    return result;
  };
  for (const bool with_weights : {true, false}) {
    const auto fused = c.fused(1, with_weights);
    CHECK(same(fused.output, expected.output));
    CHECK(same(fused.log_sum_exp, expected.log_sum_exp));
    CHECK((!with_weights || same(fused.weights, expected.weights)));
  }
  return expected;
}

testing::call<double> zeros(std::size_t queries, const std::vector<double>& values) {
  return one_head<double>(queries, std::vector<double>(values.size(), 0.0), values);
}

}  // namespace

TEST_CASE("causal corner: one query, three keys") {
  auto c = zeros(1, {1, 2, 6});
  c.options.causal = true;
  c.options.corner = causal_corner::top_left;
  check_value(calculated(c).output[0], 1, 3);
  c.options.corner = causal_corner::bottom_right;
  check_value(calculated(c).output[0], 3, 1);
}

TEST_CASE("causal corner, more queries than keys: at the bottom-right corner rows 0 and 1 see nothing") {
  auto c = zeros(3, {5});
  c.options.causal = true;
  c.options.corner = causal_corner::bottom_right;
  c.options.empty_row = empty_row_policy::zero;
  CHECK(calculated(c).output == std::vector<double>{0, 0, 5});
  CHECK(calculated(c).weights == std::vector<double>{0, 0, 1});
  c.options.corner = causal_corner::top_left;
  CHECK(calculated(c).output == std::vector<double>{5, 5, 5});
}

TEST_CASE("causal with past keys") {
  auto c = zeros(2, {1, 2, 6, 3});
  c.options.causal = true;
  c.options.past_keys = 2;
  const auto r = calculated(c);
  check_value(r.output[0], 3, 1);
  check_value(r.output[1], 3, 1.5);
  CHECK(r.weights[3] == 0);
  CHECK(r.weights[7] == 0.25);
}

TEST_CASE("grouped heads: four query heads, two key/value heads") {
  auto c = zeros(1, {1, 2});
  c.query_heads = 4;
  c.key_heads = 2;
  c.keys = 1;
  c.q.assign(4, 1.0);
  CHECK(calculated(c).output == std::vector<double>{1, 1, 2, 2});
}

TEST_CASE("softcap before mask: a hidden key stays hidden") {
  auto c = zeros(1, {0, 1});
  c.options.softcap = 1;
  c.mask = {1, 0};
  check_value(calculated(c).output[0], 0, 1 / (1 + e));
  c.mask.clear();
  c.bias = {0, -testing::infinity};
  check_value(calculated(c).output[0], 0, 1 / (1 + e));
}

TEST_CASE("softcap is not dropped") {
  auto c = one_head<double>(1, {0, 100}, {0, 1});
  c.options.softcap = 1;
  check_value(calculated(c).output[0], e / (1 + e), 1);
}

TEST_CASE("an empty row gives what the caller says, and never the mean") {
  auto c = zeros(1, {1, 3});
  c.mask = {0, 0};
  c.options.empty_row = empty_row_policy::zero;
  check_value(calculated(c).output[0], 0, 2);
  CHECK(calculated(c).weights == std::vector<double>{0, 0});
  c.options.empty_row = empty_row_policy::nan;
  CHECK(std::isnan(calculated(c).output[0]));
  CHECK(std::isnan(calculated(c).weights[0]));
  CHECK(std::isnan(calculated(c).weights[1]));
  c.options.empty_row = empty_row_policy::error;
  CHECK_THROWS_AS(calculated(c), attest::attention_error);
  c.options.empty_row.reset();
  CHECK_THROWS_AS(calculated(c), attest::attention_error);
  c.mask.clear();
  c.bias = {-testing::infinity, -testing::infinity};
  c.options.empty_row = empty_row_policy::zero;
  check_value(calculated(c).output[0], 0, 2);
}

TEST_CASE("no finite number stands in for minus infinity") {
  auto c = one_head<double>(1, {-20000, 0}, {1, 100});
  c.mask = {1, 0};
  check_value(calculated(c).output[0], 1, 100);
  auto with_numbers = one_head<double>(1, {-20000, 0}, {1, 100});
  with_numbers.bias = {0, -1e4};  // a number is a number
  check_value(calculated(with_numbers).output[0], 100, 1);
  with_numbers.bias = {0, -testing::infinity};
  check_value(calculated(with_numbers).output[0], 1, 100);
}

TEST_CASE("the running maximum starts low enough") {
  std::vector<double> scores(65, -59904);
  std::vector<double> values(65, 2);
  scores[64] = -55040;
  values[64] = 7;
  check_value(one_head<double>(1, scores, values).stable().output[0], 7, 0);
  std::vector<float> narrow(scores.begin(), scores.end());
  std::vector<float> narrow_values(values.begin(), values.end());
  check_value(one_head<float>(1, narrow, narrow_values).stable().output[0], 7, 0);
  check_value(one_head<double>(1, {-1e308, -1.5e308}, {4, 5}).stable().output[0], 4, 0);
}

TEST_CASE("NaN and infinity where nobody looks") {
  for (const double hidden : {testing::nan, testing::infinity, -testing::infinity}) {
    auto c = zeros(1, {1, hidden});
    c.mask = {1, 0};
    CHECK(calculated(c).output[0] == 1);
    CHECK(c.naive().output[0] == 1);
    c.k[1] = hidden;
    CHECK(calculated(c).output[0] == 1);
    CHECK(calculated(c).weights[1] == 0);
    CHECK(c.naive().output[0] == 1);
    c.mask = {1, 1};
    CHECK_THROWS_AS(calculated(c), attest::attention_error);
    c.mask.clear();
    c.options.key_lengths = {1};
    CHECK(calculated(c).output[0] == 1);
  }
}

TEST_CASE("an empty row's log-sum-exp is what the caller says") {
  auto c = zeros(1, {1, 3});
  c.mask = {0, 0};
  c.options.empty_row = empty_row_policy::zero;
  c.options.log_sum_exp = {log_sum_exp_base::e, attest::empty_log_sum_exp::minus_infinity};
  CHECK(calculated(c).log_sum_exp[0] == -testing::infinity);
  c.options.log_sum_exp = {log_sum_exp_base::e, attest::empty_log_sum_exp::plus_infinity};
  CHECK(calculated(c).log_sum_exp[0] == testing::infinity);
  c.options.log_sum_exp = {log_sum_exp_base::e, {}};
  CHECK_THROWS_AS(calculated(c), attest::attention_error);
}

TEST_CASE("base of the log-sum-exp: parts merged in their own base") {
  for (const auto base : {log_sum_exp_base::e, log_sum_exp_base::two}) {
    auto many = zeros(1, {1, 1, 1, 1});
    auto one = zeros(1, {0});
    many.options.log_sum_exp = one.options.log_sum_exp = {base, {}};
    const auto a = calculated(many);
    const auto b = calculated(one);
    const auto power = [&](double x) { return base == log_sum_exp_base::e ? std::exp(x) : std::exp2(x); };
    const double weight_a = power(a.log_sum_exp[0]);
    const double weight_b = power(b.log_sum_exp[0]);
    const double merged = (weight_a * a.output[0] + weight_b * b.output[0]) / (weight_a + weight_b);
    CHECK(std::abs(merged - 0.8) < 1e-15);
    const double wrong =
        base == log_sum_exp_base::e ? std::exp2(a.log_sum_exp[0]) : std::exp(a.log_sum_exp[0]);
    CHECK(std::abs(wrong / (wrong + 1) - 0.8) > 0.05);
  }
}

TEST_CASE("log-sum-exp itself") {
  auto c = zeros(1, {1, 1});
  c.options.log_sum_exp = {log_sum_exp_base::e, {}};
  check_value(calculated(c).log_sum_exp[0], std::numbers::ln2, 1);
  c.options.log_sum_exp = {log_sum_exp_base::two, {}};
  check_value(calculated(c).log_sum_exp[0], 1, std::numbers::ln2);
}

TEST_CASE("huge equal logits") {
  testing::call<double> wide;
  wide.key_width = 64;
  wide.q.assign(64, 133120);
  wide.k.assign(64, 133120);
  wide.v = {133120};
  CHECK(calculated(wide).output[0] == 133120);
  testing::call<float> narrow;
  narrow.key_width = 64;
  narrow.q.assign(64, 133120);
  narrow.k.assign(64, 133120);
  narrow.v = {133120};
  CHECK(calculated(narrow).output[0] == 133120);
  narrow.keys = 3;
  narrow.k.assign(3 * 64, 133120);
  narrow.v = {133120, 133120, 133120};
  CHECK(std::abs(calculated(narrow).output[0] - 133120) <= 0.01f);
}

TEST_CASE("attention sink: counted once, with value 0") {
  auto c = zeros(1, {1});
  c.options.sinks = {0};
  check_value(calculated(c).output[0], 0.5, 1.0 / 3);
  check_value(calculated(c).output[0], 0.5, 1);
  c.options.log_sum_exp = {log_sum_exp_base::e, {}};
  check_value(calculated(c).log_sum_exp[0], std::numbers::ln2, 0);
  c.options.scale = 100;  // neither scaled
  c.options.softcap = 1;  // nor capped
  c.options.sinks = {2};
  check_value(calculated(c).output[0], 1 / (1 + e * e), 1 / (1 + e));
  c.mask = {0};  // a row with a sink is not empty
  CHECK(calculated(c).output[0] == 0);
  CHECK(calculated(c).log_sum_exp[0] == 2);
  c.options.log_sum_exp = {log_sum_exp_base::two, {}};
  check_value(calculated(c).log_sum_exp[0], 2 / std::numbers::ln2, 2);
}

TEST_CASE("window: two keys are one to the left and the query's own") {
  auto c = zeros(4, {8, 4, 2, 1});
  c.options.window = attest::key_window{1, 0};
  const auto r = calculated(c);
  check_value(r.output[3], 1.5, 7.0 / 3);
  CHECK(r.output[0] == 8);
  CHECK(r.output[1] == 6);
  c.options.window = attest::key_window{0, 1};
  CHECK(calculated(c).output == std::vector<double>{6, 3, 1.5, 1});
}

TEST_CASE("mask polarity: true is visible") {
  auto c = zeros(1, {1, 3});
  c.mask = {1, 0};
  check_value(calculated(c).output[0], 1, 3);
  CHECK(c.naive().output[0] == 1);
  c.mask = {2, 0};  // any byte but 0 is true
  CHECK(calculated(c).output[0] == 1);
}

TEST_CASE("the divisor is the head's width, not the model's") {
  testing::call<double> c;
  c.key_width = 16;
  c.keys = 2;
  c.q.assign(16, 1.0);
  c.k.assign(32, 0.0);
  for (std::size_t i = 0; i < 4; ++i) c.k[i] = 1;
  c.v = {1, 0};
  check_value(calculated(c).output[0], e / (1 + e), 1 / (1 + std::exp(-0.5)));
  check_value(c.naive().output[0], e / (1 + e), 1 / (1 + std::exp(-0.5)));
}

TEST_CASE("layout: strides say where the heads are") {
  // [B, T, H, d] in memory, read as [B, H, T, d]
  const std::vector<double> v = {1, 10, 2, 20, 3, 30};  // [3 positions, 2 heads]
  const std::vector<double> zero(6, 0.0);
  std::vector<double> output(6);
  const auto view = [](const std::vector<double>& a) {
    return attest::tensor<const double>(a.data(), {1, 2, 3, 1}, {6, 1, 2, 1});
  };
  attest::attention_options options;
  options.causal = true;
  attest::kernel::stable<double>({view(zero), view(zero), view(v)}, options,
                                 {attest::tensor<double>(output.data(), {1, 2, 3, 1}, {6, 1, 2, 1})});
  CHECK(output == std::vector<double>{1, 10, 1.5, 15, 2, 20});
}

TEST_CASE("one run is the next, bit for bit") {
  testing::random_source source(5);
  testing::call<double> c;
  c.queries = c.keys = 9;
  c.key_width = c.value_width = 5;
  testing::fill(c, source, -3, 2);
  const auto first = c.stable(), second = c.stable();
  CHECK(first.output == second.output);
  CHECK(first.weights == second.weights);
  const auto fused = c.fused(), fused_again = c.fused();
  CHECK(fused.output == fused_again.output);
  CHECK(fused.weights == fused_again.weights);
}
