#include "kernel/fused.hpp"

#include <attest/kernel/float_environment.hpp>
#include <attest/kernel/fused.hpp>

#include "kernel/call.hpp"
#include "kernel/fused_exp.hpp"
#include "kernel/fused_scalar.hpp"
#include "kernel/threads.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <thread>

namespace attest::kernel {

namespace fused_head {

template <class T>
score_steps<T> score_steps<T>::of_scale(std::optional<double> scale, std::size_t key_width) {
  // 1/√d as a sum of two doubles, by one step of Newton's method with the residuals that fma gives exactly.
  double high = 1, low = 0;
  if (scale) {
    high = *scale;
  } else {
    const auto d = static_cast<double>(key_width);
    const double root = std::sqrt(d);
    const double root_low = std::fma(-root, root, d) / (2 * root);
    high = 1 / root;
    low = high * (std::fma(-high, root, 1.0) - high * root_low);
  }
  constexpr double log2_e = 0x1.71547652b82fep+0, log2_e_low = 0x1.777d0ffda0d24p-56;
  const double product = high * log2_e;
  const double product_low = std::fma(high, log2_e, -product) + (high * log2_e_low + low * log2_e);
  score_steps steps;
  steps.scale = static_cast<T>(high + low);
  steps.base_two_scale = static_cast<T>(product + product_low);
  return steps;
}
template struct score_steps<double>;
template struct score_steps<float>;

template <class T>
void merge(const partial_row<T>* parts, std::size_t count, const score_steps<T>& steps, bool headroom,
           std::size_t value_width, T* output, T* log_sum_exp) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  const T shift = headroom ? fused_exp::constants<T>::headroom : T(0);
  const T sink = steps.sink ? steps.base_two_sink() : -infinity;
  T maximum = std::ceil(sink);
  for (std::size_t n = 0; n < count; ++n) maximum = std::max(maximum, parts[n].maximum);
  if (std::isinf(maximum)) {
    std::fill_n(output, value_width, steps.lone_output());
    if (log_sum_exp != nullptr) *log_sum_exp = steps.lone_log_sum_exp();
    return;
  }
  std::fill_n(output, value_width, T(0));
  T total = steps.sink ? std::exp2(std::max(sink - maximum - shift, -fused_exp::constants<T>::cut)) : T(0);
  for (std::size_t n = 0; n < count; ++n) {
    if (std::isinf(parts[n].maximum)) continue;  // sees no key of it
    const T factor = power_of_two(parts[n].maximum - maximum);
    total += factor * parts[n].total;
    for (std::size_t c = 0; c < value_width; ++c) output[c] += factor * parts[n].sum[c];
  }
  const T inverse = 1 / total;
  for (std::size_t c = 0; c < value_width; ++c) output[c] *= inverse;
  if (log_sum_exp != nullptr) *log_sum_exp = log_sum_exp_of(maximum, std::ldexp(total, static_cast<int>(shift)), steps.base);
}
template void merge(const partial_row<double>*, std::size_t, const score_steps<double>&, bool, std::size_t,
                    double*, double*);
template void merge(const partial_row<float>*, std::size_t, const score_steps<float>&, bool, std::size_t,
                    float*, float*);

}  // namespace fused_head

