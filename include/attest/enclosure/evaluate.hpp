#pragma once

#include <attest/enclosure/elementary.hpp>
#include <attest/symbolic/softmax.hpp>

#include <concepts>

// From symbols to intervals. evaluate<Capacity>(x, bits) encloses the value of an expression, with working precision
// `bits`; how narrow the result is depends on cancellation, so whoever needs a certain width asks again with more bits.
// sign() and compare() decide: they first let the symbolic form say whether the answer is zero (Lindemann-Weierstrass)
// and only then narrow an enclosure until it leaves zero, which must happen.
namespace attest {

/// Limbs of working storage in the compiler: room for 10 * 64 - 64 = 576 bits.
inline constexpr std::size_t compiler_limbs = 10;

/// Where an expression over T is evaluated: in fixed storage over the fixed integers of the compiler, in storage that
/// grows over unbounded integers.
template <exact_number T>
inline constexpr std::size_t limbs_for = std::same_as<integer_of<T>, unbounded_integer> ? growing : compiler_limbs;

namespace detail {

inline constexpr unsigned first_working_precision = 128;

// The working precision after `bits`: twice as much, or what fixed storage has left; then error::precision_exhausted().
// 64 bits are kept back for what the functions themselves add.
template <std::size_t Capacity>
constexpr unsigned next_working_precision(unsigned bits) {
  if constexpr (Capacity == growing) {
    return 2 * bits;
  } else {
    constexpr unsigned most = 64 * static_cast<unsigned>(Capacity) - 128;
    if (bits >= most) error::precision_exhausted();
    return 2 * bits < most ? 2 * bits : most;
  }
}

// A k >= 0 with |x| < 2^k, capped at 64.
template <exact_number T>
constexpr unsigned magnitude_bits(T x) {
  if (sign(x) == 0) return 0;
  const auto p = parts(x);
  const long above = static_cast<long>(bit_length(p.numerator)) + p.exponent;
  const long bits = above - static_cast<long>(bit_length(p.denominator)) + 1;
  return bits < 0 ? 0 : bits > 64 ? 64 : static_cast<unsigned>(bits);
}
template <exact_number T>
constexpr unsigned magnitude_bits(surd<T> x) {
  const unsigned a = magnitude_bits(x.rational_part());
  const unsigned b = magnitude_bits(x.root_part());
  return a > b ? a + 1 : b + 1;
}

}  // namespace detail

template <std::size_t Capacity, exact_number T>
constexpr interval<Capacity> evaluate(T x, unsigned bits) {
  const auto p = parts(x);
  const bool fits = Capacity == growing || bit_length(p.numerator) <= 64 * (Capacity - 1);
  if (p.denominator == integer_of<T>(1) && fits) return interval<Capacity>::exact(p.numerator, p.exponent);
  return scale_by_power_of_two(interval<Capacity>::ratio(p.numerator, p.denominator, bits), p.exponent);
}

template <std::size_t Capacity, exact_number T>
constexpr interval<Capacity> evaluate(surd<T> x, unsigned bits) {
  const interval<Capacity> rational_part = evaluate<Capacity>(x.rational_part(), bits);
  if (x.is_rational()) return rational_part;
  const interval<Capacity> root = reciprocal_sqrt<Capacity>(x.radicand(), bits);
  return add(rational_part, multiply(evaluate<Capacity>(x.root_part(), bits), root, bits), bits);
}

namespace detail {

// 2^y for a small integer y.
template <exact_integer Integer>
struct small_power {
  bool known;
  basic_rational<Integer> value;
};
template <exact_integer Integer>
constexpr small_power<Integer> power_of_two(basic_rational<Integer> y) {
  const Integer exponent = y.numerator();
  if (y.denominator() != Integer(1) || bit_length(exponent) > 8) return {false, ratio(Integer(0), Integer(1))};
  const auto shift = static_cast<long>(exponent);
  const Integer power = shift_left(Integer(1), shift < 0 ? -shift : shift);
  return {true, shift < 0 ? ratio(Integer(1), power) : ratio(power, Integer(1))};
}

// Whether c = 2^y, c > 0: only where c^2 is a power of two (2^y lies in Q(√d) for no y but the halves of integers).
template <exact_number T, exact_number U>
constexpr bool is_power_of_two(surd<T> c, U y) {
  using Integer = integer_of<T>;
  using Rational = basic_rational<Integer>;
  const surd<Rational> coefficient = exact_cast<Rational>(c);
  const surd<Rational> square = coefficient * coefficient;
  if (!square.is_rational()) return false;
  const Integer above = square.rational_part().numerator();
  const Integer below = square.rational_part().denominator();
  if (above != Integer(1) && below != Integer(1)) return false;
  const Integer power = above == Integer(1) ? below : above;
  const unsigned exponent = bit_length(power) - 1;
  if (shift_left(Integer(1), exponent) != power) return false;
  const Rational exact_y = exact_cast<Rational>(y);
  return exact_y + exact_y == Rational(Integer(above == power ? Integer(exponent) : Integer(-Integer(exponent))));
}

}  // namespace detail

namespace detail {

/// How many more bits the parts of x need so that it is narrower than 2^k: what they lose where they cancel. None where
/// |x| >= 2^42 in any case: there exp is one-sided.
template <std::size_t Capacity>
constexpr unsigned bits_lost(const interval<Capacity>& x, std::int64_t k) {
  const std::int64_t width = width_exponent(x);
  if (width <= k) return 0;
  const int side = sign(x);
  if (side != 0) {
    const interval_end<Capacity> nearer = side > 0 ? lower(x) : upper(x);
    if (nearer.exponent + static_cast<std::int64_t>(bit_length(nearer.magnitude)) > 42) return 0;
  }
  return static_cast<unsigned>(width - k);
}

}  // namespace detail

/// Encloses e^x to a relative width of about 2^-bits, whatever the size of x and of its parts, as far as fixed storage
/// has the bits.
template <std::size_t Capacity, exact_number T>
constexpr interval<Capacity> evaluate_exponential(surd<T> x, unsigned bits) {
  // An error of 2^-bits in x is one of 2^-bits in e^x, relatively. Beyond 2^42 the exponential is one-sided anyway. Only
  // parts that cancel make x wider than that: then they are enclosed again, with the bits that were lost.
  const unsigned magnitude = detail::magnitude_bits(x);
  unsigned working = bits + (magnitude < 44 ? magnitude : 44);
  interval<Capacity> exponent = evaluate<Capacity>(x, working);
  if (unsigned lost = detail::bits_lost(exponent, 8 - std::int64_t{bits}); lost != 0) {
    if constexpr (Capacity != growing) {
      constexpr unsigned most = 64 * static_cast<unsigned>(Capacity) - 64;
      lost = working >= most ? 0 : lost < most - working ? lost : most - working;
    }
    exponent = evaluate<Capacity>(x, working + lost);
  }
  return exp(exponent, bits);
}

/// Encloses Σ c_k e^{α_k - reference}.
template <std::size_t Capacity, exact_number T, std::size_t N>
constexpr interval<Capacity> evaluate(const exp_sum<T, N>& x, unsigned bits, surd<T> reference = surd<T>(0)) {
  interval<Capacity> sum = interval<Capacity>::exact(0LL);
  for (std::size_t k = 0; k < x.size(); ++k) {
    const interval<Capacity> exponential = evaluate_exponential<Capacity>(x[k].exponent - reference, bits);
    sum = add(sum, multiply(evaluate<Capacity>(x[k].coefficient, bits), exponential, bits), bits);
  }
  return sum;
}

namespace detail {

template <exact_number T, std::size_t N>
constexpr surd<T> largest_exponent(const exp_sum<T, N>& x, surd<T> largest) {
  for (std::size_t k = 0; k < x.size(); ++k)
    if (sign(x[k].exponent - largest) > 0) largest = x[k].exponent;
  return largest;
}

}  // namespace detail

/// The sign of Σ c_k e^{α_k}, decided. The largest exponent is factored out, so terms far below it cost nothing.
template <std::size_t Capacity, exact_number T, std::size_t N>
constexpr int decide_sign(const exp_sum<T, N>& x) {
  if (is_zero(x)) return 0;
  bool same = true;
  const int first = sign(x[0].coefficient);
  for (std::size_t k = 1; k < x.size(); ++k) same = same && sign(x[k].coefficient) == first;
  if (same) return first;
  const surd<T> largest = detail::largest_exponent(x, x[0].exponent);
  for (unsigned bits = detail::first_working_precision;; bits = detail::next_working_precision<Capacity>(bits))
    if (const int s = sign(evaluate<Capacity>(x, bits, largest)); s != 0) return s;
}
template <exact_number T, std::size_t N>
constexpr int sign(const exp_sum<T, N>& x) {
  return decide_sign<limbs_for<T>>(x);
}

template <std::size_t Capacity, exact_number T, std::size_t N, std::size_t M>
constexpr interval<Capacity> evaluate(const exp_fraction<T, N, M>& x, unsigned bits) {
  if (is_zero(x.numerator)) return interval<Capacity>::exact(0LL);
  const surd<T> largest =
      detail::largest_exponent(x.numerator, detail::largest_exponent(x.denominator, x.denominator[0].exponent));
  // A denominator whose terms cancel may need more bits before it leaves zero.
  for (unsigned working = bits;; working = detail::next_working_precision<Capacity>(working)) {
    const interval<Capacity> denominator = evaluate<Capacity>(x.denominator, working, largest);
    if (sign(denominator) == 0) continue;
    return divide(evaluate<Capacity>(x.numerator, bits, largest), denominator, bits);
  }
}

template <std::size_t Capacity, exact_number T, std::size_t N>
constexpr interval<Capacity> evaluate(const exp_logarithm<T, N>& x, unsigned bits) {
  if (decide_sign<Capacity>(x.sum) <= 0) error::logarithm_of_non_positive();
  const surd<T> largest = detail::largest_exponent(x.sum, x.sum[0].exponent);
  for (unsigned working = bits;; working = detail::next_working_precision<Capacity>(working)) {
    const interval<Capacity> sum = evaluate<Capacity>(x.sum, working, largest);
    if (sign(sum) == 0) continue;
    const interval<Capacity> natural_logarithm = add(evaluate<Capacity>(largest, bits), log(sum, bits), bits);
    return x.base == log_base::e ? natural_logarithm : divide(natural_logarithm, ln2<Capacity>(bits), bits);
  }
}

/// What all weights and outputs of one row share: e^{S_ij - max_j S_ij} for each visible key (zero for a masked one) and
/// their sum.
template <std::size_t Capacity, std::size_t Tk>
struct row_exponentials {
  list<interval<Capacity>, Tk> exponentials;
  interval<Capacity> normaliser;
};

template <std::size_t Capacity, exact_number T, std::size_t Tq, std::size_t Tk>
constexpr row_exponentials<Capacity, Tk> evaluate_exponentials(const weights<T, Tq, Tk>& row_weights, std::size_t i,
                                                               unsigned bits) {
  std::size_t first = 0;
  while (!row_weights.visible(i, first)) ++first;
  surd<T> largest = row_weights.score(i, first);
  for (std::size_t j = first + 1; j < row_weights.columns(); ++j)
    if (row_weights.visible(i, j) && sign(row_weights.score(i, j) - largest) > 0) largest = row_weights.score(i, j);
  const interval<Capacity> zero = interval<Capacity>::exact(0LL);
  row_exponentials<Capacity, Tk> result{{}, zero};
  for (std::size_t j = 0; j < row_weights.columns(); ++j) {
    const bool visible = row_weights.visible(i, j);
    const interval<Capacity> exponential =
        visible ? evaluate_exponential<Capacity>(row_weights.score(i, j) - largest, bits) : zero;
    result.exponentials.push_back(exponential);
    result.normaliser = add(result.normaliser, exponential, bits);
  }
  return result;
}

/// Enclosures of one row of an array, [columns]: each exponential of a row of weights or outputs is evaluated once.
template <std::size_t Capacity, exact_number T, std::size_t Tq, std::size_t Tk>
constexpr auto evaluate_row(const weights<T, Tq, Tk>& x, std::size_t i, unsigned bits) {
  const auto shared = evaluate_exponentials<Capacity>(x, i, bits);
  list<interval<Capacity>, Tk> row;
  for (std::size_t j = 0; j < x.columns(); ++j) row.push_back(divide(shared.exponentials[j], shared.normaliser, bits));
  return row;
}
template <std::size_t Capacity, exact_number T, std::size_t Tq, std::size_t Tk, std::size_t Dv>
constexpr auto evaluate_row(const outputs<T, Tq, Tk, Dv>& x, std::size_t i, unsigned bits) {
  const auto shared = evaluate_exponentials<Capacity>(x.row_weights(), i, bits);
  list<interval<Capacity>, Dv> row;
  for (std::size_t c = 0; c < x.columns(); ++c) {
    interval<Capacity> sum = interval<Capacity>::exact(0LL);
    for (std::size_t j = 0; j < x.values().rows(); ++j)
      sum = add(sum, multiply(evaluate<Capacity>(x.values()(j, c), bits), shared.exponentials[j], bits), bits);
    row.push_back(divide(sum, shared.normaliser, bits));
  }
  return row;
}
template <std::size_t Capacity, class Array>
constexpr auto evaluate_row(const Array& x, std::size_t i, unsigned bits) {
  list<interval<Capacity>, Array::column_extent> row;
  for (std::size_t j = 0; j < x.columns(); ++j) row.push_back(evaluate<Capacity>(x(i, j), bits));
  return row;
}
template <std::size_t Capacity, class Example, std::size_t B>
constexpr auto evaluate_row(const batch<Example, B>& x, std::size_t i, unsigned bits) {
  const std::size_t in_each = x[0].rows();
  return evaluate_row<Capacity>(x[i / in_each], i % in_each, bits);
}

/// The sign of x - y, decided exactly; x and y any two expressions without a logarithm.
template <class X, class Y>
constexpr int compare(const X& x, const Y& y) {
  if constexpr (is_algebraic<X> && is_algebraic<Y>) {
    using Common = common_exact<number_under<X>, number_under<Y>>;
    return sign(as_surd<Common>(x) - as_surd<Common>(y));
  } else {
    using Common = fraction_number<X, Y>;
    const auto a = as_fraction<Common>(x);
    const auto b = as_fraction<Common>(y);
    return sign(a.numerator * b.denominator - b.numerator * a.denominator) * sign(a.denominator) * sign(b.denominator);
  }
}

/// The sign of x - y, decided, for a logarithm x and an exact number y. In base e it is that of Σ c_k e^{α_k} - e^y, in
/// base 2 that of Σ c_k e^{α_k} - 2^y, for an integer y again a sum of exponentials. For other y an enclosure decides:
/// 2^y is algebraic, so it is met only by a sum without exponentials. A sum that is not positive is
/// error::logarithm_of_non_positive().
template <exact_number T, std::size_t N, exact_number U>
constexpr int compare(const exp_logarithm<T, N>& x, U y) {
  using Common = common_exact<T, U>;
  constexpr std::size_t Capacity = limbs_for<T>;
  if (sign(x.sum) <= 0) error::logarithm_of_non_positive();
  if (x.base == log_base::e)
    return sign(exact_cast<Common>(x.sum) - exp(surd<Common>(exact_cast<Common>(y))));
  if (const auto power = detail::power_of_two(exact_cast<basic_rational<integer_of<T>>>(y)); power.known)
    return compare(x.sum, power.value);
  for (unsigned bits = detail::first_working_precision;; bits = detail::next_working_precision<Capacity>(bits)) {
    if (const int s = sign(subtract(evaluate<Capacity>(x, bits), evaluate<Capacity>(y, bits), bits)); s != 0) return s;
    if (x.sum.size() == 1 && sign(x.sum[0].exponent) == 0 && detail::is_power_of_two(x.sum[0].coefficient, y)) return 0;
  }
}

}  // namespace attest
