#pragma once

#include "certified_oracle.hpp"

#include <attest/reference/certified_attention.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <vector>

// Inputs of every kind for certified_attention(), and the comparison of its results with the oracle. For the
// tests and for the longer campaign.
namespace certified_cases {

using attest::certificate;
using attest::dtype;
using attest::rounding;

enum class family {
  normal,
  uniform,
  peaked,
  very_peaked,
  outlier,
  cancelling,
  huge,
  tiny,
  subnormal,
  all_equal,
  near_uniform,
  integers,
  zero_padded,
  one_hot
};
inline constexpr family families[] = {
    family::normal,       family::uniform,  family::peaked,      family::very_peaked, family::outlier,
    family::cancelling,   family::huge,     family::tiny,        family::subnormal,   family::all_equal,
    family::near_uniform, family::integers, family::zero_padded, family::one_hot};
inline const char* name(family f) {
  constexpr const char* names[] = {"normal",       "uniform",  "peaked",      "very peaked", "outlier",
                                   "cancelling",   "huge",     "tiny",        "subnormal",   "all equal",
                                   "near uniform", "integers", "zero padded", "one hot"};
  return names[static_cast<std::size_t>(f)];
}

/// One head, and the options of one.
struct head {
  std::size_t queries = 1, keys = 1, width = 1, value_width = 1;
  std::vector<double> q, k, v;
  std::optional<double> scale, softcap, slope, sink;
  bool causal = false;
  std::vector<unsigned char> mask;  // [queries, keys], or empty
  std::vector<double> bias;         // likewise

  bool sees(std::size_t i, std::size_t j) const {
    if (causal && static_cast<long>(j) > position(i)) return false;
    return mask.empty() || mask[i * keys + j] != 0;
  }
  long position(std::size_t i) const {  // at the bottom-right corner
    return static_cast<long>(keys) - static_cast<long>(queries) + static_cast<long>(i);
  }
  bool empty(std::size_t i) const {
    for (std::size_t j = 0; j < keys; ++j)
      if (sees(i, j)) return false;
    return !sink;
  }
};

using generator = std::mt19937_64;

inline double normal(generator& g) {
  // Sums of twelve uniform numbers: the same on every standard library.
  double sum = 0;
  for (int i = 0; i < 12; ++i) sum += static_cast<double>(g() >> 11) * 0x1p-53;
  return sum - 6;
}

inline head make(family f, generator& g, std::size_t queries, std::size_t keys, std::size_t width,
                 std::size_t value_width) {
  head h;
  h.queries = queries;
  h.keys = keys;
  h.width = width;
  h.value_width = value_width;
  const auto fill = [&](std::vector<double>& x, std::size_t count, double scale) {
    x.resize(count);
    for (double& y : x) y = scale * normal(g);
  };
  fill(h.q, queries * width, 1);
  fill(h.k, keys * width, 1);
  fill(h.v, keys * value_width, 1);
  const auto each = [](std::vector<double>& x, auto change) {
    for (double& y : x) y = change(y);
  };
  const auto scaled = [&](std::vector<double>& x, double by) { each(x, [&](double y) { return y * by; }); };
  switch (f) {
    case family::normal:
      break;
    case family::uniform:
      for (auto* x : {&h.q, &h.k, &h.v})
        each(*x, [&](double) { return static_cast<double>(g() >> 11) * 0x1p-53; });
      break;
    case family::peaked:
      scaled(h.q, 20);
      break;
    case family::very_peaked:
      scaled(h.q, 3000);
      break;
    case family::outlier:
      for (std::size_t c = 0; c < width; ++c) h.q[c] *= 1e4, h.k[c] *= 1e3;
      for (std::size_t c = 0; c < value_width; ++c) h.v[c] *= 1e8;
      break;
    case family::cancelling:
      // Values of pairs of equal keys cancel to 2^-45 of themselves.
      for (std::size_t j = 1; j < keys; j += 2) {
        for (std::size_t c = 0; c < width; ++c) h.k[j * width + c] = h.k[(j - 1) * width + c];
        for (std::size_t c = 0; c < value_width; ++c)
          h.v[j * value_width + c] =
              -h.v[(j - 1) * value_width + c] * (1 + 0x1p-45 * static_cast<double>(g() % 7));
      }
      break;
    case family::huge:
      scaled(h.q, 1e150);
      scaled(h.k, 1e150);
      scaled(h.v, 1e307 / 6);
      break;
    case family::tiny:
      scaled(h.q, 1e-160);
      scaled(h.v, 1e-290);
      break;
    case family::subnormal:
      scaled(h.q, 1e-310);
      scaled(h.v, 1e-312);
      break;
    case family::all_equal:
      scaled(h.q, 0);
      if (g() % 2 == 0) each(h.v, [](double y) { return std::rint(8 * y); });
      break;
    case family::near_uniform:
      scaled(h.q, std::ldexp(1.0, -static_cast<int>(20 + g() % 60)));
      break;
    case family::integers:
      for (auto* x : {&h.q, &h.k, &h.v}) each(*x, [](double y) { return std::rint(2 * y); });
      break;
    case family::zero_padded:
      for (std::size_t j = 0; j < keys; ++j)
        for (std::size_t c = value_width / 2; c < value_width; ++c) h.v[j * value_width + c] = 0;
      for (std::size_t j = keys - keys / 4; j < keys; ++j) {
        for (std::size_t c = 0; c < width; ++c) h.k[j * width + c] = 0;
        for (std::size_t c = 0; c < value_width; ++c) h.v[j * value_width + c] = 0;
      }
      break;
    case family::one_hot:
      for (std::size_t j = 0; j < keys; ++j)
        for (std::size_t c = 0; c < width; ++c) h.k[j * width + c] = c == j % width ? 1 : 0;
      scaled(h.q, 64);
      each(h.q, [](double y) { return std::rint(y); });
      each(h.v, [](double y) { return std::rint(4 * y) / 4; });
      break;
  }
  return h;
}

/// Options by chance.
inline void add_options(head& h, generator& g) {
  if (g() % 4 == 0) h.sink = normal(g);
  if (g() % 4 == 0) h.causal = true;
  if (g() % 4 == 0) {
    h.mask.resize(h.queries * h.keys);
    for (auto& m : h.mask) m = g() % 3 != 0 ? 1 : 0;
  }
  if (g() % 5 == 0) {
    h.bias.resize(h.queries * h.keys);
    for (double& b : h.bias) b = normal(g);
  }
  if (g() % 5 == 0) h.slope = 0.125 * normal(g);
  if (g() % 3 == 0) h.scale = 0.3 * normal(g);
}

/// What to ask for.
struct request {
  dtype type = dtype::binary64;
  rounding direction = rounding::nearest_even;
  bool low_words = false;
  bool weights = false;
  std::optional<attest::log_sum_exp_base> log_sum_exp = {};
  std::array<bool, 4> tiers{true, true, true, true};
  unsigned threads = 1;
  bool saturate = false;
  std::optional<unsigned> max_bits = {};
};

/// Bytes and certificates of a call: everything that must not depend on how it was found.
struct answer {
  std::vector<unsigned char> output, weights, log_sum_exp;
  std::vector<float> output_low, weights_low, log_sum_exp_low;
  std::vector<certificate> output_certificates, weights_certificates, log_sum_exp_certificates;
  attest::certification settled;

