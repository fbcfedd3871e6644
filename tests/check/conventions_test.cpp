#include "catch.hpp"

#include <attest/check/conventions.hpp>
#include <attest/kernel/stable.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

using namespace attest;

namespace {

// Attention of random numbers; the kernel makes the candidate, with options of its own.
struct random_case {
  std::size_t batch = 2, query_heads = 4, key_heads = 2, queries = 5, keys = 7, width = 8, value_width = 3;
  std::vector<double> q, k, v, output, lse, weights;
  attention_options meant;

  void draw() {
    std::mt19937_64 bits(7);
    const auto fill = [&](std::vector<double>& to, std::size_t count) {
      to.resize(count);
      for (double& x : to) x = static_cast<double>(bits() >> 11) * 0x1p-51 - 2;  // in [-2, 2)
    };
    fill(q, batch * query_heads * queries * width);
    fill(k, batch * key_heads * keys * width);
    fill(v, batch * key_heads * keys * value_width);
  }
  layout at_q() const { return layout{batch, query_heads, queries, width}; }
  layout at_k() const { return layout{batch, key_heads, keys, width}; }
  layout at_v() const { return layout{batch, key_heads, keys, value_width}; }

  // With key heads in this order.
  void run(attention_options options, bool tiled = false) {
    options.empty_row = options.empty_row.value_or(empty_row_policy::zero);
    output.resize(batch * query_heads * queries * value_width);
    lse.resize(batch * query_heads * queries);
    weights.resize(lse.size() * keys);
    std::vector<double> k2 = k, v2 = v;
    std::size_t heads = key_heads;
    if (tiled) {
      heads = query_heads;
      k2.clear();
      v2.clear();
      for (std::size_t b = 0; b < batch; ++b)
        for (std::size_t h = 0; h < query_heads; ++h) {
          const std::size_t head = b * key_heads + h % key_heads;
          const auto copy = [&](std::vector<double>& to, const std::vector<double>& from, std::size_t d) {
            const auto start = from.begin() + static_cast<std::ptrdiff_t>(head * keys * d);
            to.insert(to.end(), start, start + static_cast<std::ptrdiff_t>(keys * d));
          };
          copy(k2, k, width);
          copy(v2, v, value_width);
        }
    }
    kernel::attention_results<double> results{
        {output.data(), layout{batch, query_heads, queries, value_width}}};
    results.weights = tensor<double>(weights.data(), layout{batch, query_heads, queries, keys});
    if (options.log_sum_exp) {
      options.log_sum_exp->empty = options.log_sum_exp->empty.value_or(empty_log_sum_exp::minus_infinity);
      results.log_sum_exp = tensor<double>(lse.data(), layout{batch, query_heads, queries, 1});
    }
    kernel::stable<double>({{q.data(), at_q()},
                            {k2.data(), {batch, heads, keys, width}},
                            {v2.data(), {batch, heads, keys, value_width}}},
                           options, results);
  }

  std::vector<std::string> search(reference_array which = reference_array::output, double own_error = 1,
                                  const format& f = formats::binary32) const {
    return search_all(which, own_error, f).fitting;
  }

