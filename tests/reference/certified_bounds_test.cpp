#include "../../src/reference/certified/bounds.hpp"
#include "catch.hpp"

#include <attest/reference/certified_attention.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

// What the driver of certified results tells the double kernel's bound about a row: a sink is a key more, and
// the bound of one column knows how large the values of the others are.

using namespace attest;

namespace {

/// One query, 1, and two keys, 0 and 2^-60: weights that no bound tells from equal ones.
struct two_keys {
  explicit two_keys(std::vector<double> of_values, std::optional<double> sink = {})
      : values(std::move(of_values)), results(values.size() / 2) {
    if (sink) options.sinks = {*sink};
  }

  certified_inputs in() const {
    return {any_tensor(&query, dtype::binary64, layout{std::size_t{1}, std::size_t{1}}),
            any_tensor(keys.data(), dtype::binary64, layout{std::size_t{2}, std::size_t{1}}),
            any_tensor(values.data(), dtype::binary64, layout{std::size_t{2}, results.size()})};
  }
  certified_results out() {
    return {any_result(results.data(), dtype::binary32, layout{std::size_t{1}, results.size()})};
  }

  double query = 1;
  std::vector<double> keys{0, 0x1p-60};
  std::vector<double> values;  // [2, width]
  std::vector<float> results;
  attention_options options;
};

/// How many elements of the row each tier settles.
std::array<std::size_t, reference_tiers> settled(two_keys problem) {
  return certified_attention(problem.in(), problem.options, problem.out()).settled;
}

/// The same row, loaded as a thread of the driver has it.
struct loaded_row {
  explicit loaded_row(two_keys of_problem)
      : problem(std::move(of_problem)),
        in(problem.in()),
        shape(certified::checked_shape(in, problem.options, problem.out(), how)),
        call(in, problem.options, shape, problem.out(), how) {
    w.head.load(call, 0, 0);
    w.q.load(in.q, 0, 0, 0, 1, false);
    w.steps = call.steps_of(0);
    certified::prepare(w.block, call, {0, 0, 0, 0, 1}, w.q.get(), w.steps, w.head);
  }
  kernel::row_magnitudes magnitudes() { return certified::row_magnitudes_of(call, w.block[0], w); }

  two_keys problem;
  certified_inputs in;
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

  CHECK(loaded_row(two_keys({1, 2}, 0.0)).magnitudes().keys == 3);
  CHECK(loaded_row(two_keys({1, 2})).magnitudes().keys == 2);
}

TEST_CASE("Certified bounds: an element that only a bound for two keys would settle, beside a sink") {
  // Weights 1/3: the output is 1 + 2^-24, a tie of binary32, and 40u. Outputs of n keys are off by at most
  // 1.03u (2 (ln n + 5.4) + n + n + 2) max|V| (docs/error-bounds.md, `fused`): 37.5u for two keys and
  // max|V| = 2, 43.3u for three.
  const auto bound = [](double n) { return 2 * 1.03 * (2 * (std::log(n) + 5.4) + 2 * n + 2); };
  REQUIRE(bound(2) < 39);
  REQUIRE(bound(3) > 41);
  const double second = 2 + 3 * 0x1p-24 + 3 * 40 * u;
  CHECK(settled(two_keys({1, second}, 0.0)) == std::array<std::size_t, 4>{0, 1, 0, 0});
  // 60u from the tie the plain kernel settles it.
  CHECK(settled(two_keys({1, second + 3 * 20 * u}, 0.0)) == std::array<std::size_t, 4>{1, 0, 0, 0});
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

TEST_CASE("Certified bounds: an element that only the bound of its column alone would settle") {
  // Weights 1/2: the output is 1 + 2^-24 and 45u. Its column alone has the bound 1.03u (2 (ln 2 + 5.4) + 6) =
  // 18.8u, and 1.03u · 56 = 57.7u more where sums of another column may overflow.
  const double second = 1 + 0x1p-23 + 2 * 45 * u;
  CHECK(settled(two_keys({1, 3, second, 4.1})) == std::array<std::size_t, 4>{2, 0, 0, 0});
  // (Infinity, which the other column then rounds to, is left to enclosures.)
  CHECK(settled(two_keys({1, 1e308, second, 1.1e308})) == std::array<std::size_t, 4>{0, 1, 1, 0});
  CHECK(settled(two_keys({1, 1e308, second + 2 * 45 * u, 1.1e308})) ==
        std::array<std::size_t, 4>{1, 0, 1, 0});
}
