#pragma once

#include "head.hpp"

#include <functional>
#include <map>
#include <string>

// The inputs that error bounds are tested on: kinds of values, and sets of options.
namespace testing {

template <class T>
using recipe = std::function<void(call<T>&, random_source&)>;

template <class T>
void scale_all(std::vector<T>& a, double factor) {
  for (T& x : a) x = static_cast<T>(static_cast<double>(x) * factor);
}

template <class T>
std::map<std::string, recipe<T>> kinds() {
  constexpr bool is_double = std::is_same_v<T, double>;
  constexpr int least = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
  std::map<std::string, recipe<T>> all;
  all["all scores equal"] = [](call<T>& c, random_source& s) {
    testing::fill(c, s, -2, 1);
    scale_all(c.k, 0);
  };
  all["nearly uniform"] = [](call<T>& c, random_source& s) {
    testing::fill(c, s, -2, 1);
    scale_all(c.k, 1e-6);
  };
  all["moderate"] = [](call<T>& c, random_source& s) { testing::fill(c, s, -3, 0); };
  all["peaked"] = [](call<T>& c, random_source& s) {
    testing::fill(c, s, -3, 0);
    scale_all(c.q, 40);
  };
  all["outlier"] = [](call<T>& c, random_source& s) {
    testing::fill(c, s, -4, 0);
    for (std::size_t x = 0; x < c.key_width; ++x) {
      c.q[x] *= T(50);
      c.k[x] *= T(50);
    }
    for (std::size_t x = 0; x < c.value_width; ++x) c.v[x] *= T(1e6);
  };
  all["cancelling scores"] = [](call<T>& c, random_source& s) {
    testing::fill(c, s, -2, 1);
    for (std::size_t n = 0; n + 1 < c.k.size(); n += 2) {
      c.k[n] *= T(100);
      c.k[n + 1] = -c.k[n];
    }
    for (std::size_t n = 0; n + 1 < c.q.size(); n += 2)
      c.q[n + 1] = c.q[n] + std::numeric_limits<T>::epsilon() * c.q[n];
  };
  all["cancelling values"] = [](call<T>& c, random_source& s) {
    testing::fill(c, s, -2, 1);
    scale_all(c.k, 0.01);
    for (std::size_t n = c.value_width; n < c.v.size(); n += 2) c.v[n] = -c.v[n - c.value_width];
  };
  all["huge scores"] = [](call<T>& c, random_source& s) {
    testing::fill(c, s, -2, 1);
    scale_all(c.q, is_double ? 1e150 : 1e17);
    scale_all(c.k, is_double ? 1e150 : 1e17);
  };
  all["huge values"] = [](call<T>& c, random_source& s) {
    testing::fill(c, s, -4, -1);
    scale_all(c.v, is_double ? 1e308 : 2e38);
  };
  all["subnormal values"] = [](call<T>& c, random_source& s) {
    testing::fill(c, s, -3, 0);
    for (T& x : c.v) x = static_cast<T>(std::ldexp(static_cast<double>(s.between(-9, 9)), least));
  };
  all["tiny everything"] = [](call<T>& c, random_source& s) {
    testing::fill(c, s, least + 2, least + 40);
    scale_all(c.q, std::ldexp(1.0, is_double ? 530 : 70));
  };
  all["exponentials that underflow"] = [](call<T>& c, random_source& s) {
    testing::fill(c, s, -2, 1);
    // the first coordinate spreads the scores over the range in which exp runs out
    for (std::size_t n = 0; n < c.q.size(); n += c.key_width) c.q[n] = T(1);
    for (std::size_t n = 0; n < c.k.size(); n += c.key_width)
      c.k[n] = static_cast<T>(s.between(0, 1000)) * T(is_double ? -1 : -0.14) *
               std::sqrt(static_cast<T>(c.key_width));
    scale_all(c.v, is_double ? 1e300 : 1e35);
  };
  return all;
}

template <class T>
std::map<std::string, std::function<void(call<T>&, random_source&)>> option_sets() {
  std::map<std::string, std::function<void(call<T>&, random_source&)>> all;
  const auto every_second_or_none = [](call<T>& c, random_source& s) {
    c.mask.resize(c.batch * c.query_heads * c.queries * c.keys);
    for (auto& m : c.mask) m = s.word() % 2 == 0;
    for (std::size_t j = 0; j < c.keys; ++j) c.mask[j] = 0;  // one empty row
    c.options.empty_row = attest::empty_row_policy::zero;
  };
  all["none"] = [](call<T>&, random_source&) {};
  all["log-sum-exp"] = [](call<T>& c, random_source&) {
    c.options.log_sum_exp = {attest::log_sum_exp_base::e, {}};
  };
  all["scale, log-sum-exp base 2"] = [](call<T>& c, random_source& s) {
    c.options.scale = s.double_between(-3, -1);
    c.options.log_sum_exp = {attest::log_sum_exp_base::two, {}};
  };
  all["mask"] = every_second_or_none;
  all["softcap"] = [](call<T>& c, random_source& s) {
    c.options.softcap = std::abs(s.double_between(0, 5));
    c.options.log_sum_exp = {attest::log_sum_exp_base::e, {}};
  };
  all["bias"] = [](call<T>& c, random_source& s) {
    c.bias.resize(c.batch * c.query_heads * c.queries * c.keys);
    for (T& x : c.bias) x = static_cast<T>(s.double_between(-3, 3));
    c.options.log_sum_exp = {attest::log_sum_exp_base::e, {}};
  };
  all["ALiBi"] = [](call<T>& c, random_source& s) {
    for (std::size_t h = 0; h < c.query_heads; ++h)
      c.options.alibi_slopes.push_back(std::abs(s.double_between(-6, 0)));
    c.options.corner = attest::causal_corner::bottom_right;
    c.options.log_sum_exp = {attest::log_sum_exp_base::two, {}};
  };
  all["sinks"] = [](call<T>& c, random_source& s) {
    for (std::size_t h = 0; h < c.query_heads; ++h) c.options.sinks.push_back(s.double_between(-3, 3));
    c.options.log_sum_exp = {attest::log_sum_exp_base::e, {}};
  };
  all["everything"] = [every_second_or_none](call<T>& c, random_source& s) {
    every_second_or_none(c, s);
    c.options.softcap = std::abs(s.double_between(2, 6));
    c.options.scale = s.double_between(-2, 1);
    c.bias.resize(c.mask.size());
    for (T& x : c.bias)
      x = s.word() % 8 == 0 ? -std::numeric_limits<T>::infinity() : static_cast<T>(s.double_between(-3, 1));
    for (std::size_t h = 0; h < c.query_heads; ++h) {
      c.options.alibi_slopes.push_back(std::abs(s.double_between(-6, 0)));
      c.options.sinks.push_back(s.double_between(-3, 1));
    }
    c.options.corner = attest::causal_corner::bottom_right;
    c.options.causal = true;
    c.options.window = attest::key_window{5, {}};
    c.options.log_sum_exp = {attest::log_sum_exp_base::e, {}};
  };
  return all;
}

struct extents {
  std::size_t batch, query_heads, key_heads, queries, keys, key_width, value_width;
};

template <class T>
call<T> make(const extents& e) {
  call<T> c;
  c.batch = e.batch;
  c.query_heads = e.query_heads;
  c.key_heads = e.key_heads;
  c.queries = e.queries;
  c.keys = e.keys;
  c.key_width = e.key_width;
  c.value_width = e.value_width;
  return c;
}

}  // namespace testing
