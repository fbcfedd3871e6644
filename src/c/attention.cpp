#include "c/translate.hpp"

#include <attest/kernel/fused.hpp>
#include <attest/kernel/naive.hpp>
#include <attest/kernel/stable.hpp>

#include <utility>

// The kernels of attest.h.
namespace attest::c {

namespace {

/// The view of an array whose elements are known to be T.
template <class T>
tensor<const T> typed(const any_tensor& a) {
  return {static_cast<const T*>(a.data()), a.where()};
}
template <class T>
tensor<T> typed(const any_result& a) {
  return {static_cast<T*>(a.data()), a.where()};
}

struct call {
  any_tensor q, k, v;
  any_result output;
  std::optional<any_result> weights, log_sum_exp;
  attention_options options;
  unsigned threads;
};

template <class T>
void run(std::int32_t kernel, const call& c) {
  const kernel::attention_inputs<T> in{typed<T>(c.q), typed<T>(c.k), typed<T>(c.v)};
  kernel::attention_results<T> out{typed<T>(c.output)};
  if (c.weights) out.weights = typed<T>(*c.weights);
  if (c.log_sum_exp) out.log_sum_exp = typed<T>(*c.log_sum_exp);
  switch (kernel) {
    case ATTEST_NAIVE:
      return kernel::naive<T>(in, c.options, out);
    case ATTEST_STABLE:
      return kernel::stable<T>(in, c.options, out);
    case ATTEST_FUSED:
      check_memory(c.k, c.v);
      return kernel::fused<T>(in, c.options, out, {c.threads});
    default:
      throw argument_error("kernel is " + std::to_string(kernel) + ", which is none of attest_kernel");
  }
}

void refuse_what_is_certified(const attest_results& r) {
  const auto refuse = [](const attest_result& a, const char* name) {
    if (given(a))
      throw attention_error(fault::unsupported, name,
                            "a kernel does not give it: leave it out or call attest_certified_attention");
  };
  refuse(r.output_low, "output_low");
  refuse(r.weights_low, "weights_low");
  refuse(r.log_sum_exp_low, "log_sum_exp_low");
  refuse(r.output_certificates, "output_certificates");
  refuse(r.weights_certificates, "weights_certificates");
  refuse(r.log_sum_exp_certificates, "log_sum_exp_certificates");
}

void attention(std::int32_t kernel, const attest_inputs* inputs, const attest_options* options,
               const attest_results* results) {
  const attest_inputs& in = required(inputs, "inputs");
  const attest_options said = known_or_none(options, "options", "ATTEST_OPTIONS_INIT");
  const attest_results out = known(required(results, "results"), "results", "ATTEST_RESULTS_INIT");
  refuse_what_is_certified(out);
  const any_tensor q = array(in.q, "Q");
  call c{q, array(in.k, "K"), array(in.v, "V"), result(out.output, "output"), {}, {},
         c::options(said, q.where()), threads(said)};
  if (given(out.weights)) c.weights = result(out.weights, "weights");
  if (given(out.log_sum_exp)) c.log_sum_exp = result(out.log_sum_exp, "log_sum_exp");

  places all;
  for (const auto& [a, name] : {std::pair(&c.q, "Q"), std::pair(&c.k, "K"), std::pair(&c.v, "V")})
    all.add_input(*a, name);
  if (c.options.mask) all.add_input(*c.options.mask, "mask");
  if (c.options.bias) all.add_input(*c.options.bias, "bias");
  all.add_result(c.output, "output");
  if (c.weights) all.add_result(*c.weights, "weights");
  if (c.log_sum_exp) all.add_result(*c.log_sum_exp, "log_sum_exp");

  const dtype type = c.q.type();
  const auto same = [&](dtype other, const char* name) {
    if (other != type)
      throw attention_error(fault::unsupported, name,
                            "its elements are " + to_string(other) + " and those of Q " + to_string(type) +
                                ": a kernel calculates in one format, so give all arrays in it");
  };
  if (type != dtype::binary32 && type != dtype::binary64)
    throw attention_error(
        fault::unsupported, "Q",
        "its elements are " + to_string(type) +
            ": kernels calculate in binary32 or binary64 (the certified reference reads every type)");
  same(c.k.type(), "K");
  same(c.v.type(), "V");
  same(c.output.type(), "output");
  if (c.weights) same(c.weights->type(), "weights");
  if (c.log_sum_exp) same(c.log_sum_exp->type(), "log_sum_exp");
  if (type == dtype::binary32)
    run<float>(kernel, c);
  else
    run<double>(kernel, c);
}

}  // namespace

}  // namespace attest::c

attest_status attest_attention(int32_t kernel, const attest_inputs* inputs, const attest_options* options,
                               const attest_results* results) {
  return attest::c::guarded([&] { attest::c::attention(kernel, inputs, options, results); });
}