namespace {

using fused_head::block_rows;
using fused_head::overflow;

template <class T>
class fused_call {
 public:
  fused_call(const attention_inputs<T>& in, const attention_options& options, const attention_shape& shape,
             const attention_results<T>& out, unsigned threads)
      : in_(in),
        options_(options),
        shape_(shape),
        out_(out),
        threads_(thread_count(threads)),
        visible_(shape, options),
        group_(shape.query_heads / shape.key_value_heads) {
    if (options.scale) static_cast<void>(rounded_option<T>(option::scale, *options.scale));
    const auto slopes = rounded_options<T>(option::alibi_slopes, options.alibi_slopes);
    const auto sinks = rounded_options<T>(option::sinks, options.sinks);
    auto steps = fused_head::score_steps<T>::of_scale(options.scale, shape.key_width);
    if (options.softcap) steps.softcap = rounded_softcap<T>(*options.softcap);
    if (options.empty_row == empty_row_policy::nan) steps.empty_output = std::numeric_limits<T>::quiet_NaN();
    if (options.log_sum_exp) {
      steps.base = options.log_sum_exp->base;
      if (options.log_sum_exp->empty == empty_log_sum_exp::plus_infinity)
        steps.empty_log_sum_exp = std::numeric_limits<T>::infinity();
    }
    for (std::size_t h = 0; h < shape.query_heads; ++h) {
      if (!slopes.empty()) steps.slope = slopes[h];
      if (!sinks.empty()) steps.sink = sinks[h];
      steps_.push_back(steps);
    }
    const std::array<std::size_t, 4> scores{shape.batch, shape.query_heads, shape.queries, shape.keys};
    if (options.mask) mask_ = broadcast(*options.mask, scores, "mask");
    if (options.bias) bias_ = broadcast(*options.bias, scores, "bias");
  }

  /// Few queries for each key/value head, as in decoding: K and V are read once and not packed.
  static bool few(const attention_shape& shape, const attention_results<T>& out) {
    return shape.queries * (shape.query_heads / shape.key_value_heads) <= fused_head::few_rows && !out.weights;
  }
  /// The values of K and V need not have been checked. No result is written before they have.
  void calculate_few() {
    if (shape_.queries == 0) return;
    for (const bool headroom : {false, true}) {
      const few_results results = evaluate_few(headroom);
      if (results.bad_row == nothing) return write(results);
      check_key_values(in_.k, in_.v, shape_, visible_);
      const auto [b, h, i] = place(results.bad_row);
      if (results.bad->kind != overflow::what::output || headroom) report(*results.bad, b, h, i);
    }
  }

  /// Many queries: each head is packed first. The values of K and V need not have been checked.
  void calculate_many() {
    const std::size_t heads = shape_.batch * shape_.key_value_heads;
    const std::size_t row_blocks = (shape_.queries + block_rows - 1) / block_rows;
    const std::size_t parts = group_ * row_blocks;  // of a head
    std::vector<thread_memory> memory(threads_);
    // Here and not in threads that are new: what this one keeps needs no fresh pages.
    for (std::size_t n = 0; n < std::min<std::size_t>(threads_, heads * parts); ++n)
      memory[n].scratch.reserve(shape_.key_width, shape_.value_width);
    const std::size_t head_bytes = shape_.keys * (shape_.key_width + shape_.value_width) * sizeof(T);
    if (heads >= 4 * std::size_t{threads_} && head_bytes * heads > packed_at_once) {
      check_key_values(in_.k, in_.v, shape_, visible_);
      for_each_part(threads_, heads, [&](std::size_t head, unsigned thread) {
        auto packed = empty_head();
        for (std::size_t block = 0; block < packed.blocks(); ++block) pack(packed, head, block);
        for (std::size_t n = 0; n < parts; ++n)
          evaluate(packed, head, n / row_blocks, n % row_blocks, memory[thread]);
      });
      return;
    }
    // Few or small heads: all are packed, which looks at their values too, then their blocks are shared out. Parts
    // are taken in order: whoever takes one of the later ones waits for nothing but parts that others are packing.
    std::vector<fused_head::packed_head<T>> packed;
    for (std::size_t head = 0; head < heads; ++head) packed.push_back(empty_head());
    const std::size_t blocks = packed[0].blocks(), packing = heads * blocks;
    std::atomic<std::size_t> packed_blocks = 0;  // those whose packing threw count too
    std::atomic<bool> failed = false;
    std::mutex mutex;
    bool checked = false;
    for_each_part(threads_, packing + heads * parts, [&](std::size_t part, unsigned thread) {
      if (part < packing) {
        try {
          pack(packed[part / blocks], part / blocks, part % blocks);
        } catch (...) {
          failed = true;
          ++packed_blocks;
          throw;
        }
        ++packed_blocks;
        return;
      }
      part -= packing;
      while (packed_blocks != packing) std::this_thread::yield();
      if (failed) return;
      {
        const std::lock_guard lock(mutex);
        if (!checked && !std::all_of(packed.begin(), packed.end(), [](const auto& h) { return h.all_finite(); }))
          check_key_values(in_.k, in_.v, shape_, visible_);
        checked = true;
      }
      const std::size_t n = part % parts;
      evaluate(packed[part / parts], part / parts, n / row_blocks, n % row_blocks, memory[thread]);
    });
  }

