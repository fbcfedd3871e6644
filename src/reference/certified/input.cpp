#include "reference/certified/input.hpp"

#include "problem/finite.hpp"
#include "problem/rows.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace attest::certified {

namespace {

template <class T>
T load(const void* data, std::ptrdiff_t offset) {
  T value;
  std::memcpy(&value,
              static_cast<const unsigned char*>(data) + offset * static_cast<std::ptrdiff_t>(sizeof(T)),
              sizeof(T));
  return value;
}

bool is_wide_integer(dtype type) { return type == dtype::int64 || type == dtype::uint64; }

input_number wide_integer(const any_tensor& array, std::ptrdiff_t offset) {
  if (array.type() == dtype::uint64) return {false, load<std::uint64_t>(array.data(), offset), 0};
  const auto n = load<std::int64_t>(array.data(), offset);
  const auto magnitude = static_cast<std::uint64_t>(n);
  return {n < 0, n < 0 ? ~magnitude + 1 : magnitude, 0};
}

bool is_double(const input_number& x) {
  return x.magnitude == 0 || 64 - std::countl_zero(x.magnitude) - std::countr_zero(x.magnitude) <= 53;
}

}  // namespace

void input_rows::load(const any_tensor& array, std::size_t b, std::size_t h, std::size_t first,
                      std::size_t last, bool hidden_rows) {
  array_ = &array;
  b_ = b;
  h_ = h;
  first_ = first;
  const layout& where = array.where();
  rows_.rows = last - first;
  rows_.width = where.extents[3];
  rows_.numbers.clear();
  narrow_.reset();
  const bool side_by_side =
      where.strides[3] == 1 && reinterpret_cast<std::uintptr_t>(array.data()) % size_of(array.type()) == 0;
  const std::ptrdiff_t start = rows_.rows == 0 ? 0 : where.offset(b, h, first, 0);
  if (side_by_side && array.type() == dtype::binary64 && where.strides[2] >= 0) {
    rows_.doubles = static_cast<const double*>(array.data()) + start;
    rows_.stride = static_cast<std::size_t>(where.strides[2]);
    bool finite = true;
    if (hidden_rows)
      for (std::size_t t = 0; t < rows_.rows && finite; ++t) finite = all_finite(rows_.row(t), rows_.width);
    if (finite) return;
  }
  using kernel::fused_head::narrow_format;
  const bool half = array.type() == dtype::binary16;
  if (side_by_side && !hidden_rows && (half || array.type() == dtype::bfloat16) &&
      rows_.width % kernel::fused_head::narrow_width == 0) {
    rows_.doubles = nullptr;
    narrow_ = {static_cast<const std::uint16_t*>(array.data()) + start, where.strides[2],
               half ? narrow_format::binary16 : narrow_format::bfloat16};
    return;
  }
  convert(hidden_rows);
}

void input_rows::convert(bool hidden_rows) {
  const std::size_t width = rows_.width, last = first_ + rows_.rows;
  if (rows_.rows * width > storage_size_) {
    storage_size_ = rows_.rows * width;
    storage_ = kernel::fused_head::vector_memory<double>(storage_size_);
  }
  read_rows(*array_, b_, h_, first_, rows_.rows, storage_.get());
  bool exact = true;
  if (is_wide_integer(array_->type()))
    for (std::size_t t = first_; t < last; ++t)
      for (std::size_t c = 0; c < width; ++c)
        exact = exact && is_double(wide_integer(*array_, array_->where().offset(b_, h_, t, c)));
  if (hidden_rows && !all_finite(storage_.get(), rows_.rows * width))
    for (std::size_t t = 0; t < rows_.rows; ++t) {
      double* out = storage_.get() + t * width;
      if (!all_finite(out, width)) std::fill(out, out + width, 0.0);
    }
  rows_.doubles = storage_.get();
  rows_.stride = width;
  if (exact) return;
  for (std::size_t t = first_; t < last; ++t)
    for (std::size_t c = 0; c < width; ++c)
      rows_.numbers.push_back(wide_integer(*array_, array_->where().offset(b_, h_, t, c)));
}

}  // namespace attest::certified
