// A kernel's results against exact values in one call.
// - the weighted |V|: by hand, with masks, grouped heads, sinks and empty rows
// - what passes and what fails, in every width of format: ties, and what is beyond a tie by less than
// binary64 shows
// - shapes, layouts, conventions and places
// - what is refused
#include "catch.hpp"

#include <attest/check/attention.hpp>
#include <attest/problem/attention_error.hpp>

#include <cmath>
#include <limits>
#include <vector>

using namespace attest;

namespace {

const double not_a_number = std::numeric_limits<double>::quiet_NaN();

weighted_tolerance units(double x) { return {exact_value<unbounded_integer>(x), nullptr}; }

template <class T>
any_tensor array(const std::vector<T>& values, std::initializer_list<std::size_t> shape) {
  return tensor<const T>(values.data(), shape);
}

any_tensor bits(const std::vector<std::uint16_t>& values, dtype type,
                std::initializer_list<std::size_t> shape) {
  return {values.data(), type, layout(shape)};
}

}  // namespace

TEST_CASE("the weighted |V|") {
  // Two keys of equal scores: the means of |1|, |-1| and of |3|, |1|.
  const std::vector<double> zeros(8, 0.0), v{1, 3, -1, 1};
  CHECK(weighted_v({array(zeros, {1, 1}), array(zeros, {2, 1}), array(v, {2, 2})}, {}) ==
        std::vector<double>{1, 2});
  // Row 0 sees key 0 alone, and NaN where nobody looks is nothing.
  const std::vector<double> column{-4, 2}, hidden{-4, not_a_number};
  attention_options causal;
  causal.causal = true;
  CHECK(weighted_v({array(zeros, {2, 1}), array(zeros, {2, 1}), array(column, {2, 1})}, causal) ==
        std::vector<double>{4, 3});
  const std::vector<unsigned char> first{1, 0};
  attention_options masked;
  masked.mask = any_tensor(first.data(), dtype::boolean, layout{1, 2});
  CHECK(weighted_v({array(zeros, {1, 1}), array(zeros, {2, 1}), array(hidden, {2, 1})}, masked) ==
        std::vector<double>{4});
  // Two query heads share a head of keys; a sink of score 0 counts as a key of value 0.
  attention_options sinks;
  sinks.sinks = {0, 0};
  CHECK(weighted_v({array(zeros, {1, 2, 1, 1}), array(zeros, {1, 1, 2, 1}), array(column, {1, 1, 2, 1})},
                   sinks) == std::vector<double>{2, 2});
  // A log-sum-exp that the options want is not computed.
  attention_options sums = causal;
  sums.log_sum_exp = log_sum_exp_form{log_sum_exp_base::e, {}};
  CHECK(weighted_v({array(zeros, {1, 1}), array(zeros, {1, 1}), array(column, {1, 1})}, sums) ==
        std::vector<double>{4});
}

TEST_CASE("values that cancel") {
  // The output is 0 with a weighted |V| of 1: an error of 2^-7 is 2 units of bfloat16, and 2^133 times the
  // smallest number of the format in ulps.
  const std::vector<double> zeros(2, 0.0), v{1, -1};
  const certified_inputs inputs{array(zeros, {1, 1}), array(zeros, {2, 1}), array(v, {2, 1})};
  const std::vector<std::uint16_t> candidate{0x3C00};  // 2^-7: 127 + -7 = 120 = 0x78, 0x78 << 7
  candidate_results results;
  results.output = bits(candidate, dtype::bfloat16, {1, 1});
  const auto within = [&](array_tolerance t) {
    return check_attention(inputs, {}, results, {.output = t}).at(0);
  };
  CHECK(within({.weighted_v = units(2)}).passed());
  CHECK(within({.weighted_v = units(1.99)}).outcome == judgement::failed);
  CHECK_FALSE(within({.ulp = 100}).passed());
  CHECK(within({}).outcome == judgement::not_judged);
  CHECK(within({.absolute = exact_value<unbounded_integer>(0x1p-7)}).passed());
}

TEST_CASE("beyond a tie by less than binary64 shows") {
  // Three keys with weights in the ratio 1, 1, e^-45: the mean of 1, 1 + 2^-7 and 2 is above the tie 1 + 2^-8
  // by about 2^-66, so that the nearest bfloat16 is 1 + 2^-7 = 0x3F81. Without the third it is a tie, for
  // 0x3F80.
  const std::vector<double> q{1}, k{0, 0, -45}, v{1, 1 + 0x1p-7, 2};
  const auto distance = [&](std::size_t keys, std::uint16_t pattern) {
    const std::vector<std::uint16_t> candidate{pattern};
    candidate_results results;
    results.output = bits(candidate, dtype::bfloat16, {1, 1});
    attention_options options;
    options.scale = 1;
    const auto c = check_attention({array(q, {1, 1}), array(k, {keys, 1}), array(v, {keys, 1})}, options,
                                   results, {.output = {.ulp = 0}});
    CHECK(c.at(0).against_exact);
    return c.at(0).ulp_distance->value;
  };
  CHECK(distance(3, 0x3F81) == 0);
  CHECK(distance(3, 0x3F80) == 1);
  CHECK(distance(2, 0x3F81) == 1);
  CHECK(distance(2, 0x3F80) == 0);
}

