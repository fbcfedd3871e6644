#include "certified_cases.hpp"

#include "catch.hpp"

#include <attest/problem/attention_error.hpp>

#include <limits>
#include <numbers>
#include <random>

// What certified_attention() promises beyond right digits: the conventions on inputs small enough to check by
// hand, exact values and ties, what is refused, parts of the rows, progress, limits.

using namespace attest;
using certified_cases::pattern_at;

namespace {

/// Rows of doubles as an array [rows, width].
struct array {
  std::vector<double> x;
  std::size_t rows, width;
  array(std::size_t r, std::size_t w, std::vector<double> values) : x(std::move(values)), rows(r), width(w) {}
  operator any_tensor() const { return any_tensor(x.data(), dtype::binary64, layout{rows, width}); }
};
array zeros(std::size_t rows, std::size_t width = 1) {
  return {rows, width, std::vector<double>(rows * width)};
}
array column(std::vector<double> values) {
  const std::size_t n = values.size();
  return {n, 1, std::move(values)};
}

/// The outputs of one head in binary64.
std::vector<double> outputs(const array& q, const array& k, const array& v,
                            const attention_options& options = {}, const certified_options& how = {}) {
  std::vector<double> o(q.rows * v.width, -99);
  certified_attention({q, k, v}, options, {tensor<double>(o.data(), {q.rows, v.width})}, how);
  return o;
}

double one_log_sum_exp(const array& q, const array& k, const attention_options& options) {
  std::vector<double> o(1), l(1);
  certified_results results{tensor<double>(o.data(), {1, 1})};
  results.log_sum_exp = tensor<double>(l.data(), {1, 1});
  certified_attention({q, k, zeros(k.rows)}, options, results);
  return l[0];
}

/// Equal but for what the few roundings of an expression beside it amount to.
bool near(double x, double y) { return std::fabs(x - y) <= 1e-14 * std::fabs(y); }
bool is_nan(double x) { return x != x; }
bool positive_zero(double x) { return std::bit_cast<std::uint64_t>(x) == 0; }

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const attention_error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

}  // namespace

