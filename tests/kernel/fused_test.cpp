// The fused kernel: its error against MPFR and its bound, every option and every size against `stable`, the
// same bits for any number of threads and any strides, what nobody sees, what is refused. On every
// instruction set that the machine has.
#include "catch.hpp"
#include "fused_targets.hpp"
#include "head.hpp"
#include "inputs.hpp"

#include <cstdlib>
#include <functional>

using attest::attention_error;
using attest::causal_corner;
using testing::call;
using testing::extents;
using testing::make;
using testing::random_source;
using testing::which;

namespace {

/// Uses the kernel when static objects are destroyed, which is after the memory that a thread keeps.
const struct at_exit {
  ~at_exit() {
    auto c = testing::one_head<double>(20, {0, 0}, {1, 2});
    for (int i = 0; i < 2; ++i)
      if (c.fused().output != std::vector<double>(20, 1.5)) std::abort();
  }
} call_at_exit;

template <class T>
void check_all_kinds(std::uint64_t seed, which kernel) {
  testing::used_bounds worst;
  for (const auto& [kind, recipe] : testing::kinds<T>())
    for (const auto& [name, set] : testing::option_sets<T>())
      for (const extents& e :
           {extents{1, 1, 1, 3, 7, 4, 2}, extents{2, 4, 2, 2, 5, 2, 3}, extents{1, 1, 1, 1, 70, 19, 1}}) {
        random_source source(++seed);
        auto c = make<T>(e);
        recipe(c, source);
        set(c, source);
        const auto used = measure(c, kernel);
        worst.merge(used);
        CAPTURE(kind, name, e.keys, used.weights, used.output, used.sharper_output, used.log_sum_exp);
        CHECK(used.worst() <= 1);
      }
  CAPTURE(worst.weights, worst.output, worst.sharper_output, worst.log_sum_exp);
  CHECK(worst.output >= 0.03);
  CHECK(worst.sharper_output >= 0.03);
  CHECK(worst.log_sum_exp >= 0.03);
}

/// How far apart two kernels may be, as each is as far from the truth as its bound says.
template <class T>
void check_close(const call<T>& c, const testing::results<T>& got, const testing::results<T>& expected) {
  bool close = true;
  for (std::size_t b = 0; b < c.batch; ++b)
    for (std::size_t h = 0; h < c.query_heads; ++h)
      for (std::size_t i = 0; i < c.queries; ++i) {
        attest::kernel::row_magnitudes size;
        size.key_width = c.key_width;
        size.keys = c.keys + 1;
        size.span = c.keys;
        size.scale =
            std::abs(c.options.scale.value_or(1 / std::sqrt(static_cast<double>(c.key_width)))) * 1.001;
        for (std::size_t j = 0; j < c.keys; ++j) {
          double products = 0;
          for (std::size_t x = 0; x < c.key_width; ++x)
            products += std::abs(static_cast<double>(c.q[c.q_index(b, h, i, x)])) *
                        std::abs(static_cast<double>(c.k[c.kv_row(b, h, j) * c.key_width + x]));
          size.products = std::max(size.products, products);
        }
        size.softcap = c.options.softcap;
        if (!c.bias.empty()) size.bias = 10;
        if (!c.options.alibi_slopes.empty()) size.slope = std::abs(c.options.alibi_slopes[h]);
        size.distance = static_cast<double>(c.queries + c.keys);
        if (!c.options.sinks.empty()) size.sink = std::abs(c.options.sinks[h]);
        for (const T v : c.v) size.values = std::max(size.values, std::abs(static_cast<double>(v)));
        size.base_two = c.options.log_sum_exp && c.options.log_sum_exp->base == attest::log_sum_exp_base::two;
        const std::size_t row = c.row_index(b, h, i);
        if (c.options.log_sum_exp && std::isfinite(expected.log_sum_exp[row]))
          size.log_sum_exp = std::abs(static_cast<double>(expected.log_sum_exp[row]));
        const auto f = attest::kernel::fused_bound<T>(size);
        const auto s = attest::kernel::stable_bound<T>(size);
        const auto same = [&](T x, T y, double bound) {
          if (x == y || (std::isnan(x) && std::isnan(y))) return;
          const double error = std::abs(static_cast<double>(x) - static_cast<double>(y));
          close = close && error <= bound;
        };
        for (std::size_t x = 0; x < c.value_width; ++x)
          same(got.output[row * c.value_width + x], expected.output[row * c.value_width + x],
               f.output + s.output);
        for (std::size_t j = 0; j < c.keys && !got.weights.empty(); ++j)
          same(got.weights[row * c.keys + j], expected.weights[row * c.keys + j], f.weight + s.weight);
        if (c.options.log_sum_exp)
          same(got.log_sum_exp[row], expected.log_sum_exp[row], f.log_sum_exp + s.log_sum_exp);
      }
  CHECK(close);
}

/// Random inputs, with the options whose bits are set in `which_options`.
template <class T>
call<T> with_options(const extents& e, unsigned which_options, random_source& source) {
  auto c = make<T>(e);
  testing::fill(c, source, -4, 0);
  auto& o = c.options;
  const auto has = [&](unsigned bit) { return (which_options >> bit & 1) != 0; };
  o.corner = has(0) ? causal_corner::top_left : causal_corner::bottom_right;
  o.empty_row = has(1) ? attest::empty_row_policy::nan : attest::empty_row_policy::zero;
  o.log_sum_exp = {
      has(2) ? attest::log_sum_exp_base::two : attest::log_sum_exp_base::e,
      has(3) ? attest::empty_log_sum_exp::plus_infinity : attest::empty_log_sum_exp::minus_infinity};
  o.causal = has(4);
  const std::size_t scores = c.batch * c.query_heads * c.queries * c.keys;
  if (has(5)) {
    c.mask.resize(scores);
    for (auto& m : c.mask)
      m = source.word() % 3 == 0 ? 0 : static_cast<unsigned char>(source.word() % 255 + 1);
    // runs of hidden keys that are longer than a block
    for (std::size_t n = 0; n < scores && c.keys > 100; ++n)
      if (n / 130 % 3 == 1) c.mask[n] = 0;
  }
  if (has(6)) {
    c.bias.resize(scores);
    for (T& x : c.bias)
      x = source.word() % 8 == 0 ? -std::numeric_limits<T>::infinity()
                                 : static_cast<T>(source.double_between(-3, 2));
  }
  if (has(7)) o.softcap = std::abs(source.double_between(-1, 3));
  for (std::size_t h = 0; h < c.query_heads; ++h) {
    if (has(8)) o.alibi_slopes.push_back(source.double_between(-6, -2));
    if (has(9)) o.sinks.push_back(source.double_between(-3, 2));
  }
  if (has(10)) o.window = attest::key_window{e.keys / 3, e.keys / 5};
  if (has(11)) o.scale = source.double_between(-3, 0);
  for (std::size_t b = 0; has(12) && b < c.batch; ++b)
    o.key_lengths.push_back(static_cast<std::size_t>(source.between(0, static_cast<long>(c.keys))));
  return c;
}

template <class T>
void check_against_stable(unsigned count, std::uint64_t seed) {
  for (unsigned n = 0; n < count; ++n) {
    random_source source(seed + n);
    // Each option alone, then any of them together.
    const unsigned options = n < 13 ? 1u << n : static_cast<unsigned>(source.word());
    const std::size_t group = 1 + source.word() % 3, heads = 1 + source.word() % 2;
    const bool few = n % 3 == 0;
    const auto upto = [&](long most) { return static_cast<std::size_t>(source.between(1, most)); };
    const extents e{
        upto(2),  heads * group, heads, few ? upto(3) : upto(70), n % 5 == 0 ? upto(300) : upto(70),
        upto(70), upto(70)};
    const auto c = with_options<T>(e, options, source);
    const auto expected = c.stable();
    CAPTURE(n, options, e.batch, e.query_heads, e.key_heads, e.queries, e.keys, e.key_width, e.value_width);
    check_close(c, c.fused(), expected);
    check_close(c, c.fused(2, false), expected);
  }
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

}  // namespace

TEST_CASE("fused: true error over bound, on every instruction set") {
  std::uint64_t seed = 0;
  testing::for_each_target([&](const std::string& target) {
    CAPTURE(target);
    check_all_kinds<double>(seed += 10000, which::fused);
    check_all_kinds<float>(seed += 10000, which::fused_few);
  });
  check_all_kinds<double>(seed += 10000, which::fused_few);
  check_all_kinds<float>(seed += 10000, which::fused);
}

TEST_CASE("fused: true error over bound, many keys and wide heads") {
  for (const extents& e : {extents{1, 1, 1, 1, 4200, 2, 1}, extents{1, 1, 1, 2, 3, 256, 2},
                           extents{1, 1, 1, 1, 1, 1, 1}, extents{1, 1, 1, 2, 300, 65, 2}}) {
    random_source source(e.keys);
    auto c = make<double>(e);
    testing::fill(c, source, -3, 0);
    c.options.log_sum_exp = {attest::log_sum_exp_base::e, {}};
    CHECK(measure(c, which::fused).worst() <= 1);
    CHECK(measure(c, which::fused_few).worst() <= 1);
    auto f = make<float>(e);
    testing::fill(f, source, -3, 0);
    f.options.log_sum_exp = {attest::log_sum_exp_base::two, {}};
    CHECK(measure(f, which::fused).worst() <= 1);
    CHECK(measure(f, which::fused_few).worst() <= 1);
  }
}

// With one visible key the log-sum-exp is the score: far from 0 its bound is that of the score.
template <class T>
void check_capped_scores() {
  double worst = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    random_source source(seed);
    auto c = testing::one_head<T>(1, {T(1)}, {T(1)});
    c.options.softcap = std::abs(source.double_between(10, 13));
    c.q[0] = static_cast<T>(*c.options.softcap * source.double_between(-7, 1));
    c.options.log_sum_exp = {attest::log_sum_exp_base::e, {}};
    worst = std::max(worst, measure(c, which::fused_few).log_sum_exp);
  }
  CAPTURE(worst);
  CHECK(worst <= 1);
  CHECK(worst >= 0.1);
}

