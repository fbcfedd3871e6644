#include "reference/double_double/tier.hpp"

#include "problem/vector_targets.hpp"

#include "reference/double_double/data.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/double_double/tier.cpp"
#include <hwy/foreach_target.h>
//
#include "reference/double_double/dominant_key.hpp"
#include "reference/double_double/exponential.hpp"
#include "reference/double_double/packing.hpp"
#include "reference/double_double/results.hpp"
#include "reference/double_double/rows.hpp"
#include "reference/double_double/scores.hpp"

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attest::double_double_tier {
namespace HWY_NAMESPACE {

void pack(packed_head::data& head, const double* k, std::size_t k_stride, const double* v,
          std::size_t v_stride) {
  pack_keys(head, k, k_stride);
  pack_values(head, v, v_stride);
}

void evaluate_rows(const packed_head::data& head, const score_steps& steps, const query_row* rows,
                   const row_results* results, std::size_t count, scratch::buffers& memory) {
  evaluation e(head, steps, memory);
  for (std::size_t i = 0; i < count; i += block_rows)
    e.rows(rows + i, results + i, std::min(block_rows, count - i));
}

void evaluate_powers(std::size_t count, const double* high, const double* low, double shift,
                     double* power_high, double* power_low) {
  const D d;
  for (std::size_t i = 0; i < count; ++i) {
    V ph, pl;
    exponential(hn::Set(d, high[i]), hn::Set(d, low[i]), hn::Set(d, shift), ph, pl);
    power_high[i] = hn::GetLane(ph);
    power_low[i] = hn::GetLane(pl);
  }
}

const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace HWY_NAMESPACE
}  // namespace attest::double_double_tier
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attest::double_double_tier {

HWY_EXPORT(pack);
HWY_EXPORT(evaluate_rows);
HWY_EXPORT(evaluate_powers);
HWY_EXPORT(target_name);

packed_head::packed_head(std::size_t keys, std::size_t key_width, std::size_t value_width, const double* k,
                         std::size_t k_stride, const double* v, std::size_t v_stride)
    : data_(std::make_unique<data>()) {
  data_->keys = keys;
  data_->key_width = key_width;
  data_->value_width = value_width;
  data_->value_panels = rounded_up(value_width, panel_width) / panel_width;
  data_->blocks = rounded_up(keys, block_keys) / block_keys;
  data_->reserve();
  HWY_DYNAMIC_DISPATCH(pack)(*data_, k, k_stride, v, v_stride);
}
packed_head::~packed_head() = default;
packed_head::packed_head(packed_head&&) noexcept = default;
packed_head& packed_head::operator=(packed_head&&) noexcept = default;

std::span<const int> packed_head::value_exponents() const { return data_->value_exponents; }

scratch::scratch() : buffers_(std::make_unique<buffers>()) {}
scratch::~scratch() = default;
scratch::scratch(scratch&&) noexcept = default;
scratch& scratch::operator=(scratch&&) noexcept = default;

void evaluate(const packed_head& head, const score_steps& steps, std::span<const query_row> rows,
              std::span<const row_results> results, scratch& memory) {
  HWY_DYNAMIC_DISPATCH(evaluate_rows)
  (head.contents(), steps, rows.data(), results.data(), rows.size(), memory.memory());
}

void powers(std::span<const double> high, std::span<const double> low, double shift,
            std::span<double> power_high, std::span<double> power_low) {
  HWY_DYNAMIC_DISPATCH(evaluate_powers)
  (high.size(), high.data(), low.data(), shift, power_high.data(), power_low.data());
}

const char* instruction_set() { return HWY_DYNAMIC_DISPATCH(target_name)(); }

}  // namespace attest::double_double_tier
#endif
