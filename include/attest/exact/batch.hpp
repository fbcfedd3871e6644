#pragma once

#include <attest/exact/error.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace attest {

/// B examples of one shape: the leading axis of a [B, T, C] array. Whatever is done to a batch is done to
/// each example on its own, so no example can reach into another.
///
///     constexpr batch X({first, second});       // two matrices [T, C]
///     constexpr auto Q = X * WQ;                // one matrix for all, or another batch: example by example
///     constexpr auto A = softmax(Q * transpose(K) / root(4));
///
/// X[b] is example b. Where an array is read by rows, as claims and lists do, the rows of all examples follow
/// one another: row t of example b is row b T + t.
template <class Example, std::size_t B>
class batch {
  static_assert(B > 0, "a batch has at least one example");

 public:
  using example_type = Example;

  constexpr batch(const Example (&examples)[B])
      : batch([&](std::size_t b) { return examples[b]; }, std::make_index_sequence<B>{}) {}

  /// The batch of f(0), ..., f(B - 1).
  template <class F>
  requires std::is_same_v<std::invoke_result_t<F, std::size_t>, Example>
  static constexpr batch of(F f) { return batch(f, std::make_index_sequence<B>{}); }

  static constexpr std::size_t size() { return B; }
  constexpr const Example& operator[](std::size_t b) const {
    if (b >= B) error::index_out_of_range();
    return examples_[b];
  }

  constexpr std::size_t rows() const { return B * examples_[0].rows(); }
  constexpr std::size_t columns() const { return examples_[0].columns(); }
  constexpr auto operator()(std::size_t i, std::size_t j) const {
    const std::size_t in_each = examples_[0].rows();
    return (*this)[i / in_each](i % in_each, j);
  }

 private:
  template <class F, std::size_t... I>
  constexpr batch(F f, std::index_sequence<I...>) : examples_{f(I)...} {
    for (std::size_t b = 1; b < B; ++b)
      if (examples_[b].rows() != examples_[0].rows() || examples_[b].columns() != examples_[0].columns())
        error::shape_mismatch();
  }

  Example examples_[B];
};

template <class Example, std::size_t B>
batch(const Example (&)[B]) -> batch<Example, B>;

/// The batch of f(x[b]).
template <class Example, std::size_t B, class F>
constexpr auto map_examples(const batch<Example, B>& x, F f) {
  return batch<decltype(f(x[0])), B>::of([&](std::size_t b) { return f(x[b]); });
}

/// [B, R, C] to [B, C, R].
template <class Example, std::size_t B>
constexpr auto transpose(const batch<Example, B>& x) {
  return map_examples(x, [](const Example& example) { return transpose(example); });
}

/// The row sums of each example, [B, R, 1].
template <class Example, std::size_t B>
constexpr auto row_sums(const batch<Example, B>& x) {
  return map_examples(x, [](const Example& example) { return row_sums(example); });
}

template <class Example, class Other, std::size_t B>
constexpr auto operator*(const batch<Example, B>& x, const batch<Other, B>& y) {
  return batch<decltype(x[0] * y[0]), B>::of([&](std::size_t b) { return x[b] * y[b]; });
}
template <class Example, class Other, std::size_t B>
constexpr auto operator+(const batch<Example, B>& x, const batch<Other, B>& y) {
  return batch<decltype(x[0] + y[0]), B>::of([&](std::size_t b) { return x[b] + y[b]; });
}
template <class Example, class Other, std::size_t B>
constexpr auto operator-(const batch<Example, B>& x, const batch<Other, B>& y) {
  return batch<decltype(x[0] - y[0]), B>::of([&](std::size_t b) { return x[b] - y[b]; });
}

/// Each example with one and the same operand: a weight matrix, a scale.
template <class Example, std::size_t B, class Other>
requires requires(const Example& example, const Other& other) { example* other; }
constexpr auto operator*(const batch<Example, B>& x, const Other& y) {
  return map_examples(x, [&y](const Example& example) { return example * y; });
}
template <class Example, std::size_t B, class Other>
requires requires(const Example& example, const Other& other) { example / other; }
constexpr auto operator/(const batch<Example, B>& x, const Other& y) {
  return map_examples(x, [&y](const Example& example) { return example / y; });
}

/// Exact equality of every example with its counterpart.
template <class Example, class Other, std::size_t B>
constexpr bool operator==(const batch<Example, B>& x, const batch<Other, B>& y) {
  for (std::size_t b = 0; b < B; ++b)
    if (!(x[b] == y[b])) return false;
  return true;
}

}  // namespace attest
