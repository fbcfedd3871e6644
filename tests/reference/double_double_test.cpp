// Pairs of doubles: true error over claimed bound, never above 1, for outputs, weights and log-sum-exp, against MPFR at 500
// bits. Classes of inputs, every remainder of the block sizes, every step of the scores alone and together, every instruction
// set of the machine. The largest ratio of each class is printed.
#include "../../src/reference/instruction_sets.hpp"
#include "catch.hpp"
#include "double_double_reference.hpp"
#include "support/random.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <map>
#include <string>

using namespace attest::double_double_tier;
using attest_testing::real;
using testing::random_source;

namespace {

struct head_case {
  std::size_t queries, keys, key_width, value_width;
  std::vector<double> q, k, v;
  score_steps steps = {};
  std::vector<unsigned char> visible = {};  // [queries][keys]
  std::vector<double> bias = {};            // [queries][keys]
  bool causal = false;                      // query i sees keys 0 to i
  std::size_t first_key = 0;

  query_row row(std::size_t i) const {
    const std::size_t last = causal ? std::min(i + 1, keys) : keys;
    const std::size_t first = std::min(first_key, last - 1);
    return {&q[i * key_width],
            first,
            last,
            static_cast<std::ptrdiff_t>(i),
            visible.empty() ? nullptr : &visible[i * keys + first],
            bias.empty() ? nullptr : &bias[i * keys + first]};
  }
};

/// About normal: the sum of twelve uniform numbers, less six.
double normal(random_source& s) {
  double x = -6;
  for (int i = 0; i < 12; ++i) x += std::ldexp(static_cast<double>(s.word() >> 11), -53);
  return x;
}

head_case normal_case(random_source& s, std::size_t queries, std::size_t keys, std::size_t key_width,
                      std::size_t value_width) {
  head_case c{queries, keys, key_width, value_width, {}, {}, {}};
  c.q.resize(queries * key_width);
  c.k.resize(keys * key_width);
  c.v.resize(keys * value_width);
  for (auto* a : {&c.q, &c.k, &c.v})
    for (double& x : *a) x = normal(s);
  return c;
}

struct used {
  double output = 0, weight = 0, log_sum_exp = 0;  // largest true error over bound
  double output_bound = 0;                         // largest bound, relative to the largest value of the column
  std::size_t unclaimed = 0;                       // elements with an infinite bound
};

/// |exact - pair| / error; 0/0 is 0.
double ratio(const real& exact, double high, double low, double error) {
  const double e = abs(exact - real(high) - real(low)).nearest();
  return e == 0 ? 0 : e / error;
}

void check(const head_case& c, used& u, std::size_t rows_checked = 3, bool weights = true) {
  const packed_head head(c.keys, c.key_width, c.value_width, c.k.data(), c.key_width, c.v.data(), c.value_width);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> outputs(3 * c.queries * c.value_width, nan), logs(3 * c.queries, nan);
  std::vector<double> w(3 * c.queries * c.keys, nan);
  std::vector<query_row> rows;
  std::vector<row_results> results;
  const auto part = [&](std::vector<double>& a, std::size_t word, std::size_t i, std::size_t width) {
    return a.data() + (word * c.queries + i) * width;
  };
  for (std::size_t i = 0; i < c.queries; ++i) {
    rows.push_back(c.row(i));
    results.push_back({part(outputs, 0, i, c.value_width), part(outputs, 1, i, c.value_width),
                       part(outputs, 2, i, c.value_width), &logs[3 * i], nullptr, nullptr, nullptr});
    if (weights) {
      results[i].weights_high = part(w, 0, i, c.keys);
      results[i].weights_low = part(w, 1, i, c.keys);
      results[i].weights_error = part(w, 2, i, c.keys);
    }
  }
  scratch memory;
  evaluate(head, c.steps, rows, results, memory);

  std::vector<double> largest(c.value_width);
  for (std::size_t j = 0; j < c.keys; ++j)
    for (std::size_t x = 0; x < c.value_width; ++x)
      largest[x] = std::max(largest[x], std::abs(c.v[j * c.value_width + x]));

  for (std::size_t n = 0; n < std::min(rows_checked, c.queries); ++n) {
    const std::size_t i = rows_checked == 1 ? c.queries - 1 : n * (c.queries - 1) / std::max<std::size_t>(rows_checked - 1, 1);
    const auto exact = attest_testing::attention_row(rows[i], c.steps, c.key_width, c.value_width, c.k.data(), c.v.data());
    INFO("query " << i << " of " << c.queries << ", " << c.keys << " keys, widths " << c.key_width << " and "
                  << c.value_width);
    for (std::size_t x = 0; x < c.value_width; ++x) {
      const double error = results[i].output_error[x];
      REQUIRE(error >= 0);
      if (error == std::numeric_limits<double>::infinity()) {
        ++u.unclaimed;
        continue;
      }
      const int exponent = head.value_exponents()[x];
      const double r = ratio(scaled(exact.output[x], -exponent), results[i].output_high[x], results[i].output_low[x], error);
      INFO("coordinate " << x << ": " << results[i].output_high[x] << " + " << results[i].output_low[x] << " ± " << error);
      REQUIRE(r <= 1);
      u.output = std::max(u.output, r);
      if (largest[x] > 0) u.output_bound = std::max(u.output_bound, error / std::ldexp(largest[x], -exponent));
    }
    const double* log = results[i].log_sum_exp;
    if (log[2] == std::numeric_limits<double>::infinity()) {
      ++u.unclaimed;
    } else {
      const double r = ratio(exact.log_sum_exp, log[0], log[1], log[2]);
      INFO("log-sum-exp " << log[0] << " + " << log[1] << " ± " << log[2]);
      REQUIRE(r <= 1);
      u.log_sum_exp = std::max(u.log_sum_exp, r);
    }
    if (!weights) continue;
    for (std::size_t j = 0; j < rows[i].last_key - rows[i].first_key; ++j) {
      const double error = results[i].weights_error[j];
      REQUIRE(error >= 0);
      if (error == std::numeric_limits<double>::infinity()) {
        ++u.unclaimed;
        continue;
      }
      if (rows[i].visible && !rows[i].visible[j]) {
        REQUIRE((results[i].weights_high[j] == 0 && results[i].weights_low[j] == 0 && error == 0));
        continue;
      }
      const double r = ratio(exact.weights[j], results[i].weights_high[j], results[i].weights_low[j], error);
      INFO("weight " << j << ": " << results[i].weights_high[j] << " + " << results[i].weights_low[j] << " ± " << error);
      REQUIRE(r <= 1);
      u.weight = std::max(u.weight, r);
    }
  }
}

void print(const std::string& name, const used& u) {
  std::printf("  %-34s output %.1e  weight %.1e  log-sum-exp %.1e  bound/max|V| 2^%.1f%s\n", name.c_str(), u.output,
              u.weight, u.log_sum_exp, std::log2(u.output_bound), u.unclaimed ? "  (some unclaimed)" : "");
}

void multiply(std::vector<double>& a, double factor) {
  for (double& x : a) x *= factor;
}

using recipe = std::function<void(head_case&, random_source&)>;

/// What is done to normal inputs. In all of these every element has to have a bound.
std::vector<std::pair<std::string, recipe>> classes() {
  return {
      {"normal", [](head_case&, random_source&) {}},
      {"nearly uniform", [](head_case& c, random_source&) { multiply(c.k, 1e-7); }},
      {"all scores equal", [](head_case& c, random_source&) { multiply(c.k, 0); }},
      {"zero queries", [](head_case& c, random_source&) { multiply(c.q, 0); }},
      {"zero values", [](head_case& c, random_source&) { multiply(c.v, 0); }},
      {"peaked", [](head_case& c, random_source&) { multiply(c.q, 40); }},
      {"very peaked", [](head_case& c, random_source&) { multiply(c.q, 1e6); }},
      {"outlier query and key",
       [](head_case& c, random_source&) {
         for (std::size_t x = 0; x < c.key_width; ++x) {
           c.q[x] *= 50;
           c.k[c.keys / 2 * c.key_width + x] *= 1e4;
         }
       }},
      {"outlier value",
       [](head_case& c, random_source&) {
         for (std::size_t x = 0; x < c.value_width; ++x) c.v[c.keys / 2 * c.value_width + x] *= 1e9;
       }},
      {"cancelling scores",
       [](head_case& c, random_source& s) {
         for (std::size_t j = 0; j < c.keys; ++j)
           for (std::size_t x = 1; x < c.key_width; x += 2)
             c.k[j * c.key_width + x] = -c.k[j * c.key_width + x - 1] * (1 + std::ldexp(s.between(-9, 9), -50));
         for (std::size_t i = 1; i < c.q.size(); i += 2)
           if (i % c.key_width != 0) c.q[i] = c.q[i - 1];
         multiply(c.q, 100);
       }},
      {"cancelling values",
       [](head_case& c, random_source& s) {
         multiply(c.k, 1e-9);
         for (std::size_t j = 1; j < c.keys; j += 2)
           for (std::size_t x = 0; x < c.value_width; ++x)
             c.v[j * c.value_width + x] = -c.v[(j - 1) * c.value_width + x] * (1 + std::ldexp(s.between(-9, 9), -50));
       }},
      {"integers",
       [](head_case& c, random_source& s) {
         for (auto* a : {&c.q, &c.k, &c.v})
           for (double& x : *a) x = static_cast<double>(s.between(-9, 9));
       }},
      {"large integers",
       [](head_case& c, random_source& s) {
         for (auto* a : {&c.q, &c.k, &c.v})
           for (double& x : *a) x = static_cast<double>(s.between(-2000, 2000));
       }},
      {"keys of very different size",
       [](head_case& c, random_source& s) {
         for (std::size_t j = 0; j < c.keys; ++j) {
           const double f = std::ldexp(1, static_cast<int>(s.between(-300, 3)));
           for (std::size_t x = 0; x < c.key_width; ++x) c.k[j * c.key_width + x] *= f;
         }
       }},
      {"values of very different size",
       [](head_case& c, random_source& s) {
         for (double& x : c.v) x = std::ldexp(x, static_cast<int>(s.between(-500, 0)));
       }},
      {"exponents of every size",
       [](head_case& c, random_source& s) {
         for (double& x : c.v) x = s.any_double();
         for (double& x : c.q) x = std::ldexp(x, static_cast<int>(s.between(-1060, 0)));
       }},
      {"huge values", [](head_case& c, random_source&) { multiply(c.v, 0x1p1020); }},
      {"tiny values", [](head_case& c, random_source&) { multiply(c.v, 0x1p-1000); }},
      {"subnormal values",
       [](head_case& c, random_source& s) {
         for (double& x : c.v) x = std::ldexp(static_cast<double>(s.between(-1000, 1000)), -1074);
       }},
      {"huge queries, tiny keys",
       [](head_case& c, random_source&) {
         multiply(c.q, 0x1p1000);
         multiply(c.k, 0x1p-1000);
       }},
      {"subnormal keys",
       [](head_case& c, random_source& s) {
         multiply(c.q, 0x1p1010);
         for (double& x : c.k) x = std::ldexp(static_cast<double>(s.between(-1000, 1000)), -1074);
         c.steps.scale = 0x1p60;
       }},
      {"tiny scores", [](head_case& c, random_source&) { multiply(c.q, 0x1p-600); multiply(c.k, 0x1p-600); }},
      {"scores that underflow to nothing",
       [](head_case& c, random_source&) {
         for (std::size_t j = 1; j < c.keys; ++j)
           for (std::size_t x = 0; x < c.key_width; ++x) c.k[j * c.key_width + x] = 0;
         for (std::size_t i = 0; i < c.queries; ++i) c.q[i * c.key_width] = 1e4;
         c.k[0] = 3;
       }},
      {"increasing scores: the shift moves",
       [](head_case& c, random_source&) {
         for (std::size_t j = 0; j < c.keys; ++j) c.k[j * c.key_width] += 2.0 * static_cast<double>(j);
         for (std::size_t i = 0; i < c.queries; ++i) c.q[i * c.key_width] = 2;
       }},
      {"one key far above, then far below",
       [](head_case& c, random_source&) {
         for (std::size_t i = 0; i < c.queries; ++i) c.q[i * c.key_width] = 1;
         c.k[c.keys / 3 * c.key_width] = 30000;
         c.k[(c.keys - 1) * c.key_width] = 5000;
       }},
  };
}

}  // namespace