TEST_CASE("fused: true error over bound of capped scores, on every instruction set") {
  testing::for_each_target([](const std::string& target) {
    CAPTURE(target);
    check_capped_scores<double>();
    check_capped_scores<float>();
  });
}

TEST_CASE("fused: a maximum that rises with every block, and one that falls") {
  for (const double step : {0.02, 0.1, 1.0, 30.0, -0.1, -30.0}) {
    std::vector<double> scores, values;
    random_source source(3);
    for (int j = 0; j < 400; ++j) {
      scores.push_back(step * j);
      values.push_back(source.double_between(-1, 1));
    }
    auto c = testing::one_head<double>(1, scores, values);
    c.options.log_sum_exp = {attest::log_sum_exp_base::e, {}};
    CAPTURE(step);
    CHECK(measure(c, which::fused).worst() <= 1);
    CHECK(measure(c, which::fused_few).worst() <= 1);
  }
}

TEST_CASE("fused: every option and every size against stable, within both bounds, on every instruction set") {
  std::uint64_t seed = 1;
  testing::for_each_target([&](const std::string& target) {
    CAPTURE(target);
    check_against_stable<double>(80, seed += 1000);
    check_against_stable<float>(80, seed += 1000);
  });
}

TEST_CASE("fused: every width, and every number of keys and queries up to 70") {
  for (std::size_t n = 1; n <= 70; ++n) {
    random_source source(n);
    const extents e{1, 1, 1, 71 - n, n, 1 + n * 7 % 70, 1 + n * 11 % 70};
    const auto c = with_options<double>(e, 0, source);
    CAPTURE(n);
    check_close(c, c.fused(), c.stable());
    check_close(c, c.fused(1, false), c.stable());
    const auto f = with_options<float>(e, 0, source);
    check_close(f, f.fused(), f.stable());
  }
}

