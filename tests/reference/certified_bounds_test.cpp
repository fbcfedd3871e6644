#include "../../src/reference/certified/bounds.hpp"
#include "catch.hpp"

#include <attest/reference/certified_attention.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

// What the driver of certified results tells the double kernel's bound about a row: a sink is a key more, the
// bound of one column knows how large the values of the others are, that of one row how large its own numbers
// are. Elements that a smaller bound would settle are left to the pairs of doubles.

using namespace attest;

namespace {

/// One head with queries and keys of one number, all scores about equal, and options.
struct small_head {
  certified_inputs in() const {
    return {any_tensor(q.data(), dtype::binary64, layout{q.size(), std::size_t{1}}),
            any_tensor(k.data(), dtype::binary64, layout{k.size(), std::size_t{1}}),
            any_tensor(v.data(), dtype::binary64, layout{k.size(), columns()})};
  }
  certified_results out() {
    results.resize(q.size() * columns());
    return {any_result(results.data(), type, layout{q.size(), columns()})};
  }
  attention_options with_bias() const {
    attention_options o = options;
    if (!bias.empty()) o.bias = any_tensor(bias.data(), dtype::binary64, layout{q.size(), k.size()});
    return o;
  }
  std::size_t columns() const { return v.size() / k.size(); }

  std::vector<double> q{1};
  std::vector<double> k{0, 0x1p-60};  // weights that no bound tells from equal ones
  std::vector<double> v;
  std::vector<double> bias = {};  // of every query and key, or none
  attention_options options = {};
  dtype type = dtype::binary32;
  std::vector<float> results = {};  // as memory, for a narrower type
};

small_head two_keys(std::vector<double> values, std::optional<double> sink = {}) {
  small_head h;
  h.v = std::move(values);
  if (sink) h.options.sinks = {*sink};
  return h;
}

/// How many elements each tier settles.
std::array<std::size_t, reference_tiers> settled(small_head h) {
  const attention_options options = h.with_bias();
  return certified_attention(h.in(), options, h.out()).settled;
}
using tiers = std::array<std::size_t, reference_tiers>;

/// A head's first query, loaded as a thread of the driver has it.
struct loaded_row {
  explicit loaded_row(small_head of_head)
      : head(std::move(of_head)),
        in(head.in()),
        options(head.with_bias()),
        shape(certified::checked_shape(in, options, head.out(), how)),
        call(in, options, shape, head.out(), how) {
    w.head.load(call, 0, 0);
    w.q.load(in.q, 0, 0, 0, shape.queries, false);
    w.steps = call.steps_of(0);
    certified::prepare(w.block, call, {0, 0, 0, 0, shape.queries}, w.q.get(), w.steps, w.head);
  }
  kernel::row_magnitudes magnitudes(std::size_t query = 0) {
    return certified::row_magnitudes_of(call, w.block[query], w);
  }

  small_head head;
  certified_inputs in;
  attention_options options;
  certified_options how;
  attention_shape shape;
  certified::call call;
  certified::worker w;
};

constexpr double u = 0x1p-53;

}  // namespace

TEST_CASE("Certified bounds: a sink is one more key and no longer span") {
  certified::score_options steps;
  kernel::row_magnitudes without;
  certified::add_keys(without, steps, 10, 5, 7);
  CHECK(without.keys == 2);
  CHECK(without.span == 2);
  CHECK(without.distance == 5);  // from position 10 to key 5

  steps.sink = 0.0;
  kernel::row_magnitudes with;
  certified::add_keys(with, steps, 10, 5, 7);
  CHECK(with.keys == 3);
  CHECK(with.span == 2);
  CHECK(with.distance == 5);

  // Of several queries the most keys and the longest way, whoever comes first, and one sink.
  certified::add_keys(with, steps, 4, 12, 13);
  CHECK(with.keys == 3);
  CHECK(with.span == 2);
  CHECK(with.distance == 8);
  certified::add_keys(with, steps, 4, 4, 8);
  CHECK(with.keys == 5);
  CHECK(with.span == 4);
  CHECK(with.distance == 8);
  certified::add_keys(with, steps, 4, 11, 14);  // to key 13
  CHECK(with.distance == 9);

  CHECK(loaded_row(two_keys({1, 2}, 0.0)).magnitudes().keys == 3);
  CHECK(loaded_row(two_keys({1, 2})).magnitudes().keys == 2);
}

