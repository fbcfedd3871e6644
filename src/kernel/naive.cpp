#include <attest/kernel/float_environment.hpp>
#include <attest/kernel/naive.hpp>

#include "kernel/call.hpp"

namespace attest::kernel {

namespace {

template <class T>
[[gnu::noinline]] void calculate(const attention_inputs<T>& in, const attention_options& options,
                                 const attention_shape& shape, const attention_results<T>& out) {
  const visibility visible(shape, options);
  const T root = std::sqrt(static_cast<T>(shape.key_width));
  const T scale = options.scale ? rounded_option<T>(option::scale, *options.scale) : T(0);
  std::vector<T> weights(shape.keys);

  for (std::size_t b = 0; b < shape.batch; ++b)
    for (std::size_t h = 0; h < shape.query_heads; ++h)
      for (std::size_t i = 0; i < shape.queries; ++i) {
        T sum = 0;
        for (std::size_t j = 0; j < shape.keys; ++j) {
          weights[j] = 0;
          if (!visible(b, h, i, j)) continue;
          const T product = dot(in.q, in.k, b, h, h, i, j);
          weights[j] = std::exp(options.scale ? product * scale : product / root);
          sum += weights[j];
        }
        for (std::size_t j = 0; j < shape.keys; ++j) {
          if (visible(b, h, i, j)) weights[j] /= sum;
          if (out.weights) (*out.weights)(b, h, i, j) = weights[j];
        }
        for (std::size_t c = 0; c < shape.value_width; ++c) {
          T output = 0;
          for (std::size_t j = 0; j < shape.keys; ++j)
            if (visible(b, h, i, j)) output += weights[j] * in.v(b, h, j, c);
          out.output(b, h, i, c) = output;
        }
      }
}

}  // namespace

template <class T>
void naive(const attention_inputs<T>& in, const attention_options& options, const attention_results<T>& out) {
  const float_environment environment;
  const attention_shape shape = checked_call("naive", {option::scale, option::mask}, in, options, out);
  calculate(in, options, shape, out);
}

template void naive(const attention_inputs<double>&, const attention_options&,
                    const attention_results<double>&);
template void naive(const attention_inputs<float>&, const attention_options&,
                    const attention_results<float>&);

}  // namespace attest::kernel