  convention_search search_all(reference_array which, double own_error,
                               const format& f = formats::binary32) const {
    const std::vector<double>& candidate = which == reference_array::output        ? output
                                           : which == reference_array::log_sum_exp ? lse
                                                                                : weights;
    return fitting_conventions(
        {tensor<const double>(q.data(), at_q()), tensor<const double>(k.data(), at_k()),
         tensor<const double>(v.data(), at_v()), meant},
        which, candidate, f, own_error);
  }
};

using texts = std::vector<std::string>;

bool has(const texts& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// What fits the kernel's results under `changed`, all of it.
template <class Change>
texts found(random_case& c, Change change) {
  c.draw();
  attention_options changed = c.meant;
  change(changed);
  c.run(changed);
  // The candidate differs from what was meant, so nothing that fits leaves it as it was.
  return c.search();
}

}  // namespace

TEST_CASE("one convention that differs is named") {
  random_case c;
  SECTION("corner") {
    c.meant.causal = true;
    c.meant.corner = causal_corner::bottom_right;
    CHECK(found(c, [](auto& o) { o.corner = causal_corner::top_left; }) ==
          texts{"causal corner top_left instead of bottom_right"});
    CHECK(found(c, [](auto& o) { o.causal = false; }) == texts{"not causal instead of causal"});
  }
  SECTION("the other corner, and causal where it was not meant") {
    c.meant.causal = true;
    c.meant.corner = causal_corner::top_left;
    CHECK(found(c, [](auto& o) { o.corner = causal_corner::bottom_right; }) ==
          texts{"causal corner bottom_right instead of top_left"});
    c.meant = {};
    const auto causal = [](causal_corner corner) {
      return [corner](auto& o) {
        o.causal = true;
        o.corner = corner;
      };
    };
    CHECK(found(c, causal(causal_corner::top_left)) ==
          texts{"causal (corner top_left) instead of not causal"});
    CHECK(found(c, causal(causal_corner::bottom_right)) ==
          texts{"causal (corner bottom_right) instead of not causal"});
    c.queries = 7;
    CHECK(found(c, [](auto& o) { o.causal = true; }) == texts{"causal instead of not causal"});
  }
  SECTION("past keys") {
    c.meant.causal = true;
    c.meant.past_keys = 2;
    CHECK(found(c, [](auto& o) { o.past_keys = 0; }) == texts{"past keys ignored"});
    c.meant.past_keys = 1;
    CHECK(found(c, [](auto& o) { o.past_keys = 2; }) ==
          texts{"causal corner bottom_right instead of past_keys 1", "causal one key too far (j <= i + 1)"});
  }
  SECTION("window") {
    c.meant.corner = causal_corner::bottom_right;
    c.meant.window = key_window{2, 1};
    CHECK(found(c, [](auto& o) { o.window->left = 1; }) == texts{"window left 1 instead of 2"});
    CHECK(found(c, [](auto& o) { o.window->left = 3; }) == texts{"window left 3 instead of 2"});
    // Which is causal attention.
    CHECK(found(c, [](auto& o) { o.window->right = 0; }) ==
          texts{"causal instead of not causal", "window right 0 instead of 1"});
    CHECK(found(c, [](auto& o) { o.window->right = 2; }) == texts{"window right 2 instead of 1"});
    CHECK(found(c, [](auto& o) { o.window.reset(); }) == texts{"window dropped"});
  }
  SECTION("mask") {
    const std::vector<unsigned char> mask = {1, 1, 0, 1, 0, 0, 1}, other = {0, 0, 1, 0, 1, 1, 0};
    c.meant.mask = any_tensor(mask.data(), dtype::boolean, layout{1, 1, 1, 7});
    CHECK(found(c, [&](auto& o) {
            o.mask = any_tensor(other.data(), dtype::boolean, layout{1, 1, 1, 7});
          }) == texts{"mask inverted (true hides the key)"});
    CHECK(found(c, [](auto& o) { o.mask.reset(); }) == texts{"mask ignored"});
  }
  SECTION("key lengths") {
    c.meant.key_lengths = {3, 6};
    CHECK(found(c, [](auto& o) { o.key_lengths.clear(); }) == texts{"key lengths ignored"});
  }
  SECTION("scale") {  // d_k = 8, d_v = 3, 4 heads
    CHECK(found(c, [](auto& o) { o.scale = 1; }) == texts{"scale 1 instead of 1/sqrt(d_k)"});
    CHECK(found(c, [](auto& o) { o.scale = 1 / std::sqrt(3.0); }) ==
          texts{"scale 1/sqrt(d_v) instead of 1/sqrt(d_k)"});
    CHECK(found(c, [](auto& o) { o.scale = 1 / std::sqrt(32.0); }) ==
          texts{"scale 1/sqrt(d_model) with d_model = d_k Hq instead of 1/sqrt(d_k)"});
    CHECK(found(c, [](auto& o) { o.scale = 0.125; }) == texts{"scale 1/d_k instead of 1/sqrt(d_k)"});
    c.meant.scale = 0.3;
    CHECK(found(c, [](auto& o) { o.scale.reset(); }) == texts{"scale 1/sqrt(d_k) instead of the given one"});
    CHECK(found(c, [](auto& o) { o.scale = 0.09; }) == texts{"scale applied twice instead of the given one"});
  }
  SECTION("softcap, bias, ALiBi") {
    c.meant.softcap = 1.5;
    CHECK(found(c, [](auto& o) { o.softcap.reset(); }) == texts{"softcap dropped"});
    c.meant = {};
    std::vector<double> bias(7);
    for (std::size_t j = 0; j < bias.size(); ++j) bias[j] = 0.25 * static_cast<double>(j * j % 5);
    c.meant.bias = any_tensor(bias.data(), dtype::binary64, layout{1, 1, 1, 7});
    CHECK(found(c, [](auto& o) { o.bias.reset(); }) == texts{"bias dropped"});
    std::vector<double> scaled = bias;
    for (double& x : scaled) x /= std::sqrt(8.0);
    CHECK(found(c, [&](auto& o) {
            o.bias = any_tensor(scaled.data(), dtype::binary64, layout{1, 1, 1, 7});
          }) == texts{"bias before the scale instead of after it"});
    c.meant = {};
    c.meant.corner = causal_corner::bottom_right;
    c.meant.alibi_slopes = {0.5, 0.25, 0.125, 0.0625};
    CHECK(found(c, [](auto& o) {
            for (double& x : o.alibi_slopes) x = -x;
          }) == texts{"ALiBi slopes of the other sign"});
    CHECK(found(c, [](auto& o) { o.alibi_slopes.clear(); }) == texts{"ALiBi dropped"});
  }
  SECTION("sinks") {
    c.meant.sinks = {0.5, -1, 0, 1};
    CHECK(found(c, [](auto& o) { o.sinks.clear(); }) == texts{"sink dropped"});
    CHECK(found(c, [](auto& o) {  // e^(s + ln 2) = 2 e^s
            for (double& x : o.sinks) x += std::numbers::ln2;
          }) == texts{"sink counted twice"});
  }
  SECTION("grouped heads, of which one and all have no other order") {
    c.draw();
    c.run(c.meant, true);
    CHECK(c.search() ==
          texts{"grouped heads tiled (head h reads h % Hkv) instead of repeated (h / (Hq / Hkv))"});
    CHECK(c.search(reference_array::weights).size() == 1);
  }
  SECTION("empty rows") {
    c.meant.causal = true;
    c.meant.corner = causal_corner::bottom_right;
    c.queries = 9;
    c.meant.empty_row = empty_row_policy::zero;
    CHECK(found(c, [](auto& o) { o.empty_row = empty_row_policy::nan; }) ==
          texts{"rows that see no key NaN instead of zero"});
    c.meant.empty_row = empty_row_policy::nan;
    CHECK(found(c, [](auto& o) { o.empty_row = empty_row_policy::zero; }) ==
          texts{"rows that see no key zero instead of NaN"});
  }
}

TEST_CASE("conventions that no option has") {
  // All scores are 0, d = 1.
  const std::vector<double> zero = {0}, keys = {0, 0};
  const auto search = [&](const std::vector<double>& v, const attention_options& meant, double candidate,
                          reference_array which) {
    const std::vector<double> c = {candidate};
    return fitting_conventions(
               {tensor<const double>(zero.data(), {1, 1}), tensor<const double>(keys.data(), {2, 1}),
                tensor<const double>(v.data(), {2, 1}), meant},
               which, c, formats::binary32, 1)
        .fitting;
  };
  attention_options o;
  const std::vector<unsigned char> first = {1, 0}, none = {0, 0};
  o.mask = any_tensor(first.data(), dtype::boolean, layout{1, 1, 1, 2});
  o.softcap = 1;
  // The hidden key scores -1: e^-1 / (1 + e^-1) = 1 / (1 + e).
  CHECK(search({0, 1}, o, 1 / (1 + std::numbers::e), reference_array::output) ==
        texts{"softcap after the mask (hidden keys score -softcap)"});
  o.softcap.reset();
  o.mask = any_tensor(none.data(), dtype::boolean, layout{1, 1, 1, 2});
  o.empty_row = empty_row_policy::nan;
  CHECK(has(search({1, 3}, o, 2, reference_array::output), "rows that see no key the mean of all values"));

  // Scores 0 + 1 before a softcap of 1: tanh 1 and 0; after it, 1 and 0.
  const std::vector<double> bias = {1, 0};
  o = {};
  o.softcap = 1;
  o.bias = any_tensor(bias.data(), dtype::binary64, layout{1, 1, 1, 2});
  CHECK(search({1, 0}, o, 1 / (1 + std::exp(-std::tanh(1.0))), reference_array::output) ==
        texts{"bias before the softcap instead of after it", "bias before the scale instead of after it"});

  // ln 2 is 1 to the base 2, and e^0 + e^0 + e^0 with the sink.
  o = {};
  o.log_sum_exp = log_sum_exp_form{log_sum_exp_base::e, {}};
  CHECK(has(search({1, 1}, o, 1, reference_array::log_sum_exp), "log-sum-exp to the base 2 instead of e"));
  o.sinks = {0};
  CHECK(has(search({1, 1}, o, std::numbers::ln2, reference_array::log_sum_exp), "log-sum-exp without the sink"));
}

TEST_CASE("the log-sum-exp's maximum and base") {
  random_case c;
  c.meant.log_sum_exp = log_sum_exp_form{log_sum_exp_base::two, {}};
  c.draw();
  attention_options e = c.meant;
  e.log_sum_exp->base = log_sum_exp_base::e;
  c.run(c.meant);
  const std::vector<double> twos = c.lse;
  c.run(e);
  CHECK(c.search(reference_array::log_sum_exp) == texts{"log-sum-exp to the base e instead of 2"});
  CHECK(fitting_base(twos, c.lse, formats::binary32, 1) == "the logarithm to the base e instead of 2");
  CHECK(fitting_base(c.lse, twos, formats::binary32, 1) == "the logarithm to the base 2 instead of e");
  CHECK(fitting_base(c.lse, c.lse, formats::binary32, 1).empty());
  CHECK(fitting_base({}, {}, formats::binary32, 1).empty());

  // The largest weight is e^max / e^lse: log2 of the sum without the maximum is minus its log2.
  c.meant.log_sum_exp->base = log_sum_exp_base::two;
  c.run(c.meant);
  for (std::size_t row = 0; row < c.lse.size(); ++row) {
    const auto start = c.weights.begin() + static_cast<std::ptrdiff_t>(row * c.keys);
    c.lse[row] = -std::log2(*std::max_element(start, start + static_cast<std::ptrdiff_t>(c.keys)));
  }
  CHECK(c.search(reference_array::log_sum_exp) == texts{"log-sum-exp without the row's largest score"});
}

TEST_CASE("nothing fits where two conventions differ, one element is wrong, or the error is no smaller") {
  random_case c;
  c.meant.causal = true;
  c.meant.corner = causal_corner::bottom_right;
  CHECK(found(c, [](auto& o) {
          o.corner = causal_corner::top_left;
          o.scale = 1;
        }).empty());
  REQUIRE(found(c, [](auto& o) { o.corner = causal_corner::top_left; }).size() == 1);
  const std::vector<double> right = c.output;
  c.output.back() += 0.25;  // the elements are within 2, and 2^-9 of that is far less
  CHECK(c.search().empty());
  c.output.back() = std::numeric_limits<double>::quiet_NaN();
  CHECK(c.search().empty());
  c.output = right;
  c.output.back() += 0x1p-10;
  CHECK(c.search(reference_array::output, 1).size() == 1);
  CHECK(c.search(reference_array::output, 0x1p-7).empty());  // 1/16 of it is 2^-11
  // The candidate as meant: nothing explains it, as nothing else fits.
  c.run(c.meant);
  CHECK(c.search().empty());
  c.output.pop_back();
  CHECK_THROWS_AS(c.search(), std::invalid_argument);
}

TEST_CASE("conventions are tried on a sample of many rows") {
  // All scores are equal, and V is 0, 1, 2, ...: row i is the mean of all values, or with causal that of the
  // first i + 1, which is i / 2. One number stands for 2^16 of Q and of K.
  const double one = 1;
  const std::size_t many = std::size_t{1} << 16;
  const layout where({1, 1, many, 1}, {0, 0, 0, 0});
  const tensor<const double> all(&one, where);
  std::vector<double> values(many), candidate(many);
  for (std::size_t i = 0; i < many; ++i) {
    values[i] = static_cast<double>(i);
    candidate[i] = static_cast<double>(i) / 2;
  }
  const tensor<const double> v(values.data(), layout{1, 1, many, 1});
  const auto search = [&](std::vector<std::size_t> places) {
    return fitting_conventions({all, all, v, {}}, reference_array::output, candidate, formats::binary32, 1e5,
                               places);
  };
  const convention_search s = search({});
  CHECK(s.fitting == texts{"causal instead of not causal"});
  CHECK(s.all_rows == many);
  CHECK(s.rows == 240);  // 2^29 / (2^16 (1 + 1 + 32)) = 240.9
  // A row that is none of them, and the same if it is asked for.
  candidate[1] = 1e4;
  CHECK(search({}).fitting.size() == 1);
  CHECK(search({1}).fitting.empty());
}

TEST_CASE("a change that changes nothing is not named, and a candidate that is right is known") {
  random_case c;
  c.queries = 7;
  SECTION("a window that ends at the query of causal attention, and one that is wider than all") {
    c.meant.causal = true;
    c.meant.window = key_window{2, 0};
  }
  SECTION("a window wider than all") { c.meant.window = key_window{200, 200}; }
  SECTION("key lengths that are all keys") {
    c.meant.causal = true;
    c.meant.corner = causal_corner::top_left;
    c.meant.key_lengths = {7, 7};
  }
  c.draw();
  c.run(c.meant);
  // As bfloat16 the elements, below 2, are off by up to 2^-8; as floats by 2^-24.
  for (double& x : c.output) x = static_cast<double>(static_cast<float>(x));
  convention_search s = c.search_all(reference_array::output, 0x1p-8);
  CHECK(s.fitting.empty());
  CHECK(s.fits_as_meant);
  CHECK(s.rows == 56);  // 2 * 4 * 7
  CHECK(s.tried > 5);
  // As wrong as the reference says.
  c.output.back() += 0x1p-9;
  s = c.search_all(reference_array::output, 0x1p-8);
  CHECK(s.fitting.empty());
  CHECK(!s.fits_as_meant);
}

TEST_CASE("the reference may be too narrow to show a small difference of convention") {
  random_case c;
  c.meant.scale = 0.125;
  c.draw();
  c.value_width = 63;
  c.v.resize(c.batch * c.key_heads * c.keys * c.value_width);
  for (std::size_t i = 0; i < c.v.size(); ++i) c.v[i] = static_cast<double>(i % 17) / 16;
  attention_options changed = c.meant;
  changed.scale = 1 / std::sqrt(63.0);
  c.run(changed);
  // 1/8 and 1/sqrt(63) differ by 0.8 %: the candidate fits the first as well where the reference is off by 4.
  const convention_search s = c.search_all(reference_array::output, 4);
  CHECK(s.fitting == texts{"scale 1/sqrt(d_v) instead of the given one"});
  CHECK(!s.fits_as_meant);
}

TEST_CASE("conventions: not causal, and no window that stands for it") {
  random_case c;
  c.queries = 7;
  c.meant.causal = true;
  c.meant.window = key_window{2, 0};
  CHECK(found(c, [](auto& o) {
          o.causal = false;
          o.window->right.reset();
        }) == texts{"not causal and no window right instead of causal"});
  c.meant.window = key_window{{}, 0};
  CHECK(found(c, [](auto& o) {
          o.causal = false;
          o.window.reset();
        }) == texts{"not causal and no window right instead of causal"});
  c.meant.window = key_window{2, 1};
  CHECK(found(c, [](auto& o) { o.causal = false; }) ==
        texts{"not causal instead of causal", "causal one key too far (j <= i + 1)"});
}

TEST_CASE("conventions: causal off by one") {
  random_case c;
  c.meant.causal = true;
  c.meant.corner = causal_corner::top_left;
  CHECK(found(c, [](auto& o) {
          o.causal = false;
          o.window = key_window{{}, 1};
        }) == texts{"causal one key too far (j <= i + 1)"});
  std::vector<unsigned char> below(c.queries * c.keys);
  for (std::size_t i = 0; i < c.queries; ++i)
    for (std::size_t j = 0; j < i; ++j) below[i * c.keys + j] = 1;
  CHECK(found(c, [&](auto& o) {
          o.mask = any_tensor(below.data(), dtype::boolean, layout{1, 1, c.queries, c.keys});
        }) == texts{"causal one key too short (j < i)"});
  // The first row sees no key: it may hold anything, and others not.
  c.output[0] = std::numeric_limits<double>::quiet_NaN();
  c.output[1] = 100;
  CHECK(c.search() == texts{"causal one key too short (j < i)"});
  c.output[c.value_width] += 1;
  CHECK(c.search().empty());
}

TEST_CASE("conventions: another softmax") {
  random_case c;
  c.meant.log_sum_exp = log_sum_exp_form{log_sum_exp_base::e, {}};
  const auto scaled_by = [&](double factor) {  // scores of 1/sqrt(8)
    c.draw();
    attention_options changed = c.meant;
    changed.scale = factor / std::sqrt(8.0);
    c.run(changed);
  };
  scaled_by(std::numbers::ln2);
  CHECK(c.search() == texts{"2^s instead of e^s (exp2 without the factor log2(e))"});
  CHECK(c.search(reference_array::weights) == texts{"2^s instead of e^s (exp2 without the factor log2(e))"});
  CHECK(c.search(reference_array::log_sum_exp).empty());
  c.meant.sinks = {0.5, -1, 0, 1};
  CHECK(found(c, [](auto& o) {  // the sink is one more score
          o.scale = std::numbers::ln2 / std::sqrt(8.0);
          for (double& x : o.sinks) x *= std::numbers::ln2;
        }) == texts{"2^s instead of e^s (exp2 without the factor log2(e))"});
  c.meant.sinks.clear();

  // The largest weight of a row is 1 / (the sum of e^(s - maximum)), and e^lse the sum of e^s.
  scaled_by(1);
  const std::vector<double> right = c.output;
  const auto row_of = [&](std::size_t at) { return at / c.value_width; };
  for (std::size_t at = 0; at < right.size(); ++at) {
    const auto start = c.weights.begin() + static_cast<std::ptrdiff_t>(row_of(at) * c.keys);
    c.output[at] = right[at] / *std::max_element(start, start + static_cast<std::ptrdiff_t>(c.keys));
  }
  CHECK(c.search() == texts{"not divided by the sum of the weights"});
  for (std::size_t at = 0; at < right.size(); ++at) c.output[at] = right[at] * std::exp(c.lse[row_of(at)]);
  CHECK(c.search() == texts{"not divided by the sum of the weights, the largest score not subtracted"});

  // e^s is the weight times e^lse; over the queries each key's add up to 1.
  const std::size_t heads = c.batch * c.query_heads;
  std::vector<double> weights(c.weights.size());
  std::vector<double> sums(heads * c.keys, 0.0);
  for (std::size_t at = 0; at < weights.size(); ++at) {
    const std::size_t row = at / c.keys;
    weights[at] = c.weights[at] * std::exp(c.lse[row]);
    sums[row / c.queries * c.keys + at % c.keys] += weights[at];
  }
  for (std::size_t at = 0; at < weights.size(); ++at)
    weights[at] /= sums[at / c.keys / c.queries * c.keys + at % c.keys];
  c.weights = weights;
  CHECK(c.search(reference_array::weights) == texts{"softmax over the queries instead of the keys"});
  std::fill(c.output.begin(), c.output.end(), 0.0);
  for (std::size_t at = 0; at < weights.size(); ++at) {
    const std::size_t row = at / c.keys, head = row / c.queries;
    const std::size_t repeats = c.query_heads / c.key_heads;
    const std::size_t g = head / c.query_heads * c.key_heads + head % c.query_heads / repeats;
    for (std::size_t k = 0; k < c.value_width; ++k)
      c.output[row * c.value_width + k] += weights[at] * c.v[(g * c.keys + at % c.keys) * c.value_width + k];
  }
  CHECK(c.search() == texts{"softmax over the queries instead of the keys"});
}

TEST_CASE("rows that see one key are no place of failures") {
  const std::vector<std::size_t> shape = {2, 3}, one_key = {0};
  const std::vector<std::string> axes = {"head", "row"};
  const std::vector<std::size_t> all_others = {1, 2, 4, 5}, last = {2, 5}, with_first = {0, 1, 3, 4};
  CHECK(failures_by_axis(shape, axes, all_others) == "all 4 failures are in rows 1 and 2");
  CHECK(failures_by_axis(shape, axes, all_others, one_key).empty());
  CHECK(failures_by_axis(shape, axes, last, one_key) == "all 2 failures are in row 2");
  CHECK(failures_by_axis(shape, axes, with_first, one_key) == "all 4 failures are in rows 0 and 1");
}

TEST_CASE("failures are named by axis where they are in part of one") {
  const std::vector<std::size_t> shape = {2, 4, 3, 2};
  const std::vector<std::string> axes = {"batch element", "head", "row", "column"};
  const auto flat = [](std::size_t b, std::size_t h, std::size_t i, std::size_t c) {
    return ((b * 4 + h) * 3 + i) * 2 + c;
  };
  std::vector<std::size_t> failing;
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t h = 1; h <= 2; ++h)
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t c = 0; c < 2; ++c) failing.push_back(flat(b, h, i, c));
  CHECK(failures_by_axis(shape, axes, failing) == "all 24 failures are in heads 1 and 2");
  failing = {flat(1, 1, 2, 0), flat(1, 2, 2, 0), flat(1, 3, 2, 0)};
  CHECK(failures_by_axis(shape, axes, failing) ==
        "all 3 failures are in batch element 1, heads 1 to 3, row 2, column 0");
  failing = {flat(0, 0, 0, 0), flat(1, 3, 2, 1), flat(0, 1, 1, 0), flat(0, 2, 1, 0)};
  CHECK(failures_by_axis(shape, axes, failing).empty());  // in every index of every axis
  failing = {0};
  CHECK(failures_by_axis(shape, axes, failing).empty());
  // Seven of twenty that are no range are not listed.
  CHECK(failures_by_axis(std::vector<std::size_t>{20}, std::vector<std::string>{"row"},
                         std::vector<std::size_t>{0, 2, 4, 6, 8, 10, 12})
            .empty());
}

