#include "reference/certified/call.hpp"

#include "kernel/fused.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace attest::certified {

namespace {

constexpr unsigned bits_without_symbols = 1u << 14;

bool tries(const certified_options& how, reference_tier tier) {
  return how.tiers[static_cast<std::size_t>(tier)];
}

void check_array(const char* name, const any_result& array, const std::array<std::size_t, 4>& shape) {
  check_result(name, array.where(), array.data(), shape);
  if (format_of(array.type()) == nullptr)
    throw attention_error(
        fault::option, name,
        "its elements are " + to_string(array.type()) + ": a reference is written as floats");
}

void check_low(const char* name, const std::optional<any_result>& low, bool has_high,
               const std::array<std::size_t, 4>& shape) {
  if (!low) return;
  if (!has_high)
    throw attention_error(fault::option, name,
                          "low words belong to an array that is not asked for: give that too");
  if (low->type() != dtype::binary32)
    throw attention_error(fault::option, name,
                          "its elements are " + to_string(low->type()) + ": low words are binary32");
  check_result(name, low->where(), low->data(), shape);
}

void check_certificates(const char* name, const std::optional<tensor<certificate>>& array, bool has_high,
                        const std::array<std::size_t, 4>& shape) {
  if (!array) return;
  if (!has_high)
    throw attention_error(fault::option, name,
                          "certificates belong to an array that is not asked for: give that too");
  check_result(name, array->where(), array->data(), shape);
}

}  // namespace

call::call(const certified_inputs& inputs, const attention_options& attention, const attention_shape& checked,
           const certified_results& out, const certified_options& certified)
    : in(inputs),
      options(attention),
      shape(checked),
      how(certified),
      visible(shape, options),
      output(out.output, out.output_low, out.output_certificates, how.saturate) {
  if (out.weights) weights.emplace(*out.weights, out.weights_low, out.weights_certificates, how.saturate);
  if (out.log_sum_exp)
    log_sum_exp.emplace(*out.log_sum_exp, out.log_sum_exp_low, out.log_sum_exp_certificates, how.saturate);
  const std::array<std::size_t, 4> scores{shape.batch, shape.query_heads, shape.queries, shape.keys};
  if (options.mask) mask = broadcast(*options.mask, scores, "mask");
  if (options.bias) bias = broadcast(*options.bias, scores, "bias");
  // With a low word of +0: below half of binary32's smallest number, the direction not upward.
  if (weights)
    tiny_weight = std::ldexp(1.0, weights->to().min_unit() - 2);  // for binary64 0: none is so small
  if (weights && weights->has_low())
    tiny_weight = how.direction == rounding::up || how.direction == rounding::to_odd
                      ? 0
                      : std::min(tiny_weight, 0x1p-152);
  hidden_keys = options.mask || options.bias || options.causal || options.window ||
                !options.key_lengths.empty() || shape.queries == 0;
  limits.max_bits = how.max_bits;
  limits.symbolic = tries(how, reference_tier::symbolic);
  // Without the symbolic tier a tie would never end.
  if (!limits.symbolic && !limits.max_bits) limits.max_bits = bits_without_symbols;
  // The narrow tier has neither the digits for low words nor bounds for weights.
  use_narrow = tries(how, reference_tier::narrow) && output.to().precision <= 24 && !output.has_low() &&
               !weights && !log_sum_exp;
  use_pairs = tries(how, reference_tier::double_double);
  block_rows = weights ? 16 : kernel::fused_head::block_rows;
}

score_options call::steps_of(std::size_t h) const {
  score_options steps{options.scale, options.softcap, {}, {}};
  if (!options.alibi_slopes.empty()) steps.slope = options.alibi_slopes[h];
  if (!options.sinks.empty()) steps.sink = options.sinks[h];
  return steps;
}

attention_shape checked_shape(const certified_inputs& in, const attention_options& options,
                              const certified_results& out, const certified_options& how) {
  const attention_shape shape = attest::checked_shape(in.q, in.k, in.v, options);
  const auto rows = [&](std::size_t width) {
    return std::array<std::size_t, 4>{shape.batch, shape.query_heads, shape.queries, width};
  };
  check_array("output", out.output, rows(shape.value_width));
  if (out.weights) check_array("weights", *out.weights, rows(shape.keys));
  if (out.log_sum_exp) check_array("log_sum_exp", *out.log_sum_exp, rows(1));
  check_low("output_low", out.output_low, true, rows(shape.value_width));
  check_low("weights_low", out.weights_low, out.weights.has_value(), rows(shape.keys));
  check_low("log_sum_exp_low", out.log_sum_exp_low, out.log_sum_exp.has_value(), rows(1));
  check_certificates("output_certificates", out.output_certificates, true, rows(shape.value_width));
  check_certificates("weights_certificates", out.weights_certificates, out.weights.has_value(),
                     rows(shape.keys));
  check_certificates("log_sum_exp_certificates", out.log_sum_exp_certificates, out.log_sum_exp.has_value(),
                     rows(1));
  check_log_sum_exp(options, out.log_sum_exp.has_value());
  if (!tries(how, reference_tier::enclosure))
    throw attention_error(fault::option,
                          "tiers: without enclosures not every element is settled: leave that tier on");
  if (how.max_bits && *how.max_bits < 128)
    throw attention_error(fault::option, "max_bits is " + std::to_string(*how.max_bits) +
                                             ": enclosures have at least 128 bits");

  const visibility visible(shape, options);
  check_values(in.q, in.k, in.v, options, shape, visible);
  check_empty_rows(options, shape, visible);
  return shape;
}

}  // namespace attest::certified