TEST_CASE("fused: the same bits for one, two and seven threads") {
  for (const extents& e : {extents{1, 2, 1, 200, 200, 24, 20}, extents{3, 6, 3, 2, 5000, 16, 16},
                           extents{2, 8, 8, 65, 70, 8, 8}}) {
    random_source source(e.keys);
    for (const unsigned options : {0u, 1u << 4 | 1u << 5 | 1u << 8}) {
      const auto c = with_options<double>(e, options, source);
      for (const bool weights : {true, false}) {
        if (weights && e.keys > 1000) continue;
        const auto one = c.fused(1, weights), two = c.fused(2, weights), seven = c.fused(7, weights);
        CHECK(same_bits(one.output, two.output));
        CHECK(same_bits(one.output, seven.output));
        CHECK(same_bits(one.log_sum_exp, seven.log_sum_exp));
        CHECK(same_bits(one.weights, two.weights));
        CHECK(same_bits(one.weights, seven.weights));
      }
    }
  }
}

TEST_CASE("fused: any strides give the bits of the dense arrays") {
  for (const std::size_t queries : {std::size_t{2}, std::size_t{70}}) {
    random_source source(queries);
    const std::size_t keys = 90, d = 19, dv = 16;
    const auto c = with_options<double>({2, 4, 2, queries, keys, d, dv}, 0, source);
    const auto expected = c.fused(1, false);
    // [d, T, H, B] in memory, T reversed
    const auto moved = [](const std::vector<double>& dense, std::size_t h, std::size_t t, std::size_t w) {
      std::vector<double> memory(dense.size());
      for (std::size_t n = 0; n < dense.size(); ++n)
        memory[((n % w * t + (t - 1 - n / w % t)) * h + n / w / t % h) * 2 + n / w / t / h] = dense[n];
      return memory;
    };
    const auto view = [](auto& memory, std::size_t h, std::size_t t, std::size_t w) {
      const auto s = [](std::size_t n) { return static_cast<std::ptrdiff_t>(n); };
      using element = std::remove_reference_t<decltype(memory[0])>;
      return attest::tensor<element>(memory.data() + (t - 1) * h * 2, {std::size_t{2}, h, t, w},
                                     {1, 2, -s(2 * h), s(2 * h * t)});
    };
    const auto q = moved(c.q, 4, queries, d), k = moved(c.k, 2, keys, d), v = moved(c.v, 2, keys, dv);
    std::vector<double> output(c.q.size() / d * dv, -1), lse(c.q.size() / d);
    auto options = c.all_options();
    attest::kernel::fused<double>({view(q, 4, queries, d), view(k, 2, keys, d), view(v, 2, keys, dv)},
                                  options,
                                  {view(output, 4, queries, dv),
                                   {},
                                   attest::tensor<double>(lse.data(), {2, 4, queries, std::size_t{1}})});
    CHECK(same_bits(output, moved(expected.output, 4, queries, dv)));
    CHECK(same_bits(lse, expected.log_sum_exp));
  }
}

