#include <attest/problem/shape_text.hpp>

#include <vector>

namespace attest {

std::string shape_text(std::span<const std::size_t> shape) {
  std::string text = "[";
  for (const std::size_t extent : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + ']';
}

std::string index_text(std::span<const std::size_t> shape, std::size_t at) {
  std::vector<std::size_t> index(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = at % shape[axis];
    at /= shape[axis];
  }
  return shape_text(index);
}

}  // namespace attest