TEST_CASE("Reported faults: each public report as its small input") {
  attention_options o;
  SECTION("the causal corner") {
    o.causal = true;
    o.corner = causal_corner::top_left;
    CHECK(outputs(zeros(1), zeros(3), column({1, 2, 6}), o)[0] == 1);
    o.corner = causal_corner::bottom_right;
    CHECK(outputs(zeros(1), zeros(3), column({1, 2, 6}), o)[0] == 3);
  }
  SECTION("the causal corner with more queries than keys: rows 0 and 1 see nothing") {
    o.causal = true;
    o.corner = causal_corner::bottom_right;
    o.empty_row = empty_row_policy::nan;
    const auto x = outputs(zeros(3), zeros(1), column({5}), o);
    CHECK(is_nan(x[0]));
    CHECK(is_nan(x[1]));
    CHECK(x[2] == 5);
  }
  SECTION("causal with past keys") {
    o.causal = true;
    o.past_keys = 2;
    const auto x = outputs(zeros(2), zeros(4), column({1, 2, 6, 3}), o);
    CHECK(x[0] == 3);  // (1 + 2 + 6) / 3
    CHECK(x[1] == 3);
  }
  SECTION("grouped heads") {
    const std::vector<double> q(4), k(2), v{1, 2};
    std::vector<double> x(4);
    certified_attention({any_tensor(q.data(), dtype::binary64, layout{1, 4, 1, 1}),
                         any_tensor(k.data(), dtype::binary64, layout{1, 2, 1, 1}),
                         any_tensor(v.data(), dtype::binary64, layout{1, 2, 1, 1})},
                        o, {tensor<double>(x.data(), {1, 4, 1, 1})});
    CHECK(x == std::vector<double>{1, 1, 2, 2});
  }
  SECTION("softcap before the mask") {
    o.softcap = 1;
    const unsigned char mask[] = {1, 0};
    o.mask = any_tensor(mask, dtype::boolean, layout{1, 2});
    CHECK(positive_zero(outputs(zeros(1), zeros(2), column({0, 1}), o)[0]));
  }
  SECTION("softcap applied: scores 0 and 100 become 0 and 1 - 2^-288") {
    o.softcap = 1;
    o.scale = 1.0;
    // 1 / (1 + e^-1), 0.73105857863000487925...
    CHECK(outputs(column({1}), column({0, 100}), column({0, 1}), o)[0] == 0.7310585786300049);
  }
  SECTION("an empty row") {
    const unsigned char mask[] = {0, 0};
    o.mask = any_tensor(mask, dtype::boolean, layout{1, 2});
    CHECK_THROWS_AS(outputs(zeros(1), zeros(2), column({1, 3}), o), attention_error);
    o.empty_row = empty_row_policy::error;
    CHECK_THROWS_AS(outputs(zeros(1), zeros(2), column({1, 3}), o), attention_error);
    o.empty_row = empty_row_policy::zero;
    CHECK(positive_zero(outputs(zeros(1), zeros(2), column({1, 3}), o)[0]));
    o.empty_row = empty_row_policy::nan;
    CHECK(is_nan(outputs(zeros(1), zeros(2), column({1, 3}), o)[0]));
  }
  SECTION("a masked key is hidden however low the others are") {
    o.scale = 1.0;
    const unsigned char mask[] = {1, 0};
    o.mask = any_tensor(mask, dtype::boolean, layout{1, 2});
    CHECK(outputs(column({1}), column({-20000, 0}), column({1, 100}), o)[0] == 1);
  }
  SECTION("64 scores of -59904, one of -55040") {
    o.scale = 1.0;
    std::vector<double> k(65, -59904), v(65, 1);
    k[17] = -55040;
    v[17] = 7;
    CHECK(outputs(column({1}), column(k), column(v), o)[0] == 7);
  }
  SECTION("NaN where nobody looks, and where somebody does") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const unsigned char mask[] = {1, 0};
    CHECK(message_of([&] { outputs(zeros(1), zeros(2), column({1, nan}), o); }).find("array V") == 0);
    o.mask = any_tensor(mask, dtype::boolean, layout{1, 2});
    CHECK(outputs(zeros(1), zeros(2), column({1, nan}), o)[0] == 1);
    CHECK(outputs(zeros(1), column({0, nan}), column({1, 5}), o)[0] == 1);
  }
  SECTION("the log-sum-exp: ln 2, its base, its empty value") {
    o.log_sum_exp = {log_sum_exp_base::e};
    CHECK(one_log_sum_exp(zeros(1), zeros(2), o) == std::numbers::ln2);
    o.log_sum_exp = {log_sum_exp_base::two};
    CHECK(one_log_sum_exp(zeros(1), zeros(2), o) == 1);
    CHECK(one_log_sum_exp(zeros(1), zeros(3), o) == 1.584962500721156);  // log2 3 = 1.58496250072115618...
    o.empty_row = empty_row_policy::zero;
    o.log_sum_exp = {log_sum_exp_base::e, empty_log_sum_exp::minus_infinity};
    CHECK(one_log_sum_exp(zeros(1), zeros(0), o) == -std::numeric_limits<double>::infinity());
    o.log_sum_exp = {log_sum_exp_base::e, empty_log_sum_exp::plus_infinity};
    CHECK(one_log_sum_exp(zeros(1), zeros(0), o) == std::numeric_limits<double>::infinity());
  }
  SECTION("merging by log-sum-exps: four keys of value 1 and one of value 0") {
    // In base e the weights of the parts are e^(ln 4) and e^0: 0.8.
    o.log_sum_exp = {log_sum_exp_base::e};
    const double four = one_log_sum_exp(zeros(1), zeros(4), o), one = one_log_sum_exp(zeros(1), zeros(1), o);
    CHECK(near(std::exp(four) / (std::exp(four) + std::exp(one)), 0.8));
  }
  SECTION("huge equal logits") {
    const std::vector<double> q(64, 133120), k(64, 133120);
    CHECK(outputs({1, 64, q}, {1, 64, k}, column({133120}))[0] == 133120);
  }
  SECTION("the sink") {
    o.sinks = {0};
    CHECK(outputs(zeros(1), zeros(1), column({1}), o)[0] == 0.5);
    const unsigned char hidden[] = {0};
    o.mask = any_tensor(hidden, dtype::boolean, layout{1, 1});
    CHECK(positive_zero(outputs(zeros(1), zeros(1), column({1}), o)[0]));
    o.log_sum_exp = {log_sum_exp_base::e};
    o.sinks = {-3.5};
    CHECK(one_log_sum_exp(zeros(1), zeros(1), o) == -3.5);
  }
  SECTION("the window") {
    o.window = key_window{1, 0};
    CHECK(outputs(zeros(4), zeros(4), column({8, 4, 2, 1}), o)[3] == 1.5);
  }
  SECTION("mask polarity") {
    const unsigned char mask[] = {1, 0};
    o.mask = any_tensor(mask, dtype::boolean, layout{1, 2});
    CHECK(outputs(zeros(1), zeros(2), column({1, 3}), o)[0] == 1);
  }
  SECTION("the divisor is the root of the head's width") {
    // d = 16, raw scores 4 and 0: 1 / (1 + e^-1).
    std::vector<double> q(16), k(32);
    q[0] = 1;
    k[0] = 4;
    CHECK(outputs({1, 16, q}, {2, 16, k}, column({1, 0}))[0] == 0.7310585786300049);
  }
}