 private:
  static constexpr std::size_t nothing = static_cast<std::size_t>(-1);
  static constexpr std::size_t few_chunk = 2048;  // keys
  static constexpr std::size_t packed_at_once = std::size_t{1} << 20;  // bytes, whatever the number of heads

  struct few_results {
    std::vector<T> output;  // [B, Hq, Tq, d_v]
    std::vector<T> log_sum_exp;
    std::size_t bad_row = nothing;  // the first, (b · Hq + h) · Tq + i
    std::optional<overflow> bad;
  };
  struct row_place {
    std::size_t b, h, i;
  };
  row_place place(std::size_t row) const {
    return {row / shape_.queries / shape_.query_heads, row / shape_.queries % shape_.query_heads,
            row % shape_.queries};
  }

  few_results evaluate_few(bool headroom) {
    const std::size_t width = shape_.value_width;
    const std::size_t heads = shape_.batch * shape_.key_value_heads;
    const std::size_t rows = group_ * shape_.queries;  // of a head, consecutive
    const std::size_t chunks = std::max<std::size_t>(1, (shape_.keys + few_chunk - 1) / few_chunk);
    std::vector<T> sums(heads * chunks * rows * width);
    std::vector<fused_head::partial_row<T>> partial(heads * rows * chunks);
    std::vector<std::optional<overflow>> bad(heads * chunks);
    std::vector<thread_memory> memory(threads_);
    for_each_part(threads_, heads * chunks, [&](std::size_t part, unsigned thread) {
      const std::size_t head = part / chunks, chunk = part % chunks;
      fused_head::query_row<T> queries[fused_head::few_rows];
      fused_head::score_steps<T> steps[fused_head::few_rows];
      fused_head::partial_row<T> results[fused_head::few_rows];
      const bool widen = needs_wider_bias();
      if (widen) memory[thread].bias.resize(rows * shape_.keys);
      for (std::size_t n = 0; n < rows; ++n) {
        const auto [b, h, i] = place(head * rows + n);
        queries[n] = query(b, h, i);
        if (widen) widen_bias(b, h, i, memory[thread].bias.data() + n * shape_.keys, queries[n]);
        steps[n] = steps_[h];
        results[n].sum = sums.data() + (part * rows + n) * width;
      }
      const std::size_t b = head / shape_.key_value_heads, h = head % shape_.key_value_heads;
      bad[part] = fused_head::evaluate_few(
          rows_of(in_.k, b, h), rows_of(in_.v, b, h), shape_.key_width, width, chunk * few_chunk,
          std::min(shape_.keys, (chunk + 1) * few_chunk), steps, queries, rows, headroom, results,
          memory[thread].scratch);
      for (std::size_t n = 0; n < rows; ++n) partial[(head * rows + n) * chunks + chunk] = results[n];
    });

    few_results all;
    all.output.resize(heads * rows * width);
    if (out_.log_sum_exp) all.log_sum_exp.resize(heads * rows);
    for (std::size_t part = 0; part < bad.size() && !all.bad; ++part)
      if (bad[part]) {
        all.bad = bad[part];
        all.bad_row = part / chunks * rows + bad[part]->row;
      }
    for (std::size_t row = 0; row < heads * rows && !all.bad; ++row) {
      const auto& steps = steps_[place(row).h];
      T* output = all.output.data() + row * width;
      T* log_sum_exp = out_.log_sum_exp ? &all.log_sum_exp[row] : nullptr;
      fused_head::merge(&partial[row * chunks], chunks, steps, headroom, width, output, log_sum_exp);
      if (is_empty(&partial[row * chunks], chunks, steps)) continue;
      const T* wrong = std::find_if(output, output + width, [](T x) { return !std::isfinite(x); });
      if (wrong != output + width)
        all.bad = overflow{overflow::what::output, row, static_cast<std::size_t>(wrong - output)};
      else if (log_sum_exp != nullptr && !std::isfinite(*log_sum_exp))
        all.bad = overflow{overflow::what::log_sum_exp, row, 0};
      if (all.bad) all.bad_row = row;
    }
    return all;
  }
  static bool is_empty(const fused_head::partial_row<T>* parts, std::size_t count,
                       const fused_head::score_steps<T>& steps) {
    return !steps.sink && std::all_of(parts, parts + count, [](const auto& p) { return std::isinf(p.maximum); });
  }
  void write(const few_results& results) const {
    for (std::size_t row = 0; row < shape_.batch * shape_.query_heads * shape_.queries; ++row) {
      const auto [b, h, i] = place(row);
      for (std::size_t c = 0; c < shape_.value_width; ++c)
        out_.output(b, h, i, c) = results.output[row * shape_.value_width + c];
      if (out_.log_sum_exp) (*out_.log_sum_exp)(b, h, i, 0) = results.log_sum_exp[row];
    }
  }