TEST_CASE("pairs of doubles: true error over bound, classes of inputs", "[double_double]") {
  for (const auto& [name, change] : classes()) {
    INFO(name);
    random_source s(7);
    used u;
    for (const auto& [keys, width, value_width] :
         {std::array<std::size_t, 3>{150, 8, 5}, {300, 64, 16}, {40, 3, 33}, {130, 1, 1}, {129, 100, 2}}) {
      head_case c = normal_case(s, 21, keys, width, value_width);
      change(c, s);
      check(c, u, keys > 200 ? 3 : 2);
    }
    print(name, u);
    CHECK(u.unclaimed == 0);
    CHECK(u.output_bound < 0x1p-57);
  }
}

TEST_CASE("pairs of doubles: the bound is small for normal inputs", "[double_double]") {
  // The scores' error of 64 products on a grid: (64 + 5)^2 2^-106 |q||k|, |q||k|/8 up to about 2 · 64/8 with both norms rounded
  // up to powers of two, so up to 2^-87; the sums over values (133^2/4) 2^-103 and at most a factor 4 of grids; 16 bits to spare
  // to half an ulp of a tenth.
  random_source s(8);
  used u;
  check(normal_case(s, 8, 300, 64, 64), u);
  CHECK(u.output_bound < 0x1p-80);
  used integers;
  head_case c = normal_case(s, 8, 300, 64, 64);
  for (auto* a : {&c.q, &c.k})
    for (double& x : *a) x = static_cast<double>(s.between(-3, 3));
  check(c, integers);
  CHECK(integers.output_bound < 0x1p-86);
}