TEST_CASE("Exact values, ties, zeros and overflow") {
  certified_options how;
  std::vector<certificate> c(1);
  const auto ask = [&](const array& q, const array& k, const array& v, dtype type,
                       const attention_options& o = {}) {
    std::vector<unsigned char> bytes(8);
    certified_results r{any_result(bytes.data(), type, layout{1, 1})};
    r.output_certificates = tensor<certificate>(c.data(), {1, 1});
    certified_attention({q, k, v}, o, r, how);
    return pattern_at(bytes, 0, type);
  };
  SECTION("a mean that is representable, a tie, and neither") {
    CHECK(ask(zeros(1), zeros(2), column({1, 2}), dtype::binary16) == 0x3E00);  // 1.5
    CHECK(c[0] == certificate::exact);
    CHECK(ask(zeros(1), zeros(2), column({1, 1 + 0x1p-10}), dtype::binary16) == 0x3C00);  // midpoint: even
    CHECK(c[0] == certificate::exact);
    CHECK(ask(zeros(1), zeros(3), column({1, 1, 2}), dtype::binary16) == 0x3D55);  // 4/3 = 1.0101010101|01..
    CHECK(c[0] == certificate::certified);
  }
  SECTION("means of huge numbers, each score's the same, whose sum overflows on the way") {
    constexpr double a = 0x1.8p1023;
    CHECK(ask(column({1}), column({0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1}),
              column({a, a, -a, -0.75 * a, 0, 0, 0, 0, a, a, -a, -0.75 * a, 0, 0, 0, 0}),
              dtype::binary64) == std::bit_cast<std::uint64_t>(a / 32));
    CHECK(c[0] == certificate::exact);
  }
  SECTION("the same three on distinct scores of constant V") {
    CHECK(ask(column({1}), column({1, 2}), column({1.5, 1.5}), dtype::binary16) == 0x3E00);
    CHECK(c[0] == certificate::exact);
    CHECK(ask(column({1}), column({1, 2}), column({1 + 0x1p-11, 1 + 0x1p-11}), dtype::binary16) == 0x3C00);
    CHECK(c[0] == certificate::exact);
    CHECK(ask(column({1}), column({1, 2}), column({1 + 0x1p-12, 1 + 0x1p-12}), dtype::binary16) == 0x3C00);
    CHECK(c[0] == certificate::certified);
  }
  SECTION("a near tie of far exponents: the third key, 10^6 below, decides") {
    attention_options o;
    o.scale = 1.0;
    for (const double third : {0.0, 2.0}) {
      // The mean of 1 and 1 + 2^-52 is a midpoint.
      const std::uint64_t pattern =
          ask(column({1}), column({0, 0, -1e6}), column({1, 1 + 0x1p-52, third}), dtype::binary64, o);
      CHECK(pattern == std::bit_cast<std::uint64_t>(third == 0 ? 1.0 : 1 + 0x1p-52));
      CHECK(c[0] == certificate::certified);
    }
    CHECK(ask(column({1}), column({0, 0, -1e6}), column({1, 1 + 0x1p-52, 1 + 0x1p-53}), dtype::binary64, o) ==
          std::bit_cast<std::uint64_t>(1.0));
  }
  SECTION("a near tie of close exponents: scores 0 and 2^-2148, V = 1 and 1 + 2^-52") {
    attention_options o;
    o.scale = 1.0;
    CHECK(ask(column({0x1p-1074}), column({0, 0x1p-1074}), column({1, 1 + 0x1p-52}), dtype::binary64, o) ==
          std::bit_cast<std::uint64_t>(1 + 0x1p-52));
    CHECK(ask(column({0x1p-1074}), column({0, -0x1p-1074}), column({1, 1 + 0x1p-52}), dtype::binary64, o) ==
          std::bit_cast<std::uint64_t>(1.0));
    // Scores 0, d, 2d over V - midpoint in the ratio 1, -2, 1: of second order in d, positive.
    CHECK(ask(column({0x1p-1074}), column({0, 0x1p-1074, 0x1p-1073, 0x1p-1074}),
              column({1 + 0x1p-52, 1, 1 + 0x1p-52, 1}), dtype::binary64,
              o) == std::bit_cast<std::uint64_t>(1 + 0x1p-52));
  }
  SECTION("an exact zero, and one that is not") {
    CHECK(ask(zeros(1), zeros(2), column({1, -1}), dtype::binary64) == 0);
    how.direction = rounding::down;
    CHECK(ask(zeros(1), zeros(2), column({1, -1}), dtype::binary64) == std::uint64_t{1} << 63);
    CHECK(c[0] == certificate::exact);
    how.direction = rounding::nearest_even;
    attention_options o;
    o.scale = 1.0;
    // e^-2000 underflows and keeps its sign.
    CHECK(ask(column({1}), column({0, -2000}), column({0, -1}), dtype::binary64, o) == std::uint64_t{1}
                                                                                           << 63);
    CHECK(c[0] == certificate::certified);
    how.direction = rounding::up;
    CHECK(ask(column({1}), column({0, -2000}), column({0, 1}), dtype::binary64, o) == 1);
  }
  SECTION("overflow follows the direction; saturate stays at the largest number") {
    CHECK(ask(zeros(1), zeros(1), column({1e6}), dtype::binary16) == 0x7C00);
    how.direction = rounding::toward_zero;
    CHECK(ask(zeros(1), zeros(1), column({1e6}), dtype::binary16) == 0x7BFF);
    how.direction = rounding::nearest_even;
    how.saturate = true;
    CHECK(ask(zeros(1), zeros(1), column({1e6}), dtype::binary16) == 0x7BFF);
    CHECK(ask(zeros(1), zeros(1), column({-1e6}), dtype::float8_e4m3fn) == 0xFE);
    // Their NaN, 80, has no sign.
    CHECK(ask(zeros(1), zeros(1), column({1e9}), dtype::float8_e4m3fnuz) == 0x7F);
    CHECK(ask(zeros(1), zeros(1), column({-1e9}), dtype::float8_e4m3fnuz) == 0xFF);
    CHECK(ask(zeros(1), column({0, 0}), column({-1e9, -2e9}), dtype::float8_e5m2fnuz) == 0xFF);
    CHECK(ask(column({1}), column({0, 1}), column({-1e9, -2e9}), dtype::float8_e5m2fnuz) == 0xFF);
    how.saturate = false;
    CHECK(ask(zeros(1), zeros(1), column({-1e6}), dtype::float8_e4m3fn) == 0xFF);  // its NaN
    CHECK(ask(zeros(1), zeros(1), column({-1e-9}), dtype::float8_e4m3fnuz) == 0);  // it has no -0
    CHECK(ask(zeros(1), zeros(1), column({-1e-9}), dtype::float8_e4m3fn) == 0x80);
  }
  SECTION("the infinity of an empty row is no overflow") {
    attention_options o;
    o.empty_row = empty_row_policy::zero;
    for (const empty_log_sum_exp empty : {empty_log_sum_exp::minus_infinity, empty_log_sum_exp::plus_infinity}) {
      o.log_sum_exp = {log_sum_exp_base::e, empty};
      const auto pattern = [&](dtype type, bool saturate) {
        float x = 0;
        std::uint32_t sum = 0;
        certified_results r{tensor<float>(&x, {1, 1})};
        r.log_sum_exp = any_result(&sum, type, layout{1, 1});
        certified_options to;
        to.saturate = saturate;
        certified_attention({zeros(1), zeros(0), zeros(0)}, o, r, to);
        return sum;
      };
      const bool minus = empty == empty_log_sum_exp::minus_infinity;
      for (const bool saturate : {false, true}) {
        CHECK(pattern(dtype::binary32, saturate) == (minus ? 0xFF800000 : 0x7F800000));
        CHECK(pattern(dtype::binary16, saturate) == (minus ? 0xFC00 : 0x7C00));
        CHECK(pattern(dtype::float8_e5m2, saturate) == (minus ? 0xFC : 0x7C));
      }
      CHECK(pattern(dtype::float8_e4m3fn, false) == (minus ? 0xFF : 0x7F));  // its NaN
      CHECK(pattern(dtype::float8_e4m3fn, true) == (minus ? 0xFE : 0x7E));   // 448
      CHECK(pattern(dtype::float8_e4m3fnuz, false) == 0x80);
      CHECK(pattern(dtype::float8_e4m3fnuz, true) == (minus ? 0xFF : 0x7F));
    }
  }
  SECTION("scores far beyond double") {
    CHECK(ask(column({1e300}), column({1e300, 0}), column({3, 5}), dtype::binary64) ==
          std::bit_cast<std::uint64_t>(3.0));
    CHECK(ask(column({1e300}), column({1e300, 1e300}), column({3, 5}), dtype::binary64) ==
          std::bit_cast<std::uint64_t>(4.0));
  }
}