  struct thread_memory {
    fused_head::scratch<T> scratch;
    std::vector<T> bias;
  };

  fused_head::packed_head<T> empty_head() const {
    fused_head::packed_head<T> head(shape_.keys, shape_.key_width, shape_.value_width);
    // Copying pays from a few row blocks on.
    if (group_ * shape_.queries <= block_rows) head.keep_values_in_place();
    return head;
  }

  static fused_head::strided_rows<T> rows_of(const tensor<const T>& array, std::size_t b, std::size_t h) {
    return {array.data() + array.where().offset(b, h, 0, 0), array.where().strides[2],
            array.where().strides[3]};
  }
  void pack(fused_head::packed_head<T>& packed, std::size_t head, std::size_t block) const {
    const std::size_t b = head / shape_.key_value_heads, h = head % shape_.key_value_heads;
    packed.pack(block, rows_of(in_.k, b, h), rows_of(in_.v, b, h));
  }

  fused_head::query_row<T> query(std::size_t b, std::size_t h, std::size_t i) const {
    const auto keys = visible_.keys(b, i);
    fused_head::query_row<T> row{{in_.q.data() + in_.q.where().offset(b, h, i, 0)}, in_.q.where().strides[3]};
    row.first_key = keys.first;
    row.last_key = keys.last;
    row.position = visible_.position(b, i);
    if (mask_) {
      row.visible =
          static_cast<const unsigned char*>(mask_->data()) + mask_->where().offset(b, h, i, keys.first);
      row.visible_stride = mask_->where().strides[3];
    }
    if (bias_ && bias_->type() == dtype_of<T>::value) {
      row.bias = static_cast<const T*>(bias_->data()) + bias_->where().offset(b, h, i, keys.first);
      row.bias_stride = bias_->where().strides[3];
    }
    return row;
  }

  bool needs_wider_bias() const { return bias_ && bias_->type() != dtype_of<T>::value; }
  /// Biases of a narrower type, in the kernel's.
  void widen_bias(std::size_t b, std::size_t h, std::size_t i, T* to, fused_head::query_row<T>& row) const {
    row.bias = to;
    for (std::size_t j = row.first_key; j < row.last_key; ++j) *to++ = static_cast<T>((*bias_)(b, h, i, j));
  }