// Random roundings cancel; here they do not. Equal terms leave nearly equal residuals, whose sum loses the same low bits again
// and again: the true error comes within a small factor of the bound, and a bound that forgot a term would be found out.
TEST_CASE("pairs of doubles: residuals that all go one way", "[double_double]") {
  random_source s(16);
  used scores;
  for (int n = 0; n < 60; ++n) {
    const std::size_t width = n % 3 == 0 ? 256 : n % 3 == 1 ? 200 : 64;
    head_case c = normal_case(s, 1, 2, width, 3);
    const double a = std::abs(s.double_between(-3, -3));
    const double b = std::abs(s.double_between(-1, 1));
    for (std::size_t x = 0; x < width; ++x) {
      c.q[x] = a;
      c.k[x] = b;
      c.k[width + x] = 0;
    }
    check(c, scores, 1);
  }
  print("equal products", scores);
  CHECK(scores.log_sum_exp > 0.04);
  CHECK(scores.weight > 0.04);
  used values;
  for (int n = 0; n < 60; ++n) {
    const std::size_t keys = n % 2 == 0 ? 128 : 300;
    head_case c = normal_case(s, 1, keys, 1, 16);
    std::fill(c.k.begin(), c.k.end(), 0.3);  // an exponential of many bits
    for (std::size_t x = 0; x < 16; ++x) {
      const double v = s.double_between(0, 0);
      for (std::size_t j = 0; j < keys; ++j) c.v[j * 16 + x] = v;
    }
    check(c, values, 1);
  }
  print("equal values and weights", values);
  CHECK(values.output > 0.04);
}