TEST_CASE("A sink of any size is a key: the larger score takes the row") {
  attention_options o;
  o.scale = 1;
  for (const double sink : {1e280, 4.9e305, 1e308}) {
    o.sinks = {sink};
    CHECK(positive_zero(outputs(column({1}), column({0.5, 1e260}), column({0.1, 0.3}), o)[0]));
    o.log_sum_exp = log_sum_exp_form{log_sum_exp_base::e};
    CHECK(one_log_sum_exp(column({1}), column({0.5, 1e260}), o) == sink);
    o.log_sum_exp.reset();
    o.sinks = {-sink};
    CHECK(outputs(column({1}), column({0.5, 1e260}), column({0.1, 0.3}), o)[0] == 0.3);
  }
}

TEST_CASE("Directed rounding next to a huge number: what is added to it is not lost") {
  // The log-sum-exp is the sink and a little more.
  attention_options o;
  o.scale = 1;
  o.log_sum_exp = log_sum_exp_form{log_sum_exp_base::e};
  const array q = column({1}), k = column({1e-300, 2e-300}), v = column({1, 2});
  for (const double sink : {1e30, 1e100, 1e250, 1e300, 1e307}) {
    o.sinks = {sink};
    for (const rounding direction : {rounding::nearest_even, rounding::up, rounding::down}) {
      std::vector<double> out(1), l(1);
      certified_results results{tensor<double>(out.data(), {1, 1})};
      results.log_sum_exp = tensor<double>(l.data(), {1, 1});
      certified_options how;
      how.direction = direction;
      certified_attention({q, k, v}, o, results, how);
      CHECK(l[0] == (direction == rounding::up ? std::nextafter(sink, std::numeric_limits<double>::infinity()) : sink));
    }
  }
}

TEST_CASE("A softcap takes scores and biases of any size") {
  attention_options o;
  o.scale = 1;
  for (const auto& [query, cap] : {std::pair{1e300, 1e5}, {1e60, 30.0}, {1e300, 1e-5}}) {
    o.softcap = cap;  // every score is capped to within 10^-1000 of the same number: the mean and a little more
    CHECK(outputs(column({query}), column({1, 2}), column({1, 2}), o)[0] == 1.5);
    attention_options uncapped;
    uncapped.scale = 1;
    CHECK(outputs(column({query}), column({-1, 2}), column({1, 2}), o)[0] ==
          outputs(column({1}), column({-cap, cap}), column({1, 2}), uncapped)[0]);
  }
  // A bias of both keys changes nothing.
  o.softcap = 30;
  const double without = outputs(column({1}), column({1, 2}), column({1, 2}), o)[0];
  for (const double bias : {-1e20, -1e60, -1e308, 1e308}) {
    const array both = array(1, 2, {bias, bias});
    o.bias = both;
    CHECK(outputs(column({1}), column({1, 2}), column({1, 2}), o)[0] == without);
  }
}

TEST_CASE("Exact weights and log-sum-exps, also where a mask hides the other keys") {
  for (const auto& [masked, by_sink] : {std::pair{false, false}, {true, false}, {false, true}})
    for (const bool all_tiers : {true, false}) {
      certified_cases::head h;
      h.q = {1};
      h.k = {0, 0, 0, 0};
      h.v = {1, 2, 3, 5};
      h.keys = 4;
      if (masked) {
        h.k = {0, 7, 0, 0, 9, 0};
        h.v = {1, 0, 2, 3, 0, 5};
        h.keys = 6;
        h.mask = {1, 0, 1, 1, 0, 1};
      }
      if (by_sink) {
        // The sink is one of four equal scores, its value 0.
        h.sink = 0;
        h.k.pop_back();
        h.v = {3, 3, 5};
        h.keys = 3;
      }
      certified_cases::request r;
      r.weights = true;
      r.log_sum_exp = log_sum_exp_base::two;
      if (!all_tiers) r.tiers = {false, false, true, true};
      const auto a = certified_cases::ask(h, r);
      INFO(masked << by_sink << all_tiers);
      CHECK(std::bit_cast<double>(pattern_at(a.weights, 0, r.type)) == 0.25);
      for (const certificate c : a.weights_certificates) CHECK(c == certificate::exact);
      CHECK(std::bit_cast<double>(pattern_at(a.log_sum_exp, 0, r.type)) == 2);
      CHECK(a.log_sum_exp_certificates[0] == certificate::exact);
      CHECK(std::bit_cast<double>(pattern_at(a.output, 0, r.type)) == 2.75);
      CHECK(a.output_certificates[0] == certificate::exact);
    }
}

