#include "heads.hpp"

#include <cstdint>

namespace bench {

namespace {

std::vector<int> product(const std::vector<int>& a, const std::vector<int>& b, std::size_t rows, std::size_t inner,
                         std::size_t columns) {
  std::vector<int> result(rows * columns, 0);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t k = 0; k < inner; ++k)
      for (std::size_t j = 0; j < columns; ++j) result[i * columns + j] += a[i * inner + k] * b[k * columns + j];
  return result;
}

void multiply_out(head& h) {
  h.q = product(h.x, h.wq, h.tokens, h.channels, h.key_width);
  h.k = product(h.x, h.wk, h.tokens, h.channels, h.key_width);
  h.v = product(h.x, h.wv, h.tokens, h.channels, h.value_width);
  h.dots.assign(h.tokens * h.tokens, 0);
  for (std::size_t i = 0; i < h.tokens; ++i)
    for (std::size_t j = 0; j < h.tokens; ++j)
      for (std::size_t c = 0; c < h.key_width; ++c)
        h.dots[i * h.tokens + j] += h.q[i * h.key_width + c] * h.k[j * h.key_width + c];
}

attest::exact_matrix exact(const std::vector<int>& elements, std::size_t rows, std::size_t columns) {
  attest::matrix<attest::unbounded_dyadic> m(rows, columns);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) m(i, j) = attest::unbounded_dyadic(elements[i * columns + j]);
  return m;
}

}  // namespace

attest::problem problem_of(const head& h) {
  return {attest::projected_inputs{exact(h.x, h.tokens, h.channels),
                                   {},
                                   exact(h.wq, h.channels, h.key_width),
                                   exact(h.wk, h.channels, h.key_width),
                                   exact(h.wv, h.channels, h.value_width)},
          {},
          {}};
}

head chapter() {
  head h{"chapter", 3, 2, 2, 2, {1, 0, 0, 1, 1, 1}, {1, 0, 0, 1}, {1, 1, 0, 1}, {1, 0, 1, 2}, {}, {}, {}, {}, {}, {}};
  multiply_out(h);
  h.weights = {0.4011120926797859,  0.19777581464042818, 0.4011120926797859,  0.24825507825772308, 0.24825507825772308,
               0.5034898434845538,  0.28399540974126003, 0.14002924504337802, 0.575975345215362};
  h.output = {1.401112092679786,  1.1977758146404283, 1.5034898434845538,
              1.5034898434845538, 1.575975345215362,  1.43200918051748};
  return h;
}

head sixteen_tokens() {
  head h{"16 tokens", 16, 8, 8, 8, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
  std::uint64_t state = 88172645463325252;  // xorshift64
  const auto draw = [&](std::vector<int>& array, std::size_t size, int least, int greatest) {
    for (std::size_t i = 0; i < size; ++i) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      array.push_back(least + static_cast<int>(state % static_cast<std::uint64_t>(greatest - least + 1)));
    }
  };
  draw(h.x, h.tokens * h.channels, -1, 2);
  draw(h.wq, h.channels * h.key_width, -1, 1);
  draw(h.wk, h.channels * h.key_width, -1, 1);
  draw(h.wv, h.channels * h.value_width, -3, 3);
  multiply_out(h);
  const attest::attention_reference answer = attest::attention(problem_of(h), {17, {}});
  for (std::size_t i = 0; i < h.tokens; ++i) {
    for (std::size_t j = 0; j < h.tokens; ++j) h.weights.push_back(answer.weights(i, j).nearest);
    for (std::size_t c = 0; c < h.value_width; ++c) h.output.push_back(answer.output(i, c).nearest);
  }
  return h;
}

}  // namespace bench