  bool same_bytes(const answer& o) const {
    const auto same = [](const std::vector<float>& a, const std::vector<float>& b) {
      return a.size() == b.size() &&
             (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
    };
    return output == o.output && weights == o.weights && log_sum_exp == o.log_sum_exp &&
           same(output_low, o.output_low) && same(weights_low, o.weights_low) &&
           same(log_sum_exp_low, o.log_sum_exp_low) && output_certificates == o.output_certificates &&
           weights_certificates == o.weights_certificates &&
           log_sum_exp_certificates == o.log_sum_exp_certificates;
  }
};

inline answer ask(const head& h, const request& r) {
  using namespace attest;
  answer a;
  const std::size_t bytes = size_of(r.type);
  const layout outputs{h.queries, h.value_width};
  const layout scores{h.queries, h.keys};
  const layout rows{h.queries, std::size_t{1}};
  a.output.resize(h.queries * h.value_width * bytes);
  a.output_certificates.resize(h.queries * h.value_width);
  certified_results results{any_result(a.output.data(), r.type, outputs)};
  results.output_certificates = tensor<certificate>(a.output_certificates.data(), outputs);
  if (r.low_words) {
    a.output_low.resize(h.queries * h.value_width);
    results.output_low = any_result(a.output_low.data(), dtype::binary32, outputs);
  }
  if (r.weights) {
    a.weights.resize(h.queries * h.keys * bytes);
    a.weights_certificates.resize(h.queries * h.keys);
    results.weights = any_result(a.weights.data(), r.type, scores);
    results.weights_certificates = tensor<certificate>(a.weights_certificates.data(), scores);
    if (r.low_words) {
      a.weights_low.resize(h.queries * h.keys);
      results.weights_low = any_result(a.weights_low.data(), dtype::binary32, scores);
    }
  }
  attention_options options;
  options.scale = h.scale;
  options.softcap = h.softcap;
  if (h.slope) options.alibi_slopes = {*h.slope};
  if (h.sink) options.sinks = {*h.sink};
  options.causal = h.causal;
  options.corner = causal_corner::bottom_right;
  options.empty_row = empty_row_policy::zero;
  if (!h.mask.empty()) options.mask = any_tensor(h.mask.data(), dtype::boolean, scores);
  if (!h.bias.empty()) options.bias = any_tensor(h.bias.data(), dtype::binary64, scores);
  if (r.log_sum_exp) {
    a.log_sum_exp.resize(h.queries * bytes);
    a.log_sum_exp_certificates.resize(h.queries);
    options.log_sum_exp = {*r.log_sum_exp, empty_log_sum_exp::minus_infinity};
    results.log_sum_exp = any_result(a.log_sum_exp.data(), r.type, rows);
    results.log_sum_exp_certificates = tensor<certificate>(a.log_sum_exp_certificates.data(), rows);
    if (r.low_words) {
      a.log_sum_exp_low.resize(h.queries);
      results.log_sum_exp_low = any_result(a.log_sum_exp_low.data(), dtype::binary32, rows);
    }
  }
  certified_options how;
  how.direction = r.direction;
  how.saturate = r.saturate;
  how.tiers = r.tiers;
  how.threads = r.threads;
  how.max_bits = r.max_bits;
  a.settled = certified_attention({any_tensor(h.q.data(), dtype::binary64, layout{h.queries, h.width}),
                                   any_tensor(h.k.data(), dtype::binary64, layout{h.keys, h.width}),
                                   any_tensor(h.v.data(), dtype::binary64, layout{h.keys, h.value_width})},
                                  options, results, how);
  return a;
}

inline std::uint64_t pattern_at(const std::vector<unsigned char>& bytes, std::size_t index, dtype type) {
  const std::size_t size = attest::size_of(type);
  std::uint64_t pattern = 0;
  std::memcpy(&pattern, bytes.data() + index * size, size);  // little-endian
  return pattern;
}

inline oracle::row row_of(const head& h, std::size_t i, std::vector<std::size_t>& keys) {
  oracle::row r;
  r.q.assign(h.q.begin() + static_cast<long>(i * h.width),
             h.q.begin() + static_cast<long>((i + 1) * h.width));
  keys.clear();
  for (std::size_t j = 0; j < h.keys; ++j) {
    if (!h.sees(i, j)) continue;
    keys.push_back(j);
    r.k.emplace_back(h.k.begin() + static_cast<long>(j * h.width),
                     h.k.begin() + static_cast<long>((j + 1) * h.width));
    r.v.emplace_back(h.v.begin() + static_cast<long>(j * h.value_width),
                     h.v.begin() + static_cast<long>((j + 1) * h.value_width));
    if (!h.bias.empty()) r.added.push_back(h.bias[i * h.keys + j]);
    r.distance.push_back(std::labs(h.position(i) - static_cast<long>(j)));
  }
  r.scale = h.scale;
  r.softcap = h.softcap;
  r.slope = h.slope;
  r.sink = h.sink;
  return r;
}

struct tally {
  std::size_t elements = 0;  // compared, low words among them
  std::size_t wrong = 0;
  std::size_t undecided = 0;
  std::size_t exact = 0;   // of outputs that the oracle knows to be numbers of the format or ties
  std::size_t beyond = 0;  // that the oracle cannot decide
  std::string first_wrong = {};