TEST_CASE("fused: masks and biases of every stride and type") {
  random_source source(4);
  for (const std::size_t queries : {std::size_t{1}, std::size_t{40}}) {
    auto c = with_options<double>({2, 2, 1, queries, 130, 5, 4}, 0, source);
    std::vector<unsigned char> padding(2 * 130);
    for (auto& m : padding) m = source.word() % 2 == 0;
    std::vector<float> relative(queries * 130);
    for (float& x : relative) x = static_cast<float>(source.double_between(-2, 1));
    for (std::size_t row = 0; row < 4 * queries; ++row)
      for (std::size_t j = 0; j < 130; ++j) {
        c.mask.push_back(padding[row / queries / 2 * 130 + j]);
        c.bias.push_back(static_cast<double>(relative[row % queries * 130 + j]));
      }
    const auto expected = c.fused(1, false);
    auto r = c.empty_results();
    auto out = c.views(r);
    out.weights.reset();
    auto options = c.options;
    options.mask = attest::tensor<const unsigned char>(padding.data(), {2, 1, 1, 130});
    options.bias = attest::tensor<const float>(relative.data(), {queries, std::size_t{130}});
    attest::kernel::fused<double>(c.inputs(), options, out);
    CHECK(same_bits(r.output, expected.output));
    // along the keys every second byte, and one byte for all
    std::vector<unsigned char> spread(c.mask.size() * 2);
    for (std::size_t n = 0; n < c.mask.size(); ++n) spread[2 * n] = c.mask[n];
    options.mask = attest::tensor<const unsigned char>(
        spread.data(), {2, 2, queries, 130},
        {static_cast<std::ptrdiff_t>(520 * queries), static_cast<std::ptrdiff_t>(260 * queries), 260, 2});
    attest::kernel::fused<double>(c.inputs(), options, out);
    CHECK(same_bits(r.output, expected.output));
    const unsigned char none = 0;
    options.mask = attest::tensor<const unsigned char>(&none, {1, 1, 1, 1});
    attest::kernel::fused<double>(c.inputs(), options, out);
    CHECK(same_bits(r.output, std::vector<double>(r.output.size(), 0.0)));
  }
}

TEST_CASE("fused: NaN and infinity where nobody looks, and where a query does") {
  testing::for_each_target([](const std::string& target) {
    CAPTURE(target);
    for (const std::size_t queries : {std::size_t{1}, std::size_t{20}})
      for (const std::size_t hidden : {std::size_t{0}, std::size_t{66}, std::size_t{99}})
        for (const double bad : {testing::nan, testing::infinity, -testing::infinity}) {
          random_source source(hidden);
          auto c = with_options<double>({1, 2, 1, queries, 100, 9, 16}, 0, source);
          c.mask.assign(2 * queries * 100, 1);
          for (std::size_t row = 0; row < 2 * queries; ++row) c.mask[row * 100 + hidden] = 0;
          const auto expected = c.fused(1, false);
          const auto with_weights = c.fused();
          c.k[hidden * 9 + 4] = bad;
          c.v[hidden * 16 + 15] = bad;
          CHECK(same_bits(c.fused(1, false).output, expected.output));
          CHECK(same_bits(c.fused().weights, with_weights.weights));
          c.mask[100 + hidden] = 1;
          auto r = c.empty_results();
          r.output.assign(r.output.size(), 7);
          auto out = c.views(r);
          for (const bool weights : {true, false}) {
            if (!weights) out.weights.reset();
            try {
              attest::kernel::fused<double>(c.inputs(), c.all_options(), out);
              FAIL("not refused");
            } catch (const attention_error& e) {
              CHECK(e.fault() == attest::fault::value);
              CHECK(std::string(e.what()).find("array K: element [0, 0, " + std::to_string(hidden) +
                                               ", 4] is") == 0);
            }
            CHECK(r.output == std::vector<double>(r.output.size(), 7));
          }
        }
  });
}

