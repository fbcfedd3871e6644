#pragma once

#include <attest/exact/error.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace attest {

/// The extent of what is known only at run time.
inline constexpr std::size_t dynamic = std::dynamic_extent;

constexpr std::size_t extent_sum(std::size_t a, std::size_t b) { return a == dynamic || b == dynamic ? dynamic : a + b; }
constexpr std::size_t extent_product(std::size_t a, std::size_t b) {
  return a == dynamic || b == dynamic ? dynamic : a * b;
}
constexpr std::size_t extent_maximum(std::size_t a, std::size_t b) { return a > b ? a : b; }

/// A list of at most Capacity elements in one flat array (a raw one: in g++'s constant evaluation std::array costs ten
/// times as much); with `dynamic`, a list that grows.
template <class T, std::size_t Capacity>
class list {
 public:
  constexpr std::size_t size() const { return size_; }
  constexpr const T& operator[](std::size_t i) const {
    if (i >= size_) error::index_out_of_range();
    return elements_[i];
  }
  constexpr T& operator[](std::size_t i) {
    if (i >= size_) error::index_out_of_range();
    return elements_[i];
  }
  constexpr void push_back(const T& value) {
    if (size_ == Capacity) error::index_out_of_range();
    elements_[size_++] = value;
  }
  constexpr void erase(std::size_t i) {
    if (i >= size_) error::index_out_of_range();
    if constexpr (Capacity > 1)
      for (; i + 1 < size_; ++i) elements_[i] = elements_[i + 1];
    --size_;
  }

 private:
  T elements_[Capacity == 0 ? 1 : Capacity]{};
  std::size_t size_ = 0;
};

template <class T>
class list<T, dynamic> {
 public:
  constexpr std::size_t size() const { return elements_.size(); }
  constexpr const T& operator[](std::size_t i) const {
    if (i >= size()) error::index_out_of_range();
    return elements_[i];
  }
  constexpr T& operator[](std::size_t i) {
    if (i >= size()) error::index_out_of_range();
    return elements_[i];
  }
  constexpr void push_back(const T& value) { elements_.push_back(value); }
  constexpr void erase(std::size_t i) {
    if (i >= size()) error::index_out_of_range();
    elements_.erase(elements_.begin() + static_cast<std::ptrdiff_t>(i));
  }

 private:
  std::vector<T> elements_;
};

}  // namespace attest
