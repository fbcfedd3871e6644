#include <attest/problem/tensor.hpp>
#include <attest/rounding/format.hpp>

#include "problem/rows.hpp"
#include "problem/widen.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace attest {

static_assert(sizeof(bool) == 1, "masks are read byte by byte");

std::string to_string(dtype type) {
  switch (type) {
    case dtype::boolean:
      return "boolean";
    case dtype::int8:
      return "int8";
    case dtype::int16:
      return "int16";
    case dtype::int32:
      return "int32";
    case dtype::int64:
      return "int64";
    case dtype::uint8:
      return "uint8";
    case dtype::uint16:
      return "uint16";
    case dtype::uint32:
      return "uint32";
    case dtype::uint64:
      return "uint64";
    case dtype::bfloat16:
      return "bfloat16";
    case dtype::float8_e4m3fn:
      return formats::float8_e4m3fn.name;
    case dtype::float8_e5m2:
      return formats::float8_e5m2.name;
    case dtype::float8_e4m3fnuz:
      return formats::float8_e4m3fnuz.name;
    case dtype::float8_e5m2fnuz:
      return formats::float8_e5m2fnuz.name;
    case dtype::binary16:
      return "binary16";
    case dtype::binary32:
      return "binary32";
    case dtype::binary64:
      return "binary64";
  }
  return "unknown";
}

std::size_t size_of(dtype type) {
  switch (type) {
    case dtype::boolean:
    case dtype::int8:
    case dtype::uint8:
    case dtype::float8_e4m3fn:
    case dtype::float8_e5m2:
    case dtype::float8_e4m3fnuz:
    case dtype::float8_e5m2fnuz:
      return 1;
    case dtype::int16:
    case dtype::uint16:
    case dtype::bfloat16:
    case dtype::binary16:
      return 2;
    case dtype::int32:
    case dtype::uint32:
    case dtype::binary32:
      return 4;
    case dtype::int64:
    case dtype::uint64:
    case dtype::binary64:
      return 8;
  }
  return 0;
}

const format* format_of(dtype type) {
  switch (type) {
    case dtype::float8_e4m3fn:
      return &formats::float8_e4m3fn;
    case dtype::float8_e5m2:
      return &formats::float8_e5m2;
    case dtype::float8_e4m3fnuz:
      return &formats::float8_e4m3fnuz;
    case dtype::float8_e5m2fnuz:
      return &formats::float8_e5m2fnuz;
    case dtype::bfloat16:
      return &formats::bfloat16;
    case dtype::binary16:
      return &formats::binary16;
    case dtype::binary32:
      return &formats::binary32;
    case dtype::binary64:
      return &formats::binary64;
    default:
      return nullptr;
  }
}

namespace {

std::array<std::size_t, 4> four_extents(std::initializer_list<std::size_t> given) {
  const std::size_t* e = given.begin();
  switch (given.size()) {
    case 2:
      return {1, 1, e[0], e[1]};
    case 3:
      return {e[0], 1, e[1], e[2]};
    case 4:
      return {e[0], e[1], e[2], e[3]};
    default:
      throw attention_error(fault::shape,
                            "an array has two, three or four axes, [T, d], [B, T, d] or [B, H, T, d], not " +
                                std::to_string(given.size()));
  }
}

}  // namespace

layout::layout(std::initializer_list<std::size_t> row_major)
    : extents(four_extents(row_major)), rank(static_cast<int>(row_major.size())) {
  std::ptrdiff_t step = 1;
  for (std::size_t axis = 4; axis-- > 0;) {
    strides[axis] = step;
    if (extents[axis] == 0) continue;  // no element is ever reached
    const auto limit = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max() / step);
    if (extents[axis] > limit)
      throw attention_error(fault::shape,
                            "an array of shape " + shape_text(*this) + " does not fit into memory");
    step *= static_cast<std::ptrdiff_t>(extents[axis]);
  }
}

layout::layout(std::initializer_list<std::size_t> sizes, std::initializer_list<std::ptrdiff_t> steps)
    : extents(four_extents(sizes)), rank(static_cast<int>(sizes.size())) {
  if (sizes.size() != steps.size())
    throw attention_error(fault::shape, "an array of " + std::to_string(sizes.size()) + " axes cannot have " +
                                            std::to_string(steps.size()) + " strides");
  const std::ptrdiff_t* s = steps.begin();
  switch (rank) {
    case 2:
      strides = {0, 0, s[0], s[1]};
      break;
    case 3:
      strides = {s[0], 0, s[1], s[2]};
      break;
    default:
      strides = {s[0], s[1], s[2], s[3]};
      break;
  }
}

std::string shape_text(const layout& l) {
  // Two or three extents are the last axes, and the batch: without heads.
  const auto [batch, heads, positions, width] = l.extents;
  if (l.rank == 2) return shape_text(std::array{positions, width});
  if (l.rank == 3) return shape_text(std::array{batch, positions, width});
  return shape_text(l.extents);
}

