#include "c/translate.hpp"

#include <attest/reference/certified_attention.hpp>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

// The certified reference of attest.h.
namespace attest::c {

namespace {

static_assert(reference_tiers == ATTEST_TIERS);
static_assert(static_cast<int>(reference_tier::narrow) == ATTEST_TIER_NARROW &&
              static_cast<int>(reference_tier::double_double) == ATTEST_TIER_DOUBLE_DOUBLE &&
              static_cast<int>(reference_tier::enclosure) == ATTEST_TIER_ENCLOSURE &&
              static_cast<int>(reference_tier::symbolic) == ATTEST_TIER_SYMBOLIC);
static_assert(static_cast<int>(certificate::certified) == ATTEST_CERTIFIED &&
              static_cast<int>(certificate::exact) == ATTEST_EXACT &&
              static_cast<int>(certificate::undecided) == ATTEST_UNDECIDED && sizeof(certificate) == 1);

std::optional<any_result> wanted(const attest_result& a, const char* name) {
  if (!given(a)) return std::nullopt;
  return result(a, name);
}

std::optional<tensor<certificate>> wanted_certificates(const attest_result& a, const char* name) {
  if (!given(a)) return std::nullopt;
  const any_result array = result(a, name);
  if (array.type() != dtype::uint8)
    throw attention_error(fault::unsupported, name,
                          "its elements are " + to_string(array.type()) + ": certificates are uint8");
  return tensor<certificate>(static_cast<certificate*>(array.data()), array.where());
}

rounding direction(std::int32_t value) {
  switch (value) {
    case ATTEST_NEAREST_EVEN:
      return rounding::nearest_even;
    case ATTEST_TOWARD_ZERO:
      return rounding::toward_zero;
    case ATTEST_UP:
      return rounding::up;
    case ATTEST_DOWN:
      return rounding::down;
    case ATTEST_TO_ODD:
      return rounding::to_odd;
    default:
      throw argument_error("direction is " + std::to_string(value) + ", which is none of attest_rounding");
  }
}

/// `all`: how many rows there are.
certified_options translated(const attest_certified_options& o, unsigned threads, std::uint64_t all) {
  certified_options result;
  result.direction = direction(o.direction);
  result.saturate = o.saturate != 0;
  if (o.max_bits != 0) result.max_bits = o.max_bits;
  result.threads = threads;
  const auto range = [&] {
    return "first_row is " + std::to_string(o.first_row) + " and last_row " + std::to_string(o.last_row);
  };
  if (o.last_row != 0 && o.first_row > o.last_row)
    throw attention_error(fault::option,
                          range() + ": last_row is one beyond the end, and at least first_row");
  if (o.first_row > all || o.last_row > all)
    throw attention_error(fault::option,
                          range() + ", and the call has " + std::to_string(all) +
                              " rows, B Hq Tq: neither is more (a last_row of 0 is all to the last)");
  result.rows.first = static_cast<std::size_t>(o.first_row);
  if (o.last_row != 0) result.rows.last = static_cast<std::size_t>(o.last_row);
  if (o.without_tiers >> reference_tiers != 0)
    throw argument_error("without_tiers is " + std::to_string(o.without_tiers) + ", and there are " +
                         std::to_string(reference_tiers) + " tiers");
  for (std::size_t tier = 0; tier < reference_tiers; ++tier)
    result.tiers[tier] = (o.without_tiers >> tier & 1U) == 0;
  if (o.progress != nullptr)
    result.progress = [call = o.progress, user = o.user](std::size_t done, std::size_t rows) {
      return call(done, rows, user) == 0;
    };
  return result;
}

void certified(const attest_inputs* inputs, const attest_options* options, const attest_results* results,
               const attest_certified_options* how, attest_certification* report) {
  const attest_inputs& in = required(inputs, "inputs");
  const attest_options said = known_or_none(options, "options", "ATTEST_OPTIONS_INIT");
  const attest_results out = known(required(results, "results"), "results", "ATTEST_RESULTS_INIT");
  const attest_certified_options said_how = known_or_none(how, "certified", "ATTEST_CERTIFIED_OPTIONS_INIT");
  attest_certification counts{};
  if (report != nullptr && report->size < sizeof(std::size_t))
    throw argument_error("certification->size is " + std::to_string(report->size) +
                         ": initialise it with ATTEST_CERTIFICATION_INIT");

  const certified_results arrays{
      result(out.output, "output"),
      wanted(out.output_low, "output_low"),
      wanted(out.weights, "weights"),
      wanted(out.weights_low, "weights_low"),
      wanted(out.log_sum_exp, "log_sum_exp"),
      wanted(out.log_sum_exp_low, "log_sum_exp_low"),
      wanted_certificates(out.output_certificates, "output_certificates"),
      wanted_certificates(out.weights_certificates, "weights_certificates"),
      wanted_certificates(out.log_sum_exp_certificates, "log_sum_exp_certificates")};
  const certified_inputs read{array(in.q, "Q"), array(in.k, "K"), array(in.v, "V")};
  const attention_options asked = c::options(said, read.q.where());
  places all;
  for (const auto& [a, name] : {std::pair(&read.q, "Q"), std::pair(&read.k, "K"), std::pair(&read.v, "V")})
    all.add_input(*a, name);
  if (asked.mask) all.add_input(*asked.mask, "mask");
  if (asked.bias) all.add_input(*asked.bias, "bias");
  all.add_result(arrays.output, "output");
  const auto add = [&](const std::optional<any_result>& a, const char* name) {
    if (a) all.add_result(*a, name);
  };
  const auto add_certificates = [&](const std::optional<tensor<certificate>>& a, const char* name) {
    if (a) all.add_result(any_result(a->data(), dtype::uint8, a->where()), name);
  };
  add(arrays.output_low, "output_low");
  add(arrays.weights, "weights");
  add(arrays.weights_low, "weights_low");
  add(arrays.log_sum_exp, "log_sum_exp");
  add(arrays.log_sum_exp_low, "log_sum_exp_low");
  add_certificates(arrays.output_certificates, "output_certificates");
  add_certificates(arrays.weights_certificates, "weights_certificates");
  add_certificates(arrays.log_sum_exp_certificates, "log_sum_exp_certificates");
  const attention_shape shape = checked_shape(read.q, read.k, read.v, asked);
  check_memory(read.k, read.v);
  const certified_options translated_how =
      translated(said_how, threads(said), std::uint64_t{shape.batch} * shape.query_heads * shape.queries);
  const certification c = certified_attention(read, asked, arrays, translated_how);
  if (report == nullptr) return;
  for (std::size_t tier = 0; tier < reference_tiers; ++tier) counts.settled[tier] = c.settled[tier];
  counts.exact = c.exact;
  counts.undecided = c.undecided;
  counts.most_bits = c.most_bits;
  // The caller's may be shorter than this library's, or longer.
  counts.size = report->size;
  std::memcpy(report, &counts, std::min(counts.size, sizeof counts));
}

}  // namespace

}  // namespace attest::c

attest_status attest_certified_attention(const attest_inputs* inputs, const attest_options* options,
                                         const attest_results* results,
                                         const attest_certified_options* certified,
                                         attest_certification* certification) {
  return attest::c::guarded(
      [&] { attest::c::certified(inputs, options, results, certified, certification); });
}