TEST_CASE("all three arrays, each with a tolerance and a format of its own") {
  // Two keys of equal scores: weights 1/2, log-sum-exp ln 2, output 2.
  const std::vector<float> zeros(2, 0.0F), v{1, 3};
  const certified_inputs inputs{array(zeros, {1, 1}), array(zeros, {2, 1}), array(v, {2, 1})};
  const std::vector<double> output{2 + 0x1p-51};
  const std::vector<float> weights{0.5F, 0.5F};
  const std::vector<float> sums{0.6931472F};  // ln 2 = 0.69314718056 to the nearest float
  candidate_results results{array(output, {1, 1}), array(weights, {1, 2}), array(sums, {1, 1})};
  attention_options options;
  options.log_sum_exp = log_sum_exp_form{log_sum_exp_base::e, {}};
  const auto c = check_attention(inputs, options, results, {.output = {.ulp = 1}, .log_sum_exp = {.ulp = 0}});
  REQUIRE(c.size() == 3);
  CHECK((c[0].name == "output" && c[1].name == "log_sum_exp" && c[2].name == "weights"));
  CHECK((c[0].outcome == judgement::passed && c[1].outcome == judgement::passed &&
         c[2].outcome == judgement::equal));
  CHECK(c[0].ulp_distance->value == 1);  // of binary64, 2^-51 above 2
  CHECK(c[0].measure == &formats::binary64);
  CHECK(c[1].measure == &formats::binary32);
  CHECK(c[1].shape == std::vector<std::size_t>{1});
  CHECK_FALSE(check_attention(inputs, options, results, {.output = {.ulp = 0}})[0].passed());
  // To the base 2 it is 1, and a note says so.
  options.log_sum_exp->base = log_sum_exp_base::two;
  const auto other = check_attention(inputs, options, results, {.log_sum_exp = {.ulp = 0}});
  CHECK_FALSE(other[1].passed());
  CHECK(other[1].conventions == std::vector<std::string>{"log-sum-exp to the base e instead of 2"});
}

TEST_CASE("a candidate in binary64 is held against the nearest number") {
  // 1/5 = 0x1.99999...: the nearest double ends in a, an even digit.
  const std::vector<double> zeros(5, 0.0), v{1, 0, 0, 0, 0}, candidate{0.2};
  candidate_results results;
  results.output = array(candidate, {1, 1});
  const auto c = check_attention({array(zeros, {1, 1}), array(zeros, {5, 1}), array(v, {5, 1})}, {}, results,
                                 {.output = {.ulp = 0}});
  CHECK(c.at(0).passed());
  CHECK(c.at(0).correctly_rounded == 1);
}

TEST_CASE("what explains a failure") {
  // Scores are 0: from the last key on the causal query sees three values, from the first one alone.
  const std::vector<double> zeros(3, 0.0), v{1, 2, 6}, one{1};
  const certified_inputs inputs{array(zeros, {1, 1}), array(zeros, {3, 1}), array(v, {3, 1})};
  attention_options options;
  options.causal = true;
  options.corner = causal_corner::bottom_right;
  candidate_results results;
  results.output = array(one, {1, 1});
  const auto c = check_attention(inputs, options, results, {.output = {.ulp = 4}}).at(0);
  CHECK(c.conventions.at(0) == "causal corner top_left instead of bottom_right");
  CHECK(c.conventions_tried > 1);
  CHECK(describe(c).find("\n  fits if: causal corner top_left instead of bottom_right") != std::string::npos);
  CHECK(c.enclosures.size() == 1);

  // Heads and positions exchanged, and the same in the reference's own shape.
  const std::vector<double> rows(6, 0.0),
      values{1, 2, 3, 4, 5, 6};  // one key a head: the output is its value
  const certified_inputs heads{array(rows, {1, 2, 3, 1}), array(rows, {1, 2, 1, 1}),
                               array(values, {1, 2, 1, 1})};
  const std::vector<double> swapped{1, 2, 1, 2, 1, 2};
  results.output = array(swapped, {1, 3, 2, 1});
  const auto moved = check_attention(heads, {}, results, {.output = {.ulp = 4}}).at(0);
  CHECK(moved.outcome == judgement::failed);
  CHECK(moved.shape == std::vector<std::size_t>{1, 2, 3, 1});
  CHECK(moved.layout == "[B, T, H, d]");
  // One head alone.
  const std::vector<double> second{1, 1, 1, 2, 9, 2.5};
  results.output = array(second, {1, 2, 3, 1});
  CHECK(check_attention(heads, {}, results, {.output = {.ulp = 4}}).at(0).where ==
        "all 2 failures are in head 1");  // a row that sees one key is right whatever the scores
}