TEST_CASE("Integers beyond 2^53 are taken exactly") {
  const std::int64_t big = (std::int64_t{1} << 53) + 1;
  const std::int64_t q[] = {1}, k[] = {big, big - 1}, v[] = {big, -big};
  std::vector<double> x(1);
  attention_options o;
  o.scale = 1.0;
  // Scores differ by 1: weights 1/(1 + e^-1) and the rest; as doubles they would be equal and the output 0.
  certified_attention({tensor<const std::int64_t>(q, {1, 1}), tensor<const std::int64_t>(k, {2, 1}),
                       tensor<const std::int64_t>(v, {2, 1})},
                      o, {tensor<double>(x.data(), {1, 1})});
  CHECK(near(x[0], 0.46211715726000979 * 9007199254740993.0));  // tanh(1/2)
  const std::uint64_t largest[] = {~std::uint64_t{0}};
  certified_attention({tensor<const std::int64_t>(q, {1, 1}), tensor<const std::int64_t>(k, {1, 1}),
                       any_tensor(largest, dtype::uint64, layout{1, 1})},
                      o, {tensor<double>(x.data(), {1, 1})}, {.direction = rounding::down});
  CHECK(x[0] == 18446744073709549568.0);  // 2^64 - 2^11
}

TEST_CASE("Columns of one row that lie next to rounding boundaries: the plain kernel does not decide them") {
  // Means of numbers within 2^-48 of 1 + 2^-24, halfway between two of binary32, beside columns of small numbers:
  // about half of all doubles that the plain kernel gives are on the wrong side or on the boundary.
  constexpr std::size_t keys = 9, width = 600;
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  array q = zeros(1, 4), k = zeros(keys, 4), v = zeros(keys, width);
  for (double& x : q.x) x = normal(random);
  for (double& x : k.x) x = normal(random);
  for (std::size_t j = 0; j < keys; ++j)
    for (std::size_t c = 0; c < width; ++c)
      v.x[j * width + c] = c % 3 == 0 ? 0x1p-30 * normal(random)
                                      : (c % 3 == 1 ? 1 + 0x1p-24 : -1 - 0x1p-24) +
                                            std::ldexp(static_cast<double>(random() % 33) - 16, -52);
  const auto evaluate = [&](bool narrow, certification& counts) {
    std::vector<float> o(width);
    certified_options how;
    how.tiers[static_cast<std::size_t>(reference_tier::narrow)] = narrow;
    counts = certified_attention({q, k, v}, {}, {tensor<float>(o.data(), {1, width})}, how);
    return o;
  };
  certification with, without;
  CHECK(evaluate(true, with) == evaluate(false, without));
  CHECK(with.settled[static_cast<std::size_t>(reference_tier::narrow)] >= width / 3 - 2);
  CHECK(without.settled[static_cast<std::size_t>(reference_tier::narrow)] == 0);
}

TEST_CASE("Values a thousand times larger at keys of hardly any weight leave the plain kernel little open") {
  // Of such columns the largest |V| says nothing. The mean of |V| over the weights, which the float kernel
  // gives for inputs that are floats, does; for the same numbers as doubles it is not asked for.
  constexpr std::size_t queries = 300, keys = 200, width = 24, values = 40;
  std::mt19937_64 random(6);
  std::normal_distribution<float> normal;
  std::vector<float> q(queries * width), k(keys * width), v(keys * values);
  for (float& x : q) x = std::fabs(normal(random)) + 0.5f;
  for (float& x : k) x = normal(random);
  for (float& x : v) x = normal(random);
  for (std::size_t c = 0; c < width; ++c) k[7 * width + c] = -6;  // a score of -36 or so
  for (std::size_t c = 0; c < values; ++c) v[7 * values + c] *= 3000;
  std::vector<unsigned char> mask(queries * keys, 1);
  for (std::size_t i = 0; i < queries; ++i) mask[i * keys + random() % 5] = 0;
  const auto evaluate = [&](const auto& as, bool masked, bool narrow, std::size_t& settled) {
    using T = typename std::decay_t<decltype(as)>::value_type;
    const std::vector<T> x(q.begin(), q.end()), y(k.begin(), k.end()), z(v.begin(), v.end());
    std::vector<float> o(queries * values);
    attention_options options;
    if (masked) options.mask = any_tensor(mask.data(), dtype::boolean, layout{queries, keys});
    certified_options how;
    how.tiers[static_cast<std::size_t>(reference_tier::narrow)] = narrow;
    const certification counts = certified_attention(
        {tensor<const T>(x.data(), {queries, width}), tensor<const T>(y.data(), {keys, width}),
         tensor<const T>(z.data(), {keys, values})},
        options, {tensor<float>(o.data(), {queries, values})}, how);
    settled = counts.settled[static_cast<std::size_t>(reference_tier::narrow)];
    return o;
  };
  for (const bool masked : {false, true}) {
    std::size_t as_floats = 0, as_doubles = 0, without = 1;
    const std::vector<float> expected = evaluate(std::vector<double>(), masked, false, without);
    CHECK(evaluate(std::vector<float>(), masked, true, as_floats) == expected);
    CHECK(evaluate(std::vector<double>(), masked, true, as_doubles) == expected);
    CHECK(without == 0);
    const std::size_t open = queries * values - as_doubles;
    CHECK(open > 20);
    CHECK(10 * (queries * values - as_floats) < open);
  }
}

