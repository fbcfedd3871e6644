// True error over claimed bound, never above 1: on uniform, peaked, outlier, cancelling, huge, tiny and
// partly empty inputs, in both precisions, with and without the options. The truth is MPFR's at 700 bits.
#include "catch.hpp"
#include "head.hpp"
#include "inputs.hpp"

#include <functional>
#include <map>
#include <string>

using testing::call;
using testing::random_source;

namespace {

using testing::extents;
using testing::kinds;
using testing::make;
using testing::option_sets;
using testing::recipe;

template <class T>
void check_all_kinds(std::uint64_t seed) {
  testing::used_bounds worst;
  for (const auto& [kind, recipe] : kinds<T>())
    for (const auto& [name, set] : option_sets<T>())
      for (const extents& e :
           {extents{1, 1, 1, 3, 7, 4, 2}, extents{2, 4, 2, 2, 5, 2, 3}, extents{1, 1, 1, 1, 40, 16, 1}}) {
        random_source source(++seed);
        auto c = make<T>(e);
        recipe(c, source);
        set(c, source);
        const auto used = measure(c);
        worst.merge(used);
        CAPTURE(kind, name, e.keys, used.weights, used.output, used.log_sum_exp);
        CHECK(used.worst() <= 1);
      }
  // A bound that nothing comes near would be no use either.
  CAPTURE(worst.weights, worst.output, worst.log_sum_exp);
  CHECK(worst.weights >= 0.05);
  CHECK(worst.output >= 0.05);
  CHECK(worst.log_sum_exp >= 0.05);
}

/// Scores of one query, given directly, and their largest error over bound in naive and stable.
template <class T>
void check_scores(const std::vector<T>& scores, random_source& source, bool naive_in_range) {
  std::vector<T> values(scores.size());
  for (T& v : values) v = static_cast<T>(source.double_between(-1, 1));
  const auto c = testing::one_head<T>(1, scores, values);
  const double stable = measure(c).worst();
  CAPTURE(scores.size(), scores[0], stable);
  CHECK(stable <= 1);
  if (!naive_in_range) return;
  const double naive = measure(c, testing::which::naive).worst();
  CAPTURE(naive);
  CHECK(naive <= 1);
}

template <class T>
double ulp(double x) {
  const int exponent = std::max(std::ilogb(x), std::numeric_limits<T>::min_exponent - 1);
  return std::ldexp(1.0, exponent - std::numeric_limits<T>::digits + 1);
}

/// The largest error of a function of libm in units of the last place of its result.
template <class T, class F>
double largest_ulp_error(F f, int (*exact)(mpfr_t, const mpfr_t, mpfr_rnd_t),
                         const std::function<T(random_source&)>& draw) {
  random_source source(77);
  double worst = 0;
  for (int n = 0; n < 20000; ++n) {
    const T x = draw(source);
    const auto y = static_cast<double>(f(x));
    reference::real truth = testing::real_of(static_cast<double>(x));
    mpfr_set_prec(truth.get(), 120);
    mpfr_set_d(truth.get(), static_cast<double>(x), MPFR_RNDN);
    exact(truth.get(), truth.get(), MPFR_RNDN);
    const double nearest = mpfr_get_d(truth.get(), MPFR_RNDN);
    if (nearest == 0) continue;
    mpfr_sub_d(truth.get(), truth.get(), y, MPFR_RNDN);
    worst = std::max(worst, std::abs(mpfr_get_d(truth.get(), MPFR_RNDN)) / ulp<T>(nearest));
  }
  return worst;
}

template <class T>
void check_libm() {
  const double lowest = std::is_same_v<T, double> ? 745 : 103;
  const std::function<T(random_source&)> negative = [lowest](random_source& s) {
    return static_cast<T>(-std::ldexp(static_cast<double>(s.word() >> 11), -53) * lowest);
  };
  const std::function<T(random_source&)> small = [](random_source& s) {
    return static_cast<T>(s.double_between(-30, 3));
  };
  const std::function<T(random_source&)> sum = [](random_source& s) {
    return static_cast<T>(1 + std::abs(s.double_between(-20, 14)));
  };
  CHECK(largest_ulp_error<T>([](T x) { return std::exp(x); }, mpfr_exp, negative) <= 1);
  CHECK(largest_ulp_error<T>([](T x) { return std::exp(x); }, mpfr_exp, small) <= 1);
  CHECK(largest_ulp_error<T>([](T x) { return std::log(x); }, mpfr_log, sum) <= 1);
  CHECK(largest_ulp_error<T>([](T x) { return std::log2(x); }, mpfr_log2, sum) <= 1);
  CHECK(largest_ulp_error<T>([](T x) { return std::tanh(x); }, mpfr_tanh, small) <= 3);
  CHECK(std::exp(T(0)) == 1);
  CHECK(std::log(T(1)) == 0);
}

}  // namespace