  void evaluate(const fused_head::packed_head<T>& packed, std::size_t head, std::size_t in_group,
                std::size_t row_block, thread_memory& memory) const {
    const std::size_t b = head / shape_.key_value_heads;
    const std::size_t h = head % shape_.key_value_heads * group_ + in_group;
    const std::size_t first = row_block * block_rows;
    const std::size_t count = std::min(block_rows, shape_.queries - first);
    fused_head::query_row<T> rows[block_rows];
    fused_head::row_results<T> results[block_rows];
    const bool widen = needs_wider_bias();
    if (widen) memory.bias.resize(block_rows * shape_.keys);
    const auto row = query(b, h, first);
    fused_head::row_results<T> result{&out_.output(b, h, first, 0), out_.output.where().strides[3]};
    if (out_.log_sum_exp) result.log_sum_exp = &(*out_.log_sum_exp)(b, h, first, 0);
    if (out_.weights) {
      result.weights = out_.weights->data() + out_.weights->where().offset(b, h, first, 0);
      result.weights_stride = out_.weights->where().strides[3];
    }
    const auto step = [](const auto& array) { return array ? array->where().strides[2] : 0; };
    const std::ptrdiff_t next_q = in_.q.where().strides[2], next_visible = step(mask_), next_bias = step(bias_);
    const std::ptrdiff_t next_output = out_.output.where().strides[2], next_weights = step(out_.weights),
                         next_log_sum_exp = step(out_.log_sum_exp);
    const bool same_keys = !options_.causal && !options_.window;  // in all rows
    for (std::size_t n = 0; n < count; ++n) {
      const auto step_n = static_cast<std::ptrdiff_t>(n);
      fused_head::row_results<T>& to = results[n] = result;
      to.output += step_n * next_output;
      if (to.log_sum_exp != nullptr) to.log_sum_exp += step_n * next_log_sum_exp;
      if (to.weights != nullptr) to.weights += step_n * next_weights;
      fused_head::query_row<T>& from = rows[n] = same_keys ? row : query(b, h, first + n);
      if (same_keys) {
        from.q += step_n * next_q;
        from.position += step_n;
        if (from.visible != nullptr) from.visible += step_n * next_visible;
        if (from.bias != nullptr) from.bias += step_n * next_bias;
      }
      if (widen) widen_bias(b, h, first + n, memory.bias.data() + n * shape_.keys, from);
    }
    if (const auto bad = fused_head::evaluate(packed, steps_[h], rows, results, count, memory.scratch))
      report(*bad, b, h, first + bad->row);
  }

  [[noreturn]] static void report(const overflow& bad, std::size_t b, std::size_t h, std::size_t i) {
    switch (bad.kind) {
      case overflow::what::score:
        throw_overflow(dtype_of<T>::value, "score", b, h, i, "key", bad.index);
      case overflow::what::output:
        throw_overflow(dtype_of<T>::value, "output", b, h, i, "coordinate", bad.index);
      default:
        throw_overflow(dtype_of<T>::value, "log-sum-exp", b, h, i, nullptr, 0);
    }
  }

  const attention_inputs<T>& in_;
  const attention_options& options_;
  const attention_shape& shape_;
  const attention_results<T>& out_;
  unsigned threads_;
  visibility visible_;
  std::size_t group_;
  std::vector<fused_head::score_steps<T>> steps_;  // of each query head
  std::optional<any_tensor> mask_, bias_;
};

template <class T>
[[gnu::noinline]] void calculate(const attention_inputs<T>& in, const attention_options& options,
                                 const attention_shape& shape, const attention_results<T>& out,
                                 unsigned threads) {
  fused_call<T> call(in, options, shape, out, threads);
  if (fused_call<T>::few(shape, out))
    call.calculate_few();
  else
    call.calculate_many();
}

}  // namespace

template <class T>
void fused(const attention_inputs<T>& in, const attention_options& options, const attention_results<T>& out,
           const fused_options& how) {
  const float_environment environment;
  const attention_shape shape = checked_but_for_keys("fused", every_option, in, options, out);
  refuse_wide_bias<T>(options);
  calculate(in, options, shape, out, how.threads);
}

template void fused(const attention_inputs<double>&, const attention_options&,
                    const attention_results<double>&, const fused_options&);
template void fused(const attention_inputs<float>&, const attention_options&, const attention_results<float>&,
                    const fused_options&);

}  // namespace attest::kernel