TEST_CASE("pairs of doubles: every remainder of the sizes", "[double_double]") {
  random_source s(9);
  used u;
  for (std::size_t keys = 1; keys <= 300; keys += keys < 36 ? 1 : 13) check(normal_case(s, 1 + keys % 37, keys, 6, 7), u, 2);
  for (const std::size_t keys : {127u, 128u, 129u, 255u, 256u, 257u}) check(normal_case(s, 5, keys, 4, 3), u, 2);
  for (std::size_t width = 1; width <= 256; width += width < 20 ? 1 : 29) check(normal_case(s, 4, 20, width, 4), u, 1);
  for (std::size_t width = 0; width <= 100; width += width < 36 ? 1 : 17) check(normal_case(s, 3, 18, 4, width), u, 1);
  for (std::size_t queries = 1; queries <= 70; queries += queries < 10 ? 1 : 7) check(normal_case(s, queries, 33, 5, 6), u, 5);
  print("sizes", u);
  CHECK(u.unclaimed == 0);
}

TEST_CASE("pairs of doubles: the steps of a score, alone and together", "[double_double]") {
  random_source s(10);
  for (unsigned set = 0; set < 128; ++set) {
    if (set > 40 && set % 7 != 0 && set != 127) continue;
    head_case c = normal_case(s, 23, 140 + set % 5, 8, 5);
    std::string name;
    const auto has = [&](unsigned bit, const char* what) {
      if ((set >> bit & 1) == 0) return false;
      name += std::string(name.empty() ? "" : ", ") + what;
      return true;
    };
    if (has(0, "scale")) c.steps.scale = set % 3 == 0 ? -0.3 : 0.7;
    if (has(1, "softcap")) c.steps.softcap = set % 2 == 0 ? 3.0 : 50.0;
    if (has(2, "slope")) c.steps.slope = 0.07;
    if (has(3, "sink")) c.steps.sink = 1.5;
    if (has(4, "bias"))
      for (std::size_t n = 0; n < c.queries * c.keys; ++n) c.bias.push_back(3 * normal(s));
    if (has(5, "visible"))
      for (std::size_t n = 0; n < c.queries * c.keys; ++n) c.visible.push_back(n % c.keys == 3 || s.between(0, 2) == 0);
    if (has(6, "causal")) c.causal = true;
    if (!c.visible.empty() && !c.bias.empty())  // nobody looks there
      for (std::size_t n = 0; n < c.bias.size(); ++n)
        if (!c.visible[n]) c.bias[n] = n % 2 == 0 ? std::numeric_limits<double>::quiet_NaN() : 1e300;
    if (c.causal && !c.visible.empty())
      for (std::size_t i = 0; i < c.queries; ++i) {
        c.visible[i * c.keys] = 1;
        if (!c.bias.empty()) c.bias[i * c.keys] = 0.5;
      }
    INFO(name);
    used u;
    check(c, u, 3);
    CHECK(u.unclaimed == 0);
    CHECK(u.output_bound < 0x1p-78);
    if ((set & (set - 1)) == 0 || set == 127) print("steps: " + name, u);
  }
}

