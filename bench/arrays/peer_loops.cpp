// What one writes first: three loops in plain C++. Compiled with -O3 and all instructions of this machine.
#include "method.hpp"

#include <algorithm>
#include <cmath>

namespace bench {

namespace {

template <class T>
void loops(const T* q, const T* k, const T* v, std::size_t queries, std::size_t keys, std::size_t width, T* row, T* out) {
  const T scale = 1 / std::sqrt(static_cast<T>(width));
  for (std::size_t i = 0; i < queries; ++i) {
    T largest = -INFINITY;
    for (std::size_t j = 0; j < keys; ++j) {
      T sum = 0;
      for (std::size_t c = 0; c < width; ++c) sum += q[i * width + c] * k[j * width + c];
      row[j] = sum * scale;
      largest = std::max(largest, row[j]);
    }
    T total = 0;
    for (std::size_t j = 0; j < keys; ++j) total += row[j] = std::exp(row[j] - largest);
    for (std::size_t c = 0; c < width; ++c) out[i * width + c] = 0;
    for (std::size_t j = 0; j < keys; ++j)
      for (std::size_t c = 0; c < width; ++c) out[i * width + c] += row[j] / total * v[j * width + c];
  }
}

template <class T>
void add(methods& all, const problem& p) {
  auto row = std::make_shared<std::vector<T>>(p.keys);
  auto out = std::make_shared<array>(p.type, attest::layout{p.queries, p.width});
  all.push_back({"plain loops, -O3",
                 [row, out, &p] {
                   loops(p.q.data<T>(), p.k.data<T>(), p.v.data<T>(), p.queries, p.keys, p.width, row->data(),
                         out->template data<T>());
                 },
                 out->view(), false, &p, {}});
}

}  // namespace

void add_loops(methods& all, const problem& p) {
  if (p.type == attest::dtype::binary64)
    add<double>(all, p);
  else
    add<float>(all, p);
}

}  // namespace bench
