#pragma once

#include <attest/problem/attention_error.hpp>
#include <attest/problem/shape_text.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>

// Arrays as attention sees them: four axes [B, H, T, d], batch, head, position, coordinate, over memory that
// belongs to somebody else.
namespace attest {

struct format;

/// The bits of a narrow float, to store and to read, not to calculate with. The formats of eight bits are
/// those of the Open Compute Project (OCP 8-bit Floating Point Specification, revision 1.0) and their
/// "finite, unsigned zero" variants: rounding/format.hpp describes each.
enum class float16_t : std::uint16_t {};
enum class bfloat16_t : std::uint16_t {};
enum class float8_e4m3fn_t : std::uint8_t {};
enum class float8_e5m2_t : std::uint8_t {};
enum class float8_e4m3fnuz_t : std::uint8_t {};
enum class float8_e5m2fnuz_t : std::uint8_t {};

/// What an element is. A boolean is one byte, and any byte but 0 is true.
enum class dtype {
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float8_e4m3fn,
  float8_e5m2,
  float8_e4m3fnuz,
  float8_e5m2fnuz,
  bfloat16,
  binary16,
  binary32,
  binary64
};

/// Its name as above.
std::string to_string(dtype type);

/// How many bytes an element has.
std::size_t size_of(dtype type);

/// The format of a float dtype, null for booleans and integers.
const format* format_of(dtype type);

/// The dtype of elements of a C++ type. A byte is a boolean: numbers of type uint8 have to be named as such,
/// in any_tensor(data, dtype::uint8, where).
template <class T>
struct dtype_of;
template <>
struct dtype_of<bool> : std::integral_constant<dtype, dtype::boolean> {};
template <>
struct dtype_of<unsigned char> : std::integral_constant<dtype, dtype::boolean> {};
template <>
struct dtype_of<std::int8_t> : std::integral_constant<dtype, dtype::int8> {};
template <>
struct dtype_of<std::int16_t> : std::integral_constant<dtype, dtype::int16> {};
template <>
struct dtype_of<std::int32_t> : std::integral_constant<dtype, dtype::int32> {};
template <>
struct dtype_of<std::int64_t> : std::integral_constant<dtype, dtype::int64> {};
template <>
struct dtype_of<std::uint16_t> : std::integral_constant<dtype, dtype::uint16> {};
template <>
struct dtype_of<std::uint32_t> : std::integral_constant<dtype, dtype::uint32> {};
template <>
struct dtype_of<std::uint64_t> : std::integral_constant<dtype, dtype::uint64> {};
template <>
struct dtype_of<float8_e4m3fn_t> : std::integral_constant<dtype, dtype::float8_e4m3fn> {};
template <>
struct dtype_of<float8_e5m2_t> : std::integral_constant<dtype, dtype::float8_e5m2> {};
template <>
struct dtype_of<float8_e4m3fnuz_t> : std::integral_constant<dtype, dtype::float8_e4m3fnuz> {};
template <>
struct dtype_of<float8_e5m2fnuz_t> : std::integral_constant<dtype, dtype::float8_e5m2fnuz> {};
template <>
struct dtype_of<bfloat16_t> : std::integral_constant<dtype, dtype::bfloat16> {};
template <>
struct dtype_of<float16_t> : std::integral_constant<dtype, dtype::binary16> {};
template <>
struct dtype_of<float> : std::integral_constant<dtype, dtype::binary32> {};
template <>
struct dtype_of<double> : std::integral_constant<dtype, dtype::binary64> {};

/// Where the elements of an array lie: the element (b, h, t, c) is at b·strides[0] + h·strides[1] +
/// t·strides[2] + c·strides[3] elements from the first. A stride may be 0 (one element stands for the whole
/// axis) or negative.
///
/// Two or three extents are [T, d] and [B, T, d], with one head. `rank` is how many were given.
struct layout {
  std::array<std::size_t, 4> extents{1, 1, 0, 0};
  std::array<std::ptrdiff_t, 4> strides{};
  int rank = 4;