TEST_CASE("pairs of doubles: steps that are large or small", "[double_double]") {
  random_source s(11);
  used u;
  for (const double scale : {0.0, 1e-300, 1e-20, 1.0, -1.0, 30.0, 5e-324}) {
    head_case c = normal_case(s, 4, 50, 8, 4);
    c.steps.scale = scale;
    check(c, u);
  }
  for (const double cap : {1e-30, 1e-3, 0.5, 1e4, 1e9}) {
    head_case c = normal_case(s, 4, 50, 8, 4);
    c.steps.softcap = cap;
    check(c, u);
  }
  for (const double cap : {0.5, 20.0, 600.0}) {
    head_case c = normal_case(s, 4, 50, 8, 4);
    multiply(c.q, 300);
    c.steps.softcap = cap;
    check(c, u);
  }
  for (const double sink : {-1e6, -800.0, -3.0, 0.0, 40.0, 600.0, 1e5}) {
    head_case c = normal_case(s, 4, 50, 8, 4);
    c.steps.sink = sink;
    check(c, u);
  }
  for (const double slope : {-1.0, 1e-300, 8.0, 1e5, 0.0}) {
    head_case c = normal_case(s, 9, 150, 8, 4);
    c.steps.slope = slope;
    check(c, u);
  }
  for (const double shift : {1e5, -3e7}) {  // large scores near each other
    head_case c = normal_case(s, 4, 150, 8, 4);
    for (std::size_t n = 0; n < c.queries * c.keys; ++n) c.bias.push_back(shift + normal(s));
    check(c, u);
  }
  for (const double size : {1e-320, 1e-3, 1e5}) {
    head_case c = normal_case(s, 4, 150, 8, 4);
    for (std::size_t n = 0; n < c.queries * c.keys; ++n) c.bias.push_back(size * normal(s));
    check(c, u);
  }
  print("steps: extreme", u);
  CHECK(u.unclaimed == 0);
}

TEST_CASE("pairs of doubles: what sees few keys", "[double_double]") {
  random_source s(12);
  used u;
  // A single key: the output is its value, whatever the score.
  for (const double size : {1.0, 1e3, 1e6}) {
    head_case c = normal_case(s, 9, 1, 16, 20);
    multiply(c.q, size);
    check(c, u, 9);
  }
  // A single visible key among hidden ones with far larger scores.
  for (int n = 0; n < 6; ++n) {
    head_case c = normal_case(s, 9, 200, 16, 3);
    c.visible.assign(c.queries * c.keys, 0);
    for (std::size_t i = 0; i < c.queries; ++i) c.visible[i * c.keys + static_cast<std::size_t>(s.between(0, 199))] = 1;
    for (std::size_t j = 0; j < c.keys; j += 2) c.k[j * 16] = 1e5;
    check(c, u, 9);
  }
  // A range of keys that starts late, rows of a group with ranges far apart.
  for (const std::size_t first : {1u, 15u, 16u, 127u, 128u, 200u}) {
    head_case c = normal_case(s, 40, 260, 6, 3);
    c.first_key = first;
    check(c, u, 4);
    c.causal = true;
    check(c, u, 4);
  }
  // Only the sink.
  {
    head_case c = normal_case(s, 5, 20, 4, 3);
    c.visible.assign(c.queries * c.keys, 0);
    c.steps.sink = 2.5;
    check(c, u, 5);
  }
  print("few keys", u);
  CHECK(u.unclaimed == 0);
}

