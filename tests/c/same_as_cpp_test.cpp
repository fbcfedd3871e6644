// What the C interface gives is what the C++ library gives, bit for bit; and nothing but a status comes out of it, however
// memory runs out.
#include <attest.h>

#include <attest/kernel/fused.hpp>
#include <attest/kernel/naive.hpp>
#include <attest/kernel/stable.hpp>
#include <attest/reference/certified_attention.hpp>

#include <catch.hpp>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

std::atomic<bool> failing = false;
std::atomic<long> allocations_left = 0;  // before one fails, where they do
bool throw_nonsense = false;

void count_allocation() {
  if (!failing || allocations_left.fetch_sub(1) > 0) return;
  if (throw_nonsense) throw 42;
  throw std::bad_alloc();
}

void* allocate(std::size_t size) {
  count_allocation();
  if (void* const p = std::malloc(size == 0 ? 1 : size)) return p;
  throw std::bad_alloc();
}

}  // namespace

// The shared library's allocations come here, too.
void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return allocate(size);
  } catch (...) {
    return nullptr;
  }
}
void* operator new[](std::size_t size, const std::nothrow_t& t) noexcept { return operator new(size, t); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  count_allocation();
  const std::size_t a = static_cast<std::size_t>(alignment);
  if (void* const p = std::aligned_alloc(a, (size + a - 1) / a * a)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }

namespace {

template <class T>
constexpr std::int32_t dtype_in_c = std::is_same_v<T, double> ? ATTEST_BINARY64 : ATTEST_BINARY32;

/// B = 2, Hq = 4, Hkv = 2, Tq = 3, Tk = 5, d_k = 7, d_v = 6, with the values in memory as [B, T, H, d].
template <class T>
struct problem {
  static constexpr std::int64_t q_shape[4] = {2, 4, 3, 7}, k_shape[4] = {2, 2, 5, 7}, v_shape[4] = {2, 2, 5, 6},
                                out_shape[4] = {2, 4, 3, 6}, weights_shape[4] = {2, 4, 3, 5}, lse_shape[4] = {2, 4, 3, 1},
                                mask_shape[4] = {1, 1, 3, 5};
  static constexpr std::int64_t v_strides[4] = {60, 6, 12, 1};
  std::vector<T> q = random(168), k = random(140), v = random(120);
  std::vector<T> output = std::vector<T>(144, 7), weights = std::vector<T>(120, 7), log_sum_exp = std::vector<T>(24, 7);

  static std::vector<T> random(std::size_t count) {
    static std::mt19937 engine(1);
    std::vector<T> x(count);
    for (T& e : x) e = static_cast<T>(static_cast<double>(engine()) * 0x1p-30 - 2);
    return x;
  }

  attest_inputs inputs() const {
    return {{q.data(), dtype_in_c<T>, 4, q_shape, nullptr},
            {k.data(), dtype_in_c<T>, 4, k_shape, nullptr},
            {v.data(), dtype_in_c<T>, 4, v_shape, v_strides}};
  }
  attest_results results() {
    attest_results r = ATTEST_RESULTS_INIT;
    r.output = {output.data(), dtype_in_c<T>, 4, out_shape, nullptr};
    return r;
  }
  attest::kernel::attention_inputs<T> inputs_in_cpp() const {
    return {{q.data(), {2, 4, 3, 7}}, {k.data(), {2, 2, 5, 7}}, {v.data(), {2, 2, 5, 6}, {60, 6, 12, 1}}};
  }
  attest::kernel::attention_results<T> results_in_cpp() { return {{output.data(), {2, 4, 3, 6}}}; }
};

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

/// Every option at once, in both languages.
struct options {
  double scale = 0.3;
  double slopes[4] = {0.5, 0.25, 0, -1}, sinks[4] = {0, -1, 1, 0.5};
  std::uint64_t left = 2, right = 1, past = 1, lengths[2] = {5, 4};
  unsigned char mask[15] = {1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 1, 0, 1, 1, 1};
  std::vector<float> bias = problem<float>::random(15);

  attest_options in_c() const {
    attest_options o = ATTEST_OPTIONS_INIT;
    o.scale = &scale;
    o.softcap = 1.5;
    o.bias = {bias.data(), ATTEST_BINARY32, 4, problem<float>::mask_shape, nullptr};
    o.alibi_slopes = slopes;
    o.alibi_slopes_count = 4;
    o.mask = {mask, ATTEST_BOOLEAN, 4, problem<float>::mask_shape, nullptr};
    o.causal = 1;
    o.window_left = &left;
    o.window_right = &right;
    o.past_keys = &past;
    o.key_lengths = lengths;
    o.key_lengths_count = 2;
    o.sinks = sinks;
    o.sinks_count = 4;
    o.empty_row = ATTEST_EMPTY_ROW_ZERO;
    o.log_sum_exp_base = ATTEST_BASE_TWO;
    o.empty_log_sum_exp = ATTEST_PLUS_INFINITY;
    return o;
  }
  attest::attention_options in_cpp() const {
    attest::attention_options o;
    o.scale = scale;
    o.softcap = 1.5;
    o.bias = attest::any_tensor(bias.data(), attest::dtype::binary32, attest::layout{1, 1, 3, 5});
    o.alibi_slopes.assign(slopes, slopes + 4);
    o.mask = attest::any_tensor(mask, attest::dtype::boolean, attest::layout{1, 1, 3, 5});
    o.causal = true;
    o.window = attest::key_window{2, 1};
    o.past_keys = 1;
    o.key_lengths = {5, 4};
    o.sinks.assign(sinks, sinks + 4);
    o.empty_row = attest::empty_row_policy::zero;
    o.log_sum_exp = {attest::log_sum_exp_base::two, attest::empty_log_sum_exp::plus_infinity};
    return o;
  }
};

}  // namespace

TEMPLATE_TEST_CASE("The kernels give the same bits in C and in C++", "", double, float) {
  problem<TestType> c;
  problem<TestType> cpp = c;
  const attest_inputs in = c.inputs();
  attest_results r = c.results();

  CHECK(attest_attention(ATTEST_STABLE, &in, nullptr, &r) == ATTEST_OK);
  attest::kernel::stable<TestType>(cpp.inputs_in_cpp(), {}, cpp.results_in_cpp());
  CHECK(same_bits(c.output, cpp.output));

  CHECK(attest_attention(ATTEST_FUSED, &in, nullptr, &r) == ATTEST_OK);
  attest::kernel::fused<TestType>(cpp.inputs_in_cpp(), {}, cpp.results_in_cpp());
  CHECK(same_bits(c.output, cpp.output));

  const options said;
  attest_options o = said.in_c();
  r.weights = {c.weights.data(), dtype_in_c<TestType>, 4, c.weights_shape, nullptr};
  r.log_sum_exp = {c.log_sum_exp.data(), dtype_in_c<TestType>, 4, c.lse_shape, nullptr};
  CHECK(attest_attention(ATTEST_STABLE, &in, &o, &r) == ATTEST_OK);
  auto results = cpp.results_in_cpp();
  results.weights = attest::tensor<TestType>(cpp.weights.data(), {2, 4, 3, 5});
  results.log_sum_exp = attest::tensor<TestType>(cpp.log_sum_exp.data(), {2, 4, 3, 1});
  attest::kernel::stable<TestType>(cpp.inputs_in_cpp(), said.in_cpp(), results);
  CHECK(same_bits(c.output, cpp.output));
  CHECK(same_bits(c.weights, cpp.weights));
  CHECK(same_bits(c.log_sum_exp, cpp.log_sum_exp));
  CHECK(c.output[0] != 7);

  o.threads = 3;
  CHECK(attest_attention(ATTEST_FUSED, &in, &o, &r) == ATTEST_OK);
  attest::kernel::fused<TestType>(cpp.inputs_in_cpp(), said.in_cpp(), results, {2});
  CHECK(same_bits(c.output, cpp.output));
  CHECK(same_bits(c.weights, cpp.weights));
  CHECK(same_bits(c.log_sum_exp, cpp.log_sum_exp));
}

TEMPLATE_TEST_CASE("The certified reference gives the same bits in C and in C++", "", double, float) {
  problem<TestType> c;
  problem<TestType> cpp = c;
  const options said;
  const attest_inputs in = c.inputs();
  attest_options o = said.in_c();
  o.softcap = 0;  // slow
  attest::attention_options o_in_cpp = said.in_cpp();
  o_in_cpp.softcap.reset();

  struct further {
    std::vector<float> output_low = std::vector<float>(144, 7), weights_low = std::vector<float>(120, 7),
                       log_sum_exp_low = std::vector<float>(24, 7);
    std::vector<unsigned char> output = std::vector<unsigned char>(144, 7), weights = std::vector<unsigned char>(120, 7),
                               log_sum_exp = std::vector<unsigned char>(24, 7);
  } mine, theirs;
  using p = problem<TestType>;
  attest_results r = c.results();
  r.weights = {c.weights.data(), dtype_in_c<TestType>, 4, p::weights_shape, nullptr};
  r.log_sum_exp = {c.log_sum_exp.data(), dtype_in_c<TestType>, 4, p::lse_shape, nullptr};
  r.output_low = {mine.output_low.data(), ATTEST_BINARY32, 4, p::out_shape, nullptr};
  r.weights_low = {mine.weights_low.data(), ATTEST_BINARY32, 4, p::weights_shape, nullptr};
  r.log_sum_exp_low = {mine.log_sum_exp_low.data(), ATTEST_BINARY32, 4, p::lse_shape, nullptr};
  r.output_certificates = {mine.output.data(), ATTEST_UINT8, 4, p::out_shape, nullptr};
  r.weights_certificates = {mine.weights.data(), ATTEST_UINT8, 4, p::weights_shape, nullptr};
  r.log_sum_exp_certificates = {mine.log_sum_exp.data(), ATTEST_UINT8, 4, p::lse_shape, nullptr};
  attest_certification counts = ATTEST_CERTIFICATION_INIT;
  const attest_status status = attest_certified_attention(&in, &o, &r, nullptr, &counts);
  INFO(attest_last_error());
  REQUIRE(status == ATTEST_OK);

  attest::certified_results results{attest::tensor<TestType>(cpp.output.data(), {2, 4, 3, 6})};
  results.weights = attest::tensor<TestType>(cpp.weights.data(), {2, 4, 3, 5});
  results.log_sum_exp = attest::tensor<TestType>(cpp.log_sum_exp.data(), {2, 4, 3, 1});
  results.output_low = attest::tensor<float>(theirs.output_low.data(), {2, 4, 3, 6});
  results.weights_low = attest::tensor<float>(theirs.weights_low.data(), {2, 4, 3, 5});
  results.log_sum_exp_low = attest::tensor<float>(theirs.log_sum_exp_low.data(), {2, 4, 3, 1});
  const auto certificates = [](std::vector<unsigned char>& x, std::size_t width) {
    return attest::tensor<attest::certificate>(reinterpret_cast<attest::certificate*>(x.data()), {2, 4, 3, width});
  };
  results.output_certificates = certificates(theirs.output, 6);
  results.weights_certificates = certificates(theirs.weights, 5);
  results.log_sum_exp_certificates = certificates(theirs.log_sum_exp, 1);
  const auto in_cpp = cpp.inputs_in_cpp();
  const attest::certification settled =
      attest::certified_attention({in_cpp.q, in_cpp.k, in_cpp.v}, o_in_cpp, results);
  CHECK(same_bits(c.output, cpp.output));
  CHECK(same_bits(c.weights, cpp.weights));
  CHECK(same_bits(c.log_sum_exp, cpp.log_sum_exp));
  CHECK(same_bits(mine.output_low, theirs.output_low));
  CHECK(same_bits(mine.weights_low, theirs.weights_low));
  CHECK(same_bits(mine.log_sum_exp_low, theirs.log_sum_exp_low));
  CHECK(mine.output == theirs.output);
  CHECK(mine.weights == theirs.weights);
  CHECK(mine.log_sum_exp == theirs.log_sum_exp);
  CHECK(mine.output_low[0] != 7);
  CHECK(counts.exact == settled.exact);
  CHECK(counts.undecided == 0);
  for (std::size_t tier = 0; tier < attest::reference_tiers; ++tier) CHECK(counts.settled[tier] == settled.settled[tier]);

  // Each option of its own: the other results differ from these.
  const std::vector<TestType> nearest = c.output;
  o.log_sum_exp_base = o.empty_log_sum_exp = 0;
  o_in_cpp.log_sum_exp.reset();
  for (const auto& [name, direction] : {std::pair{ATTEST_TOWARD_ZERO, attest::rounding::toward_zero},
                                        std::pair{ATTEST_UP, attest::rounding::up},
                                        std::pair{ATTEST_DOWN, attest::rounding::down},
                                        std::pair{ATTEST_TO_ODD, attest::rounding::to_odd}}) {
    attest_certified_options how = ATTEST_CERTIFIED_OPTIONS_INIT;
    how.direction = name;
    attest_results output_only = c.results();
    CHECK(attest_certified_attention(&in, &o, &output_only, &how, nullptr) == ATTEST_OK);
    attest::certified_options how_in_cpp;
    how_in_cpp.direction = direction;
    attest::certified_attention({in_cpp.q, in_cpp.k, in_cpp.v}, o_in_cpp,
                                {attest::tensor<TestType>(cpp.output.data(), {2, 4, 3, 6})}, how_in_cpp);
    CHECK(same_bits(c.output, cpp.output));
    CHECK_FALSE(same_bits(c.output, nearest));
  }
}

TEST_CASE("What a progress function throws becomes a status", "") {
  problem<double> c;
  const attest_inputs in = c.inputs();
  const attest_results r = c.results();
  attest_certified_options how = ATTEST_CERTIFIED_OPTIONS_INIT;
  how.progress = [](std::size_t, std::size_t, void*) -> int { throw std::runtime_error("thrown by the caller"); };
  CHECK(attest_certified_attention(&in, nullptr, &r, &how, nullptr) == ATTEST_INTERNAL);
  CHECK(std::string(attest_last_error()) == "thrown by the caller");
}

TEST_CASE("Each option of the C interface is the option of that name", "") {
  problem<double> plain;
  const attest_inputs in = plain.inputs();
  const options said;
  const attest_options all = said.in_c();
  const attest::attention_options all_in_cpp = said.in_cpp();
  // Leaves one out in both, or says it alone.
  const auto same = [&](const attest_options& o, const attest::attention_options& o_in_cpp) {
    problem<double> c = plain, cpp = plain;
    attest_results r = c.results();
    if (o.log_sum_exp_base != 0) r.log_sum_exp = {c.log_sum_exp.data(), ATTEST_BINARY64, 4, c.lse_shape, nullptr};
    auto results = cpp.results_in_cpp();
    if (o_in_cpp.log_sum_exp) results.log_sum_exp = attest::tensor<double>(cpp.log_sum_exp.data(), {2, 4, 3, 1});
    const attest_status status = attest_attention(ATTEST_STABLE, &in, &o, &r);
    INFO(attest_last_error());
    CHECK(status == ATTEST_OK);
    attest::kernel::stable<double>(cpp.inputs_in_cpp(), o_in_cpp, results);
    CHECK(same_bits(c.output, cpp.output));
    CHECK(same_bits(c.log_sum_exp, cpp.log_sum_exp));
    return c;
  };
  const problem<double> with_all = same(all, all_in_cpp);
  const auto without = [&](auto change, auto change_in_cpp) {
    attest_options o = all;
    attest::attention_options o_in_cpp = all_in_cpp;
    change(o);
    change_in_cpp(o_in_cpp);
    const problem<double> result = same(o, o_in_cpp);
    // Otherwise this says nothing.
    CHECK_FALSE((same_bits(result.output, with_all.output) && same_bits(result.log_sum_exp, with_all.log_sum_exp)));
  };
  without([](auto& o) { o.scale = nullptr; }, [](auto& o) { o.scale.reset(); });
  without([](auto& o) { o.softcap = 0; }, [](auto& o) { o.softcap.reset(); });
  without([](auto& o) { o.bias = {}; }, [](auto& o) { o.bias.reset(); });
  without([](auto& o) { o.alibi_slopes = nullptr, o.alibi_slopes_count = 0; }, [](auto& o) { o.alibi_slopes.clear(); });
  without([](auto& o) { o.mask = {}; }, [](auto& o) { o.mask.reset(); });
  without([](auto& o) { o.causal = 0; }, [](auto& o) { o.causal = false; });
  without([](auto& o) { o.window_left = nullptr; }, [](auto& o) { o.window->left.reset(); });
  without([](auto& o) { o.causal = 0, o.window_right = nullptr; }, [](auto& o) { o.causal = false, o.window->right.reset(); });
  without([](auto& o) { o.past_keys = nullptr, o.corner = ATTEST_TOP_LEFT; },
          [](auto& o) { o.past_keys.reset(), o.corner = attest::causal_corner::top_left; });
  without([](auto& o) { o.past_keys = nullptr, o.corner = ATTEST_BOTTOM_RIGHT; },
          [](auto& o) { o.past_keys.reset(), o.corner = attest::causal_corner::bottom_right; });
  without([](auto& o) { o.key_lengths = nullptr, o.key_lengths_count = 0, o.causal = 0, o.window_right = nullptr; },
          [](auto& o) { o.key_lengths.clear(), o.causal = false, o.window->right.reset(); });
  without([](auto& o) { o.sinks = nullptr, o.sinks_count = 0; }, [](auto& o) { o.sinks.clear(); });
  without([](auto& o) { o.log_sum_exp_base = ATTEST_BASE_E; },
          [](auto& o) { o.log_sum_exp->base = attest::log_sum_exp_base::e; });
}

TEST_CASE("The naive kernel of the C interface", "") {
  problem<float> c, cpp = c;
  const attest_inputs in = c.inputs();
  CHECK(attest_attention(ATTEST_NAIVE, &in, nullptr, nullptr) == ATTEST_ARGUMENT);
  // It takes no grouped heads: the first two query heads alone.
  attest_inputs two = in;
  const std::int64_t q_shape[4] = {2, 2, 3, 7}, out_shape[4] = {2, 2, 3, 6};
  two.q.shape = q_shape;
  attest_results r = c.results();
  r.output.shape = out_shape;
  CHECK(attest_attention(ATTEST_NAIVE, &two, nullptr, &r) == ATTEST_OK);
  attest::kernel::attention_inputs<float> in_cpp = cpp.inputs_in_cpp();
  in_cpp.q = {cpp.q.data(), {2, 2, 3, 7}};
  attest::kernel::naive<float>(in_cpp, {}, {{cpp.output.data(), {2, 2, 3, 6}}});
  CHECK(same_bits(c.output, cpp.output));
}

TEST_CASE("When memory runs out, the status says so, wherever it was", "") {
  problem<double> c;
  const attest_inputs in = c.inputs();
  const attest_results r = c.results();
  const options said;
  attest_options o = said.in_c();
  o.log_sum_exp_base = o.empty_log_sum_exp = 0;
  o.softcap = 0;
  o.threads = GENERATE(1, 2);
  const int kernel = GENERATE(ATTEST_STABLE, ATTEST_FUSED, 0);
  const auto status_after = [&](long allocations) {
    allocations_left = allocations;
    failing = true;
    const attest_status status = kernel == 0 ? attest_certified_attention(&in, &o, &r, nullptr, nullptr)
                                             : attest_attention(kernel, &in, &o, &r);
    failing = false;
    return status;
  };
  int failed = 0;
  // The certified reference has thousands of allocations: not every one.
  for (long n = 0;; n += 1 + n / 50) {
    const attest_status status = status_after(n);
    if (status == ATTEST_OK) break;
    REQUIRE(status == ATTEST_OUT_OF_MEMORY);
    REQUIRE(std::string(attest_last_error()) == "out of memory");
    ++failed;
    REQUIRE(n < 10000000);
  }
  CHECK(failed > 3);

  throw_nonsense = true;
  CHECK(status_after(0) == ATTEST_INTERNAL);
  throw_nonsense = false;
  CHECK(std::string(attest_last_error()) == "an exception of unknown type");
}

TEST_CASE("The last error is that of the last call that failed, in the same thread", "") {
  problem<double> c;
  attest_inputs in = c.inputs();
  attest_results r = c.results();
  attest_options o = ATTEST_OPTIONS_INIT;
  o.softcap = -1;
  CHECK(attest_attention(ATTEST_STABLE, &in, &o, &r) == ATTEST_OPTION);
  const std::string message = attest_last_error();
  CHECK(attest_attention(ATTEST_STABLE, &in, nullptr, &r) == ATTEST_OK);
  CHECK(attest_last_error() == message);
  std::string in_another_thread = "unset";
  std::thread([&] { in_another_thread = attest_last_error(); }).join();
  CHECK(in_another_thread.empty());
}

TEST_CASE("Every dtype of the C interface is the dtype of that name", "") {
  const unsigned char bytes[8] = {0xb5, 0xc1, 0x93, 0xc2, 0xa1, 0xb2, 0xc3, 0xc4};  // negative, finite and another in each
  using attest::dtype;
  const std::pair<int, dtype> names[] = {{ATTEST_INT8, dtype::int8},
                                         {ATTEST_INT16, dtype::int16},
                                         {ATTEST_INT32, dtype::int32},
                                         {ATTEST_INT64, dtype::int64},
                                         {ATTEST_UINT8, dtype::uint8},
                                         {ATTEST_UINT16, dtype::uint16},
                                         {ATTEST_UINT32, dtype::uint32},
                                         {ATTEST_UINT64, dtype::uint64},
                                         {ATTEST_FLOAT8_E4M3FN, dtype::float8_e4m3fn},
                                         {ATTEST_FLOAT8_E5M2, dtype::float8_e5m2},
                                         {ATTEST_FLOAT8_E4M3FNUZ, dtype::float8_e4m3fnuz},
                                         {ATTEST_FLOAT8_E5M2FNUZ, dtype::float8_e5m2fnuz},
                                         {ATTEST_BFLOAT16, dtype::bfloat16},
                                         {ATTEST_BINARY16, dtype::binary16},
                                         {ATTEST_BINARY32, dtype::binary32},
                                         {ATTEST_BINARY64, dtype::binary64}};
  const std::int64_t one[2] = {1, 1};
  const double zero = 0;
  std::vector<double> seen;
  for (const auto& [name, type] : names) {
    // One key: the output is its value, and its value is read by C++.
    double output = 0;
    const attest_inputs in = {{&zero, ATTEST_BINARY64, 2, one, nullptr},
                              {&zero, ATTEST_BINARY64, 2, one, nullptr},
                              {bytes, name, 2, one, nullptr}};
    attest_results r = ATTEST_RESULTS_INIT;
    r.output = {&output, ATTEST_BINARY64, 2, one, nullptr};
    CHECK(attest_certified_attention(&in, nullptr, &r, nullptr, nullptr) == ATTEST_OK);
    CHECK(output == attest::any_tensor(bytes, type, attest::layout{1, 1})(0, 0, 0, 0));
    for (const double other : seen) CHECK(output != other);
    seen.push_back(output);
  }
}
