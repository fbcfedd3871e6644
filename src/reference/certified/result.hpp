#pragma once

#include <attest/reference/certified_attention.hpp>
#include <attest/rounding/format.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

namespace attest::certified {

/// One array of results with its low words and certificates.
class result_array {
 public:
  using place = std::array<std::size_t, 4>;  // [b, h, i, c]

  result_array(const any_result& high, const std::optional<any_result>& low,
               const std::optional<tensor<certificate>>& certificates, bool saturate)
      : high_(high), low_(low), certificates_(certificates), format_(*format_of(high.type())) {
    if (saturate) format_.infinity = format_.largest;  // what lies beyond the largest number
  }

  const format& to() const { return format_; }
  /// +infinity, which is no overflow; what lies beyond the largest number where the format has none.
  std::uint64_t infinity() const {
    const format& f = *format_of(high_.type());
    return f.has_infinity ? f.infinity : format_.infinity;
  }
  bool has_low() const { return low_.has_value(); }

  void write(const place& at, std::uint64_t pattern, certificate how) const {
    put(high_, at, pattern);
    if (certificates_) (*certificates_)(at[0], at[1], at[2], at[3]) = how;
  }
  void write_low(const place& at, std::uint64_t pattern) const { put(*low_, at, pattern); }

  /// Whether the elements of a row stand side by side, as aligned numbers.
  bool in_place() const {
    return high_.where().strides[3] == 1 &&
           reinterpret_cast<std::uintptr_t>(high_.data()) % size_of(high_.type()) == 0;
  }
  void* address(const place& at) const {
    return static_cast<unsigned char*>(high_.data()) + high_.where().offset(at[0], at[1], at[2], at[3]) *
                                                           static_cast<std::ptrdiff_t>(size_of(high_.type()));
  }
  /// address() of `rows` rows of one head from `first` on.
  void addresses(const place& first, std::size_t rows, void** to) const {
    auto* at = static_cast<unsigned char*>(address(first));
    const std::ptrdiff_t step = high_.where().strides[2] * static_cast<std::ptrdiff_t>(size_of(high_.type()));
    for (std::size_t r = 0; r < rows; ++r) to[r] = at + static_cast<std::ptrdiff_t>(r) * step;
  }
  bool has_certificates() const { return certificates_.has_value(); }
  /// The elements from here on are certified.
  void fill_certificates(const place& at, std::size_t count) const {
    if (!certificates_) return;
    for (std::size_t c = 0; c < count; ++c)
      (*certificates_)(at[0], at[1], at[2], at[3] + c) = certificate::certified;
  }
  /// The element that was written, as a double.
  double double_at(const place& at) const {
    return any_tensor(high_.data(), high_.type(), high_.where())(at[0], at[1], at[2], at[3]);
  }

 private:
  template <class T>
  static void store(void* data, std::ptrdiff_t offset, std::uint64_t pattern) {
    const T value = static_cast<T>(pattern);
    std::memcpy(static_cast<unsigned char*>(data) + offset * static_cast<std::ptrdiff_t>(sizeof(T)), &value,
                sizeof(T));
  }
  static void put(const any_result& to, const place& at, std::uint64_t pattern) {
    const std::ptrdiff_t offset = to.where().offset(at[0], at[1], at[2], at[3]);
    switch (size_of(to.type())) {
      case 1:
        return store<std::uint8_t>(to.data(), offset, pattern);
      case 2:
        return store<std::uint16_t>(to.data(), offset, pattern);
      case 4:
        return store<std::uint32_t>(to.data(), offset, pattern);
      default:
        return store<std::uint64_t>(to.data(), offset, pattern);
    }
  }

  any_result high_;
  std::optional<any_result> low_;
  std::optional<tensor<certificate>> certificates_;
  format format_;
};

}  // namespace attest::certified