  void operator+=(const tally& t) {
    elements += t.elements;
    wrong += t.wrong;
    undecided += t.undecided;
    exact += t.exact;
    beyond += t.beyond;
    if (first_wrong.empty()) first_wrong = t.first_wrong;
  }
};

/// Compares rows of the answer (every `step`-th) with the oracle.
inline tally check(const head& h, const request& r, const answer& a, std::size_t step = 1) {
  tally t;
  attest::format f = *attest::format_of(r.type);
  if (r.saturate) f.infinity = f.largest;
  std::vector<std::size_t> keys;
  for (std::size_t i = 0; i < h.queries; i += step) {
    if (h.empty(i)) continue;
    const oracle::row row = row_of(h, i, keys);
    std::vector<std::pair<mpfr_prec_t, oracle::row_values>> levels;
    const auto level = [&](mpfr_prec_t precision) -> const oracle::row_values& {
      for (const auto& [p, values] : levels)
        if (p == precision) return values;
      return levels.emplace_back(precision, oracle::row_values(row, precision)).second;
    };
    levels.reserve(8);
    const auto wrong = [&](const char* what, std::size_t c, std::uint64_t got, std::uint64_t want) {
      ++t.wrong;
      if (!t.first_wrong.empty()) return;
      char text[160];
      std::snprintf(text, sizeof text, "%s of row %zu, column %zu: %llx instead of %llx", what, i, c,
                    static_cast<unsigned long long>(got), static_cast<unsigned long long>(want));
      t.first_wrong = text;
    };
    // `value` gives the enclosure at a precision; `exact` the value, where it is a fraction.
    const auto compare = [&](const char* what, std::size_t c, std::uint64_t got, certificate how,
                             const float* low, auto value, const std::optional<oracle::fraction>& exact,
                             const std::optional<oracle::row_values::beside>& dominated) {
      ++t.elements;
      if (how == certificate::undecided) {
        ++t.undecided;
        return;
      }
      std::uint64_t want = 0;
      if (exact) {
        const oracle::rounded_fraction rounded = oracle::round_to_format(exact->get(), f, r.direction);
        want = rounded.pattern;
        if (rounded.half_step) ++t.exact;
        if ((how == certificate::exact) != rounded.half_step)
          wrong("certificate", c, static_cast<std::uint64_t>(how), 0);
      } else {
        if (how == certificate::exact) wrong("certificate", c, static_cast<std::uint64_t>(how), 0);
        std::optional<std::uint64_t> found;
        if (dominated) found = oracle::rounded(*dominated, f, r.direction);
        for (mpfr_prec_t p = 256; !found && p <= 16384; p *= 4)
          found = oracle::rounded(value(level(p)), f, r.direction);
        if (!found) {
          ++t.beyond;
          return;
        }
        want = *found;
      }
      if (got != want) return wrong(what, c, got, want);
      if (low == nullptr) return;
      ++t.elements;
      const attest::decoded high = attest::decode(got, f);
      if (high.kind != attest::number_kind::finite) {
        if (std::bit_cast<std::uint32_t>(*low) != 0)
          wrong("low word of infinity", c, std::bit_cast<std::uint32_t>(*low), 0);
        return;
      }
      const double high_value =
          std::ldexp(static_cast<double>(high.significand), high.exponent) * (high.negative ? -1 : 1);
      std::optional<std::uint64_t> low_want;
      if (exact) {
        oracle::fraction rest;
        mpq_set_d(rest.get(), high_value);
        mpq_sub(rest.get(), exact->get(), rest.get());
        low_want =
            oracle::round_to_format(rest.get(), attest::formats::binary32, rounding::nearest_even).pattern;
      } else {
        if (dominated)
          low_want =
              oracle::rounded(*dominated, attest::formats::binary32, rounding::nearest_even, high_value);
        for (mpfr_prec_t p = 256; !low_want && p <= 16384; p *= 4)
          low_want =
              oracle::rounded(value(level(p)), attest::formats::binary32, rounding::nearest_even, high_value);
      }
      if (!low_want) {
        ++t.beyond;
        return;
      }
      if (std::bit_cast<std::uint32_t>(*low) != *low_want)
        wrong("low word", c, std::bit_cast<std::uint32_t>(*low), *low_want);
    };
    const oracle::row_values& first = level(256);
    for (std::size_t c = 0; c < h.value_width; ++c) {
      const std::size_t at = i * h.value_width + c;
      compare(
          "output", c, pattern_at(a.output, at, r.type), a.output_certificates[at],
          r.low_words ? &a.output_low[at] : nullptr, [&](const oracle::row_values& v) { return v.output(c); },
          first.rational_output(c), first.dominated(c));
    }
    if (r.weights)
      for (std::size_t n = 0; n < keys.size(); ++n) {
        const std::size_t at = i * h.keys + keys[n];
        compare("weight", keys[n], pattern_at(a.weights, at, r.type), a.weights_certificates[at],
                r.low_words ? &a.weights_low[at] : nullptr,
                [&](const oracle::row_values& v) { return v.weight(n); }, first.rational_weight(), {});
      }
    if (r.log_sum_exp)
      compare("log-sum-exp", 0, pattern_at(a.log_sum_exp, i, r.type), a.log_sum_exp_certificates[i],
              r.low_words ? &a.log_sum_exp_low[i] : nullptr,
              [&](const oracle::row_values& v) {
                return v.log_sum_exp(*r.log_sum_exp == attest::log_sum_exp_base::two);
              },
              first.rational_log_sum_exp(*r.log_sum_exp == attest::log_sum_exp_base::two), {});
  }
  return t;
}

}  // namespace certified_cases
