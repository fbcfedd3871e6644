// Views: strides of every kind, [T, d] and [B, T, d], repeated axes, masks and biases that repeat.
#include "catch.hpp"
#include "head.hpp"

using attest::kernel::stable;

namespace {

testing::call<double> random_call() {
  testing::random_source source(8);
  testing::call<double> c;
  c.batch = 2;
  c.query_heads = 4;
  c.key_heads = 2;
  c.queries = 3;
  c.keys = 5;
  c.key_width = 3;
  c.value_width = 2;
  testing::fill(c, source, -2, 1);
  return c;
}

/// The elements of a dense array [B, H, T, d], moved to memory of the layout [d, T, H, B] reversed along T.
struct moved {
  std::vector<double> memory;
  std::size_t b, h, t, d;
  moved(const std::vector<double>& dense, std::size_t b_, std::size_t h_, std::size_t t_, std::size_t d_)
      : memory(dense.size()), b(b_), h(h_), t(t_), d(d_) {
    for (std::size_t n = 0; n < dense.size(); ++n) {
      const std::size_t x = n % d, p = n / d % t, head = n / d / t % h, batch = n / d / t / h;
      memory[((x * t + (t - 1 - p)) * h + head) * b + batch] = dense[n];
    }
  }
  attest::tensor<const double> view() const {
    const auto s = [](std::size_t n) { return static_cast<std::ptrdiff_t>(n); };
    return {memory.data() + (t - 1) * h * b, {b, h, t, d}, {1, s(b), -s(h * b), s(t * h * b)}};
  }
};

}  // namespace

TEST_CASE("any strides, negative ones too, give the results of the dense arrays bit for bit") {
  const auto c = random_call();
  const auto expected = c.stable();
  const moved q(c.q, 2, 4, 3, 3), k(c.k, 2, 2, 5, 3), v(c.v, 2, 2, 5, 2);
  std::vector<double> output(2 * 4 * 3 * 4, -1);  // with gaps: every second coordinate
  stable<double>({q.view(), k.view(), v.view()}, {},
                 {attest::tensor<double>(output.data(), {2, 4, 3, 2}, {48, 12, 4, 2})});
  for (std::size_t n = 0; n < output.size(); ++n)
    CHECK(output[n] == (n % 2 == 0 ? expected.output[n / 2] : -1));
}

TEST_CASE("a stride of 0 repeats: one key/value batch for all") {
  auto c = random_call();
  for (std::size_t n = 0; n < c.k.size() / 2; ++n) c.k[c.k.size() / 2 + n] = c.k[n];
  for (std::size_t n = 0; n < c.v.size() / 2; ++n) c.v[c.v.size() / 2 + n] = c.v[n];
  const auto expected = c.stable();
  auto r = c.empty_results();
  auto in = c.inputs();
  in.k = {c.k.data(), {2, 2, 5, 3}, {0, 15, 3, 1}};
  in.v = {c.v.data(), {2, 2, 5, 2}, {0, 10, 2, 1}};
  stable<double>(in, {}, c.views(r));
  CHECK(r.output == expected.output);
}

TEST_CASE("[T, d] and [B, T, d] where there is one head") {
  auto c = random_call();
  c.query_heads = c.key_heads = 1;
  c.q.resize(2 * 3 * 3);
  c.k.resize(2 * 5 * 3);
  c.v.resize(2 * 5 * 2);
  const auto expected = c.stable();
  std::vector<double> output(12);
  stable<double>({{c.q.data(), {2, 3, 3}}, {c.k.data(), {2, 5, 3}}, {c.v.data(), {2, 5, 2}}}, {},
                 {attest::tensor<double>(output.data(), {2, 3, 2})});
  CHECK(output == expected.output);
  stable<double>({{c.q.data() + 9, {3, 3}}, {c.k.data() + 15, {5, 3}}, {c.v.data() + 10, {5, 2}}}, {},
                 {attest::tensor<double>(output.data(), {3, 2})});
  for (std::size_t n = 0; n < 6; ++n) CHECK(output[n] == expected.output[6 + n]);
}

TEST_CASE("masks and biases repeat along axes of extent 1") {
  auto c = random_call();
  const std::vector<unsigned char> padding = {1, 1, 0, 1, 0, 0, 1, 1, 1, 1};              // [B, 1, 1, Tk]
  const std::vector<double> relative = {0.5, -1, 2, 0, 1, 1, 2, 3, 4, 5, 0, 0, 1, 0, 0};  // [Tq, Tk]
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t h = 0; h < 4; ++h)
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 5; ++j) {
          c.mask.push_back(padding[5 * b + j]);
          c.bias.push_back(relative[5 * i + j]);
        }
  const auto expected = c.stable();
  attest::attention_options options;
  options.mask = attest::tensor<const unsigned char>(padding.data(), {2, 1, 1, 5});
  options.bias = attest::tensor<const double>(relative.data(), {3, 5});
  auto r = c.empty_results();
  stable<double>(c.inputs(), options, c.views(r));
  CHECK(r.output == expected.output);
  CHECK(r.weights == expected.weights);
  const bool as_bool[5] = {true, true, false, true, false};
  options.mask = attest::tensor<const bool>(as_bool, {1, 5});
  stable<double>(c.inputs(), options, c.views(r));
  for (std::size_t n = 0; n < 24; ++n) CHECK(r.output[n] == expected.output[n]);
}

TEST_CASE("a narrow bias of every float type is the number that it stands for") {
  auto c = testing::one_head<double>(1, {0, 0}, {1, 0});
  c.bias = {0.5, -0.25};
  const auto expected = c.stable();
  const attest::float16_t half[2] = {attest::float16_t{0x3800}, attest::float16_t{0xb400}};
  const attest::bfloat16_t brain[2] = {attest::bfloat16_t{0x3f00}, attest::bfloat16_t{0xbe80}};
  attest::attention_options options;
  options.scale = 1;
  auto r = c.empty_results();
  options.bias = attest::tensor<const attest::float16_t>(half, {1, 2});
  stable<double>(c.inputs(), options, c.views(r));
  CHECK(r.output == expected.output);
  options.bias = attest::tensor<const attest::bfloat16_t>(brain, {1, 2});
  stable<double>(c.inputs(), options, c.views(r));
  CHECK(r.output == expected.output);
}
