#pragma once

#include <attest/enclosure/interval.hpp>
#include <attest/reference/exact_values.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace attest {

/// A number as an input array has it: (-1)^negative · magnitude · 2^exponent.
struct input_number {
  bool negative = false;
  std::uint64_t magnitude = 0;
  int exponent = 0;
};

/// The element of a finite double.
inline input_number number_of(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const auto biased = static_cast<int>(bits >> 52 & 0x7ff);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  return {bits >> 63 != 0, biased == 0 ? fraction : fraction | std::uint64_t{1} << 52,
          (biased == 0 ? 1 : biased) - 1075};
}

inline unbounded_dyadic dyadic_of(const input_number& x) {
  unbounded_integer n(x.magnitude);
  if (x.negative) n = -n;
  return {n, x.exponent};
}

/// Sums of elements and of products of two, exactly and at one addition of a few limbs each (U. Kulisch's
/// long accumulator, as long as the exponents that occur). Positive and negative addends are kept apart, so
/// that nothing is ever borrowed.
class exact_accumulator {
 public:
  void add(const input_number& x) { add(x.negative, x.magnitude, 0, x.exponent); }
  void subtract(const input_number& x) { add(!x.negative, x.magnitude, 0, x.exponent); }
  void add_product(const input_number& x, const input_number& y) {
    __extension__ typedef unsigned __int128 wide;
    const wide product = wide{x.magnitude} * y.magnitude;
    add(x.negative != y.negative, static_cast<std::uint64_t>(product),
        static_cast<std::uint64_t>(product >> 64), long{x.exponent} + y.exponent);
  }
  void clear() {
    std::fill(limbs_[0].begin(), limbs_[0].end(), 0);
    std::fill(limbs_[1].begin(), limbs_[1].end(), 0);
  }

  /// Contains the value; exactly where it lies within Capacity - 1 limbs of the accumulator.
  template <std::size_t Capacity>
  interval<Capacity> enclosed() const {
    const std::vector<std::uint64_t>& a = limbs_[0];
    const std::vector<std::uint64_t>& b = limbs_[1];
    interval<Capacity> x;
    std::size_t top = a.size();
    while (top > 0 && a[top - 1] == b[top - 1]) --top;
    if (top == 0) return x;
    std::size_t first = 0;
    while (a[first] == b[first]) ++first;
    const bool negative = a[top - 1] < b[top - 1];
    const std::vector<std::uint64_t>& larger = negative ? b : a;
    const std::vector<std::uint64_t>& smaller = negative ? a : b;
    // The limbs below `from` that differ are cut: less than one unit of the others.
    const std::size_t from = top - first < Capacity ? first : top - (Capacity - 1);
    std::uint64_t borrow = 0;
    for (std::size_t i = first; i < top; ++i) {
      const std::uint64_t difference = larger[i] - smaller[i];
      if (i >= from) x.midpoint.limbs[i - from] = difference - borrow;
      borrow = (larger[i] < smaller[i] ? 1u : 0u) | (difference < borrow ? 1u : 0u);
    }
    detail::trim(x.midpoint, top - from);
    x.radius = from == first ? 0 : 1;
    x.negative = negative && x.midpoint.size != 0;
    x.exponent = (low_ + static_cast<long>(from)) * 64;
    return x;
  }

  unbounded_dyadic value() const {
    const std::vector<std::uint64_t>& a = limbs_[0];
    const std::vector<std::uint64_t>& b = limbs_[1];
    std::size_t top = a.size();
    while (top > 0 && a[top - 1] == b[top - 1]) --top;
    if (top == 0) return {};
    const bool negative = a[top - 1] < b[top - 1];
    const std::vector<std::uint64_t>& larger = negative ? b : a;
    const std::vector<std::uint64_t>& smaller = negative ? a : b;
    std::vector<std::uint64_t> difference(top);
    std::uint64_t borrow = 0;
    for (std::size_t i = 0; i < top; ++i) {
      const std::uint64_t first = larger[i] - smaller[i];
      difference[i] = first - borrow;
      borrow = (larger[i] < smaller[i] ? 1u : 0u) | (first < borrow ? 1u : 0u);
    }
    unbounded_integer n;
    boost::multiprecision::import_bits(n, difference.begin(), difference.end(), 64, false);
    if (negative) n = -n;
    return {n, low_ * 64};
  }

 private:
  void add(bool negative, std::uint64_t low, std::uint64_t high, long exponent) {
    if ((low | high) == 0) return;
    const long limb = exponent >> 6;  // rounded down
    const auto shift = static_cast<unsigned>(exponent & 63);
    if (limb < low_ || limb - low_ + 5 > static_cast<long>(limbs_[0].size())) reach(limb);
    std::uint64_t part[3] = {low, high, 0};
    if (shift != 0) {
      part[2] = high >> (64 - shift);
      part[1] = high << shift | low >> (64 - shift);
      part[0] = low << shift;
    }
    std::uint64_t* at = limbs_[negative ? 1 : 0].data() + (limb - low_);
    std::uint64_t carry = 0;
    for (int i = 0; i < 3; ++i) {
      const std::uint64_t sum = at[i] + part[i];
      const std::uint64_t with_carry = sum + carry;
      carry = (sum < part[i] ? 1u : 0u) | (with_carry < carry ? 1u : 0u);
      at[i] = with_carry;
    }
    // Two limbs above the highest addend hold the carries of 2^64 additions.
    for (std::uint64_t* next = at + 3; carry != 0; ++next) carry = ++*next == 0 ? 1 : 0;
  }

  /// Makes room for an addend that begins in this limb.
  [[gnu::noinline]] void reach(long limb) {
    if (limbs_[0].empty()) low_ = limb;
    const auto below = limb < low_ ? static_cast<std::size_t>(low_ - limb) : 0;
    if (below != 0) {
      for (auto& sum : limbs_) sum.insert(sum.begin(), below, 0);
      low_ = limb;
    }
    const std::size_t needed = static_cast<std::size_t>(limb - low_) + 5;
    if (limbs_[0].size() < needed)
      for (auto& sum : limbs_) sum.resize(needed);
  }

  std::vector<std::uint64_t> limbs_[2];  // of the positive and of the negative addends, equally long
  long low_ = 0;                         // the lowest limb's number, in units of 2^64
};

}  // namespace attest
