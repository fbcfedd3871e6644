#pragma once

#include <attest/exact/error.hpp>

#include <boost/version.hpp>
#if BOOST_VERSION < 108100
#error "attest needs Boost 1.81 or newer (on Debian 12: libboost1.81-dev)"
#endif
#include <boost/multiprecision/cpp_int.hpp>

#include <cstddef>
#include <cstdint>

namespace attest {

/// A signed integer of at most Bits bits of magnitude. Overflow is an error: in the compiler a compile error, at
/// run time std::overflow_error. It never wraps.
template <std::size_t Bits>
using fixed_integer = boost::multiprecision::number<
    boost::multiprecision::cpp_int_backend<Bits, Bits, boost::multiprecision::signed_magnitude,
                                           boost::multiprecision::checked, void>,
    boost::multiprecision::et_off>;

/// The integer of proofs: wide enough for the exact scores of a head of ordinary doubles.
using integer = fixed_integer<512>;

/// The integer of programs: as long as its value needs.
using unbounded_integer =
    boost::multiprecision::number<boost::multiprecision::cpp_int_backend<0, 0, boost::multiprecision::signed_magnitude,
                                                                         boost::multiprecision::checked>,
                                  boost::multiprecision::et_off>;

template <class T>
inline constexpr bool is_exact_integer = false;
template <std::size_t Bits>
inline constexpr bool is_exact_integer<fixed_integer<Bits>> = true;
template <>
inline constexpr bool is_exact_integer<unbounded_integer> = true;

/// An integer type whose arithmetic is exact or an error.
template <class T>
concept exact_integer = is_exact_integer<T>;

/// Number of bits of |n|; 0 for 0.
template <exact_integer Integer>
constexpr unsigned bit_length(Integer n) {
  if (n.is_zero()) return 0;
  if (n.sign() < 0) n = -n;
  return static_cast<unsigned>(msb(n)) + 1;
}

/// a == b, read from the integers' own storage. In the compiler the copies that Boost's operators need (they compare addresses,
/// so g++ 12 lets none of them see a namespace-scope constant) cost many times what the comparison does.
template <exact_integer Integer>
constexpr bool identical(const Integer& a, const Integer& b) {
  if (a.backend().size() != b.backend().size()) return false;
  bool zero = true;
  for (std::size_t i = 0; i < a.backend().size(); ++i) {
    if (a.backend().limbs()[i] != b.backend().limbs()[i]) return false;
    zero = zero && a.backend().limbs()[i] == 0;
  }
  return zero || a.backend().sign() == b.backend().sign();
}

/// -1, 0 or 1; read like identical().
template <exact_integer Integer>
constexpr int sign(const Integer& n) {
  if (n.backend().size() == 1 && n.backend().limbs()[0] == 0) return 0;
  return n.backend().sign() ? -1 : 1;
}

/// |distance| as a shift count or an exponent; none reaches 2^31: error::integer_overflow().
constexpr unsigned checked_count(long long distance) {
  constexpr long long limit = 1LL << 31;
  if (distance <= -limit || distance >= limit) error::integer_overflow();
  return static_cast<unsigned>(distance < 0 ? -distance : distance);
}

/// n * 2^shift for shift >= 0.
template <exact_integer Integer>
constexpr Integer shift_left(Integer n, long long shift) {
  if (shift < 0) error::integer_overflow();
  const bool negative = n.sign() < 0;
  if (negative) n = -n;
  n <<= checked_count(shift);
  return negative ? Integer(-n) : n;
}

/// |n| / 2^shift, rounded down, with the sign of n, for shift >= 0.
template <exact_integer Integer>
constexpr Integer shift_right(Integer n, long long shift) {
  if (shift < 0) error::integer_overflow();
  const bool negative = n.sign() < 0;
  if (negative) n = -n;
  if (shift >= bit_length(n)) return Integer(0);
  n >>= static_cast<unsigned>(shift);
  return negative ? Integer(-n) : n;
}

/// The 64-bit limb number `index` of |n|, counted from the least significant.
template <exact_integer Integer>
constexpr std::uint64_t limb(Integer n, unsigned index) {
  if (n.sign() < 0) n = -n;
  n >>= 64 * index;
  const Integer mask(~std::uint64_t{0});
  const Integer low = n & mask;
  return static_cast<std::uint64_t>(low);
}

}  // namespace attest