TEST_CASE("Certified bounds: every option of a row counts by its magnitude") {
  small_head h = two_keys({1, 2}, -30.0);
  h.q = {3, 7};
  h.k = {5, -4};
  h.bias = {-8, 2, 1, 0.5};
  h.options.scale = -0.25;
  h.options.softcap = 50;
  h.options.alibi_slopes = {-0.125};
  h.options.corner = causal_corner::top_left;
  loaded_row row(h);
  for (const std::size_t query : {0u, 1u}) {
    const kernel::row_magnitudes m = row.magnitudes(query);
    CHECK(m.key_width == 1);
    CHECK(m.scale == 0.25);
    CHECK(m.softcap == 50);
    CHECK(m.slope == 0.125);
    CHECK(m.distance == 1);
    CHECK(m.sink == 30);
    CHECK(m.bias == (query == 0 ? 8 : 1));
    const double products = query == 0 ? 15 : 35;  // the largest |q k|
    CHECK(m.products >= products);
    CHECK(m.products <= products * (1 + 0x1p-40));
    CHECK(m.values == 2);
  }
  h.options.scale = {};
  CHECK(loaded_row(h).magnitudes().scale >= 1);
}

TEST_CASE("Certified bounds: products from norms, and from the largest coordinate alone") {
  small_head h = two_keys({1, 2});
  loaded_row row(h);
  // The norm of the query 2, of the largest key 2^-60: the square of that does not underflow.
  CHECK(certified::products(row.call, 4, row.w) >= 0x1p-59);
  CHECK(certified::products(row.call, 4, row.w) <= 0x1.001p-59);
  // 2^-1134 is more than 0.
  row.w.narrow.kernel.largest_query = 0x1p-1074;
  CHECK(certified::rough_products(row.call, row.w) > 0);
  std::vector<double> q(9, 1), k(18, 2), v{1, 2};
  k[4] = 3;
  std::vector<float> out(1);
  const certified_inputs in{any_tensor(q.data(), dtype::binary64, layout{std::size_t{1}, std::size_t{9}}),
                            any_tensor(k.data(), dtype::binary64, layout{std::size_t{2}, std::size_t{9}}),
                            any_tensor(v.data(), dtype::binary64, layout{std::size_t{2}, std::size_t{1}})};
  const certified_results results{
      any_result(out.data(), dtype::binary32, layout{std::size_t{1}, std::size_t{1}})};
  const attention_options options;
  const certified_options how;
  const attention_shape shape = certified::checked_shape(in, options, results, how);
  const certified::call call(in, options, shape, results, how);
  certified::worker w;
  w.head.load(call, 0, 0);
  // Norms: 3 and √(8 · 4 + 9) = 6.403. The largest coordinates, 1 and 3, nine times.
  CHECK(certified::products(call, 9, w) >= 3 * 6.403);
  CHECK(certified::products(call, 9, w) <= 3 * 6.404);
  w.narrow.kernel.largest_query = 1;  // as the kernel leaves it
  CHECK(certified::rough_products(call, w) >= 27);
  CHECK(certified::rough_products(call, w) <= 27.001);
}

