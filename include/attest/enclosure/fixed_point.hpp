#pragma once

#include <attest/exact/error.hpp>
#include <attest/exact/integer.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

// Natural numbers in 64-bit limbs, little endian: the one arithmetic under every enclosure. The same
// functions run in the compiler, over a flat array, and in a program, over storage that grows. Loops are
// written for the compiler: it is charged by the statement, so an inner loop body is one expression.
namespace attest {

/// The capacity of storage that grows at run time.
inline constexpr std::size_t growing = 0;

/// A natural number: limbs[0], ..., limbs[size - 1], least significant first, with limbs[size - 1] != 0.
/// Limbs from `size` on mean nothing. A result of more than Capacity limbs calls
/// error::precision_exhausted().
template <std::size_t Capacity>
struct natural {
  std::uint64_t limbs[Capacity]{};
  std::size_t size = 0;
};

template <>
struct natural<growing> {
  std::vector<std::uint64_t> limbs;
  std::size_t size = 0;
};

/// A capacity with room for `more` further limbs.
template <std::size_t Capacity, std::size_t more>
inline constexpr std::size_t extended = Capacity == growing ? growing : Capacity + more;

/// A capacity that holds any product of an A-limb and a B-limb number.
template <std::size_t A, std::size_t B>
inline constexpr std::size_t product_capacity = A == growing || B == growing ? growing : A + B;

namespace detail {

__extension__ typedef unsigned __int128 double_limb;

/// Makes limbs[0 .. size) writable.
template <std::size_t Capacity>
constexpr void make_room(natural<Capacity>& a, std::size_t size) {
  if constexpr (Capacity == growing) {
    if (a.limbs.size() < size) a.limbs.resize(size);
  } else {
    if (size > Capacity) error::precision_exhausted();
  }
}

/// Sets the size to that of the number in limbs[0 .. size).
template <std::size_t Capacity>
constexpr void trim(natural<Capacity>& a, std::size_t size) {
  while (size > 0 && a.limbs[size - 1] == 0) --size;
  a.size = size;
}

/// (high * 2^64 + low) / divisor, for high < divisor; the remainder is left in `high`.
constexpr std::uint64_t divide_step(std::uint64_t& high, std::uint64_t low, std::uint64_t divisor) {
  const double_limb numerator = (static_cast<double_limb>(high) << 64) | low;
  const auto quotient = static_cast<std::uint64_t>(numerator / divisor);
  high = low - quotient * divisor;
  return quotient;
}

}  // namespace detail

template <std::size_t Capacity>
constexpr natural<Capacity> to_natural(std::uint64_t value) {
  natural<Capacity> r;
  if (value != 0) {
    detail::make_room(r, 1);
    r.limbs[0] = value;
    r.size = 1;
  }
  return r;
}

template <std::size_t Capacity>
constexpr bool is_zero(const natural<Capacity>& a) {
  return a.size == 0;
}

/// Number of bits; 0 for 0.
template <std::size_t Capacity>
constexpr std::size_t bit_length(const natural<Capacity>& a) {
  if (a.size == 0) return 0;
  return 64 * a.size - static_cast<std::size_t>(std::countl_zero(a.limbs[a.size - 1]));
}

/// Bit number `index`, counted from the least significant.
template <std::size_t Capacity>
constexpr bool bit(const natural<Capacity>& a, std::size_t index) {
  return index / 64 < a.size && ((a.limbs[index / 64] >> (index % 64)) & 1) != 0;
}

/// Whether one of the `count` least significant bits is set: whether a / 2^count is no integer.
template <std::size_t Capacity>
constexpr bool any_bit_below(const natural<Capacity>& a, std::size_t count) {
  const std::size_t whole = count / 64;
  for (std::size_t i = 0; i < whole && i < a.size; ++i)
    if (a.limbs[i] != 0) return true;
  return whole < a.size && count % 64 != 0 && (a.limbs[whole] << (64 - count % 64)) != 0;
}

/// Number of trailing zero bits; 0 for 0.
template <std::size_t Capacity>
constexpr std::size_t trailing_zeros(const natural<Capacity>& a) {
  std::size_t i = 0;
  while (i < a.size && a.limbs[i] == 0) ++i;
  return i == a.size ? 0 : 64 * i + static_cast<std::size_t>(std::countr_zero(a.limbs[i]));
}

/// -1, 0, +1 as a is less than, equal to or greater than b.
template <std::size_t A, std::size_t B>
constexpr int compare(const natural<A>& a, const natural<B>& b) {
  if (a.size != b.size) return a.size < b.size ? -1 : 1;
  for (std::size_t i = a.size; i-- > 0;)
    if (a.limbs[i] != b.limbs[i]) return a.limbs[i] < b.limbs[i] ? -1 : 1;
  return 0;
}

/// floor(a * 2^shift) in storage of capacity To; the shift may be negative.
template <std::size_t To, std::size_t From>
constexpr natural<To> shifted(const natural<From>& a, std::int64_t shift) {
  natural<To> r;
  if (a.size == 0) return r;
  if constexpr (From != growing)
    if (a.size > From)
      error::precision_exhausted();  // never so; it spares g++ 14 a warning about the loops below
  if (shift >= 0) {
    const auto whole = static_cast<std::size_t>(static_cast<std::uint64_t>(shift) / 64);
    const auto part = static_cast<unsigned>(static_cast<std::uint64_t>(shift) % 64);
    const bool overflows = part != 0 && (a.limbs[a.size - 1] >> (64 - part)) != 0;
    const std::size_t size = a.size + whole + (overflows ? 1 : 0);
    detail::make_room(r, size);
    for (std::size_t i = 0; i < whole; ++i) r.limbs[i] = 0;
    if (part == 0) {
      for (std::size_t i = 0; i < a.size; ++i) r.limbs[i + whole] = a.limbs[i];
    } else {
      r.limbs[whole] = a.limbs[0] << part;
      for (std::size_t i = 1; i < a.size; ++i)
        r.limbs[i + whole] = (a.limbs[i] << part) | (a.limbs[i - 1] >> (64 - part));
      if (overflows) r.limbs[size - 1] = a.limbs[a.size - 1] >> (64 - part);
    }
    r.size = size;
    return r;
  }
  const std::uint64_t right = ~static_cast<std::uint64_t>(shift) + 1;
  if (right / 64 >= a.size) return r;
  const auto whole = static_cast<std::size_t>(right / 64);
  const auto part = static_cast<unsigned>(right % 64);
  const std::size_t size = a.size - whole;
  const bool shrinks = (a.limbs[a.size - 1] >> part) == 0;
  detail::make_room(r, shrinks ? size - 1 : size);
  if (part == 0) {
    for (std::size_t i = 0; i < size; ++i) r.limbs[i] = a.limbs[i + whole];
  } else {
    for (std::size_t i = 0; i + 1 < size; ++i)
      r.limbs[i] = (a.limbs[i + whole] >> part) | (a.limbs[i + whole + 1] << (64 - part));
    if (!shrinks) r.limbs[size - 1] = a.limbs[a.size - 1] >> part;
  }
  r.size = shrinks ? size - 1 : size;
  return r;
}

/// a * 2^shift.
template <std::size_t Capacity>
constexpr natural<Capacity> shift_left(const natural<Capacity>& a, std::size_t shift) {
  return shifted<Capacity>(a, static_cast<std::int64_t>(shift));
}

/// floor(a / 2^shift).
template <std::size_t Capacity>
constexpr natural<Capacity> shift_right(const natural<Capacity>& a, std::size_t shift) {
  return shifted<Capacity>(a, -static_cast<std::int64_t>(shift));
}

/// The same number in storage of capacity To.
template <std::size_t To, std::size_t From>
constexpr natural<To> resized(const natural<From>& a) {
  return shifted<To>(a, 0);
}

template <std::size_t Capacity>
constexpr natural<Capacity> add(const natural<Capacity>& a, const natural<Capacity>& b) {
  if (a.size < b.size) return add(b, a);
  natural<Capacity> r;
  detail::make_room(r, a.size);
  detail::double_limb t = 0;
  for (std::size_t i = 0; i < b.size; ++i)
    t = (t >> 64) + a.limbs[i] + b.limbs[i], r.limbs[i] = static_cast<std::uint64_t>(t);
  for (std::size_t i = b.size; i < a.size; ++i)
    t = (t >> 64) + a.limbs[i], r.limbs[i] = static_cast<std::uint64_t>(t);
  r.size = a.size;
  if ((t >> 64) != 0) {
    detail::make_room(r, a.size + 1);
    r.limbs[a.size] = 1;
    r.size = a.size + 1;
  }
  return r;
}

template <std::size_t Capacity>
constexpr natural<Capacity> add(const natural<Capacity>& a, std::uint64_t b) {
  return add(a, to_natural<Capacity>(b));
}

/// a - b; b > a is error::integer_overflow(), since a natural number has no sign.
template <std::size_t Capacity>
constexpr natural<Capacity> subtract(const natural<Capacity>& a, const natural<Capacity>& b) {
  if (compare(a, b) < 0) error::integer_overflow();
  natural<Capacity> r;
  detail::make_room(r, a.size);
  detail::double_limb t = 0;
  for (std::size_t i = 0; i < b.size; ++i)
    t = detail::double_limb{a.limbs[i]} - b.limbs[i] - (t >> 127), r.limbs[i] = static_cast<std::uint64_t>(t);
  for (std::size_t i = b.size; i < a.size; ++i)
    t = detail::double_limb{a.limbs[i]} - (t >> 127), r.limbs[i] = static_cast<std::uint64_t>(t);
  detail::trim(r, a.size);
  return r;
}

template <std::size_t Capacity>
constexpr natural<Capacity> subtract(const natural<Capacity>& a, std::uint64_t b) {
  return subtract(a, to_natural<Capacity>(b));
}

/// a * b in storage that holds any such product.
template <std::size_t A, std::size_t B>
constexpr natural<product_capacity<A, B>> multiply_wide(const natural<A>& a, const natural<B>& b) {
  natural<product_capacity<A, B>> r;
  if (a.size == 0 || b.size == 0) return r;
  detail::make_room(r, a.size + b.size);
  for (std::size_t i = 0; i < b.size; ++i) r.limbs[i] = 0;
  for (std::size_t i = 0; i < a.size; ++i) {
    const std::uint64_t factor = a.limbs[i];
    detail::double_limb t = 0;
    for (std::size_t j = 0; j < b.size; ++j)
      t = detail::double_limb{factor} * b.limbs[j] + r.limbs[i + j] + (t >> 64),
      r.limbs[i + j] = static_cast<std::uint64_t>(t);
    r.limbs[i + b.size] = static_cast<std::uint64_t>(t >> 64);
  }
  detail::trim(r, a.size + b.size);
  return r;
}

template <std::size_t Capacity>
constexpr natural<Capacity> multiply(const natural<Capacity>& a, const natural<Capacity>& b) {
  return resized<Capacity>(multiply_wide(a, b));
}

template <std::size_t Capacity>
constexpr natural<Capacity> multiply(const natural<Capacity>& a, std::uint64_t b) {
  natural<Capacity> r;
  if (a.size == 0 || b == 0) return r;
  detail::make_room(r, a.size);
  detail::double_limb t = 0;
  for (std::size_t i = 0; i < a.size; ++i)
    t = detail::double_limb{a.limbs[i]} * b + (t >> 64), r.limbs[i] = static_cast<std::uint64_t>(t);
  r.size = a.size;
  if ((t >> 64) != 0) {
    detail::make_room(r, a.size + 1);
    r.limbs[a.size] = static_cast<std::uint64_t>(t >> 64);
    r.size = a.size + 1;
  }
  return r;
}

/// A floor and what was left over; remainder 0 means that the quotient is exact.
template <std::size_t Capacity>
struct word_division {
  natural<Capacity> quotient;
  std::uint64_t remainder = 0;
};

/// floor(a / b); b = 0 is error::zero_denominator().
template <std::size_t Capacity>
constexpr word_division<Capacity> divide(const natural<Capacity>& a, std::uint64_t b) {
  if (b == 0) error::zero_denominator();
  word_division<Capacity> r;
  detail::make_room(r.quotient, a.size);
  for (std::size_t i = a.size; i-- > 0;)
    r.quotient.limbs[i] = detail::divide_step(r.remainder, a.limbs[i], b);
  detail::trim(r.quotient, a.size);
  return r;
}

template <std::size_t A, std::size_t B>
struct division {
  natural<A> quotient;
  natural<B> remainder;
  constexpr bool exact() const { return remainder.size == 0; }
};

/// floor(a / b) and a - b * floor(a / b) (Knuth, The Art of Computer Programming 2, algorithm 4.3.1 D); b = 0
/// is error::zero_denominator().
template <std::size_t A, std::size_t B>
constexpr division<A, B> divide(const natural<A>& a, const natural<B>& b) {
  if (b.size == 0) error::zero_denominator();
  division<A, B> r;
  if (a.size < b.size) {
    r.remainder = resized<B>(a);
    return r;
  }
  if (b.size == 1) {
    word_division<A> by_word = divide(a, b.limbs[0]);
    r.quotient = by_word.quotient;
    r.remainder = to_natural<B>(by_word.remainder);
    return r;
  }
  // Both are shifted so that the divisor's top bit is set: then a quotient limb guessed from the top limbs is
  // never too small and at most 2 too large.
  const int shift = std::countl_zero(b.limbs[b.size - 1]);
  natural<extended<A, 1>> u = shifted<extended<A, 1>>(a, shift);
  const natural<B> v = shifted<B>(b, shift);
  const std::size_t n = v.size;
  detail::make_room(u, a.size + 1);
  if (u.size == a.size) u.limbs[a.size] = 0;
  const std::uint64_t v1 = v.limbs[n - 1];
  const std::uint64_t v2 = v.limbs[n - 2];
  const std::size_t quotient_size = a.size - n + 1;
  detail::make_room(r.quotient, quotient_size);
  for (std::size_t j = quotient_size; j-- > 0;) {
    std::uint64_t q = ~std::uint64_t{0};
    std::uint64_t left = u.limbs[j + n];
    bool left_is_a_limb = true;
    if (left >= v1) {
      left = u.limbs[j + n - 1] + v1;
      left_is_a_limb = left >= v1;
    } else {
      q = detail::divide_step(left, u.limbs[j + n - 1], v1);
    }
    while (left_is_a_limb &&
           detail::double_limb{q} * v2 > ((detail::double_limb{left} << 64) | u.limbs[j + n - 2])) {
      --q;
      left += v1;
      left_is_a_limb = left >= v1;
    }
    detail::double_limb product = 0;
    detail::double_limb t = 0;
    for (std::size_t i = 0; i < n; ++i)
      product = detail::double_limb{q} * v.limbs[i] + (product >> 64),
      t = detail::double_limb{u.limbs[i + j]} - static_cast<std::uint64_t>(product) - (t >> 127),
      u.limbs[i + j] = static_cast<std::uint64_t>(t);
    t = detail::double_limb{u.limbs[j + n]} - (product >> 64) - (t >> 127);
    u.limbs[j + n] = static_cast<std::uint64_t>(t);
    if ((t >> 127) != 0) {
      --q;
      t = 0;
      for (std::size_t i = 0; i < n; ++i)
        t = (t >> 64) + u.limbs[i + j] + v.limbs[i], u.limbs[i + j] = static_cast<std::uint64_t>(t);
      u.limbs[j + n] += static_cast<std::uint64_t>(t >> 64);
    }
    r.quotient.limbs[j] = q;
  }
  detail::trim(r.quotient, quotient_size);
  detail::trim(u, n);
  r.remainder = shifted<B>(u, -shift);
  return r;
}

template <std::size_t Capacity>
struct integer_root {
  natural<Capacity> floor;
  bool exact = true;
};

/// floor(sqrt(a)), and whether it is the square root itself. Newton's iteration at a precision that doubles:
/// with c = (bit_length(a) - 1) / 2 and d = c >> s, the iterate r satisfies (r - 1)^2 < a / 4^(c - d) < (r +
/// 1)^2 for every s, so that at d = c the floor is r or r - 1, and one comparison tells which (M. Dickinson's
/// proof for CPython's math.isqrt; the invariant is the whole of it).
template <std::size_t Capacity>
constexpr integer_root<Capacity> floor_square_root(const natural<Capacity>& a) {
  integer_root<Capacity> result;
  if (a.size == 0) return result;
  const std::size_t c = (bit_length(a) - 1) / 2;
  natural<Capacity> r = to_natural<Capacity>(1);
  std::size_t d = 0;
  for (unsigned s = static_cast<unsigned>(std::bit_width(c)); s-- > 0;) {
    const std::size_t e = d;
    d = c >> s;
    const natural<Capacity> top = shift_right(a, 2 * c - e - d + 1);
    if (d < 32) {
      // a / 4^(c - d) has at most 64 bits and r at most 32, so one word holds everything.
      const std::uint64_t word =
          (r.limbs[0] << (d - e - 1)) + (top.size == 0 ? 0 : top.limbs[0] / r.limbs[0]);
      r = to_natural<Capacity>(word);
    } else {
      r = add(shift_left(r, d - e - 1), divide(top, r).quotient);
    }
  }
  const auto square = multiply_wide(r, r);
  const int order = compare(square, a);
  result.exact = order == 0;
  result.floor = order > 0 ? subtract(r, 1) : r;
  return result;
}

namespace detail {

/// Number of bits of |n|; 0 for 0.
template <exact_integer Integer>
constexpr std::size_t length_of(const Integer& n) {
  using word = std::remove_cvref_t<decltype(*n.backend().limbs())>;
  const std::size_t size = n.backend().size();
  const word top = n.backend().limbs()[size - 1];
  std::size_t length = 8 * sizeof(word) * (size - 1);
  if constexpr (sizeof(word) > sizeof(std::uint64_t)) {
    const auto high = static_cast<std::uint64_t>(top >> 64);
    return length + (high != 0 ? 64 + static_cast<std::size_t>(std::bit_width(high))
                               : static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(top))));
  } else {
    return length + static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(top)));
  }
}

