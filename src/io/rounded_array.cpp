#include <attest/io/rounded_array.hpp>

#include <attest/check/arrays.hpp>
#include <attest/check/report.hpp>
#include <attest/io/input_error.hpp>

#include <cmath>
#include <cstring>

namespace attest::io {

namespace {

void put(unsigned char* place, std::uint64_t bits, std::size_t size) {
  const auto one = static_cast<std::uint8_t>(bits);
  const auto two = static_cast<std::uint16_t>(bits);
  const auto four = static_cast<std::uint32_t>(bits);
  if (size == 1) std::memcpy(place, &one, 1);
  if (size == 2) std::memcpy(place, &two, 2);
  if (size == 4) std::memcpy(place, &four, 4);
  if (size == 8) std::memcpy(place, &bits, 8);
}

}  // namespace

host_array in_format(const host_array& a, dtype type, inexact how, const std::string& where) {
  const format* const to = format_of(type);
  if (to == nullptr) throw input_error(where + to_string(type) + " is no float: " + float_dtype_names);
  if (format_of(a.type) == nullptr || a.untyped)
    throw input_error(where + "its elements are " + (a.untyped ? "bytes without a type" : to_string(a.type)) +
                      ", and only floats are rounded to " + to_string(type));
  const std::size_t size = size_of(type);
  host_array result;
  static_cast<array_info&>(result) = a;
  result.type = type;
  result.bytes.resize(a.elements() * size);
  std::size_t refused = 0;
  std::size_t first = 0;
  for (std::size_t i = 0; i < a.elements(); ++i) {
    const double x = a.value(i);
    const double y = rounded_to(x, 0, *to, how == inexact::saturated);
    // Of a number; infinity stays what it is.
    const bool overflows = !std::isnan(x) && !std::isfinite(y) && x != y;
    if (how == inexact::refused ? y != x && !(std::isnan(x) && std::isnan(y)) : overflows)
      if (refused++ == 0) first = i;
    put(result.bytes.data() + i * size, pattern_of(y, *to), size);
  }
  if (refused == 0) return result;
  const std::string begin = where + "element " + index_text(a.shape, first) + " is " +
                            element_text({{1}, {a.value(first)}, {}}, 0) + ", which ";
  if (how == inexact::refused)
    throw input_error(begin + "is no number of " + to_string(type) +
                      ": leave --dtype out, or round it first");
  throw input_error(
      begin + "overflows " + to_string(type) +
      (refused == 1 ? "" : ", as " + std::to_string(refused - 1) + " more do") +
      ": scale the array first, round it to a wider format, or give --saturate for the largest number");
}

}  // namespace attest::io
