#include <attest/kernel/float_environment.hpp>
#include <attest/kernel/stable.hpp>

#include "kernel/call.hpp"

#include <algorithm>
#include <numbers>

// Attention with every option, to be read. A row passes through scores(), softmax() and the sums over the
// values; the steps of a score stand in scores() in the order in which attention_options lists them.
namespace attest::kernel {

namespace {

template <class T>
class stable_call {
 public:
  stable_call(const attention_inputs<T>& in, const attention_options& options, const attention_shape& shape,
              const attention_results<T>& out)
      : in_(in),
        options_(options),
        shape_(shape),
        out_(out),
        visible_(shape, options),
        root_of_width_(std::sqrt(static_cast<T>(shape.key_width))),
        slopes_(rounded_options<T>(option::alibi_slopes, options.alibi_slopes)),
        sinks_(rounded_options<T>(option::sinks, options.sinks)),
        sees_(shape.keys),
        row_(shape.keys) {
    if (options.scale) scale_ = rounded_option<T>(option::scale, *options.scale);
    if (options.softcap) softcap_ = rounded_softcap<T>(*options.softcap);
    if (options.bias)
      bias_ = broadcast(*options.bias, {shape.batch, shape.query_heads, shape.queries, shape.keys}, "bias");
  }

  void calculate() {
    for (std::size_t b = 0; b < shape_.batch; ++b)
      for (std::size_t h = 0; h < shape_.query_heads; ++h)
        for (std::size_t i = 0; i < shape_.queries; ++i) {
          scores(b, h, i);
          softmax(b, h, i);
          outputs(b, h, i);
        }
  }

 private:
  /// The scores of the keys that query i sees, into row_.
  void scores(std::size_t b, std::size_t h, std::size_t i) {
    for (std::size_t j = 0; j < shape_.keys; ++j) {
      sees_[j] = visible_(b, h, i, j);
      if (!sees_[j]) continue;
      T s = dot(in_.q, in_.k, b, h, shape_.key_value_head(h), i, j);
      s = scale_ ? s * *scale_ : s / root_of_width_;
      require_finite(s, "score", b, h, i, "key", j);
      if (softcap_) s = *softcap_ * std::tanh(s / *softcap_);
      if (bias_) s = s + static_cast<T>((*bias_)(b, h, i, j));
      if (!slopes_.empty()) s = s - slopes_[h] * distance(visible_.position(b, i), j);
      require_finite(s, "score", b, h, i, "key", j);
      row_[j] = s;
    }
  }

  /// The scores in row_ become weights.
  void softmax(std::size_t b, std::size_t h, std::size_t i) {
    const bool has_sink = !sinks_.empty();
    T largest = has_sink ? sinks_[h] : -std::numeric_limits<T>::infinity();
    bool empty = !has_sink;
    for (std::size_t j = 0; j < shape_.keys; ++j) {
      if (!sees_[j]) continue;
      largest = std::max(largest, row_[j]);
      empty = false;
    }
    T log_sum_exp;
    if (empty) {
      const T policy =
          *options_.empty_row == empty_row_policy::nan ? std::numeric_limits<T>::quiet_NaN() : T(0);
      std::fill(row_.begin(), row_.end(), policy);
      empty_output_ = policy;
      log_sum_exp = empty_row_log_sum_exp();
    } else {
      T sum = 0;
      for (std::size_t j = 0; j < shape_.keys; ++j) {
        row_[j] = sees_[j] ? std::exp(row_[j] - largest) : T(0);
        sum += row_[j];
      }
      if (has_sink) sum += std::exp(sinks_[h] - largest);
      for (T& weight : row_) weight /= sum;
      empty_output_.reset();
      log_sum_exp = row_log_sum_exp(largest, sum);
      if (out_.log_sum_exp) require_finite(log_sum_exp, "log-sum-exp", b, h, i, nullptr, 0);
    }
    if (out_.log_sum_exp) (*out_.log_sum_exp)(b, h, i, 0) = log_sum_exp;
    if (out_.weights)
      for (std::size_t j = 0; j < shape_.keys; ++j) (*out_.weights)(b, h, i, j) = row_[j];
  }

  /// Σ_j weight_j V_j over the keys that the query sees: what others hold may be NaN.
  void outputs(std::size_t b, std::size_t h, std::size_t i) {
    for (std::size_t c = 0; c < shape_.value_width; ++c) {
      T sum = 0;
      for (std::size_t j = 0; j < shape_.keys; ++j)
        if (sees_[j]) sum += row_[j] * in_.v(b, shape_.key_value_head(h), j, c);
      require_finite(sum, "output", b, h, i, "coordinate", c);
      out_.output(b, h, i, c) = empty_output_.value_or(sum);
    }
  }

  /// log(e^largest · sum).
  T row_log_sum_exp(T largest, T sum) const {
    if (options_.log_sum_exp && options_.log_sum_exp->base == log_sum_exp_base::two)
      return largest * std::numbers::log2e_v<T> + std::log2(sum);
    return largest + std::log(sum);
  }
  T empty_row_log_sum_exp() const {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    return options_.log_sum_exp && options_.log_sum_exp->empty == empty_log_sum_exp::plus_infinity
               ? infinity
               : -infinity;
  }

  static T distance(std::ptrdiff_t query, std::size_t key) {
    return static_cast<T>(std::abs(query - static_cast<std::ptrdiff_t>(key)));
  }

  static void require_finite(T x, const char* what, std::size_t b, std::size_t h, std::size_t i,
                             const char* axis, std::size_t j) {
    if (!std::isfinite(x)) throw_overflow(dtype_of<T>::value, what, b, h, i, axis, j);
  }

  const attention_inputs<T>& in_;
  const attention_options& options_;
  const attention_shape& shape_;
  const attention_results<T>& out_;
  visibility visible_;
  T root_of_width_;
  std::optional<T> scale_;
  std::optional<T> softcap_;
  std::optional<any_tensor> bias_;
  std::vector<T> slopes_;
  std::vector<T> sinks_;

  std::vector<unsigned char> sees_;  // of the row at hand
  std::vector<T> row_;               // its scores, then its weights
  std::optional<T> empty_output_;    // its outputs, where it sees no key
};

template <class T>
[[gnu::noinline]] void calculate(const attention_inputs<T>& in, const attention_options& options,
                                 const attention_shape& shape, const attention_results<T>& out) {
  stable_call<T>(in, options, shape, out).calculate();
}

}  // namespace

template <class T>
void stable(const attention_inputs<T>& in, const attention_options& options,
            const attention_results<T>& out) {
  const float_environment environment;
  const attention_shape shape = checked_call("stable", every_option, in, options, out);
  refuse_wide_bias<T>(options);
  calculate(in, options, shape, out);
}

template void stable(const attention_inputs<double>&, const attention_options&,
                     const attention_results<double>&);
template void stable(const attention_inputs<float>&, const attention_options&,
                     const attention_results<float>&);

}  // namespace attest::kernel