TEST_CASE("Certified bounds: an element that only a bound for two keys would settle, beside a sink") {
  // Weights 1/3: the output is 1 + 2^-24, a tie of binary32, and 40u. Outputs of n keys are off by at most
  // 1.03u (2 (ln n + 5.4) + n + n + 2) max|V| (docs/error-bounds.md, `fused`): 37.5u for two keys and
  // max|V| = 2, 43.3u for three.
  const auto bound = [](double n) { return 2 * 1.03 * (2 * (std::log(n) + 5.4) + 2 * n + 2); };
  REQUIRE(bound(2) < 39);
  REQUIRE(bound(3) > 41);
  const double second = 2 + 3 * 0x1p-24 + 3 * 40 * u;
  CHECK(settled(two_keys({1, second}, 0.0)) == tiers{0, 1, 0, 0});
  // 60u from the tie the plain kernel settles it.
  CHECK(settled(two_keys({1, second + 3 * 20 * u}, 0.0)) == tiers{1, 0, 0, 0});
}

TEST_CASE("Certified bounds: the values of other columns may overflow") {
  loaded_row row(two_keys({1, 1.1e308, 2, -1e308}));
  CHECK(certified::head_magnitudes(row.call, row.w).values == 1.1e308);
  CHECK(certified::head_magnitudes(row.call, row.w).all_values == 1.1e308);
  kernel::row_magnitudes m = row.magnitudes();
  CHECK(m.values == 1.1e308);
  m.values = 2;  // of the first column
  // Each exponential may be rounded 28 times more, which the bound counts twice.
  const double here = kernel::fused_bound<double>(m).output;
  m.all_values = 2;
  const double alone = kernel::fused_bound<double>(m).output;
  const double difference = 2 * 1.03 * 2 * 28 * u;
  CHECK(std::fabs(here - alone - difference) < 0.001 * difference);
}

namespace {

/// With weights 1/2 of 1 and this, the output is 1 + 2^-24, a tie of binary32, and n u.
double off_the_tie(double n) { return 1 + 0x1p-23 + 2 * n * u; }

}  // namespace

TEST_CASE("Certified bounds: an element that only the bound of its column alone would settle") {
  // Its column alone has the bound 1.03u (2 (ln 2 + 5.4) + 6) = 18.8u, and 1.03u · 56 = 57.7u more where sums
  // of another column may overflow.
  CHECK(settled(two_keys({1, 3, off_the_tie(45), 4.1})) == tiers{2, 0, 0, 0});
  // (Infinity, which the other column then rounds to, is left to enclosures.)
  CHECK(settled(two_keys({1, 1e308, off_the_tie(45), 1.1e308})) == tiers{0, 1, 1, 0});
  CHECK(settled(two_keys({1, 1e308, off_the_tie(90), 1.1e308})) == tiers{1, 0, 1, 0});
}

TEST_CASE("Certified bounds: an element that only a bound without the biases would settle") {
  // Biases of 1000 round every score by 1000u, those of the other row do not: E is 1.02u · 1000, and the base
  // of two adds 2.04u · 1000.
  for (const bool first : {true, false}) {
    small_head h = two_keys({1, off_the_tie(1000)});
    h.q = {1, 1};
    h.bias = {1000, 1000, 0, 0};
    if (!first) std::swap(h.bias[0], h.bias[2]), std::swap(h.bias[1], h.bias[3]);
    CHECK(settled(h) == tiers{1, 1, 0, 0});
    h.v[1] = off_the_tie(4000);
    CHECK(settled(h) == tiers{2, 0, 0, 0});
  }
}

TEST_CASE("Certified bounds: an element that only a bound for smaller queries would settle") {
  // Scores of 1000 are off by 1.02 · 4u · 1000. Of coarse formats the largest query is what the bound has.
  for (const bool first : {true, false})
    for (const bool coarse : {true, false}) {
      small_head h = two_keys({1, 0});
      h.q = {0x1p-30, 1000};
      if (first) std::swap(h.q[0], h.q[1]);
      h.k = {1, 1 + 0x1p-52};
      h.type = coarse ? dtype::binary16 : dtype::binary32;
      const double beyond_tie = coarse ? 0x1p-10 - 0x1p-23 : 0;
      h.v[1] = off_the_tie(2000) + beyond_tie;
      CHECK(settled(h) == tiers{1, 1, 0, 0});
      h.v[1] = off_the_tie(5000) + beyond_tie;
      CHECK(settled(h) == tiers{2, 0, 0, 0});
    }
}