TEST_CASE("pairs of doubles: one key that outweighs all others, by scores of any size", "[double_double]") {
  random_source s(17);
  used u;
  for (const double size : {1e9, 1e15, 1e30, 1e100, 1e150, 1e300}) {
    head_case c = normal_case(s, 9, 150, 8, 20);
    multiply(c.q, size);
    if (size > 1e200) multiply(c.k, 1e300);
    check(c, u, 4);
    for (std::size_t n = 0; n < c.queries * c.keys; ++n) c.visible.push_back(s.between(0, 1) == 0);
    for (std::size_t i = 0; i < c.queries; ++i) c.visible[i * c.keys + 140] = 1;
    check(c, u, 4);
    c.causal = true;
    for (std::size_t i = 0; i < c.queries; ++i) c.visible[i * c.keys] = 1;
    check(c, u, 9);
    c.steps.sink = 3.0;
    check(c, u, 9);
  }
  // A sink above everything.
  head_case c = normal_case(s, 9, 150, 8, 20);
  c.steps.sink = 1e14;
  check(c, u, 4);
  print("one key alone", u);
  CHECK(u.unclaimed < 400);  // of some 30000: where two scores lie near each other or the product has no double
  // Its score cannot be a double, a sink can.
  {
    head_case h = normal_case(s, 3, 20, 8, 4);
    multiply(h.q, 1e300);
    multiply(h.k, 1e200);
    h.steps.sink = 1e307;
    used none;
    check(h, none, 3);
    CHECK(none.unclaimed == 3 * (4 + 1 + 20));
  }
  // Two keys that differ by 3 in scores of 10^9, in either order: no one outweighs the other.
  for (const bool later : {false, true}) {
    head_case h = normal_case(s, 1, 40, 2, 4);
    multiply(h.k, 0.1);
    h.q = {1e9, 0};
    h.steps.scale = 1;
    h.k[5 * 2] = later ? 9 : 9 + 3e-9;
    h.k[25 * 2] = later ? 9 + 3e-9 : 9;
    used none;
    check(h, none, 1);
    CHECK(none.unclaimed == 4 + 1 + 40);
  }
  // Two such keys whose scores are equal, or differ by less than is known: nothing is claimed.
  head_case two = normal_case(s, 3, 40, 8, 4);
  multiply(two.q, 1e20);
  for (std::size_t x = 0; x < 8; ++x)
    for (std::size_t i = 0; i < 3; ++i) two.k[5 * 8 + x] = two.k[25 * 8 + x] = 9 * two.q[x] / 1e20;
  used v;
  check(two, v, 1);
  two.q.assign(two.q.begin(), two.q.begin() + 8);
  two.queries = 1;
  used w;
  check(two, w, 1);
  CHECK(w.unclaimed == 4 + 1 + 40);
}

TEST_CASE("pairs of doubles: nothing is claimed where scores are out of reach", "[double_double]") {
  random_source s(13);
  used u;
  for (const double size : {1e20, 1e100, 1e300}) {
    head_case c = normal_case(s, 5, 40, 8, 4);
    multiply(c.q, size);
    check(c, u, 5);
    c.steps.scale = 1e300;
    check(c, u, 5);
    c.steps.scale.reset();
    c.steps.softcap = size;
    check(c, u, 5);
    c.steps.softcap.reset();
    multiply(c.q, 1 / size);
    c.steps.sink = size;
    check(c, u, 5);
    c.steps.sink.reset();
    c.steps.slope = size;
    check(c, u, 5);
    c.steps.slope.reset();
    for (std::size_t n = 0; n < c.queries * c.keys; ++n) c.bias.push_back(size * normal(s));
    check(c, u, 5);
  }
  print("out of reach", u);
}