TEST_CASE("true error over bound, binary64") { check_all_kinds<double>(1000); }
TEST_CASE("true error over bound, binary32") { check_all_kinds<float>(2000); }

TEST_CASE("true error over bound, many keys and wide heads") {
  for (const extents& e :
       {extents{1, 1, 1, 1, 1000, 1, 1}, extents{1, 1, 1, 2, 3, 256, 2}, extents{1, 1, 1, 1, 1, 1, 1}}) {
    random_source source(e.keys);
    auto c = make<double>(e);
    testing::fill(c, source, -3, 0);
    c.options.log_sum_exp = {attest::log_sum_exp_base::e, {}};
    CHECK(measure(c).worst() <= 1);
    auto f = make<float>(e);
    testing::fill(f, source, -3, 0);
    f.options.log_sum_exp = {attest::log_sum_exp_base::two, {}};
    CHECK(measure(f).worst() <= 1);
  }
}

TEST_CASE("true error over bound of naive, over its whole range, and of stable beyond it") {
  random_source source(31);
  const auto around = [&](auto top, double spread, std::size_t n) {
    using T = decltype(top);
    std::vector<T> scores{top};
    while (scores.size() < n)
      scores.push_back(static_cast<T>(static_cast<double>(top) -
                                      spread * static_cast<double>(source.between(0, 1000)) / 1000));
    return scores;
  };
  for (const std::size_t n : {std::size_t{1}, std::size_t{2}, std::size_t{30}})
    for (const double spread : {0.0, 1e-3, 1.0, 40.0, 1500.0}) {
      const double log_n = std::log(static_cast<double>(n));
      for (const double top : {-708.39, -708.0, -600.0, -1.0, 0.0, 3.0, 500.0, 709.78 - log_n - 1e-9})
        check_scores(around(top, spread, n), source, true);
      for (const float top : {-87.33f, -80.0f, 0.0f, 60.0f, 88.7f - static_cast<float>(log_n)})
        check_scores(around(top, spread / 10, n), source, true);
      for (const double top : {-800.0, 800.0, 1e10, -1e300})
        check_scores(around(top, spread, n), source, false);
      for (const float top : {-110.0f, 110.0f, 1e10f}) check_scores(around(top, spread, n), source, false);
    }
}

TEST_CASE("naive with mask and scale, on moderate inputs") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    random_source source(seed);
    auto c = make<double>({2, 2, 2, 3, 6, 5, 2});
    auto f = make<float>({2, 2, 2, 3, 6, 5, 2});
    testing::fill(c, source, -3, 0);
    testing::fill(f, source, -3, 0);
    if (seed % 2 == 0) c.options.scale = f.options.scale = 0.3;
    c.mask.resize(2 * 2 * 3 * 6);
    for (auto& m : c.mask) m = source.word() % 3 != 0;
    for (std::size_t row = 0; row < 12; ++row) c.mask[6 * row] = 1;
    f.mask = c.mask;
    CHECK(measure(c, testing::which::naive).worst() <= 1);
    CHECK(measure(f, testing::which::naive).worst() <= 1);
  }
}

TEST_CASE("what the bounds assume of libm holds on random arguments: exp and log to 1 ulp, tanh to 3") {
  check_libm<double>();
  check_libm<float>();
}

// With one visible key the log-sum-exp that is calculated is the calculated score itself (with a far larger
// sink: the sink), so that the bound of scores shows alone, and each of its terms in turn as the largest: no
// term can be left out.
namespace {

template <class T>
void check_score_bound(const std::string& term, double least_used, const recipe<T>& draw) {
  double worst = 0;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    random_source source(seed);
    auto c = make<T>({1, 1, 1, 1, 11, 1, 1});
    c.options.scale = 1;
    c.options.log_sum_exp = {attest::log_sum_exp_base::e, {}};
    c.q = {T(1)};
    c.k.assign(11, T(1));
    c.v.assign(11, T(1));
    c.mask.assign(11, 0);
    c.mask[0] = 1;
    draw(c, source);
    const testing::true_row row(c, 0, 0, 0);
    const auto bound = attest::kernel::stable_bound<T>(row.size);
    worst = std::max(
        worst, testing::used(static_cast<double>(c.stable().log_sum_exp[0]), row.log_sum_exp, bound.score));
  }
  CAPTURE(term, worst);
  CHECK(worst <= 1);
  CHECK(worst >= least_used);
}

