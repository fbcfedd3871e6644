// What the kernels refuse, with the whole sentence: the array, the shapes, the remedy. And that nothing is
// touched then.
#include "catch.hpp"
#include "head.hpp"

using attest::attention_error;
using attest::causal_corner;
using attest::fault;
using testing::call;
using testing::one_head;

namespace {

template <class F>
void check_refused(F f, fault kind, const std::string& message) {
  try {
    f();
    FAIL("not refused: " + message);
  } catch (const attention_error& e) {
    CHECK(e.what() == message);
    CHECK(e.fault() == kind);
  }
}

call<double> plain() {
  call<double> c;
  c.queries = c.keys = 2;
  c.q = {1, 2};
  c.k = {1, 2};
  c.v = {1, 2};
  return c;
}

void refused_by_naive(const call<double>& c, const std::string& name) {
  check_refused([&] { c.naive(); }, fault::unsupported,
                "the kernel `naive` does not take " + name +
                    ": leave it out or use another kernel (`stable` takes every option)");
}

}  // namespace

TEST_CASE("naive refuses every option that it does not take") {
  const auto with = [](auto set) {
    auto c = plain();
    set(c);
    return c;
  };
  refused_by_naive(with([](auto& c) { c.options.softcap = 1; }), "softcap");
  refused_by_naive(with([](auto& c) { c.bias = {0, 0, 0, 0}; }), "bias");
  refused_by_naive(with([](auto& c) { c.options.alibi_slopes = {1}; }), "alibi_slopes");
  refused_by_naive(with([](auto& c) { c.options.causal = true; }), "causal");
  refused_by_naive(with([](auto& c) { c.options.window = attest::key_window{}; }), "window");
  refused_by_naive(with([](auto& c) { c.options.corner = causal_corner::top_left; }), "corner");
  refused_by_naive(with([](auto& c) { c.options.past_keys = 0; }), "past_keys");
  refused_by_naive(with([](auto& c) { c.options.key_lengths = {2}; }), "key_lengths");
  refused_by_naive(with([](auto& c) { c.options.sinks = {0}; }), "sinks");
  refused_by_naive(with([](auto& c) {
                     c.options.log_sum_exp = {attest::log_sum_exp_base::e, {}};
                   }),
                   "log_sum_exp");
  refused_by_naive(with([](auto& c) { c.options.empty_row = attest::empty_row_policy::zero; }), "empty_row");
  refused_by_naive(with([](auto& c) {
                     c.query_heads = 2;
                     c.q = {1, 2, 3, 4};
                   }),
                   "grouped heads");
  auto c = plain();
  c.options.scale = 2;
  c.mask = {1, 0, 1, 1};
  CHECK_NOTHROW(c.naive());
  c.mask = {1, 1, 0, 0};
  check_refused([&] { c.naive(); }, fault::option,
                "query 1 of batch element 0 and head 0 sees no key: set empty_row to zero or nan to say what "
                "such a row gives");
}

TEST_CASE("an empty row without a policy") {
  auto c = plain();
  c.mask = {1, 0, 0, 0};
  const std::string row = "query 1 of batch element 0 and head 0 sees no key: ";
  check_refused([&] { c.stable(); }, fault::option,
                row + "set empty_row to zero or nan to say what such a row gives");
  c.options.empty_row = attest::empty_row_policy::error;
  check_refused([&] { c.stable(); }, fault::option, row + "empty_row says that this is an error");
  c.options.empty_row = attest::empty_row_policy::zero;
  c.options.log_sum_exp = {attest::log_sum_exp_base::e, {}};
  check_refused([&] { c.stable(); }, fault::option,
                row + "set log_sum_exp->empty to minus_infinity or plus_infinity to say its log-sum-exp");
  c.options.sinks = {0};
  CHECK_NOTHROW(c.stable());
  auto none = plain();
  none.keys = 0;
  none.k = none.v = {};
  check_refused([&] { none.stable(); }, fault::option,
                "query 0 of batch element 0 and head 0 sees no key: set empty_row to zero or nan to say what "
                "such a row gives");
  none.options.empty_row = attest::empty_row_policy::zero;
  CHECK(none.stable().output == std::vector<double>{0, 0});
  auto nobody = plain();
  nobody.queries = 0;
  nobody.q = {};
  CHECK(nobody.stable().output.empty());
}

TEST_CASE("NaN and infinity where a query looks") {
  auto c = plain();
  c.v[1] = testing::nan;
  check_refused(
      [&] { c.stable(); }, fault::value,
      "array V: element [0, 0, 1, 0] is NaN and a query sees this row: make it finite, or mask the key");
  c = plain();
  c.k[0] = -testing::infinity;
  check_refused([&] { c.naive(); }, fault::value,
                "array K: element [0, 0, 0, 0] is -infinity and a query sees this row: make it finite, or "
                "mask the key");
  c = plain();
  c.q[1] = testing::infinity;
  c.mask = {1, 1, 0, 0};
  c.options.empty_row = attest::empty_row_policy::zero;
  check_refused([&] { c.stable(); }, fault::value,
                "array Q: element [0, 0, 1, 0] is infinity: queries have to be finite");
  for (const double bad : {testing::infinity, testing::nan}) {
    c = plain();
    c.bias = {0, 0, bad, 0};
    check_refused([&] { c.stable(); }, fault::value,
                  std::string("array bias: element [0, 0, 1, 0] is ") + (bad > 0 ? "infinity" : "NaN") +
                      ": a bias is a finite number, or -infinity to hide the key");
  }
  // seen by one query of one head of the group is seen
  c = plain();
  c.query_heads = 2;
  c.q = {1, 2, 3, 4};
  c.v[1] = testing::nan;
  c.mask = {1, 0, 1, 0, 1, 0, 1, 1};
  check_refused(
      [&] { c.stable(); }, fault::value,
      "array V: element [0, 0, 1, 0] is NaN and a query sees this row: make it finite, or mask the key");
  c.mask.back() = 0;
  CHECK(c.stable().output == std::vector<double>{1, 1, 1, 1});
}