TEST_CASE("pairs of doubles: every instruction set of the machine", "[double_double]") {
  for (const std::string& name : attest::instruction_sets::available()) {
    attest::instruction_sets::use(name);
    REQUIRE(std::string(instruction_set()) == name);
    random_source s(14);
    used u;
    for (const auto& recipe : classes()) {
      INFO(name << ", " << recipe.first);
      head_case c = normal_case(s, 7, 140, 9, 19);
      recipe.second(c, s);
      check(c, u, 2);
    }
    for (unsigned set = 1; set < 32; set += 3) {
      head_case c = normal_case(s, 6, 37, 5, 3);
      if (set & 1) c.steps.scale = 0.4;
      if (set & 2) c.steps.softcap = 2.0;
      if (set & 4) c.steps.slope = 0.01;
      if (set & 8) c.steps.sink = 0.3;
      if (set & 16) c.causal = true;
      check(c, u, 2);
    }
    print("instruction set " + name, u);
    CHECK(u.unclaimed == 0);
  }
  attest::instruction_sets::use("");
}

TEST_CASE("pairs of doubles: rows do not depend on their neighbours in the call", "[double_double]") {
  random_source s(15);
  const head_case c = normal_case(s, 45, 140, 8, 20);
  const packed_head head(c.keys, 8, 20, c.k.data(), 8, c.v.data(), 20);
  std::vector<double> together(3 * 45 * 20), alone(3 * 20);
  std::vector<query_row> rows;
  std::vector<row_results> results;
  for (std::size_t i = 0; i < 45; ++i) {
    rows.push_back(c.row(i));
    results.push_back({&together[i * 60], &together[i * 60 + 20], &together[i * 60 + 40], nullptr, nullptr, nullptr, nullptr});
  }
  scratch memory;
  evaluate(head, c.steps, rows, results, memory);
  for (const std::size_t i : {0u, 3u, 31u, 32u, 44u}) {
    const row_results one{&alone[0], &alone[20], &alone[40], nullptr, nullptr, nullptr, nullptr};
    evaluate(head, c.steps, {&rows[i], 1}, {&one, 1}, memory);
    CHECK(std::equal(alone.begin(), alone.end(), &together[i * 60]));
  }
}

TEST_CASE("pairs of doubles: columns that are wanted alone", "[double_double]") {
  random_source s(16);
  for (const std::size_t width : {std::size_t{70}, std::size_t{1050}}) {
    const head_case c = normal_case(s, 9, 40, 8, width);
    const packed_head head(c.keys, 8, width, c.k.data(), 8, c.v.data(), width);
    std::vector<double> all(3 * 9 * width), some(3 * 9 * width);
    std::vector<unsigned char> wanted(9 * width);
    std::vector<query_row> rows;
    std::vector<row_results> results;
    const auto results_in = [&](std::vector<double>& numbers) {
      results.clear();
      for (std::size_t i = 0; i < 9; ++i) {
        double* row = &numbers[3 * i * width];
        results.push_back({row, row + width, row + 2 * width, nullptr, nullptr, nullptr, nullptr});
      }
    };
    for (std::size_t i = 0; i < 9; ++i) rows.push_back(c.row(i));
    scratch memory;
    results_in(all);
    evaluate(head, c.steps, rows, results, memory);
    // No column, one, and, in the last rows, those at the ends and in the middle.
    for (std::size_t i = 0; i < 9; ++i) {
      if (i % 3 != 0) wanted[i * width + (i * 29) % width] = 1;
      if (i > 5) wanted[i * width] = wanted[i * width + width / 2] = wanted[(i + 1) * width - 1] = 1;
      rows[i].wanted = &wanted[i * width];
    }
    results_in(some);
    evaluate(head, c.steps, rows, results, memory);
    std::size_t compared = 0, different = 0;
    for (std::size_t i = 0; i < 9; ++i)
      for (std::size_t x = 0; x < width; ++x) {
        if (wanted[i * width + x] == 0) continue;
        ++compared;
        for (std::size_t part = 0; part < 3; ++part)
          different += all[(3 * i + part) * width + x] != some[(3 * i + part) * width + x];
      }
    CHECK(compared >= 14);
    CHECK(different == 0);
  }
}