TEST_CASE("Low words: the rounded difference from the element") {
  std::vector<float> high(1), low(1);
  certified_results r{tensor<float>(high.data(), {1, 1})};
  r.output_low = tensor<float>(low.data(), {1, 1});
  certified_attention({zeros(1), zeros(3), column({1, 1, 2})}, {}, r);
  CHECK(high[0] == 1.3333334f);
  CHECK(low[0] == -3.9736431e-08f);  // 4/3 - 1.33333337306976318359375
  certified_attention({zeros(1), zeros(1), column({1e300})}, {}, r);
  CHECK(std::isinf(high[0]));
  CHECK(low[0] == 0);
}

TEST_CASE("Results with gaps between rows, rows backwards and columns apart are those without") {
  constexpr std::size_t queries = 70, keys = 20, width = 16;
  std::mt19937_64 random(8);
  std::normal_distribution<double> normal;
  array q = zeros(queries, 8), k = zeros(keys, 8), v = zeros(keys, width);
  for (array* a : {&q, &k, &v})
    for (double& x : a->x) x = normal(random);
  const auto check = [&]<class T>(T untouched, dtype type) {
    const auto evaluate = [&](std::vector<T>& o, std::size_t start, std::ptrdiff_t row,
                              std::ptrdiff_t column) {
      std::vector<certificate> how(queries * width, certificate::undecided);
      certified_results r{any_result(o.data() + start, type, layout({queries, width}, {row, column}))};
      r.output_certificates = tensor<certificate>(how.data(), {queries, width});
      certified_attention({q, k, v}, {}, r);
      CHECK(std::count(how.begin(), how.end(), certificate::undecided) == 0);
    };
    std::vector<T> dense(queries * width, untouched);
    evaluate(dense, 0, width, 1);
    for (const auto& [start, row, column] :
         {std::array<std::ptrdiff_t, 3>{0, 23, 1}, std::array<std::ptrdiff_t, 3>{69 * 19, -19, 1},
          std::array<std::ptrdiff_t, 3>{0, 33, 2}}) {
      std::vector<T> got(queries * 33, untouched), expected = got;
      evaluate(got, static_cast<std::size_t>(start), row, column);
      for (std::size_t i = 0; i < queries; ++i)
        for (std::size_t c = 0; c < width; ++c)
          expected[static_cast<std::size_t>(start + static_cast<std::ptrdiff_t>(i) * row +
                                            static_cast<std::ptrdiff_t>(c) * column)] = dense[i * width + c];
      CHECK(got == expected);
    }
  };
  check(-7.0, dtype::binary64);
  check(-7.0f, dtype::binary32);
  check(std::uint16_t{0x5555}, dtype::bfloat16);
}

TEST_CASE("Inputs of every numeric type, with strides of any kind") {
  const std::int8_t q[] = {1, 9, -1, 9};               // every other one
  const float k[] = {3, 2, 1};                         // backwards
  const std::uint16_t v[] = {0x3C00, 0x4000, 0x4200};  // binary16: 1, 2, 3
  std::vector<double> x(2), y(2);
  attention_options o;
  o.scale = 1.0;
  certified_attention({any_tensor(q, dtype::int8, layout({2, 1}, {2, 1})),
                       any_tensor(k + 2, dtype::binary32, layout({3, 1}, {-1, 1})),
                       any_tensor(v, dtype::binary16, layout{3, 1})},
                      o, {tensor<double>(x.data() + 1, {2, 1}, {-1, 1})});
  certified_attention({array(2, 1, {1, -1}), column({1, 2, 3}), column({1, 2, 3})}, o,
                      {tensor<double>(y.data(), {2, 1})});
  CHECK(x[1] == y[0]);
  CHECK(x[0] == y[1]);
  // (e + 2 e^2 + 3 e^3)/(e + e^2 + e^3) = (1 + 2e + 3e^2)/(1 + e + e^2)
  const double e = std::numbers::e;
  CHECK(near(y[0], (1 + 2 * e + 3 * e * e) / (1 + e + e * e)));
}

TEST_CASE("A part of the rows writes those rows alone, the same bytes") {
  certified_cases::generator g(3);
  const auto h = certified_cases::make(certified_cases::family::normal, g, 24, 9, 4, 5);
  const array k(9, 4, h.k), v(9, 5, h.v);
  std::vector<double> all(120), some(120, -99);
  // Three batches of two heads of four queries, one key/value head.
  const any_tensor q(h.q.data(), dtype::binary64, layout{3, 2, 4, 4});
  const any_tensor kk(h.k.data(), dtype::binary64, layout({3, 1, 9, 4}, {0, 0, 4, 1})),
      vv(h.v.data(), dtype::binary64, layout({3, 1, 9, 5}, {0, 0, 5, 1}));
  certified_attention({q, kk, vv}, {}, {tensor<double>(all.data(), {3, 2, 4, 5})});
  certified_options how;
  for (const auto& [first, last] : {std::pair<std::size_t, std::size_t>{0, 3}, {3, 17}, {17, 99}}) {
    how.rows = {first, last};
    certified_attention({q, kk, vv}, {}, {tensor<double>(some.data(), {3, 2, 4, 5})}, how);
    CHECK(some[std::min<std::size_t>(last, 24) * 5 - 1] != -99);
    if (last < 24) CHECK(some[last * 5] == -99);
  }
  CHECK(some == all);
  how.rows = {24, 30};
  CHECK(certified_attention({q, kk, vv}, {}, {tensor<double>(some.data(), {3, 2, 4, 5})}, how).settled ==
        std::array<std::size_t, 4>{});
}