TEST_CASE("fused: what stable refuses is refused in the same words") {
  const auto message = [](auto f) -> std::string {
    try {
      f();
    } catch (const attention_error& e) {
      return e.what();
    }
    return "nothing";
  };
  const auto check = [&](const auto& c) {
    const std::string expected = message([&] { c.stable(); });
    CHECK(expected != "nothing");
    CHECK(message([&] { c.fused(); }) == expected);
    CHECK(message([&] { c.fused(1, false); }) == expected);
  };
  auto c = testing::one_head<double>(1, {1, 1e200}, {1, 1});
  c.q = {1e200};
  check(c);
  c.q = {-1e200};
  check(c);
  c = testing::one_head<double>(1, {0, 0}, {1, 2});
  c.mask = {0, 0};
  check(c);
  c.options.empty_row = attest::empty_row_policy::error;
  check(c);
  c = testing::one_head<double>(1, {0, 0}, {1, testing::nan});
  check(c);
  c = testing::one_head<double>(1, {0, testing::infinity}, {1, 1});
  check(c);
  c = testing::one_head<double>(1, {0, 0}, {1, 1});
  c.q = {testing::nan};
  check(c);
  c.q = {1};
  c.bias = {testing::infinity, 0};
  check(c);
  // A score times log2 e is what overflows here first.
  c = testing::one_head<double>(1, {1.5e308}, {1});
  CHECK(message([&] { c.fused(); }) ==
        "the score of batch element 0, head 0, query 0, key 0 overflows binary64: scale the inputs down or "
        "calculate in a wider format");
  c = testing::one_head<double>(1, {1.2e308}, {1});
  CHECK(c.fused(1, false).output[0] == 1);
  auto f = testing::one_head<float>(1, {0}, {1});
  f.options.scale = 1e300;
  check(f);
  f.options.scale = 1;
  f.options.sinks = {-1e39};
  check(f);
  f.options.sinks.clear();
  f.options.softcap = 1e-42;
  check(f);
  f = testing::one_head<float>(1, {0}, {1});
  const double wide = 0.1;
  auto o = f.all_options();
  o.bias = attest::tensor<const double>(&wide, {1, 1});
  auto r = f.empty_results();
  const std::string expected = message([&] { attest::kernel::stable<float>(f.inputs(), o, f.views(r)); });
  CHECK(message([&] { attest::kernel::fused<float>(f.inputs(), o, f.views(r)); }) == expected);
}

TEST_CASE("fused: sums that overflow although the outputs do not") {
  testing::for_each_target([](const std::string& target) {
    CAPTURE(target);
    const double most = std::numeric_limits<double>::max();
    for (const std::size_t queries : {std::size_t{1}, std::size_t{12}})
      for (const std::size_t keys : {std::size_t{3}, std::size_t{200}}) {
        std::vector<double> values(keys, most / 2);
        values[0] = -most / 2;
        auto c = testing::one_head<double>(queries, std::vector<double>(keys, 0.0), values);
        c.options.log_sum_exp = {attest::log_sum_exp_base::e, {}};
        CHECK(measure(c, which::fused).worst() <= 1);
        CHECK(measure(c, which::fused_few).worst() <= 1);
      }
  });
}

