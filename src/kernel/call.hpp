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

inline constexpr std::initializer_list<option> every_option = {
    option::scale,     option::softcap,     option::bias,        option::alibi_slopes, option::mask,
    option::causal,    option::window,      option::corner,      option::past_keys,    option::key_lengths,
    option::sinks,     option::log_sum_exp, option::empty_row,   option::grouped_heads};

/// The shape of a call whose arrays and options have passed every check that `kernel` needs and that does not
/// read K and V; attention_error otherwise.
template <class T>
attention_shape checked_but_for_keys(const char* kernel, std::initializer_list<option> taken,
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
  check_log_sum_exp(options, out.log_sum_exp.has_value());

  check_query_values(in.q, options);
  check_empty_rows(options, shape, visibility(shape, options));
  return shape;
}

/// The shape of a call that has passed every check.
template <class T>
attention_shape checked_call(const char* kernel, std::initializer_list<option> taken,
                             const attention_inputs<T>& in, const attention_options& options,
                             const attention_results<T>& out) {
  const attention_shape shape = checked_but_for_keys(kernel, taken, in, options, out);
  check_key_values(in.k, in.v, shape, visibility(shape, options));
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

template <class T>
T rounded_softcap(double value) {
  const T result = rounded_option<T>(option::softcap, value);
  if (result < std::numeric_limits<T>::min() && static_cast<double>(result) != value)
    throw attention_error(fault::option, "softcap: its value underflows binary32: use the kernel for double");
  return result;
}

/// A bias has to be a number of the kernel's format.
template <class T>
void refuse_wide_bias(const attention_options& options) {
  if (std::is_same_v<T, float> && options.bias && options.bias->type() == dtype::binary64)
    throw attention_error(
        fault::unsupported, "bias",
        "its elements are binary64 and the kernel calculates in binary32: give them as binary32");
}

[[noreturn]] inline void throw_overflow(dtype type, const char* what, std::size_t b, std::size_t h,
                                        std::size_t i, const char* axis, std::size_t index) {
  throw attention_error(fault::overflow,
                        "the " + std::string(what) + " of batch element " + std::to_string(b) + ", head " +
                            std::to_string(h) + ", query " + std::to_string(i) +
                            (axis ? std::string(", ") + axis + " " + std::to_string(index) : "") +
                            " overflows " + to_string(type) +
                            ": scale the inputs down or calculate in a wider format");
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
