#include "../../src/reference/instruction_sets.hpp"
#include "catch.hpp"

#include <attest/io/sha256.hpp>
#include <attest/reference/certified_attention.hpp>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

// The results of certified_attention() are the same bytes on every machine, compiler, instruction set and
// number of threads: their digests stand here, and every build compares its own with them. That the bytes are
// the right ones is for the other tests of this folder to say.
static_assert(std::endian::native == std::endian::little, "the digests are of little-endian bytes");

namespace {

using attest::certificate;
using attest::dtype;
using attest::layout;
using attest::rounding;

constexpr std::size_t batch = 2, query_heads = 4, key_heads = 2, queries = 13, keys = 37, key_width = 19,
                      value_width = 11;

struct inputs {
  std::vector<double> q = std::vector<double>(batch * query_heads * queries * key_width);
  std::vector<double> k = std::vector<double>(batch * key_heads * keys * key_width);
  std::vector<double> v = std::vector<double>(batch * key_heads * keys * value_width);
  std::vector<unsigned char> mask = std::vector<unsigned char>(batch * queries * keys, 1);
  std::vector<double> bias = std::vector<double>(query_heads * queries * keys);

  /// Sums of twelve uniform numbers, from a stream that the standard specifies.
  explicit inputs(std::uint64_t seed) {
    std::mt19937_64 words(seed);
    const auto normal = [&] {
      double sum = 0;
      for (int i = 0; i < 12; ++i) sum += static_cast<double>(words() >> 11) * 0x1p-53;
      return sum - 6;
    };
    for (auto* array : {&q, &k, &v, &bias})
      for (double& x : *array) x = normal();
    for (auto& m : mask) m = words() % 4 != 0 ? 1 : 0;
  }
};

struct request {
  attest::attention_options attention;
  attest::certified_options how;
  dtype type = dtype::binary64;
  bool weights = false;
  bool low_words = false;
};

/// Of every array of results, and of its certificates.
std::string digest(const inputs& in, const request& r, unsigned threads) {
  struct array {
    std::vector<unsigned char> high, low;
    std::vector<certificate> known;
  };
  std::array<array, 3> arrays;
  const std::array<layout, 3> layouts{layout{batch, query_heads, queries, value_width},
                                      layout{batch, query_heads, queries, keys},
                                      layout{batch, query_heads, queries, 1}};
  const auto high = [&](std::size_t i) {
    return attest::any_result(arrays[i].high.data(), r.type, layouts[i]);
  };
  const auto low = [&](std::size_t i) {
    return attest::any_result(arrays[i].low.data(), dtype::binary32, layouts[i]);
  };
  const auto known = [&](std::size_t i) {
    return attest::tensor<certificate>(arrays[i].known.data(), layouts[i]);
  };
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    std::size_t count = 1;
    for (const std::size_t extent : layouts[i].extents) count *= extent;
    arrays[i].high.resize(count * attest::size_of(r.type));
    arrays[i].low.resize(count * sizeof(float));
    arrays[i].known.resize(count);
  }
  attest::certified_results results{high(0)};
  results.output_certificates = known(0);
  if (r.low_words) results.output_low = low(0);
  if (r.weights) {
    results.weights = high(1);
    results.weights_certificates = known(1);
    if (r.low_words) results.weights_low = low(1);
  }
  if (r.attention.log_sum_exp) {
    results.log_sum_exp = high(2);
    results.log_sum_exp_certificates = known(2);
    if (r.low_words) results.log_sum_exp_low = low(2);
  }
  attest::certified_options how = r.how;
  how.threads = threads;
  attest::certified_attention(
      {attest::tensor<const double>(in.q.data(), {batch, query_heads, queries, key_width}),
       attest::tensor<const double>(in.k.data(), {batch, key_heads, keys, key_width}),
       attest::tensor<const double>(in.v.data(), {batch, key_heads, keys, value_width})},
      r.attention, results, how);

  attest::io::sha256_stream all;
  const auto add = [&](const auto& bytes) {
    all.add({reinterpret_cast<const char*>(bytes.data()), bytes.size() * sizeof(bytes[0])});
  };
  for (const array& a : arrays) {
    add(a.high);
    add(a.low);
    add(a.known);
  }
  return all.digits().substr(0, 16);
}

struct test_case {
  const char* name;
  const char* digest;  // the first 16 digits of the SHA-256
  std::function<void(inputs&, request&)> set;
};

void scale_queries(inputs& in, double by) {
  for (double& x : in.q) x *= by;
}