// The row is calculated again with weights 2^-40 (2^-26) times as large, under which small values underflow.
TEST_CASE("fused: true error over bound of small values beside a column whose sums overflow") {
  const auto check = [](auto most, double tiny, std::size_t queries, double least_used) {
    using T = decltype(most);
    auto c = testing::one_head<T>(queries, std::vector<T>(3, T(0)), {});
    c.value_width = 2;
    for (int j = 0; j < 3; ++j) c.v.insert(c.v.end(), {most, static_cast<T>(tiny)});
    testing::used_bounds worst = measure(c, which::fused);
    worst.merge(measure(c, which::fused_few));
    CAPTURE(tiny, queries, worst.output, worst.sharper_output);
    CHECK(worst.worst() <= 1);
    CHECK(worst.output >= least_used);
    CHECK(worst.sharper_output >= least_used);
  };
  testing::for_each_target([&](const std::string& target) {
    CAPTURE(target);
    for (const std::size_t queries : {std::size_t{1}, std::size_t{20}}) {
      // So small that what comes out is 0, and numbers that lose their last bits.
      check(std::numeric_limits<float>::max(), 0x1p-140, queries, 1e-8);
      check(std::numeric_limits<float>::max(), 0x1p-125, queries, 1e-8);
      check(std::numeric_limits<float>::max(), 0x1.fffffep-127, queries, 1e-8);
      check(std::numeric_limits<double>::max(), 0x1p-1060, queries, 0);
      check(std::numeric_limits<double>::max(), 0x1.fffffffffffffp-1030, queries, 0);
    }
  });
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    random_source source(seed);
    auto c = make<float>({1, 1, 1, seed % 2 == 0 ? std::size_t{1} : std::size_t{9}, 1 + seed * 4, 3, 3});
    testing::fill(c, source, -3, 0);
    for (std::size_t n = 0; n < c.v.size(); ++n)
      c.v[n] = n % 3 == 0   ? std::numeric_limits<float>::max() / 2
               : n % 3 == 1 ? static_cast<float>(source.double_between(-149, -120))
                            : static_cast<float>(source.double_between(-120, -119));
    c.options.log_sum_exp = {attest::log_sum_exp_base::e, {}};
    CAPTURE(seed);
    CHECK(measure(c, which::fused).worst() <= 1);
    CHECK(measure(c, which::fused_few).worst() <= 1);
  }
}

TEST_CASE("fused: a sink of value 0 and the sharper bound of outputs") {
  double worst = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    random_source source(seed);
    auto c = make<float>({1, 1, 1, seed % 2 == 0 ? std::size_t{1} : std::size_t{9}, 1 + seed, 3, 3});
    testing::fill(c, source, -3, 0);
    c.options.sinks = {0};
    auto used = measure(c, which::fused);
    used.merge(measure(c, which::fused_few));
    worst = std::max(worst, used.sharper_output);
  }
  CAPTURE(worst);
  CHECK(worst <= 1);
  CHECK(worst >= 0.03);
}

// Beyond 0.69 of the largest number a sink times log2 e overflows: it has all the weight, or none beside a key.
template <class T>
void check_sinks_beyond_base_two() {
  const auto most = static_cast<double>(std::numeric_limits<T>::max());
  for (const double sink : {0.6 * most, 0.7 * most, most, -0.6 * most, -0.7 * most, -most})
    for (const std::size_t queries : {std::size_t{1}, std::size_t{20}})
      for (const bool sees : {true, false})
        for (const auto policy : {attest::empty_row_policy::nan, attest::empty_row_policy::zero}) {
          auto c = testing::one_head<T>(queries, {T(0), T(0), T(1)}, {T(3), T(3), T(3)});
          if (!sees || queries > 1) c.mask.assign(3 * queries, sees ? 1 : 0);
          if (queries > 1) std::fill_n(c.mask.begin() + 3, 3, static_cast<unsigned char>(0));
          c.options.sinks = {sink};
          c.options.empty_row = policy;
          c.options.log_sum_exp = {attest::log_sum_exp_base::e, attest::empty_log_sum_exp::plus_infinity};
          CAPTURE(sink, queries, sees);
          const auto expected = c.stable(), got = c.fused(), few = c.fused(1, false);
          // Scores of 0, 0 and 1, and a few roundings.
          const auto close = [](const std::vector<T>& a, const std::vector<T>& b) {
            return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](T x, T y) {
              return std::abs(x - y) <= 8 * std::numeric_limits<T>::epsilon() * std::abs(y);
            });
          };
          CHECK(close(got.output, expected.output));
          CHECK(close(got.weights, expected.weights));
          CHECK(close(got.log_sum_exp, expected.log_sum_exp));
          CHECK(close(few.output, expected.output));
          CHECK(close(few.log_sum_exp, expected.log_sum_exp));
          CHECK(measure(c, which::fused).worst() <= 1);
          CHECK(measure(c, which::fused_few).worst() <= 1);
          // In base two such a log-sum-exp overflows.
          c.options.log_sum_exp = {attest::log_sum_exp_base::two, attest::empty_log_sum_exp::minus_infinity};
          const auto message = [](auto f) -> std::string {
            try {
              f();
            } catch (const attention_error& e) {
              CHECK(e.fault() == attest::fault::overflow);
              return e.what();
            }
            return "nothing";
          };
          const std::string refused = message([&] { c.stable(); });
          CHECK((refused == "nothing") == (std::abs(sink) < 0.65 * most || (sink < 0 && sees && queries == 1)));
          CHECK(message([&] { c.fused(); }) == refused);
          CHECK(message([&] { c.fused(1, false); }) == refused);
        }
}