/// Limb `index` of |n|, read from the integer's own storage; 0 past its end.
template <exact_integer Integer>
constexpr std::uint64_t limb_of(const Integer& n, std::size_t index) {
  using word = std::remove_cvref_t<decltype(*n.backend().limbs())>;
  constexpr std::size_t ratio = sizeof(word) / sizeof(std::uint64_t);
  static_assert(ratio == 1 || ratio == 2, "attest needs a Boost with 64-bit limbs");
  if (index / ratio >= n.backend().size()) return 0;
  const word value = n.backend().limbs()[index / ratio];
  if constexpr (ratio == 1)
    return value;
  else
    return static_cast<std::uint64_t>(value >> (index % ratio * 64));
}

/// floor(|n| / 2^shift).
template <std::size_t Capacity, exact_integer Integer>
constexpr natural<Capacity> magnitude_of(const Integer& n, std::size_t shift) {
  natural<Capacity> r;
  const std::size_t length = length_of(n);
  if (length <= shift) return r;
  const std::size_t count = (length - shift + 63) / 64;
  const std::size_t whole = shift / 64;
  const unsigned part = static_cast<unsigned>(shift % 64);
  make_room(r, count);
  for (std::size_t i = 0; i < count; ++i)
    r.limbs[i] = part == 0 ? limb_of(n, i + whole)
                           : (limb_of(n, i + whole) >> part) | (limb_of(n, i + whole + 1) << (64 - part));
  r.size = count;
  return r;
}

}  // namespace detail

/// |n|.
template <std::size_t Capacity, exact_integer Integer>
constexpr natural<Capacity> to_natural(Integer n) {
  return detail::magnitude_of<Capacity>(n, 0);
}

}  // namespace attest