// A row without keys touches no block: its outputs are not what the memory held before.
TEST_CASE("pairs of doubles: rows that see only the sink, after others in the same memory",
          "[double_double]") {
  random_source s(18);
  head_case c = normal_case(s, 9, 200, 5, 18);
  c.steps.sink = 2.5;
  const packed_head head(c.keys, 5, 18, c.k.data(), 5, c.v.data(), 18);
  std::vector<double> outputs(3 * 9 * 18), logs(3 * 9);
  std::vector<query_row> rows;
  std::vector<row_results> results;
  for (std::size_t i = 0; i < 9; ++i) {
    rows.push_back(c.row(i));
    double* row = &outputs[3 * i * 18];
    results.push_back({row, row + 18, row + 36, &logs[3 * i], nullptr, nullptr, nullptr});
  }
  scratch memory;
  evaluate(head, c.steps, rows, results, memory);
  // A group of four without keys, and one in which one row has some.
  for (std::size_t i = 0; i < 8; ++i)
    if (i != 6) rows[i].first_key = rows[i].last_key = 20 * i;
  evaluate(head, c.steps, rows, results, memory);
  for (std::size_t i = 0; i < 8; ++i) {
    if (i == 6) continue;
    INFO("row " << i);
    for (std::size_t x = 0; x < 18; ++x) {
      CHECK(results[i].output_high[x] == 0);
      CHECK(results[i].output_low[x] == 0);
      CHECK(results[i].output_error[x] < 0x1p-80);
    }
    CHECK(ratio(real(2.5), logs[3 * i], logs[3 * i + 1], logs[3 * i + 2]) <= 1);
    CHECK(logs[3 * i + 2] < 0x1p-80);
  }
}

TEST_CASE("pairs of doubles: where nothing is claimed, neither is it of a column of zeros",
          "[double_double]") {
  random_source s(19);
  head_case c = normal_case(s, 5, 20, 4, 3);
  for (std::size_t j = 0; j < c.keys; ++j) c.v[j * 3 + 1] = 0;
  used claimed;
  check(c, claimed, 5);
  CHECK(claimed.unclaimed == 0);
  c.steps.softcap = 0x1p600;  // beyond what the tier takes
  used none;
  check(c, none, 5);
  CHECK(none.unclaimed == 5 * (3 + 1 + 20));
}

// Where every product is a multiple of the grid's last place, or of 2^-40 of it, the bound leaves out the
// rounding of the residuals' sum: a last bit that is overlooked shows here, where all residuals go one way.
TEST_CASE("pairs of doubles: last bits of queries and keys", "[double_double]") {
  constexpr std::size_t width = 1024;
  const std::vector<std::pair<std::string, std::function<void(head_case&, random_source&)>>> kinds{
      {"queries with bits below 2^-51 of their largest coordinate",
       [](head_case& c, random_source& s) {
         std::fill(c.q.begin(), c.q.end(), std::abs(s.double_between(-48, -48)));
         std::fill_n(c.k.begin(), width, 1.0);
         c.q[0] = 1;
       }},
      {"keys with bits below 2^-51 of their largest coordinate",
       [](head_case& c, random_source& s) {
         std::fill(c.q.begin(), c.q.end(), 1.0);
         std::fill_n(c.k.begin(), width, std::abs(s.double_between(-48, -48)));
         c.k[0] = 1;
       }},
      {"numbers of 24 bits",
       [](head_case& c, random_source& s) {
         const auto few_bits = [&] {
           return static_cast<double>(static_cast<float>(std::abs(s.double_between(-1, 0))));
         };
         std::fill(c.q.begin(), c.q.end(), few_bits());
         std::fill_n(c.k.begin(), width, few_bits());
       }},
      {"integers", [](head_case& c, random_source& s) {
         std::fill(c.q.begin(), c.q.end(), static_cast<double>(s.between(1, 1000)));
         std::fill_n(c.k.begin(), width, static_cast<double>(s.between(1, 1000)));
       }}};
  for (const auto& [name, change] : kinds) {
    random_source s(20);
    used u;
    for (int n = 0; n < 20; ++n) {
      head_case c = normal_case(s, 1, 2, width, 3);
      c.k.assign(c.k.size(), 0.0);
      change(c, s);
      if (name == "integers") c.steps.scale = 0x1p-20;
      check(c, u, 1);
    }
    print(name, u);
    CHECK(u.unclaimed == 0);
  }
}