TEST_CASE("fused: sinks that overflow in base two, as in stable") {
  testing::for_each_target([](const std::string& target) {
    CAPTURE(target);
    check_sinks_beyond_base_two<double>();
    check_sinks_beyond_base_two<float>();
  });
}

// Where rows are calculated again, m + 40 (26) is rounded, for which u |m| ln 2 stands.
TEST_CASE("fused_bound: the log-sum-exp where sums may overflow") {
  const auto more = [](auto u, bool base_two) {
    using T = decltype(u);
    attest::kernel::row_magnitudes m;
    m.keys = m.span = 1;
    m.log_sum_exp = 0x1p80;
    m.base_two = base_two;
    m.values = 1;
    const double without = attest::kernel::fused_bound<T>(m).log_sum_exp;
    m.all_values = static_cast<double>(std::numeric_limits<T>::max());
    return (attest::kernel::fused_bound<T>(m).log_sum_exp - without) / (static_cast<double>(u) * 0x1p80);
  };
  for (const bool base_two : {false, true}) {
    CHECK(more(0x1p-53, base_two) >= 1);
    CHECK(more(0x1p-53, base_two) <= 1.05);
    CHECK(more(0x1p-24f, base_two) >= 1);
    CHECK(more(0x1p-24f, base_two) <= 1.05);
  }
  // Biases that m + 26 is rounded for.
  double worst = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    random_source source(seed);
    auto c = testing::one_head<float>(9, std::vector<float>(130, 0.0f),
                                      std::vector<float>(130, std::numeric_limits<float>::max()));
    for (std::size_t i = 0; i < 9; ++i) {
      const auto top = static_cast<float>(source.double_between(24, 29));
      for (std::size_t j = 0; j < 130; ++j)
        c.bias.push_back(source.word() % 3 == 0 ? top / 2 : top * (1 + 0x1p-20f * static_cast<float>(j / 64)));
    }
    c.options.log_sum_exp = {seed % 2 == 0 ? attest::log_sum_exp_base::e : attest::log_sum_exp_base::two, {}};
    try {
      worst = std::max(worst, measure(c, which::fused).log_sum_exp);
    } catch (const attention_error& e) {
      CHECK(e.fault() == attest::fault::overflow);
    }
  }
  CAPTURE(worst);
  CHECK(worst <= 1);
  CHECK(worst >= 0.1);
}

TEST_CASE("fused: the caller's rounding mode and flush-to-zero do not matter and come back") {
  random_source source(9);
  const auto c = with_options<double>({2, 2, 1, 70, 90, 9, 7}, 1u << 7 | 1u << 9, source);
  auto subnormal = c;
  for (double& v : subnormal.v) v = std::ldexp(v, -1060);
  const auto few = with_options<float>({1, 1, 1, 1, 90, 9, 7}, 0, source);
  const auto expected = c.fused(), expected_subnormal = subnormal.fused();
  const auto expected_few = few.fused(1, false);
  for (const int mode : {FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
    const auto got = c.fused(2), got_subnormal = subnormal.fused(2);
    const auto got_few = few.fused(2, false);
    CHECK(std::fegetround() == mode);
    std::fesetround(FE_TONEAREST);
    CHECK(same_bits(got.output, expected.output));
    CHECK(same_bits(got.log_sum_exp, expected.log_sum_exp));
    CHECK(same_bits(got_subnormal.output, expected_subnormal.output));
    CHECK(same_bits(got_few.output, expected_few.output));
  }
#if defined(__SSE__)
  const unsigned before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before | 0x8040);
  const auto flushed = subnormal.fused(2);
  const unsigned after = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before);
  CHECK(after == (before | 0x8040));
  CHECK(same_bits(flushed.output, expected_subnormal.output));
#endif
}