namespace {

template <class T>
T element_at(const void* data, std::ptrdiff_t offset) {
  T value;
  std::memcpy(&value,
              static_cast<const unsigned char*>(data) + offset * static_cast<std::ptrdiff_t>(sizeof(T)),
              sizeof(T));
  return value;
}

double value_of(float16_t bits) {
  const auto b = static_cast<unsigned>(bits);
  const int exponent = static_cast<int>(b >> 10 & 31);
  const auto fraction = static_cast<double>(b & 1023);
  double magnitude;
  if (exponent == 31)
    magnitude =
        fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  else if (exponent == 0)
    magnitude = fraction * 0x1p-24;
  else  // its exponent and fraction at the places that they have in binary64
    magnitude = std::bit_cast<double>(((b & 0x7fffULL) << 42) + (1008ULL << 52));
  return (b >> 15) != 0 ? -magnitude : magnitude;
}

/// Every pattern of a format of eight bits.
using float8_table = std::array<float, 256>;

constexpr float8_table float8_values(const format& f) {
  float8_table values{};
  for (unsigned pattern = 0; pattern < 256; ++pattern) {
    const decoded d = decode(pattern, f);
    float magnitude = d.kind == number_kind::finite     ? static_cast<float>(d.significand)
                      : d.kind == number_kind::infinite ? std::numeric_limits<float>::infinity()
                                                        : std::numeric_limits<float>::quiet_NaN();
    for (int e = d.exponent; d.kind == number_kind::finite && e != 0; e += e < 0 ? 1 : -1)
      magnitude *= e < 0 ? 0.5f : 2.0f;  // exact: at most four bits, far from the ends of binary32
    values[pattern] = d.negative ? -magnitude : magnitude;
  }
  return values;
}

constexpr float8_table e4m3fn_values = float8_values(formats::float8_e4m3fn);
constexpr float8_table e5m2_values = float8_values(formats::float8_e5m2);
constexpr float8_table e4m3fnuz_values = float8_values(formats::float8_e4m3fnuz);
constexpr float8_table e5m2fnuz_values = float8_values(formats::float8_e5m2fnuz);

double value_in(const float8_table& values, const void* data, std::ptrdiff_t offset) {
  return static_cast<double>(values[element_at<unsigned char>(data, offset)]);
}

double value_of(bfloat16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

}  // namespace

double any_tensor::operator()(std::size_t b, std::size_t h, std::size_t t, std::size_t c) const {
  const std::ptrdiff_t offset = layout_.offset(b, h, t, c);
  switch (type_) {
    case dtype::boolean:
      return element_at<unsigned char>(data_, offset) != 0 ? 1 : 0;
    case dtype::int8:
      return element_at<std::int8_t>(data_, offset);
    case dtype::int16:
      return element_at<std::int16_t>(data_, offset);
    case dtype::int32:
      return element_at<std::int32_t>(data_, offset);
    case dtype::int64:
      return static_cast<double>(element_at<std::int64_t>(data_, offset));
    case dtype::uint8:
      return element_at<std::uint8_t>(data_, offset);
    case dtype::uint16:
      return element_at<std::uint16_t>(data_, offset);
    case dtype::uint32:
      return element_at<std::uint32_t>(data_, offset);
    case dtype::uint64:
      return static_cast<double>(element_at<std::uint64_t>(data_, offset));
    case dtype::float8_e4m3fn:
      return value_in(e4m3fn_values, data_, offset);
    case dtype::float8_e5m2:
      return value_in(e5m2_values, data_, offset);
    case dtype::float8_e4m3fnuz:
      return value_in(e4m3fnuz_values, data_, offset);
    case dtype::float8_e5m2fnuz:
      return value_in(e5m2fnuz_values, data_, offset);
    case dtype::bfloat16:
      return value_of(element_at<bfloat16_t>(data_, offset));
    case dtype::binary16:
      return value_of(element_at<float16_t>(data_, offset));
    case dtype::binary32:
      return static_cast<double>(element_at<float>(data_, offset));
    case dtype::binary64:
      return element_at<double>(data_, offset);
  }
  return 0;
}

namespace {

/// Calls value(bytes of an element) for each; T is an element's type in memory.
template <class T, class Value>
void read_with(Value value, const unsigned char* data, std::ptrdiff_t step, std::size_t count, double* out) {
  if (step == 1) {
    for (std::size_t c = 0; c < count; ++c)
      out[c] = static_cast<double>(value(element_at<T>(data, static_cast<std::ptrdiff_t>(c))));
  } else {
    for (std::size_t c = 0; c < count; ++c)
      out[c] = static_cast<double>(value(element_at<T>(data, static_cast<std::ptrdiff_t>(c) * step)));
  }
}

template <class T>
void read_numbers(const unsigned char* data, std::ptrdiff_t step, std::size_t count, double* out) {
  read_with<T>([](T x) { return x; }, data, step, count, out);
}

template <class T>
bool is_aligned(const unsigned char* data) {
  return reinterpret_cast<std::uintptr_t>(data) % alignof(T) == 0;
}

}  // namespace

void read_row(const any_tensor& array, std::size_t b, std::size_t h, std::size_t t, std::size_t first,
              std::size_t count, double* out) {
  if (count == 0) return;
  const std::ptrdiff_t step = array.where().strides[3];
  const unsigned char* data = static_cast<const unsigned char*>(array.data()) +
                              array.where().offset(b, h, t, first) *
                                  static_cast<std::ptrdiff_t>(size_of(array.type()));
  const auto from_table = [&](const float8_table& values) {
    read_with<unsigned char>([&](unsigned char x) { return values[x]; }, data, step, count, out);
  };
  switch (array.type()) {
    case dtype::boolean:
      return read_with<unsigned char>([](unsigned char x) { return x != 0 ? 1 : 0; }, data, step, count, out);
    case dtype::int8:
      return read_numbers<std::int8_t>(data, step, count, out);
    case dtype::int16:
      return read_numbers<std::int16_t>(data, step, count, out);
    case dtype::int32:
      return read_numbers<std::int32_t>(data, step, count, out);
    case dtype::int64:
      return read_numbers<std::int64_t>(data, step, count, out);
    case dtype::uint8:
      return read_numbers<std::uint8_t>(data, step, count, out);
    case dtype::uint16:
      return read_numbers<std::uint16_t>(data, step, count, out);
    case dtype::uint32:
      return read_numbers<std::uint32_t>(data, step, count, out);
    case dtype::uint64:
      return read_numbers<std::uint64_t>(data, step, count, out);
    case dtype::float8_e4m3fn:
      return from_table(e4m3fn_values);
    case dtype::float8_e5m2:
      return from_table(e5m2_values);
    case dtype::float8_e4m3fnuz:
      return from_table(e4m3fnuz_values);
    case dtype::float8_e5m2fnuz:
      return from_table(e5m2fnuz_values);
    case dtype::bfloat16:
      if (step == 1 && is_aligned<std::uint16_t>(data))
        return widen_bfloat16(reinterpret_cast<const std::uint16_t*>(data), count, out);
      return read_with<bfloat16_t>([](bfloat16_t x) { return value_of(x); }, data, step, count, out);
    case dtype::binary16:
      if (step == 1 && is_aligned<std::uint16_t>(data))
        return widen_binary16(reinterpret_cast<const std::uint16_t*>(data), count, out);
      return read_with<float16_t>([](float16_t x) { return value_of(x); }, data, step, count, out);
    case dtype::binary32:
      if (step == 1 && is_aligned<float>(data))
        return widen(reinterpret_cast<const float*>(data), count, out);
      return read_numbers<float>(data, step, count, out);
    case dtype::binary64:
      if (step == 1) {
        std::memcpy(out, data, count * sizeof(double));
        return;
      }
      return read_numbers<double>(data, step, count, out);
  }
}

void read_rows(const any_tensor& array, std::size_t b, std::size_t h, std::size_t first, std::size_t count,
               double* out) {
  const layout& where = array.where();
  const std::size_t width = where.extents[3];
  if (where.strides[3] == 1 && where.strides[2] == static_cast<std::ptrdiff_t>(width))
    return read_row(array, b, h, first, 0, count * width, out);  // one long row
  for (std::size_t t = 0; t < count; ++t) read_row(array, b, h, first + t, 0, width, out + t * width);
}

any_tensor broadcast(const any_tensor& array, const std::array<std::size_t, 4>& shape, const char* name) {
  layout result = array.where();
  if (result.rank == 3 && shape[1] > 1 && result.extents[0] > 1)
    throw attention_error(
        fault::shape, name,
        "shape " + shape_text(result) +
            " does not say whether its first axis is the batch or the head: give it four axes, "
            "[B, 1, Tq, Tk] or [1, H, Tq, Tk]");
  layout wanted;
  wanted.extents = shape;
  for (std::size_t axis = 0; axis < 4; ++axis) {
    if (result.extents[axis] == shape[axis]) continue;
    if (result.extents[axis] != 1)
      throw attention_error(fault::shape, name,
                            "shape " + shape_text(array.where()) + " does not fit [B, Hq, Tq, Tk] = " +
                                shape_text(wanted) + ": every extent has to be equal or 1");
    result.extents[axis] = shape[axis];
    result.strides[axis] = 0;
  }
  result.rank = 4;
  return {array.data(), array.type(), result};
}

}  // namespace attest