TEST_CASE("Certified bounds: an element that only a bound for shorter distances would settle") {
  // Query 1999 of 2000 stands 1999 and 1998 away from its keys: a bound of 4u · 1999 and more.
  small_head h = two_keys({1, 0});
  h.q.assign(2000, 1);
  h.options.corner = causal_corner::top_left;
  h.options.alibi_slopes = {1};
  // Queries from 1 on have the weights 1/(1 + e) and e/(1 + e); from query 5000 u / 4u on they are open.
  h.v[1] = 1 + (0x1p-24 + 5000 * u) * (1 + std::exp(-1.0));
  const tiers t = settled(h);
  CHECK(t[0] > 100);
  CHECK(t[1] > 500);
  CHECK(t[0] + t[1] == 2000);
}

TEST_CASE("Certified bounds: an element that only a bound for fewer keys would settle") {
  // Query 63 sees 64 keys, query 1 two. The bounds are 1.03u · 18.3 and 1.03u (2 (ln 64 + 5.4) + 27 + 64 + 2)
  // = 115u, times max|V| = 2.
  for (const bool window : {true, false}) {
    small_head h = two_keys({});
    h.q.assign(64, 1);
    h.k.assign(64, 0);
    h.k[0] = 0x1p-60;
    double sum = 0;
    for (int j = 0; j < 63; ++j) {
      h.v.push_back(1 + ((j * 37) % 64) * 0x1p-6 + ((j * 7919 + 12345) % 104729) * 0x1p-44);
      sum += h.v.back();
    }
    h.v.push_back(64 * (1.5 + 0x1p-24 + 120 * u) - sum);
    REQUIRE((h.v.back() > 0 && h.v.back() < 2));
    if (window)
      h.options.window = key_window{63, 0};
    else
      h.options.causal = true;
    CHECK(settled(h)[1] == 1);
    h.v.back() += 64 * 200 * u;
    CHECK(settled(h)[1] == 0);
  }
}

TEST_CASE("Certified narrow results: of a block with a row that overflows none is taken") {
  // Scores of the first query overflow; of the second they are 1 and 2, of the third 2 and 4.
  for (const bool biased : {false, true}) {
    small_head h = two_keys({1.1, 2.3, -0.7, 0.9});
    h.q = {1e200, 1e-200, 2e-200};
    h.k = {1e200, 2e200};
    if (biased) h.bias = {0, 1, 0, 1, 0, 1};
    const attention_options options = h.with_bias();
    const certified_results out = h.out();
    certified_options how;
    how.tiers = {false, true, true, true};
    certified_attention(h.in(), options, out, how);
    const std::vector<float> expected = std::exchange(h.results, std::vector<float>(6, -1));
    const tiers t = certified_attention(h.in(), options, h.out()).settled;
    CHECK(h.results == expected);
    CHECK(t[0] == 0);
    CHECK(t[1] + t[2] == 6);
  }
}

TEST_CASE(
    "Certified narrow results: certificates are written, whatever stood there, and every element counted "
    "once") {
  for (const bool biased : {false, true}) {
    small_head h = two_keys({1.1, 2.3, 3.7, off_the_tie(5), 0.3, 0.9});
    h.q = {0.3, 0.1, 1};
    h.k = {1, 2};
    if (biased) h.bias = {0, 1, 1, 0, 0, 0};
    const attention_options options = h.with_bias();
    std::vector<certificate> certificates(9, certificate::undecided);
    certified_results out = h.out();
    out.output_certificates =
        tensor<certificate>(certificates.data(), layout{std::size_t{3}, std::size_t{3}});
    const certification c = certified_attention(h.in(), options, out);
    CHECK(certificates == std::vector<certificate>(9, certificate::certified));
    CHECK(c.settled == tiers{9, 0, 0, 0});
  }
}