std::vector<test_case> cases() {
  using attest::log_sum_exp_base;
  return {
      {"binary64", "78eb0eb0b4799a50", [](inputs&, request&) {}},
      {"binary64, everything", "6b34afe5b3a86976",
       [](inputs&, request& r) {
         r.weights = r.low_words = true;
         r.attention.log_sum_exp = {{log_sum_exp_base::e}};
       }},
      {"binary32", "4a62f7921101275a",
       [](inputs&, request& r) {
         r.type = dtype::binary32;
         r.weights = true;
         r.attention.log_sum_exp = {{log_sum_exp_base::two}};
       }},
      {"binary32, low words", "fa45a3cc984fdb4f",
       [](inputs&, request& r) {
         r.type = dtype::binary32;
         r.low_words = true;
         r.attention.log_sum_exp = {{log_sum_exp_base::two}};
       }},
      {"binary16", "8acc4e9dcf8e33f2", [](inputs&, request& r) { r.type = dtype::binary16; }},
      {"bfloat16", "f90d5aa810e5976f", [](inputs&, request& r) { r.type = dtype::bfloat16; }},
      {"float8_e4m3fn, saturating", "b933a51d175fc5a7",
       [](inputs& in, request& r) {
         r.type = dtype::float8_e4m3fn;
         r.how.saturate = true;
         for (double& x : in.v) x *= 300;
       }},
      {"float8_e5m2, toward zero", "9a44d202d0826bc6",
       [](inputs&, request& r) {
         r.type = dtype::float8_e5m2;
         r.weights = true;
         r.how.direction = rounding::toward_zero;
       }},
      {"float8_e4m3fnuz", "4dff046971db0614", [](inputs&, request& r) { r.type = dtype::float8_e4m3fnuz; }},
      {"float8_e5m2fnuz, overflowing", "e8ecb49dcdf7728f",
       [](inputs& in, request& r) {
         r.type = dtype::float8_e5m2fnuz;
         for (double& x : in.v) x *= 0x1p16;
       }},
      {"up", "8f01555a97d00590",
       [](inputs&, request& r) {
         r.how.direction = rounding::up;
         r.weights = true;
       }},
      {"down", "842e3f869d1a7d9a",
       [](inputs&, request& r) {
         r.how.direction = rounding::down;
         r.attention.log_sum_exp = {{log_sum_exp_base::two}};
       }},
      {"binary32, to odd", "1bec144a91217c8a",
       [](inputs&, request& r) {
         r.type = dtype::binary32;
         r.how.direction = rounding::to_odd;
       }},
      {"causal, window, ALiBi", "4fe42c5c64d645c0",
       [](inputs&, request& r) {
         r.attention.causal = true;
         r.attention.window = attest::key_window{9, {}};
         r.attention.corner = attest::causal_corner::bottom_right;
         r.attention.alibi_slopes = {0.5, 0.25, 0.125, 0.1};
       }},
      {"mask, bias, sinks", "98f6f95aec279ab3",
       [](inputs& in, request& r) {
         r.attention.mask = attest::tensor<const unsigned char>(in.mask.data(), {batch, 1, queries, keys});
         r.attention.bias = attest::tensor<const double>(in.bias.data(), {1, query_heads, queries, keys});
         r.attention.sinks = {-3, 0.5, 2, 40};
         r.attention.log_sum_exp = {{log_sum_exp_base::e}};
         r.weights = true;
       }},
      {"key lengths, empty rows", "784f1fd2b9151582",
       [](inputs&, request& r) {
         r.attention.key_lengths = {5, 0};
         r.attention.empty_row = attest::empty_row_policy::zero;
         r.attention.log_sum_exp = {{log_sum_exp_base::e, attest::empty_log_sum_exp::minus_infinity}};
       }},
      {"softcap", "7390e9987d54e073", [](inputs&, request& r) { r.attention.softcap = 1.5; }},
      {"binary32, softcap", "0c6c3c0ca9317277",
       [](inputs& in, request& r) {
         scale_queries(in, 16);
         r.type = dtype::binary32;
         r.attention.softcap = 30;
       }},
      {"peaked", "783221a4132e898c",
       [](inputs& in, request& r) {
         scale_queries(in, 100);
         r.weights = true;
       }},
      {"huge scores", "3552f86f8595da71",
       [](inputs& in, request& r) {
         scale_queries(in, 1e150);
         r.weights = true;
         r.attention.log_sum_exp = {{log_sum_exp_base::e}};
       }},
      {"nearly uniform", "8b608b250ae96e5f",
       [](inputs& in, request& r) {
         scale_queries(in, 0x1p-70);
         r.weights = true;
       }},
      {"subnormal values", "98b4c392e6679d9d",
       [](inputs& in, request&) {
         for (double& x : in.v) x *= 0x1p-1060;
       }},
      {"integers, ties and equal scores", "6e87770c9e92e7c6",
       [](inputs& in, request& r) {
         for (auto* array : {&in.q, &in.k, &in.v})
           for (double& x : *array) x = std::rint(x / 2);
         r.attention.scale = 1;
         r.type = dtype::binary16;
         r.weights = true;
         r.attention.log_sum_exp = {{log_sum_exp_base::two}};
       }},
      {"values that cancel", "bf2f034954fb88e8",
       [](inputs& in, request&) {
         for (std::size_t i = 0; i + 2 * key_width <= in.k.size(); i += 2 * key_width)
           for (std::size_t c = 0; c < key_width; ++c) in.k[i + key_width + c] = in.k[i + c];
         for (std::size_t i = 0; i + 2 * value_width <= in.v.size(); i += 2 * value_width)
           for (std::size_t c = 0; c < value_width; ++c)
             in.v[i + value_width + c] = -in.v[i + c] * (1 + 0x1p-45);
       }},
  };
}

}  // namespace

TEST_CASE("Reference values are the same bytes here as everywhere") {
  for (const test_case& c : cases()) {
    inputs in(20261130);
    request r;
    c.set(in, r);
    for (const std::string& set : attest::instruction_sets::available()) {
      attest::instruction_sets::use(set);
      for (const unsigned threads : {1u, 2u, 7u}) {
        INFO(c.name << ", " << set << ", threads: " << threads);
        CHECK(digest(in, r, threads) == c.digest);
      }
    }
    attest::instruction_sets::use("");
  }
}