template <class T>
void check_score_bounds() {
  check_score_bound<T>("dot", 0.25, [](call<T>& c, random_source& s) {
    c.key_width = 3;
    c.options.scale.reset();
    c.q.resize(3);
    c.k.resize(33);
    for (T& x : c.q) x = static_cast<T>(std::abs(s.double_between(0, 0)));
    for (T& x : c.k) x = static_cast<T>(std::abs(s.double_between(0, 0)));
  });
  check_score_bound<T>("scale", 0.4, [](call<T>& c, random_source& s) {
    c.options.scale = s.double_between(-1, 1);
    c.q[0] = static_cast<T>(s.double_between(0, 1));
    c.k[0] = static_cast<T>(s.double_between(0, 1));
  });
  check_score_bound<T>("softcap", 0.2, [](call<T>& c, random_source& s) {
    c.options.softcap = std::abs(s.double_between(0, 2));
    c.k[0] = static_cast<T>(s.double_between(-3, 2));
  });
  check_score_bound<T>("bias", 0.8, [](call<T>& c, random_source& s) {
    c.k[0] = static_cast<T>(s.double_between(-20, -8));
    c.bias.assign(11, static_cast<T>(s.double_between(0, 3)));
  });
  check_score_bound<T>("ALiBi", std::is_same_v<T, float> ? 0.5 : 0.3, [](call<T>& c, random_source& s) {
    c.k[0] = static_cast<T>(s.double_between(-20, -8));
    c.options.alibi_slopes = {s.double_between(-3, 3)};
    c.options.past_keys = 10 - s.word() % 8;
  });
  check_score_bound<T>("sink", std::is_same_v<T, float> ? 0.8 : 0, [](call<T>& c, random_source& s) {
    c.k[0] = T(0);
    c.options.sinks = {std::abs(s.double_between(10, 12))};
  });
  check_score_bound<T>("underflow", 0.15, [](call<T>& c, random_source& s) {
    const int digits = std::numeric_limits<T>::digits;
    const int lowest = std::numeric_limits<T>::min_exponent;
    c.options.scale = s.double_between(-2, -1);
    c.q[0] = static_cast<T>(s.double_between(-digits, -2));
    c.k[0] = static_cast<T>(s.double_between(lowest, lowest + 6));
  });
}

}  // namespace

TEST_CASE("true error over bound of single scores, each term of the bound in turn") {
  check_score_bounds<double>();
  check_score_bounds<float>();
}

TEST_CASE("true error over bound of a log-sum-exp far above the errors of its scores") {
  for (const auto base : {attest::log_sum_exp_base::e, attest::log_sum_exp_base::two}) {
    double worst = 0;
    for (std::uint64_t seed = 0; seed < 4000; ++seed) {
      random_source source(seed);
      auto c = testing::one_head<float>(1, {0}, {1});
      c.options.sinks = {std::abs(source.double_between(9, 12))};
      c.bias = {static_cast<float>(c.options.sinks[0]) - 1};
      c.options.log_sum_exp = {base, {}};
      worst = std::max(worst, measure(c).log_sum_exp);
    }
    CAPTURE(worst);
    CHECK(worst <= 1);
    CHECK(worst >= 0.5);
  }
}

TEST_CASE("the bounds promise nothing where first-order terms do not suffice") {
  attest::kernel::row_magnitudes row;
  row.values = 1;
  row.keys = 200000;
  CHECK(std::isinf(attest::kernel::stable_bound<float>(row).output));
  CHECK(std::isfinite(attest::kernel::stable_bound<double>(row).output));
  CHECK(std::isinf(attest::kernel::naive_bound<float>(row).weight));
}

TEST_CASE("where magnitudes overflow nothing is known, which is no NaN") {
  attest::kernel::row_magnitudes row;
  row.products = std::numeric_limits<double>::infinity();
  for (const double scale : {0.0, 1.0}) {
    row.scale = scale;
    CHECK(std::isinf(attest::kernel::stable_bound<double>(row).score));
    CHECK(std::isinf(attest::kernel::fused_bound<double>(row).score));
  }
}