  layout() = default;
  /// By rows, without gaps. A number of extents that is not 2, 3 or 4, and extents whose product is no
  /// std::ptrdiff_t, are attention_error (fault::shape).
  explicit layout(std::initializer_list<std::size_t> row_major);
  /// As many strides, in elements, as extents; attention_error (fault::shape) otherwise.
  layout(std::initializer_list<std::size_t> sizes, std::initializer_list<std::ptrdiff_t> steps);

  /// In elements, of an index within the extents, which is not checked.
  std::ptrdiff_t offset(std::size_t b, std::size_t h, std::size_t t, std::size_t c) const {
    return static_cast<std::ptrdiff_t>(b) * strides[0] + static_cast<std::ptrdiff_t>(h) * strides[1] +
           static_cast<std::ptrdiff_t>(t) * strides[2] + static_cast<std::ptrdiff_t>(c) * strides[3];
  }
};

/// "[2, 8, 128, 64]", with the extents that were given.
std::string shape_text(const layout& l);

/// A view of an array [B, H, T, d] of T. Copying it copies no element. Neither the memory nor an index is
/// checked here: what a call is given goes through checked_shape() and check_result().
template <class T>
class tensor {
 public:
  tensor() = default;
  tensor(T* data, const layout& where) : data_(data), layout_(where) {}
  tensor(T* data, std::initializer_list<std::size_t> extents) : tensor(data, layout(extents)) {}
  tensor(T* data, std::initializer_list<std::size_t> extents, std::initializer_list<std::ptrdiff_t> strides)
      : tensor(data, layout(extents, strides)) {}
  /// Something to write to is something to read from.
  template <class U>
  requires(std::same_as<const U, T> && !std::same_as<U, T>) tensor(const tensor<U>& other)
      : tensor(other.data(), other.where()) {}

  T* data() const { return data_; }
  const layout& where() const { return layout_; }
  std::size_t batch() const { return layout_.extents[0]; }
  std::size_t heads() const { return layout_.extents[1]; }
  std::size_t positions() const { return layout_.extents[2]; }
  std::size_t width() const { return layout_.extents[3]; }
  T& operator()(std::size_t b, std::size_t h, std::size_t t, std::size_t c) const {
    return data_[layout_.offset(b, h, t, c)];
  }

 private:
  T* data_ = nullptr;
  layout layout_;
};

/// A view for reading whose element type is known at run time only.
class any_tensor {
 public:
  any_tensor() = default;
  any_tensor(const void* data, dtype type, const layout& where) : data_(data), type_(type), layout_(where) {}
  template <class T>
  any_tensor(const tensor<T>& other)
      : any_tensor(other.data(), dtype_of<std::remove_const_t<T>>::value, other.where()) {}

  const void* data() const { return data_; }
  dtype type() const { return type_; }
  const layout& where() const { return layout_; }

  /// The element as a double: exact for every type but int64 and uint64, which are rounded.
  double operator()(std::size_t b, std::size_t h, std::size_t t, std::size_t c) const;

 private:
  const void* data_ = nullptr;
  dtype type_ = dtype::binary64;
  layout layout_;
};

/// A view for writing whose element type is known at run time only.
class any_result {
 public:
  any_result() = default;
  any_result(void* data, dtype type, const layout& where) : data_(data), type_(type), layout_(where) {}
  template <class T>
  requires(!std::is_const_v<T>) any_result(const tensor<T>& other)
      : any_result(other.data(), dtype_of<T>::value, other.where()) {}

  void* data() const { return data_; }
  dtype type() const { return type_; }
  const layout& where() const { return layout_; }

 private:
  void* data_ = nullptr;
  dtype type_ = dtype::binary64;
  layout layout_;
};

/// The array, seen with the extents of `shape`: an axis of extent 1 is repeated (its stride becomes 0), every
/// other has to be equal; attention_error (fault::shape) otherwise. `name` is what a message calls the array.
/// Masks and biases are read like this. A rank of 3 does not say whether the first axis is the batch or the
/// head, and is refused where there is more than one head and that axis is longer than 1.
any_tensor broadcast(const any_tensor& array, const std::array<std::size_t, 4>& shape, const char* name);

}  // namespace attest
