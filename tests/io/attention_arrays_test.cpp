// Which array is which, quantised arrays, products, options.
#include "contains.hpp"

#include <attest/io/attention_arrays.hpp>
#include <attest/io/input_error.hpp>
#include <attest/io/near_name.hpp>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

#include <unistd.h>

using namespace attest;
using namespace attest::io;
using attest_testing::ContainsSubstring;

namespace {

struct temporary_directory {
  std::filesystem::path path;
  temporary_directory() {
    std::string name = (std::filesystem::temp_directory_path() / "attest-arrays-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~temporary_directory() { std::filesystem::remove_all(path); }
  std::string operator/(const char* name) const { return (path / name).string(); }
};

host_array doubles(const std::string& name, const std::vector<std::size_t>& shape,
                   const std::vector<double>& values) {
  host_array a;
  a.name = name;
  a.shape = shape;
  a.bytes.resize(8 * values.size());
  if (!values.empty()) std::memcpy(a.bytes.data(), values.data(), a.bytes.size());
  return a;
}

std::vector<double> values_of(const host_array& a) { return exact_doubles(a, ""); }

template <class F>
std::string refusal(F f) {
  try {
    f();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "no error";
}

std::vector<double> decoded(const host_array& codes, const host_array& scale,
                            const host_array* zero = nullptr, const std::vector<std::size_t>& block = {}) {
  return values_of(dequantised(codes, scale, zero, block, "f: "));
}

}  // namespace

TEST_CASE("scales: one, of heads, of blocks") {
  const host_array codes = doubles("K", {1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(decoded(codes, doubles("K_scale", {}, {0.5})) == std::vector<double>{0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4});
  CHECK(decoded(codes, doubles("K_scale", {1}, {2})) == std::vector<double>{2, 4, 6, 8, 10, 12, 14, 16});
  CHECK(decoded(codes, doubles("K_scale", {2}, {1, 10})) == std::vector<double>{1, 2, 3, 4, 50, 60, 70, 80});
  CHECK(decoded(codes, doubles("K_scale", {1, 2}, {1, 10})) ==
        std::vector<double>{1, 2, 3, 4, 50, 60, 70, 80});
  CHECK(decoded(codes, doubles("K_scale", {1, 2, 1, 1}, {1, 10})) ==
        std::vector<double>{1, 2, 3, 4, 50, 60, 70, 80});
  CHECK(decoded(codes, doubles("K_scale", {1, 1, 2, 1}, {1, 10})) ==
        std::vector<double>{1, 2, 30, 40, 5, 6, 70, 80});
  CHECK(decoded(codes, doubles("K_scale", {1, 1, 1, 2}, {1, 10})) ==
        std::vector<double>{1, 20, 3, 40, 5, 60, 7, 80});
  // Groups of two along an axis of five: the last has one.
  const host_array five = doubles("K", {1, 5}, {1, 1, 1, 1, 1});
  CHECK(decoded(five, doubles("K_scale", {1, 3}, {1, 2, 3}), nullptr, {1, 2}) ==
        std::vector<double>{1, 1, 2, 2, 3});
  CHECK_THAT(refusal([&] {
               decoded(five, doubles("K_scale", {1, 3}, {1, 2, 3}));
             }),
             ContainsSubstring("f: shape [1, 3] of K_scale: axis 1 of 5 is no whole number of blocks"));
  CHECK_THAT(refusal([&] {
               decoded(five, doubles("K_scale", {1, 3}, {1, 2, 3}), nullptr, {1, 3});
             }),
             ContainsSubstring("in blocks of 3 does not have 3"));
  CHECK_THAT(refusal([&] {
               decoded(five, doubles("K_scale", {1, 3}, {1, 2, 3}), nullptr, {2});
             }),
             ContainsSubstring("--block gives 1 extents, and it has 2 axes"));
  CHECK_THAT(refusal([&] {
               decoded(five, doubles("K_scale", {5}, {1, 2, 3, 4, 5}));
             }),
             ContainsSubstring("does not fit shape [1, 5]"));
  CHECK_THAT(refusal([&] {
               decoded(codes, doubles("K_scale", {3}, {1, 2, 3}));
             }),
             ContainsSubstring("fits neither its heads [2] nor [1, 2]"));
}

TEST_CASE("zero points") {
  const host_array codes = doubles("K", {2, 2}, {-128, 127, 0, 3});
  const host_array zero = doubles("K_zero", {2, 1}, {-8, 3});
  CHECK(decoded(codes, doubles("K_scale", {}, {0.25}), &zero) == std::vector<double>{-30, 33.75, -0.75, 0});
}

TEST_CASE("what is no binary64 is refused, at any magnitude") {
  const auto product = [](double scale, double code) {
    return refusal([&] { decoded(doubles("K", {1, 1}, {code}), doubles("K_scale", {}, {scale})); });
  };
  // (1 + 2^-52)·3 = 3 + 3·2^-52 has 54 bits; ·2 has 53. With 2^-1022 the bits below 2^-1074 decide.
  CHECK_THAT(product(1 + 0x1p-52, 3),
             ContainsSubstring("f: element [0, 0]: scale times (element - zero) is no binary64"));
  CHECK(product(1 + 0x1p-52, 2) == "no error");
  CHECK_THAT(product(0x1p-1074, 0.5), ContainsSubstring("no binary64"));
  CHECK(product(0x1p-1074, 3) == "no error");
  CHECK_THAT(product(0x1.8p-1022, 0x1p-52), ContainsSubstring("no binary64"));  // 1.5·2^-1074
  CHECK(product(0x1.8p-1022, 0x1p-51) == "no error");
  CHECK_THAT(product(0x1p1023, 2), ContainsSubstring("no binary64"));
  CHECK(product(0x1p1022, -2) == "no error");
  CHECK_THAT(product((1 + 0x1p-52) * 0x1p1020, 3), ContainsSubstring("no binary64"));
  CHECK_THAT(product(std::numeric_limits<double>::infinity(), 1),
             ContainsSubstring("an element of K_scale is NaN or infinite"));
  const host_array zero = doubles("K_zero", {}, {0x1p-60});
  CHECK_THAT(refusal([&] {
               decoded(doubles("K", {1, 1}, {1}), doubles("K_scale", {}, {1}), &zero);
             }),
             ContainsSubstring("no binary64"));
  CHECK(decoded(doubles("K", {1, 1}, {0x1p-1074}), doubles("K_scale", {}, {3})) ==
        std::vector<double>{3 * 0x1p-1074});
  CHECK(decoded(doubles("K", {1, 1}, {-5}), doubles("K_scale", {}, {0x1p-1070})) ==
        std::vector<double>{-5 * 0x1p-1070});
}

TEST_CASE("exact products") {
  const auto product = [](const std::vector<double>& x, const std::vector<double>& w) {
    const auto p = exact_product(doubles("X", {1, x.size()}, x), doubles("WQ", {w.size(), 1}, w), "Q");
    return p ? std::optional(values_of(*p)[0]) : std::nullopt;
  };
  CHECK(product({1, 0.5}, {3, 4}) == 5.0);
  CHECK(product({1, 0x1p-53}, {1, 1}) == std::nullopt);                    // 1 + 2^-53
  CHECK(product({1, 0x1p-53, -1}, {1, 1, 1}) == 0x1p-53);                  // though a partial sum is none
  CHECK(product({0x1p1023, 0x1p1023, -0x1p1023}, {1, 1, 1}) == 0x1p1023);  // nor is 2^1024
  CHECK(product({0x1p1023, 1}, {2, 1}) == std::nullopt);
  CHECK(product({0x1p-600, 1}, {0x1p-600, 0}) == std::nullopt);  // 2^-1200
  const auto batch =
      exact_product(doubles("X", {2, 1, 2}, {1, 2, 3, 4}), doubles("W", {2, 2}, {1, 0, 1, 1}), "V");
  CHECK(batch->shape == std::vector<std::size_t>{2, 1, 2});
  CHECK(values_of(*batch) == std::vector<double>{3, 2, 7, 4});
  CHECK_THAT(refusal([] {
               exact_product(doubles("X", {1, 2}, {1, 2}), doubles("WQ", {3, 1}, {1, 2, 3}), "Q");
             }),
             ContainsSubstring("array Q: shape [1, 2] of X does not fit [3, 1] of WQ"));
  CHECK_THAT(refusal([] {
               exact_product(doubles("X", {1, 1}, {NAN}), doubles("WQ", {1, 1}, {1}), "Q");
             }),
             ContainsSubstring("array X: element [0, 0] is NaN or infinite"));
}

TEST_CASE("arrays are found by name") {
  const temporary_directory folder;
  const std::string file = folder / "case.npz";
  write_arrays(file, {{doubles("q", {1, 2}, {1, 2}), doubles("K", {1, 2}, {3, 4}),
                       doubles("layer.v", {1, 1}, {5}), doubles("sinks", {1}, {0.5})},
                      ""});
  array_request request;
  request.files = {file};
  CHECK_THAT(refusal([&] { read_attention_arrays(request); }),
             ContainsSubstring("array V is missing: it has q, K, layer.v, sinks"));
  request.names = {{"V", "layer.v"}};
  const attention_arrays read = read_attention_arrays(request);
  CHECK(values_of(*read.find("Q")) == std::vector<double>{1, 2});
  CHECK(values_of(*read.find("V")) == std::vector<double>{5});
  CHECK(read.options.sinks == std::vector<double>{0.5});
  CHECK_THAT(read.provenance, ContainsSubstring("[{\"file\": \"case.npz\", \"sha256\": \""));
  request.names = {{"W", "layer.v"}};
  CHECK_THAT(refusal([&] { read_attention_arrays(request); }),
             ContainsSubstring("--name: there is no array W"));
  const std::string both = folder / "both.npz";
  write_arrays(both, {{doubles("q", {1, 2}, {1, 2}), doubles("Q", {1, 2}, {3, 4})}, ""});
  request.names = {{"V", "layer.v"}};
  request.files = {file, both};
  CHECK_THAT(refusal([&] { read_attention_arrays(request); }), ContainsSubstring("array Q is there twice"));
  const std::string x = folder / "x.npz";
  write_arrays(x, {{doubles("X", {1, 2}, {1, 2})}, ""});
  request.files = {file, x};
  CHECK_THAT(refusal([&] { read_attention_arrays(request); }), ContainsSubstring("give either"));
  const std::string zero = folder / "zero.npz";
  write_arrays(zero, {{doubles("K_zero", {}, {1})}, ""});
  request.files = {file, zero};
  CHECK_THAT(refusal([&] { read_attention_arrays(request); }),
             ContainsSubstring("it has zero points and no scale"));
}

TEST_CASE("arrays that nothing takes are named or refused") {
  const temporary_directory folder;
  const std::string file = folder / "case.npz";
  array_request request;
  request.files = {file};
  const auto with = [&](const std::string& name) {
    write_arrays(file, {{doubles("Q", {1, 1}, {1}), doubles("K", {1, 1}, {1}), doubles("V", {1, 1}, {1}),
                         doubles(name, {1, 1}, {1})},
                        ""});
    return read_attention_arrays(request).unused;
  };
  for (const char* name : {"foo", "layers.0.attn_bias", "layer/k_scale", "model.is_causal", "cos", "M", "value"})
    CHECK(with(name) == std::vector<std::string>{name});
  for (const char* name : {"output", "lse", "weights", "dots", "expected.dots", "output_low", "lse_low", "weights_low", "BIAS", "k_Descale"})
    CHECK(with(name).empty());
  for (const char* name : {"attn_mask", "mask_2", "biass", "W_Q", "K_scales", "window", "zero_point"})
    CHECK_THAT(refusal([&] { with(name); }), ContainsSubstring(std::string("array ") + name + " is not used"));
  request.ignored = {"foo"};
  CHECK(with("foo").empty());
  request.ignored = {"attn_mask"};  // as good as not there, also for what is looked for
  request.names = {{"mask", "attn_mask"}};
  CHECK_THAT(refusal([&] { with("attn_mask"); }), ContainsSubstring("--name: "));
  // Beside the array that it is like, it is one of many.
  request = {};
  request.files = {file};
  write_arrays(file, {{doubles("Q", {1, 1}, {1}), doubles("K", {1, 1}, {1}), doubles("V", {1, 1}, {1}),
                       doubles("bias", {1, 1}, {1}), doubles("q_bias", {1, 1}, {1})},
                      ""});
  CHECK(read_attention_arrays(request).unused == std::vector<std::string>{"q_bias"});
}

TEST_CASE("what a name was meant to be") {
  for (const char* name : {"causal", "Causal", "caussal", "casual", "causa", "cau_sal", "dausal"})
    CHECK(is_near(name, "causal"));
  for (const char* name : {"cusa", "caauusal", "sausac", ""}) CHECK(!is_near(name, "causal"));
  CHECK(!is_near("K", "Q"));
  CHECK(is_near("k", "K"));
}

TEST_CASE("the options of a case stay with it in every format") {
  for (const array_format format : {array_format::npz, array_format::safetensors, array_format::raw, array_format::json}) {
    const encoded_arrays e = encode({{doubles("Q", {1, 1}, {1})}, "", R"({"scale": "1/3"})"}, format, "case");
    const auto file = open_arrays(e.bytes, format, "case", e.sidecar);
    CHECK(file->case_options() == R"({"scale": "1/3"})");
    CHECK(file->provenance().empty());
  }
}

TEST_CASE("every option has its name in JSON") {
  const auto text = [](const std::string& json) {
    attention_options attention;
    output_options output;
    read_options(json::parse(json), attention, output, "o: ");
    return options_text(attention, output);
  };
  const std::string all =
      R"({"scale": 0.125, "softcap": 30.0, "causal": true, "corner": "bottom_right", "window": {"left": 3}, "past_keys": 2, "key_lengths": [4, 5], )"
      R"("alibi_slopes": [0.5], "sinks": [-1.0, 0.0], "log_sum_exp": {"base": "two", "empty": "plus_infinity"}, "empty_row": "nan", )"
      R"("output_dtype": "float8_e5m2", "direction": "toward_zero", "saturate": true, "low_word": true, "weights": true, "max_bits": 512})";
  CHECK(text(all) == all);
  CHECK(
      text("{}") ==
      R"({"output_dtype": "binary64", "direction": "nearest_even", "saturate": false, "low_word": false, "weights": false})");
  attention_options a;
  output_options o;
  read_options(json::parse(all), a, o, "");
  CHECK(a.scale == 0.125);
  CHECK(a.softcap == 30.0);
  CHECK(a.causal);
  CHECK(a.corner == causal_corner::bottom_right);
  CHECK(a.window->left == 3u);
  CHECK_FALSE(a.window->right.has_value());
  CHECK(a.past_keys == 2u);
  CHECK(a.key_lengths == std::vector<std::size_t>{4, 5});
  CHECK(a.alibi_slopes == std::vector<double>{0.5});
  CHECK(a.sinks == std::vector<double>{-1, 0});
  CHECK(a.log_sum_exp->base == log_sum_exp_base::two);
  CHECK(a.log_sum_exp->empty == empty_log_sum_exp::plus_infinity);
  CHECK(a.empty_row == empty_row_policy::nan);
  CHECK(o.type == dtype::float8_e5m2);
  CHECK(o.direction == rounding::toward_zero);
  CHECK(o.saturate);
  CHECK(o.low_word);
  CHECK(o.weights);
  CHECK(o.max_bits == 512u);
  for (const auto& [name, direction] : {std::pair("nearest_even", rounding::nearest_even),
                                        {"toward_zero", rounding::toward_zero},
                                        {"up", rounding::up},
                                        {"down", rounding::down},
                                        {"to_odd", rounding::to_odd}}) {
    const std::string text_of = std::string("{\"direction\": \"") + name + "\"}";
    read_options(json::parse(text_of), a, o, "");
    CHECK(o.direction == direction);
    CHECK_THAT(options_text(a, o), ContainsSubstring(std::string("\"direction\": \"") + name + "\""));
  }
  for (const auto& [name, policy] : {std::pair("zero", empty_row_policy::zero),
                                     {"nan", empty_row_policy::nan},
                                     {"error", empty_row_policy::error}}) {
    read_options(json::parse(std::string("{\"empty_row\": \"") + name + "\"}"), a, o, "");
    CHECK(a.empty_row == policy);
    CHECK_THAT(options_text(a, o), ContainsSubstring(std::string("\"empty_row\": \"") + name + "\""));
  }
  // A decimal is the nearest binary64, a string exactly what it says.
  attention_options b;
  read_options(json::parse(R"({"scale": 0.1})"), b, o, "");
  CHECK(b.scale == 0.1);
  read_options(json::parse(R"({"scale": "0x1.8p-3"})"), b, o, "");
  CHECK(b.scale == 0.1875);
  CHECK_THAT(refusal([&] { text(R"({"scale": "0.1"})"); }),
             ContainsSubstring("o: option scale: \"0.1\" is no binary64"));
  CHECK_THAT(refusal([&] { text(R"({"Scale": 1})"); }), ContainsSubstring("option Scale: it is not known"));
  CHECK_THAT(refusal([&] { text(R"({"mask": [[true]]})"); }),
             ContainsSubstring("option mask: it is an array"));
  CHECK_THAT(refusal([&] { text(R"({"window": [1, 2]})"); }),
             ContainsSubstring("option window: [1, 2] is no object"));
  CHECK_THAT(refusal([&] { text(R"({"log_sum_exp": "e"})"); }), ContainsSubstring("its base has to be said"));
  CHECK_THAT(refusal([&] { text(R"({"past_keys": 1.0})"); }), ContainsSubstring("1.0 is no whole number"));
}
