#pragma once

#include <attest/kernel/arrays.hpp>
#include <attest/problem/options.hpp>
#include <attest/problem/visibility.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

// What every kernel does before it calculates.
namespace attest::kernel {

/// The shape of a call whose arrays and options have passed every check that `kernel` needs; attention_error
/// otherwise.
template <class T>
attention_shape checked_call(const char* kernel, std::initializer_list<option> taken,
                             const attention_inputs<T>& in, const attention_options& options,
                             const attention_results<T>& out) {
  const attention_shape shape = checked_shape(in.q, in.k, in.v, options);
  supports_only(kernel, taken, shape, options);
  const auto rows = [&](std::size_t width) {
    return std::array<std::size_t, 4>{shape.batch, shape.query_heads, shape.queries, width};
  };
  check_result("output", out.output.where(), out.output.data(), rows(shape.value_width));
  if (out.weights) check_result("weights", out.weights->where(), out.weights->data(), rows(shape.keys));
  if (out.log_sum_exp)
    check_result("log_sum_exp", out.log_sum_exp->where(), out.log_sum_exp->data(), rows(1));
  if (out.log_sum_exp && !options.log_sum_exp)
    throw attention_error(fault::option, "log_sum_exp",
                          "its base is not said: set options.log_sum_exp to base e or two");
  if (!out.log_sum_exp && options.log_sum_exp)
    throw attention_error(fault::option, "log_sum_exp",
                          "the options ask for it and there is no array to write it to");

  const visibility visible(shape, options);
  check_values(in.q, in.k, in.v, options, shape, visible);
  check_empty_rows(options, shape, visible);
  return shape;
}

/// A number of the options in the kernel's format, rounded once. One that overflows is attention_error.
template <class T>
T rounded_option(option name, double value) {
  const auto result = static_cast<T>(value);
  if (!std::isfinite(result))
    throw attention_error(fault::option,
                          to_string(name) + ": a value overflows binary32: use the kernel for double");
  return result;
}
template <class T>
std::vector<T> rounded_options(option name, const std::vector<double>& values) {
  std::vector<T> result;
  for (const double x : values) result.push_back(rounded_option<T>(name, x));
  return result;
}

/// Σ_c q_c k_c of query i and key j, in the order of the coordinates.
template <class T>
T dot(const tensor<const T>& q, const tensor<const T>& k, std::size_t b, std::size_t query_head,
      std::size_t key_head, std::size_t i, std::size_t j) {
  T sum = 0;
  for (std::size_t c = 0; c < q.width(); ++c) sum += q(b, query_head, i, c) * k(b, key_head, j, c);
  return sum;
}

}  // namespace attest::kernel