TEST_CASE("shapes of a candidate") {
  const std::vector<double> zeros(4, 0.0), v{1, 3};
  const certified_inputs inputs{array(zeros, {2, 1}), array(zeros, {2, 1}), array(v, {2, 1})};
  const std::vector<double> output{2, 2};
  candidate_results results;
  const auto outcome = [&](std::initializer_list<std::size_t> shape) {
    results.output = array(output, shape);
    return check_attention(inputs, {}, results, {.output = {.ulp = 0}}).at(0);
  };
  CHECK(outcome({2, 1}).passed());
  CHECK(outcome({1, 2, 1}).passed());
  CHECK(outcome({1, 1, 2, 1}).passed());
  CHECK(outcome({1, 2}).outcome == judgement::failed);
  CHECK(outcome({1, 2}).shape == std::vector<std::size_t>{2, 1});
  CHECK(outcome({1, 2}).candidate_shape == std::vector<std::size_t>{1, 2});
}

TEST_CASE("overflow of the candidate's format") {
  // The largest e4m3fn is 448; it has no infinity.
  const std::vector<double> zeros(1, 0.0), v{1000};
  const certified_inputs inputs{array(zeros, {1, 1}), array(zeros, {1, 1}), array(v, {1, 1})};
  const std::vector<std::uint8_t> nan{0x7F}, largest{0x7E};
  const auto passes = [&](const std::vector<std::uint8_t>& x, bool saturate) {
    candidate_results results;
    results.output = any_tensor(x.data(), dtype::float8_e4m3fn, layout{1, 1});
    return check_attention(inputs, {}, results, {.output = {.ulp = 0}}, {.saturate = saturate})
        .at(0)
        .passed();
  };
  CHECK(passes(nan, false));
  CHECK_FALSE(passes(nan, true));
  CHECK(passes(largest, true));
  CHECK_FALSE(passes(largest, false));
}

TEST_CASE("the infinite log-sum-exp of an empty row is no overflow") {
  // Row 0 sees nothing; row 1 sees a score of 1e160 · 1e160, which overflows.
  const std::vector<double> q{1e160, 1e160}, k{1e160}, v{1};
  const std::vector<unsigned char> mask{0, 1};
  attention_options options;
  options.mask = any_tensor(mask.data(), dtype::boolean, layout{2, 1});
  options.empty_row = empty_row_policy::zero;
  options.log_sum_exp = {log_sum_exp_base::e, empty_log_sum_exp::minus_infinity};
  const certified_inputs inputs{array(q, {2, 1}), array(k, {1, 1}), array(v, {1, 1})};
  const auto passes = [&](auto empty, auto overflowing, dtype type, bool saturate) {
    const std::vector<decltype(empty)> x{empty, overflowing};
    candidate_results results;
    results.log_sum_exp = any_tensor(x.data(), type, layout{2, 1});
    return check_attention(inputs, options, results, {.log_sum_exp = {.ulp = 0}}, {.saturate = saturate})
        .at(0)
        .passed();
  };
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float largest = std::numeric_limits<float>::max();
  CHECK(passes(-infinity, infinity, dtype::binary32, false));
  CHECK(passes(-infinity, largest, dtype::binary32, true));
  CHECK_FALSE(passes(-largest, largest, dtype::binary32, true));
  CHECK_FALSE(passes(-infinity, infinity, dtype::binary32, true));
  constexpr double far = std::numeric_limits<double>::infinity();
  CHECK(passes(-far, far, dtype::binary64, false));
  CHECK(passes(-far, std::numeric_limits<double>::max(), dtype::binary64, true));
  CHECK_FALSE(passes(-far, far, dtype::binary64, true));
  CHECK(passes(std::uint8_t{0xFE}, std::uint8_t{0x7E}, dtype::float8_e4m3fn, true));
  CHECK(passes(std::uint8_t{0xFF}, std::uint8_t{0x7F}, dtype::float8_e4m3fn, false));
}

TEST_CASE("what check_attention refuses") {
  const std::vector<double> zeros(2, 0.0);
  const std::vector<std::int32_t> integers{0};
  const certified_inputs inputs{array(zeros, {1, 1}), array(zeros, {1, 1}), array(zeros, {1, 1})};
  candidate_results results;
  const auto message = [&](const attention_tolerance& t) -> std::string {
    try {
      check_attention(inputs, {}, results, t);
    } catch (const attention_error& e) {
      return e.what();
    }
    return "";
  };
  CHECK(message({}) == "there is no candidate: give an output");
  CHECK(message({.output = {.ulp = 1}}) ==
        "array output: a tolerance is given for it, and no array: give both");
  results.output = any_tensor(integers.data(), dtype::int32, layout{1, 1});
  CHECK(message({}) == "array output: its elements are int32: a candidate is an array of floats");
  results.output = array(zeros, {1, 1});
  results.weights = array(zeros, {1, 1});
  CHECK(message({.weights = {.weighted_v = units(1)}}) ==
        "array weights: a tolerance in units of the weighted |V| is one of the output: give an absolute one, "
        "or "
        "one in ulps");
  results.weights.reset();
  results.log_sum_exp = array(zeros, {1, 1});
  CHECK(message({}) ==
        "array log_sum_exp: its base is not said: set log_sum_exp, e or two (in C log_sum_exp_base)");
}