TEST_CASE("Progress comes in order and can stop the call") {
  const array q = zeros(300), k = zeros(4), v = column({1, 2, 3, 4});
  std::vector<double> x(300);
  certified_options how;
  std::vector<std::size_t> seen;
  how.threads = 3;
  how.progress = [&](std::size_t done, std::size_t rows) {
    CHECK(rows == 300);
    seen.push_back(done);
    return true;
  };
  certified_attention({q, k, v}, {}, {tensor<double>(x.data(), {300, 1})}, how);
  CHECK(std::is_sorted(seen.begin(), seen.end()));
  CHECK(seen.back() == 300);
  // A few rows of many go to all threads, too: 1, 4, 4, 4 and 3 rows, in whatever order.
  const array long_k = zeros(2000), long_v = zeros(2000, 5);
  std::vector<double> y(300 * 5);
  seen.clear();
  how.threads = 2;
  how.rows = {7, 23};
  how.progress = [&](std::size_t done, std::size_t) {
    seen.push_back(done);
    return true;
  };
  certified_attention({q, long_k, long_v}, {}, {tensor<double>(y.data(), {300, 5})}, how);
  CHECK(seen.size() == 5);
  CHECK(std::is_sorted(seen.begin(), seen.end()));
  CHECK(seen.back() == 16);
  // Blocks of long rows are short: 2·10^8 / ((2^20 + 1) · 4) = 47 rows.
  seen.clear();
  how.threads = 1;
  how.rows = {};
  array two(1 << 20, 2, std::vector<double>(2 << 20));
  two.x[0] = two.x[1] = 1;
  certified_attention({zeros(64, 2), zeros(1 << 20, 2), two}, {}, {tensor<double>(y.data(), {64, 2})}, how);
  CHECK(seen == std::vector<std::size_t>{47, 64});
  CHECK(y[127] == 0x1p-20);
  how = {};
  how.progress = [](std::size_t, std::size_t) { return false; };
  CHECK_THROWS_AS(certified_attention({q, k, v}, {}, {tensor<double>(x.data(), {300, 1})}, how), interrupted);
}

TEST_CASE("Rows that the first tier puts off are counted when they are done") {
  // Means of 1 and 1 + 2^-23, a tie but for e^-200; of so few rows none is finished with its block.
  const array q = column(std::vector<double>(40, 1)), k = column({1, 1, -200}),
              v = column({1, 1 + 0x1p-23, 1 + 0x1p-23});
  std::vector<float> x(40);
  certified_options how;
  std::vector<std::size_t> seen;
  how.progress = [&](std::size_t done, std::size_t) {
    seen.push_back(done);
    return true;
  };
  certified_attention({q, k, v}, {}, {tensor<float>(x.data(), {40, 1})}, how);
  CHECK(seen == std::vector<std::size_t>{0, 40});
  CHECK(x == std::vector<float>(40, 1 + 0x1p-23f));
}

TEST_CASE("A row that takes long asks on the way, and stops where it is told to") {
  // A tie but for scores that differ by 2^-2148: 4096 bits of 2000 exponentials, some tenths of a second a row.
  std::vector<double> keys, values;
  for (std::size_t j = 0; j < 2000; ++j) {
    keys.push_back(static_cast<double>(j) * 0x1p-1074);
    values.push_back(j % 2 == 0 ? 1 : 1 + 0x1p-52);
  }
  const array q = column(std::vector<double>(2, 0x1p-1074)), k = column(keys), v = column(values);
  certified_options how;
  how.max_bits = 1u << 14;
  std::size_t asked = 0;
  how.progress = [&](std::size_t done, std::size_t rows) {
    CHECK(done == 0);
    CHECK(rows == 2);
    ++asked;
    return false;
  };
  std::vector<double> x(2, -99);
  const auto run = [&] { certified_attention({q, k, v}, {}, {tensor<double>(x.data(), {2, 1})}, how); };
  CHECK_THROWS_AS(run(), interrupted);
  CHECK(asked == 1);
  CHECK(x[1] == -99);
  how.progress = [](std::size_t, std::size_t) -> bool { throw 17; };
  CHECK_THROWS_AS(run(), int);
}

TEST_CASE("What one thread's progress throws stops the others, and is what the call throws") {
  // 64 blocks of rows like the one above on four threads: the first answer ends them all.
  std::vector<double> keys, values;
  for (std::size_t j = 0; j < 500; ++j) {
    keys.push_back(static_cast<double>(j) * 0x1p-1074);
    values.push_back(j % 2 == 0 ? 1 : 1 + 0x1p-52);
  }
  const std::size_t rows = 4096;
  const array q = column(std::vector<double>(rows, 0x1p-1074)), k = column(keys), v = column(values);
  certified_options how;
  how.max_bits = 1u << 14;
  how.threads = 4;
  std::size_t asked = 0;
  how.progress = [&](std::size_t, std::size_t) -> bool {
    ++asked;
    throw 17;
  };
  std::vector<double> x(rows);
  const auto run = [&] { certified_attention({q, k, v}, {}, {tensor<double>(x.data(), {rows, 1})}, how); };
  CHECK_THROWS_AS(run(), int);
  CHECK(asked == 1);
}

TEST_CASE("Enclosures alone: values too far apart for storage of fixed length") {
  // Weights 1/(1 + e) and e/(1 + e) of 1 and 2^-200, or 2^-60: the second adds nothing that a double shows.
  certified_options how;
  how.tiers = {false, false, true, true};
  for (const double small : {0x1p-200, 0x1p-60}) {
    const std::vector<double> o = outputs(column({1}), column({0, 1}), column({1, small}), {}, how);
    CHECK(near(o[0], 1 / (1 + std::numbers::e)));
  }
}