TEST_CASE("a log-sum-exp without its base, or without its array") {
  auto c = plain();
  auto r = c.empty_results();
  auto out = c.views(r);
  out.log_sum_exp = attest::tensor<double>(r.log_sum_exp.data(), {1, 1, 2, 1});
  check_refused([&] { attest::kernel::stable<double>(c.inputs(), {}, out); }, fault::option,
                "array log_sum_exp: its base is not said: set options.log_sum_exp to base e or two");
  attest::attention_options options;
  options.log_sum_exp = {attest::log_sum_exp_base::e, {}};
  check_refused([&] { attest::kernel::stable<double>(c.inputs(), options, c.views(r)); }, fault::option,
                "array log_sum_exp: the options ask for it and there is no array to write it to");
}

TEST_CASE("results of the wrong shape, with one place for two elements, or without memory") {
  const auto c = plain();
  auto r = c.empty_results();
  using view = attest::tensor<double>;
  const auto run = [&](const attest::kernel::attention_results<double>& out) {
    return [&c, out] { attest::kernel::stable<double>(c.inputs(), {}, out); };
  };
  check_refused(run({view(r.output.data(), {1, 1, 1, 2})}), fault::shape,
                "array output: shape [1, 1, 1, 2] is not the shape of the result, [1, 1, 2, 1]: give an "
                "array of that shape");
  check_refused(run({view(r.output.data(), {2, 1}, {0, 1})}), fault::shape,
                "array output: axis 2 of its four has stride 0 and extent 2: every element of a result needs "
                "a place of its own");
  check_refused(run({view(nullptr, {2, 1})}), fault::shape,
                "array output: shape [2, 1] has elements and the array no memory: give a pointer");
  check_refused(run({view(r.output.data(), {2, 1}), view(r.weights.data(), {2, 1})}), fault::shape,
                "array weights: shape [2, 1] is not the shape of the result, [1, 1, 2, 2]: give an array of "
                "that shape");
}

TEST_CASE("overflow of finite inputs is named") {
  auto c = one_head<double>(1, {1, 1e200}, {1, 1});
  c.q = {1e200};
  check_refused([&] { c.stable(); }, fault::overflow,
                "the score of batch element 0, head 0, query 0, key 1 overflows binary64: scale the inputs "
                "down or calculate in "
                "a wider format");
  auto v =
      one_head<float>(1, {0, 0, 0, 0, 0, 0, 0}, std::vector<float>(7, std::numeric_limits<float>::max()));
  CHECK_NOTHROW(one_head<float>(1, {0, 0}, {std::numeric_limits<float>::max(), 0}).stable());
  bool refused = false;
  try {
    const auto r = v.stable();
    CHECK(std::isfinite(r.output[0]));
  } catch (const attention_error& e) {
    refused = true;
    CHECK(e.fault() == fault::overflow);
  }
  static_cast<void>(refused);  // seven sevenths may round to a little more than one
  auto log = one_head<double>(1, {1.5e308}, {1});
  log.options.log_sum_exp = {attest::log_sum_exp_base::two, {}};
  check_refused([&] { log.stable(); }, fault::overflow,
                "the log-sum-exp of batch element 0, head 0, query 0 overflows binary64: scale the inputs "
                "down or calculate in a "
                "wider format");
}

TEST_CASE("numbers that binary32 does not hold") {
  auto c = one_head<float>(1, {0}, {1});
  c.options.scale = 1e300;
  check_refused([&] { c.stable(); }, fault::option,
                "scale: a value overflows binary32: use the kernel for double");
  check_refused([&] { c.naive(); }, fault::option,
                "scale: a value overflows binary32: use the kernel for double");
  c.options.scale = 1;
  c.options.sinks = {-1e39};
  check_refused([&] { c.stable(); }, fault::option,
                "sinks: a value overflows binary32: use the kernel for double");
  c.options.sinks.clear();
  c.options.softcap = 1e-42;
  check_refused([&] { c.stable(); }, fault::option,
                "softcap: its value underflows binary32: use the kernel for double");
  c.options.softcap.reset();
  const double wide = 0.1;
  auto o = c.all_options();
  o.bias = attest::tensor<const double>(&wide, {1, 1});
  auto r = c.empty_results();
  check_refused(
      [&] { attest::kernel::stable<float>(c.inputs(), o, c.views(r)); }, fault::unsupported,
      "array bias: its elements are binary64 and the kernel calculates in binary32: give them as binary32");
  CHECK(r.output[0] == 0);
  auto d = one_head<double>(1, {0, 0}, {1, 0});
  const float narrow[2] = {0.1f, 0};
  auto od = d.all_options();
  od.bias = attest::tensor<const float>(narrow, {1, 2});  // a narrower bias is the number that it is
  auto rd = d.empty_results();
  attest::kernel::stable<double>(d.inputs(), od, d.views(rd));
  CHECK(std::abs(rd.output[0] - 1 / (1 + std::exp(-static_cast<double>(0.1f)))) < 1e-15);
}

TEST_CASE("a refusal touches no result") {
  auto c = plain();
  c.v[1] = testing::nan;
  auto r = c.empty_results();
  r.output = {7, 7};
  CHECK_THROWS_AS(attest::kernel::stable<double>(c.inputs(), c.all_options(), c.views(r)), attention_error);
  CHECK(r.output == std::vector<double>{7, 7});
}