TEST_CASE("conventions: what fits best comes first") {
  random_case c;
  c.value_width = 63;
  c.meant.scale = 0.3;
  c.draw();
  for (double& x : c.q) x /= 8;  // scales 1/8 and 1/sqrt(63) then give nearly the same
  attention_options changed = c.meant;
  changed.scale = 1 / std::sqrt(63.0);
  c.run(changed);
  CHECK(c.search() == texts{"scale 1/sqrt(d_v) instead of the given one", "scale 1/d_k instead of the given one"});
  changed.scale = 0.125;
  c.run(changed);
  CHECK(c.search() == texts{"scale 1/d_k instead of the given one", "scale 1/sqrt(d_v) instead of the given one"});
}

TEST_CASE("conventions: what no query sees may be NaN; the corner that was meant holds for causal too") {
  random_case c;
  const std::vector<unsigned char> mask = {1, 1, 1, 1, 1, 1, 0};
  c.meant.mask = any_tensor(mask.data(), dtype::boolean, layout{1, 1, 1, 7});
  c.draw();
  for (std::size_t row = 6; row < c.batch * c.key_heads * c.keys; row += 7)
    c.v[row * c.value_width] = std::numeric_limits<double>::quiet_NaN();
  attention_options changed = c.meant;
  changed.scale = 1;
  c.run(changed);
  CHECK(c.search() == texts{"scale 1 instead of 1/sqrt(d_k)"});

  c.meant = {};
  c.meant.corner = causal_corner::bottom_right;
  CHECK(found(c, [](auto& o) { o.causal = true; }) == texts{"causal instead of not causal"});
  CHECK(found(c, [](auto& o) {
          o.causal = true;
          o.corner = causal_corner::top_left;
        }).empty());
}

TEST_CASE("conventions: infinities, and the precision of the candidate's format") {
  random_case c;
  c.queries = 9;
  c.meant.causal = true;
  c.meant.corner = causal_corner::bottom_right;
  c.meant.empty_row = empty_row_policy::zero;
  c.meant.log_sum_exp = log_sum_exp_form{log_sum_exp_base::two, empty_log_sum_exp::plus_infinity};
  c.draw();
  attention_options changed = c.meant;
  changed.log_sum_exp->base = log_sum_exp_base::e;
  c.run(changed);
  REQUIRE(std::isinf(c.lse[0]));  // 9 queries, 7 keys
  CHECK(c.search(reference_array::log_sum_exp) == texts{"log-sum-exp to the base e instead of 2"});
  c.lse[0] = -c.lse[0];
  CHECK(c.search(reference_array::log_sum_exp).empty());

  changed = c.meant;
  changed.causal = false;
  c.run(changed);
  c.output.back() += 0x1p-8;  // elements are within 2: more than 2^-9 of the largest, and less than 2^-5
  CHECK(c.search().empty());
  CHECK(c.search(reference_array::output, 1, formats::bfloat16) == texts{"not causal instead of causal"});
}