TEST_CASE("Limits: an element may end undecided, with an enclosure") {
  std::vector<double> x(1);
  std::vector<certificate> c(1);
  certified_results r{tensor<double>(x.data(), {1, 1})};
  r.output_certificates = tensor<certificate>(c.data(), {1, 1});
  attention_options o;
  o.scale = 1.0;
  certified_options how;
  const array q = column({0x1p-1074}), k = column({0, 0x1p-1074}), v = column({1, 1 + 0x1p-52});
  how.max_bits = 1024;
  const certification few = certified_attention({q, k, v}, o, r, how);
  CHECK(c[0] == certificate::undecided);
  CHECK(few.undecided == 1);
  REQUIRE(few.undecided_elements.size() == 1);
  const undecided_element& e = few.undecided_elements[0];
  CHECK(e.array == reference_array::output);
  CHECK(!e.low_word);
  CHECK(e.index == std::array<std::size_t, 4>{0, 0, 0, 0});
  // 1 + 2^-53 + 2^-2202: the midpoint's decimals 1.00000000000000011102230246251565404236316680908203125.
  CHECK(e.lower.substr(0, 38) == "1.000000000000000111022302462515654042");
  CHECK(e.upper.substr(0, 38) == "1.000000000000000111022302462515654042");
  CHECK(x[0] == 1.0);  // either neighbour would do
  CHECK(few.most_bits == 1024);
  // Of many the first hundred are listed.
  std::vector<double> many(150);
  how.threads = 2;
  const certification of_many =
      certified_attention({array(150, 1, std::vector<double>(150, 0x1p-1074)), k, v}, o,
                          {tensor<double>(many.data(), {150, 1})}, how);
  CHECK(of_many.undecided == 150);
  REQUIRE(of_many.undecided_elements.size() == 100);
  for (std::size_t n = 0; n < 100; ++n)
    CHECK(of_many.undecided_elements[n].index == std::array<std::size_t, 4>{0, 0, n, 0});
  how.max_bits = 4096;
  CHECK(certified_attention({q, k, v}, o, r, how).undecided == 0);
  CHECK(c[0] == certificate::certified);
  how.max_bits = 127;
  CHECK(message_of([&] {
          certified_attention({q, k, v}, o, r, how);
        }) == "max_bits is 127: enclosures have at least 128 bits");
}

TEST_CASE("A softcap: what is equal before the cap is exact, other ties stay undecided") {
  std::vector<double> x(1);
  std::vector<certificate> c(1);
  certified_results r{tensor<double>(x.data(), {1, 1})};
  r.output_certificates = tensor<certificate>(c.data(), {1, 1});
  attention_options o;
  o.scale = 1.0;
  o.softcap = 2.0;
  certified_attention({column({1}), column({3, 3}), column({1, 1 + 0x1p-52})}, o, r);
  CHECK(c[0] == certificate::exact);
  CHECK(x[0] == 1);
  certified_attention({column({1}), column({3, -5}), column({7, 7})}, o, r);
  CHECK(c[0] == certificate::exact);
  CHECK(x[0] == 7);
  // The cap of ±s is ±cap(s), so that with the two added as bias both scores are 0: equal, which no enclosure
  // shows.
  const std::vector<double> bias{0, 0};
  o.bias = any_tensor(bias.data(), dtype::binary64, layout{1, 2});
  certified_attention({column({1}), column({0, 0}), column({1, 2})}, o, r);
  CHECK(c[0] == certificate::exact);
  CHECK(x[0] == 1.5);
}

TEST_CASE("What is refused") {
  const array q = zeros(2), k = zeros(3), v = zeros(3);
  std::vector<double> x(6);
  std::vector<std::int32_t> n(2);
  certified_results r{tensor<double>(x.data(), {2, 1})};
  const auto message = [&](const attention_options& o = {}, const certified_options& how = {}) {
    return message_of([&] { certified_attention({q, k, v}, o, r, how); });
  };
  CHECK(message() == "nothing was thrown");
  SECTION("integers as results") {
    r.output = any_result(n.data(), dtype::int32, layout{2, 1});
    CHECK(message() == "array output: its elements are int32: a reference is written as floats");
  }
  SECTION("low words of another type, or of nothing") {
    r.output_low = tensor<double>(x.data() + 2, {2, 1});
    CHECK(message() == "array output_low: its elements are binary64: low words are binary32");
    r.output_low.reset();
    std::vector<float> low(6);
    r.weights_low = tensor<float>(low.data(), {2, 3});
    CHECK(message().find("array weights_low: low words belong to an array") == 0);
  }
  SECTION("shapes") {
    r.weights = tensor<double>(x.data(), {2, 1});
    CHECK(message().find("array weights: shape [2, 1] is not the shape of the result") == 0);
    r.weights.reset();
    std::vector<certificate> c(1);
    r.output_certificates = tensor<certificate>(c.data(), {1, 1});
    CHECK(message().find("array output_certificates: shape") == 0);
  }
  SECTION("a log-sum-exp without a base, or without an array") {
    r.log_sum_exp = tensor<double>(x.data() + 2, {2, 1});
    CHECK(message().find("array log_sum_exp: its base is not said") == 0);
    r.log_sum_exp.reset();
    attention_options o;
    o.log_sum_exp = {log_sum_exp_base::e};
    CHECK(message(o).find("array log_sum_exp: the options ask for it") == 0);
  }
  SECTION("rounding to odd is no rounding of a reference; without enclosures nothing ends") {
    certified_options how;
    how.tiers = {true, true, false, true};
    CHECK(message({}, how).find("tiers: ") == 0);
  }
  SECTION("nothing is touched") {
    x = {5, 5, 5, 5, 5, 5};
    attention_options o;
    o.scale = std::numeric_limits<double>::infinity();
    CHECK(message(o).find("scale is infinity") == 0);
    CHECK(x == std::vector<double>{5, 5, 5, 5, 5, 5});
  }
}