TEST_CASE("fused: no keys, no queries, and rows that see nothing") {
  auto c = testing::one_head<double>(2, {}, {});
  c.options.empty_row = attest::empty_row_policy::zero;
  CHECK(c.fused(1, false).output == std::vector<double>{0, 0});
  CHECK(c.fused().output == std::vector<double>{0, 0});
  c.options.sinks = {1};
  c.options.log_sum_exp = {attest::log_sum_exp_base::e, {}};
  CHECK(c.fused(1, false).output == std::vector<double>{0, 0});
  CHECK(std::abs(c.fused(1, false).log_sum_exp[0] - 1) <= 1e-15);
  auto nobody = testing::one_head<double>(0, {1, 2}, {1, 2});
  CHECK(nobody.fused().output.empty());
  CHECK(nobody.fused(1, false).output.empty());
}

// One term at a time is made the largest by far; the arithmetic is that of docs/error-bounds.md, with u =
// 2^-53.
TEST_CASE("fused_output_bound: each of its terms") {
  constexpr double u = 0x1p-53;
  const auto is_about = [](double bound, double expected) {
    return bound >= expected && bound <= 1.1 * expected;
  };
  const auto bound = [](const attest::kernel::row_magnitudes& m, double mean, double output) {
    return attest::kernel::fused_output_bound<double>(m, mean, output);
  };
  attest::kernel::row_magnitudes m;
  m.key_width = 40;
  m.keys = m.span = 3;
  m.values = 1;
  // Scores of at most 5e6: 16 roundings in a chunk, two more chunks, 3 of the scale, so 21u of it; an
  // exponential rounds 2 · 5e6 u.
  m.products = 1e7;
  m.scale = 0.5;
  CHECK(is_about(bound(m, 3, 0), (21 * 5e6 + 2 * 5e6) * u * 3));
  CHECK(is_about(bound(m, 0, 3), (21 * 5e6 + 2 * 5e6) * u * 3));
  // Where scale · log2 e overflows, scores are multiplied by one after the other.
  auto large = m;
  large.products = 5e-36;
  large.scale = 3e38;
  CHECK(
      is_about(attest::kernel::fused_output_bound<float>(large, 3, 0), (22 * 1500 + 2 * 1500) * 0x1p-24 * 3));
  // No scores: an exponential rounds 5.4u, three terms of a sum at most three times, 1/l and its product
  // twice.
  m.products = 0;
  CHECK(is_about(bound(m, 7, 0), (5.4 + 3) * u * 7));
  CHECK(is_about(bound(m, 0, 7), (5.4 + 3 + 2) * u * 7));
  // 2^19 keys in 2^13 blocks: 3 more than those, 64 and 23 in a block.
  m.keys = m.span = 1u << 19;
  CHECK(is_about(bound(m, 2, 0), (5.4 + 8192 + 3 + 64) * u * 2));
  CHECK(is_about(bound(m, 0, 2), (5.4 + 8192 + 3 + 23 + 2) * u * 2));
  // 2^-1074 for each key and block and 2; weights that are taken for 0, of values so large that sums
  // overflow.
  m.values = 0;
  CHECK(is_about(bound(m, 0, 0) / 0x1p-1060, (524288 + 8195 + 2) * 0x1p-14));
  m.values = 1e300;
  CHECK(is_about(bound(m, 0, 0), 4 * 524288 * 0x1p-959 * 1e300));
  m.values = 1e308;
  m.keys = m.span = 3;
  CHECK(is_about(bound(m, 1e308, 0), (5.4 + 28 + 3) * u * 1e308));
  // Such values in another column have the same effect on the exponentials.
  m.values = 1;
  m.all_values = 1e308;
  CHECK(is_about(bound(m, 1, 0), (5.4 + 28 + 3) * u));
  // And weights 2^-64 times as large: 3 keys, 3 blocks and 2.
  m.values = 0;
  CHECK(is_about(bound(m, 0, 0) / 0x1p-1060, 8 * 0x1p50));
  m.values = 1;
  m.all_values = 0;
  m.values = 1e308;
  // Where nothing is claimed.
  const auto nothing = [&](auto change) {
    auto other = m;
    change(other);
    return std::isinf(bound(other, 1, 1));
  };
  CHECK(!nothing([](auto&) {}));
  CHECK(nothing([](auto& x) { x.softcap = 1; }));
  CHECK(nothing([](auto& x) { x.bias = 0; }));
  CHECK(nothing([](auto& x) { x.slope = 0; }));
  CHECK(nothing([](auto& x) { x.sink = 1; }));
  CHECK(!nothing([](auto& x) { x.sink = 0; }));  // a key of value 0 and score 0
  CHECK(nothing([](auto& x) { x.products = 1e13; }));
  CHECK(nothing([](auto& x) { x.products = std::numeric_limits<double>::quiet_NaN(); }));
  CHECK(nothing([](auto& x) { x.keys = 1u << 21; }));
}
