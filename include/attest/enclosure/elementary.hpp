#pragma once

#include <attest/enclosure/interval.hpp>

#include <type_traits>

// Square roots, ln 2, exp, log and tanh as intervals: integer arithmetic on 64-bit limbs, and each bound proved
// beside its function. `bits` is the number of significant bits kept; unless said otherwise a result has
// relative width <= 2^-(bits - 8), plus what the width of the argument causes.
namespace attest {

namespace detail {

/// Room for a number of Capacity fraction limbs, its integer limbs, and a product's guard columns.
template <std::size_t Capacity>
inline constexpr std::size_t work_capacity = extended<Capacity, 4>;

/// r = a * b / B^drop, B = 2^64, from the columns drop - 1 and above of the schoolbook product; r must be
/// another object. r is too small by less than min(a.size, b.size) + 1 units: each omitted column c <= drop -
/// 2 holds at most min(a.size, b.size) products below (B - 1)^2, which weighted with B^c sum to less than
/// min(a.size, b.size) * B^drop, and cutting column drop - 1 loses less than one unit. If the product has no
/// column as high as drop it is below one unit, and r = 0.
template <std::size_t R, std::size_t A, std::size_t B>
constexpr void high_product(natural<R>& r, const natural<A>& a, const natural<B>& b, std::size_t drop) {
  r.size = 0;
  if (a.size + b.size <= drop) return;
  const std::size_t low = drop - 1;
  const std::size_t size = a.size + b.size - low;
  make_room(r, size);
  for (std::size_t i = 0; i < size; ++i) r.limbs[i] = 0;
  for (std::size_t i = low < b.size ? 0 : low - b.size + 1; i < a.size; ++i) {
    const std::uint64_t factor = a.limbs[i];
    if (factor == 0) continue;
    std::size_t j = i < low ? low - i : 0;
    std::size_t k = i + j - low;
    double_limb t = 0;
    for (; j < b.size; ++j, ++k)
      t = double_limb{factor} * b.limbs[j] + r.limbs[k] + (t >> 64),
      r.limbs[k] = static_cast<std::uint64_t>(t);
    r.limbs[k] = static_cast<std::uint64_t>(t >> 64);
  }
  for (std::size_t i = 0; i + 1 < size; ++i) r.limbs[i] = r.limbs[i + 1];
  trim(r, size - 1);
}

/// sum += factor * atanh(1/q) (or -= if `negative`) in units of 2^(-64 size), for q^2 < 2^64:
/// atanh(1/q) = sum over k of 1/((2k + 1) q^(2k + 1)).
///
/// power is exactly floor(2^(64 size) / q^(2k + 1)), since floors of quotients by integers nest; so is each
/// term, and each is less than one unit too small. The first power that is zero ends the sum; the terms from
/// there on are below 1/q^(2k+1) (1 + 1/q^2 + ...) < 2 units. So atanh is less than T + 2 units too small
/// after T terms.
template <std::size_t Capacity>
constexpr void add_atanh_of_reciprocal(natural<Capacity>& sum, std::size_t size, std::uint64_t factor,
                                       std::uint64_t q, bool negative) {
  natural<Capacity> power;
  make_room(power, size);
  std::uint64_t left = 1;
  for (std::size_t i = size; i-- > 0;) power.limbs[i] = divide_step(left, 0, q);
  std::size_t top = size;
  for (std::uint64_t n = 1;; n += 2) {
    while (top > 0 && power.limbs[top - 1] == 0) --top;
    if (top == 0) return;
    // floor(power / n) times the factor, added or subtracted without being stored.
    natural<Capacity> term;
    make_room(term, size);
    left = 0;
    for (std::size_t i = top; i-- > 0;) term.limbs[i] = divide_step(left, power.limbs[i], n);
    double_limb product = 0;
    double_limb t = 0;
    std::size_t i = 0;
    if (negative) {
      for (; i < top; ++i)
        product = double_limb{term.limbs[i]} * factor + (product >> 64),
        t = double_limb{sum.limbs[i]} - static_cast<std::uint64_t>(product) - (t >> 127),
        sum.limbs[i] = static_cast<std::uint64_t>(t);
      product >>= 64;
      for (; i < size && (product != 0 || (t >> 127) != 0); ++i)
        t = double_limb{sum.limbs[i]} - product - (t >> 127), sum.limbs[i] = static_cast<std::uint64_t>(t),
        product = 0;
    } else {
      for (; i < top; ++i)
        product = double_limb{term.limbs[i]} * factor + (product >> 64),
        t = double_limb{sum.limbs[i]} + static_cast<std::uint64_t>(product) + (t >> 64),
        sum.limbs[i] = static_cast<std::uint64_t>(t);
      product >>= 64;
      for (; i < size && (product != 0 || (t >> 64) != 0); ++i)
        t = double_limb{sum.limbs[i]} + product + (t >> 64), sum.limbs[i] = static_cast<std::uint64_t>(t),
        product = 0;
    }
    left = 0;
    for (i = top; i-- > 0;) power.limbs[i] = divide_step(left, power.limbs[i], q * q);
  }
}

/// ln 2 with `size` fraction limbs: |ln 2 - r / 2^(64 size)| < 1.01 * 2^(-64 size).
///
/// ln 2 = 18 atanh(1/26) - 2 atanh(1/4801) + 8 atanh(1/8749), evaluated with one more limb. Fewer than
/// 7 (size + 1) + 1 terms of the first series, and fewer of the others, are summed (26^2 > 2^9.4), so the
/// error is below 26 (7 size + 10) of the smaller units: less than 2^-7 of a unit of the result for any size
/// below 2^44. Cutting the last limb adds one unit at most. The partial sums stay between 0 and 1 if the
/// subtraction comes second.
template <std::size_t Capacity>
constexpr natural<Capacity> ln2_limbs(std::size_t size) {
  natural<extended<Capacity, 1>> sum;
  make_room(sum, size + 1);
  for (std::size_t i = 0; i <= size; ++i) sum.limbs[i] = 0;
  add_atanh_of_reciprocal(sum, size + 1, 18, 26, false);
  add_atanh_of_reciprocal(sum, size + 1, 2, 4801, true);
  add_atanh_of_reciprocal(sum, size + 1, 8, 8749, false);
  natural<Capacity> r;
  make_room(r, size);
  for (std::size_t i = 0; i < size; ++i) r.limbs[i] = sum.limbs[i + 1];
  r.size = size;
  return r;
}

/// ln 2 to Capacity limbs, computed once for each capacity and translation unit.
template <std::size_t Capacity>
inline constexpr natural<Capacity> ln2_table = ln2_limbs<Capacity>(Capacity);

/// The longest table: beyond it one evaluation would come near clang's limit of steps.
inline constexpr std::size_t longest_ln2_table = 64;

/// ln 2 to at least `size` limbs, kept for the thread's next call.
inline const natural<growing>& cached_ln2(std::size_t size) {
  thread_local natural<growing> cache;
  if (cache.size < size) cache = ln2_limbs<growing>(size);
  return cache;
}

/// The leading `size` limbs of ln 2: |ln 2 - r / 2^(64 size)| < 2.01 * 2^(-64 size).
template <std::size_t Capacity>
constexpr natural<Capacity> ln2_fraction(std::size_t size) {
  if constexpr (Capacity != growing && Capacity <= longest_ln2_table) {
    if (size > Capacity) error::precision_exhausted();
    natural<Capacity> r;
    for (std::size_t i = 0; i < size; ++i) r.limbs[i] = ln2_table<Capacity>.limbs[i + (Capacity - size)];
    r.size = size;
    return r;
  } else {
    if (std::is_constant_evaluated()) return ln2_limbs<Capacity>(size);
    const natural<growing>& known = cached_ln2(size);
    natural<Capacity> r;
    make_room(r, size);
    for (std::size_t i = 0; i < size; ++i) r.limbs[i] = known.limbs[i + (known.size - size)];
    r.size = size;
    return r;
  }
}

}  // namespace detail

/// sqrt(d). With N = d 4^k, floor(sqrt(N)) = floor(2^k sqrt(d)) has more than `bits` bits and is less than
/// one unit too small; nothing is lost when N is a square, so the root of a square is exact.
template <std::size_t Capacity>
constexpr interval<Capacity> sqrt(unsigned long long d, unsigned bits) {
  detail::check_precision<Capacity>(bits);
  if (d == 0) return {};
  constexpr std::size_t wide = product_capacity<Capacity, Capacity>;
  const std::int64_t k = std::int64_t{bits} + 1 - static_cast<std::int64_t>(std::bit_width(d)) / 2;
  const std::int64_t places = k > 0 ? k : 0;
  const integer_root<wide> r = floor_square_root(shifted<wide>(to_natural<wide>(d), 2 * places));
  return detail::enclose<Capacity>(false, r.floor, -places,
                                   r.exact ? detail::magnitude{} : detail::at_least(1, -places), bits);
}

/// 1 / sqrt(d); d = 0 is error::zero_denominator(). floor(sqrt(floor(4^k / d))) = floor(2^k / sqrt(d)), since
/// the root of an integer bound is unchanged by the inner floor; it has more than `bits` bits and is less
/// than one unit too small, and it is exact when neither step leaves a remainder.
template <std::size_t Capacity>
constexpr interval<Capacity> reciprocal_sqrt(unsigned long long d, unsigned bits) {
  detail::check_precision<Capacity>(bits);
  if (d == 0) error::zero_denominator();
  constexpr std::size_t wide = extended<product_capacity<Capacity, Capacity>, 1>;
  const std::int64_t k = std::int64_t{bits} + 1 + static_cast<std::int64_t>(std::bit_width(d) + 1) / 2;
  const word_division<wide> q = divide(shifted<wide>(to_natural<wide>(1), 2 * k), d);
  const integer_root<wide> r = floor_square_root(q.quotient);
  const bool exact = r.exact && q.remainder == 0;
  return detail::enclose<Capacity>(false, r.floor, -k, exact ? detail::magnitude{} : detail::at_least(1, -k),
                                   bits);
}

/// ln 2. Error: detail::ln2_fraction, at 64 * size >= bits + 2.
template <std::size_t Capacity>
constexpr interval<Capacity> ln2(unsigned bits) {
  detail::check_precision<Capacity>(bits);
  const std::size_t size = (std::size_t{bits} + 2 + 63) / 64;
  const std::int64_t unit = -64 * static_cast<std::int64_t>(size);
  return detail::enclose<Capacity>(false, detail::ln2_fraction<detail::work_capacity<Capacity>>(size), unit,
                                   detail::at_least(3, unit), bits);
}

namespace detail {

/// How exp is evaluated.
struct exp_plan {
  std::size_t size = 0;   // fraction limbs
  unsigned halvings = 0;  // of the reduced argument, and squarings of the result: even, at least 4
  unsigned terms = 0;     // of the Taylor polynomial
  unsigned row = 0;       // terms between two multiplications by u^row
};

/// The relative error of exp_of_reduced in units of 2^(-64 size).
constexpr std::uint64_t exp_error_units(std::size_t size, unsigned halvings) {
  return (20 * static_cast<std::uint64_t>(size) + 32) << halvings;
}

/// A halving costs one squaring and shortens the polynomial to about bits / halvings terms, which need some
/// two square roots of their number in multiplications: the cube root of the precision balances the two. The
/// fraction gets so many limbs that exp_error_units stay below 2^-(bits + 3), and the polynomial so many
/// terms that its remainder for 0 <= u < 2^-halvings,
///   sum over k >= terms of u^k / k! <= 2 u^terms / terms!,
/// is at most one unit; log2(terms!) is bounded from below by the sum of the floor(log2 k).
constexpr exp_plan plan_exp(unsigned bits) {
  exp_plan plan;
  plan.halvings = 4;
  while (plan.halvings < 32 && plan.halvings * plan.halvings * plan.halvings < bits) plan.halvings += 2;
  const auto guard =
      static_cast<std::size_t>(std::bit_width(exp_error_units(bits / 64 + 2, plan.halvings))) + 3;
  plan.size = (bits + guard + 63) / 64;
  const std::size_t wanted = 64 * plan.size + 1;
  std::size_t reached = plan.halvings;
  plan.terms = 1;
  while (reached < wanted) {
    ++plan.terms;
    reached += plan.halvings + static_cast<std::size_t>(std::bit_width(plan.terms)) - 1;
  }
  plan.row = 2;
  while ((plan.row + 1) * (plan.row + 1) <= plan.terms) ++plan.row;
  return plan;
}

/// exp(t) * 2^(64 n), n = plan.size, for t = argument / 2^(64 n) in [0, 1). The relative error is at most
/// exp_error_units(n, s), s = plan.halvings, also when the argument is wrong by up to 4 units. In units of
/// 2^(-64 n):
///
/// 1. u = floor(t / 2^s), s >= 4, is wrong by at most 1 + 4/16, and exp(u) for that by at most 2.
/// 2. Powers u^j, 2 <= j <= row, are products of two smaller ones and less than 5/4 (n + 1) too small: by
///    induction u (e_i + e_j) + n + 1 < (2 * 5/4 / 16 + 1) (n + 1).
/// 3. The polynomial is summed from the last term down in rows of powers (P. Smith's splitting), over integer
///    coefficients c_k = b!/k! for the k of a group that ends at b and shares one division by c < 2^62 (as
///    FLINT's exp does): S <- S + c_k u^(k mod row); S <- S u^row where a row ends; S <- S / c where a group
///    ends. With u < 1/16, S < 2 c_k, which fits the integer limb. Let S be less than a_k c_k too small after
///    term k. The sum adds 5/4 (n + 1) c_k, a row's end at most 2 c_k * 5/4 (n + 1) + n + 1, a group's end 1;
///    and c_(k-1) = k c_k. So a_(k-1) <= a_k / k + 19/4 (n + 1) + 1, hence a_k <= 19/2 (n + 1) + 2 for k >=
///    1, and a_0 <= 57/4 (n + 1) + 3; the last division adds 1, the remainder 1, u another 2: at most 15 n
///    + 22.
/// 4. A squaring doubles the relative error and adds n + 2: together at most 2^s (15 n + 22 + n + 2) to first
///    order; the second order is below an eighth of that, since the whole is below 2^-3.
template <std::size_t Capacity>
constexpr natural<Capacity> exp_of_reduced(const natural<Capacity>& argument, const exp_plan& plan) {
  using number = natural<Capacity>;
  constexpr unsigned fixed_row = 16;
  const std::size_t n = plan.size;
  const unsigned row = Capacity != growing && plan.row > fixed_row ? fixed_row : plan.row;
  std::conditional_t<Capacity == growing, std::vector<number>, number[fixed_row + 1]> power{};
  if constexpr (Capacity == growing) power.resize(row + 1);
  power[1] = shifted<Capacity>(argument, -static_cast<std::int64_t>(plan.halvings));
  const unsigned last_power = plan.terms > row ? row : plan.terms - 1;
  for (unsigned j = 2; j <= last_power; ++j) high_product(power[j], power[j / 2], power[j - j / 2], n);

  number sum;
  number scratch;
  make_room(sum, n + 1);
  for (std::size_t i = 0; i <= n; ++i) sum.limbs[i] = 0;
  constexpr std::uint64_t coefficient_limit = std::uint64_t{1} << 62;
  std::uint64_t coefficient = 1;
  for (unsigned k = plan.terms - 1;; --k) {
    if (k % row == 0) {
      sum.limbs[n] += coefficient;
    } else {
      const number& p = power[k % row];
      double_limb t = 0;
      for (std::size_t i = 0; i < p.size; ++i)
        t = double_limb{coefficient} * p.limbs[i] + sum.limbs[i] + (t >> 64),
        sum.limbs[i] = static_cast<std::uint64_t>(t);
      for (std::size_t i = p.size; (t >> 64) != 0; ++i)
        t = (t >> 64) + sum.limbs[i], sum.limbs[i] = static_cast<std::uint64_t>(t);
    }
    if (k % row == 0 && k != 0) {
      trim(sum, n + 1);
      high_product(scratch, sum, power[row], n);
      for (std::size_t i = 0; i <= n; ++i) sum.limbs[i] = i < scratch.size ? scratch.limbs[i] : 0;
    }
    if (k > 1) coefficient *= k;
    if (k <= 1 ? k == 0 : coefficient > coefficient_limit / (k - 1)) {
      std::uint64_t left = 0;
      for (std::size_t i = n + 1; i-- > 0;) sum.limbs[i] = divide_step(left, sum.limbs[i], coefficient);
      coefficient = 1;
    }
    if (k == 0) break;
  }
  sum.size = n + 1;
  for (unsigned i = 0; i < plan.halvings; i += 2) {
    high_product(scratch, sum, sum, n);
    high_product(sum, scratch, scratch, n);
  }
  return sum;
}

/// [0, 2^k].
template <std::size_t Capacity>
constexpr interval<Capacity> zero_to_power_of_two(std::int64_t k) {
  interval<Capacity> r;
  r.midpoint = to_natural<Capacity>(1);
  r.radius = 1;
  r.exponent = k - 1;
  return r;
}

/// The exponent beyond which exp gives up: 2^(2^40) is too large, 2^-(2^40) is enclosed with zero.
inline constexpr std::int64_t exp_exponent_limit = std::int64_t{1} << 40;

/// exp(+-m * 2^exponent).
///
/// In units of 2^(-64 n), n the number of fraction limbs: X = floor(m 2^(exponent + 64 n)) is less than 1 too
/// small. k ln 2 is taken from n + 1 limbs of ln 2, so with k < 2^42 it is wrong by less than 2^-20 before
/// its last limb is cut, which makes it less than 1 too small. k itself comes from the first 20 fraction bits
/// of X and 62 of 1 / ln 2, both cut, so it is floor(X / ln 2) or one less; in the second case ln 2 is
/// subtracted once more, cut to n limbs. So t = X - k ln 2 (or for a negative argument its complement to ln
/// 2) lies in [0, ln 2] and is wrong by less than 4. The value 2^k exp(t) is below 2^k * 3, so its error is
/// at most 3 exp_error_units(n).
template <std::size_t Capacity>
constexpr interval<Capacity> exp_of_dyadic(const natural<Capacity>& m, bool negative, std::int64_t exponent,
                                           unsigned bits) {
  constexpr std::size_t work = work_capacity<Capacity>;
  if (m.size == 0) return interval<Capacity>::exact(1);
  if (exponent + static_cast<std::int64_t>(bit_length(m)) > 42) {
    if (!negative) error::precision_exhausted();
    return zero_to_power_of_two<Capacity>(-exp_exponent_limit);
  }
  const exp_plan plan = plan_exp(bits);
  const std::size_t n = plan.size;
  const auto unit = -64 * static_cast<std::int64_t>(n);

  natural<work> t = shifted<work>(m, exponent - unit);
  std::int64_t k = 0;
  if (negative || t.size > n || (t.size == n && t.limbs[n - 1] >> 63 != 0)) {
    const natural<work> ln2 = ln2_fraction<work>(n + 1);
    const std::uint64_t whole = t.size > n ? t.limbs[n] : 0;
    const std::uint64_t fraction = t.size >= n ? t.limbs[n - 1] : 0;
    constexpr std::uint64_t reciprocal_of_ln2 = 0x5C551D94AE0BF85D;  // floor(2^62 / ln 2)
    k = static_cast<std::int64_t>((double_limb{(whole << 20) | (fraction >> 44)} * reciprocal_of_ln2) >> 82);
    if (k != 0)
      t = attest::subtract(t, shift_right(attest::multiply(ln2, static_cast<std::uint64_t>(k)), 64));
    const natural<work> short_ln2 = shift_right(ln2, 64);
    if (compare(t, short_ln2) >= 0) {
      t = attest::subtract(t, short_ln2);
      ++k;
    }
    if (negative) {
      t = attest::subtract(short_ln2, t);
      k = -(k + 1);
    }
    if (k < -exp_exponent_limit) return zero_to_power_of_two<Capacity>(-exp_exponent_limit);
    if (k > exp_exponent_limit) error::precision_exhausted();
  }
  const natural<work> value = exp_of_reduced(t, plan);
  return enclose<Capacity>(false, value, k + unit, at_least(3 * exp_error_units(n, plan.halvings), k + unit),
                           bits);
}

/// x with its radius widened by `bound`.
template <std::size_t Capacity>
constexpr interval<Capacity> widen(const interval<Capacity>& x, magnitude bound, unsigned bits) {
  return enclose<Capacity>(x.negative, x.midpoint, x.exponent, at_least(x.radius, x.exponent) + bound, bits);
}

}  // namespace detail

/// exp(x). Where exp(x) < 2^-(2^40) the result is [0, 2^-(2^40)], of sign 0; where exp(x) may exceed
/// 2^(2^40), it is error::precision_exhausted().
///
/// With x = m + s, |s| <= r: |exp(x) - exp(m)| = exp(m) |exp(s) - 1| <= exp(m) (exp(r) - 1) <= exp(m) (r +
/// r^2) for r <= 1. A wider argument is enclosed from its two ends, since exp increases.
template <std::size_t Capacity>
constexpr interval<Capacity> exp(const interval<Capacity>& x, unsigned bits) {
  detail::check_precision<Capacity>(bits);
  if (x.radius == 0) return detail::exp_of_dyadic(x.midpoint, x.negative, x.exponent, bits);
  const bool narrow = x.exponent + static_cast<std::int64_t>(std::bit_width(x.radius)) <= -2;
  if (narrow) {
    const interval<Capacity> y = detail::exp_of_dyadic(x.midpoint, x.negative, x.exponent, bits);
    if (sign(y) > 0) {
      const detail::magnitude r = detail::at_least(x.radius, x.exponent);
      const detail::magnitude top =
          detail::at_least(y.midpoint, y.exponent) + detail::at_least(y.radius, y.exponent);
      return detail::widen(y, top * (r + r * r), bits);
    }
  }
  const interval_end<Capacity> low = lower(x);
  const interval_end<Capacity> high = upper(x);
  const interval<Capacity> least = detail::exp_of_dyadic(low.magnitude, low.negative, low.exponent, bits);
  const interval<Capacity> greatest =
      detail::exp_of_dyadic(high.magnitude, high.negative, high.exponent, bits);
  if (sign(greatest) == 0) return greatest;
  if (sign(least) == 0) {
    const interval_end<Capacity> end = upper(greatest);
    return detail::zero_to_power_of_two<Capacity>(end.exponent +
                                                  static_cast<std::int64_t>(bit_length(end.magnitude)));
  }
  return hull(least, greatest, bits);
}

namespace detail {

/// Room for the precision that log adds near 1.
template <std::size_t Capacity>
inline constexpr std::size_t log_capacity = extended<Capacity, 2 + Capacity / 16>;

/// About ln(f / 2^62) * 2^62 for f / 2^62 in [0.7, 1.42]. It is only a starting point: nothing depends on its
/// error.
constexpr std::int64_t approximate_log(std::uint64_t f) {
  constexpr std::uint64_t one = std::uint64_t{1} << 62;
  const bool negative = f < one;
  const std::uint64_t distance = negative ? one - f : f - one;
  const auto w = static_cast<std::uint64_t>((double_limb{distance} << 62) / (double_limb{f} + one));
  const auto v = static_cast<std::uint64_t>((double_limb{w} * w) >> 62);
  std::uint64_t series = 0;
  for (std::uint64_t n = 25; n > 1; n -= 2)
    series = static_cast<std::uint64_t>((double_limb{series + one / n} * v) >> 62);
  const auto value = static_cast<std::int64_t>((double_limb{w} * (series + one)) >> 61);
  return negative ? -value : value;
}

/// 2 atanh(w) = 2 w (1 + v/3 + v^2/5 + ...), v = w^2, for |w| <= 1/2, to a relative width of 2^-(bits - 5) or
/// so.
///
/// What follows v^T / (2 T + 1) is less than v^(T + 1) / (1 - v) / 3 < v^(T + 1); T is the least that brings
/// this bound, with |w| <= 2^-z, to 2^-bits. All else is interval arithmetic.
template <std::size_t Capacity>
constexpr interval<Capacity> twice_atanh(const interval<Capacity>& w, unsigned bits) {
  using number = interval<Capacity>;
  const magnitude bound = at_least(w.midpoint, w.exponent) + at_least(w.radius, w.exponent);
  if (bound.mantissa == 0) return w;
  const std::int64_t z = -(bound.exponent + (bound.mantissa == std::uint64_t{1} << 31 ? 31 : 32));
  if (z < 1) error::precision_exhausted();
  std::int64_t terms = 0;
  while (2 * z * (terms + 1) < std::int64_t{bits}) ++terms;
  number tail;
  if (terms > 0) {
    const number v = multiply(w, w, bits);
    for (std::int64_t i = terms; i > 0; --i)
      tail = multiply(v, add(number::ratio(1, 2 * i + 1, bits), tail, bits), bits);
  }
  const number series = widen(add(number::exact(1), tail, bits), at_least(1, -2 * z * (terms + 1)), bits);
  return scale_by_power_of_two(multiply(w, series, bits), 1);
}

/// ln(m * 2^exponent), m > 0, to a relative width of 2^-(bits - 4).
///
/// m 2^exponent = f 2^k with f about in [1/sqrt(2), sqrt(2)]. For any y, with E = exp(y) and w = (f - E) / (f
/// + E),
///   ln f = y + ln(f / E) = y + 2 atanh(w).
/// The closer y is, the fewer terms the series has and the fewer bits of w matter; all is evaluated with
/// intervals, so an inexact y or E costs width, never truth. If k != 0, |ln| > 0.69 - 0.35 and `bits`
/// absolute bits are as good as relative ones, but for a factor 4. If k = 0 and 2^-(j + 1) <= |f - 1| < 2^-j,
/// j more bits are spent; but where j exceeds a 16th of the precision, y = 0 and E = 1 need no exp, f - 1 is
/// exact, and the relative precision is kept with no more than 8 terms.
template <std::size_t Capacity>
constexpr interval<Capacity> log_of_dyadic(const natural<Capacity>& m, std::int64_t exponent, unsigned bits) {
  using number = interval<Capacity>;
  const auto length = static_cast<std::int64_t>(bit_length(m));
  const std::uint64_t leading = shifted<extended<Capacity, 1>>(m, 64 - length).limbs[0];
  const bool below = leading < 0xB504F333F9DE6484;  // 2^64 / sqrt(2)
  const std::int64_t k = exponent + length - (below ? 1 : 0);
  const number f{m, false, 0, (below ? 1 : 0) - length};
  const number one = number::exact(1);
  const number difference = subtract(f, one, bits + 8);
  const bool power_of_two = is_exact(difference) && is_zero(difference.midpoint);
  const std::int64_t j =
      k == 0 ? -(difference.exponent + static_cast<std::int64_t>(bit_length(difference.midpoint))) : 0;

  number result;
  unsigned precision = bits + 8;
  if (power_of_two) {
    if (k == 0) return result;
  } else if (j >= static_cast<std::int64_t>(precision / 16) + 4) {
    result = twice_atanh(divide(difference, add(f, one, precision), precision), precision);
  } else {
    precision += j > 0 ? static_cast<unsigned>(j) : 0;
    number y;
    if (precision <= 400) {
      y = number::exact(approximate_log(leading >> (below ? 1 : 2)), -62);
    } else {
      const number cut = round_to<Capacity>(f, precision / 4);
      y = log_of_dyadic(cut.midpoint, cut.exponent, precision / 4);
      y.radius = 0;
    }
    const number e = exp(y, precision);
    const number numerator = subtract(f, e, precision);
    const std::int64_t numerator_top =
        numerator.exponent + static_cast<std::int64_t>(bit_length(numerator.midpoint));
    const std::int64_t left = std::int64_t{precision} + (numerator_top < 0 ? numerator_top : 0);
    const unsigned relative = left > 32 ? static_cast<unsigned>(left) : 32;
    result = add(y, twice_atanh(divide(numerator, add(f, e, relative), relative), relative), precision);
  }
  if (k != 0)
    result = add(result, multiply(ln2<Capacity>(precision), number::exact(k), precision), precision);
  return round_to<Capacity>(result, bits);
}

}  // namespace detail

/// ln x; an x that is not certainly positive is error::logarithm_of_non_positive().
///
/// With x = m + s, |s| <= r < m: |ln x - ln m| <= r / (m - r), the mean value theorem's bound. An argument
/// with m < 4 r is enclosed from its two ends, since the logarithm increases.
template <std::size_t Capacity>
constexpr interval<Capacity> log(const interval<Capacity>& x, unsigned bits) {
  detail::check_precision<Capacity>(bits);
  if (sign(x) <= 0) error::logarithm_of_non_positive();
  constexpr std::size_t wide = detail::log_capacity<Capacity>;
  if (x.radius == 0)
    return round_to<Capacity>(detail::log_of_dyadic(resized<wide>(x.midpoint), x.exponent, bits), bits);
  if (x.midpoint.size == 1 && x.midpoint.limbs[0] / 4 < x.radius) {
    const interval_end<Capacity> low = lower(x);
    const interval_end<Capacity> high = upper(x);
    const auto least = detail::log_of_dyadic(resized<wide>(low.magnitude), low.exponent, bits);
    const auto greatest = detail::log_of_dyadic(resized<wide>(high.magnitude), high.exponent, bits);
    return round_to<Capacity>(hull(least, greatest, bits), bits);
  }
  const auto y = detail::log_of_dyadic(resized<wide>(x.midpoint), x.exponent, bits);
  const detail::magnitude bound =
      detail::at_least(x.radius, 0) / detail::at_most(attest::subtract(x.midpoint, x.radius), 0);
  return round_to<Capacity>(detail::widen(y, bound, bits), bits);
}

namespace detail {

/// Room for the precision that tanh adds near 0.
template <std::size_t Capacity>
inline constexpr std::size_t tanh_capacity = extended<Capacity, 2 + Capacity / 2>;

/// tanh(m * 2^exponent), m > 0, to a relative width of 2^-(bits - 6).
///
/// Let 2^-(j + 1) <= x < 2^-j. Where 2 j > bits: x - x^3/3 < tanh x < x (the series alternates, with terms that fall), so
/// tanh x = x (1 - s) with 0 < s < x^2/3 < 2^-(bits + 1). Otherwise tanh x = (1 - E) / (1 + E), E = exp(-2 x), all in interval
/// arithmetic; 1 - E >= x for x <= 1/2, so that the subtraction loses j + 1 bits at most, and j + 1 more are spent.
template <std::size_t Capacity>
constexpr interval<Capacity> tanh_of_dyadic(const natural<Capacity>& m, std::int64_t exponent, unsigned bits) {
  using number = interval<Capacity>;
  const number one = number::exact(1);
  const std::int64_t j = -(exponent + static_cast<std::int64_t>(bit_length(m)));
  if (2 * j > std::int64_t{bits}) {
    const magnitude square = at_least(m, exponent) * at_least(m, exponent);
    const number shrunk = widen(one, square, bits);  // twice as wide as it has to be
    return multiply(number{m, false, 0, exponent}, shrunk, bits);
  }
  const unsigned working = bits + 8 + (j > 0 ? static_cast<unsigned>(j) + 1 : 0);
  const number e = exp_of_dyadic(m, true, exponent + 1, working);
  return divide(subtract(one, e, working), add(one, e, working), bits);
}

}  // namespace detail

/// tanh x, to an absolute width of x's own and a relative width of 2^-(bits - 8).
///
/// With x = m + s, |s| <= r: |tanh x - tanh m| <= r, since the derivative 1 - tanh^2 lies in (0, 1]. tanh is odd.
/// A wide argument is enclosed from its two ends, since tanh increases. So is one with |m| >= 8, for which r is far
/// too much: the derivative is below 4 e^(-2|x|), so that where r <= 1/4 tanh of the ends differs by less than
/// 2 r * 4 e^(1/2 - 2|m|), which for r <= 2^-w |m| is less than 2^-(w + 16), however large m is; where r is
/// greater, by less than 2 e^(-2(|m| - r)).
template <std::size_t Capacity>
constexpr interval<Capacity> tanh(const interval<Capacity>& x, unsigned bits) {
  detail::check_precision<Capacity>(bits);
  constexpr std::size_t wide = detail::tanh_capacity<Capacity>;
  interval<wide> y;
  const bool wide_argument = x.exponent + static_cast<std::int64_t>(std::bit_width(x.radius)) > -2;
  const bool large_argument = x.exponent + static_cast<std::int64_t>(bit_length(x.midpoint)) > 3;
  if (x.radius != 0 && (wide_argument || large_argument)) {
    const auto at = [&](const interval_end<Capacity>& end) {
      interval<wide> z;
      if (end.magnitude.size != 0) z = detail::tanh_of_dyadic(resized<wide>(end.magnitude), end.exponent, bits);
      z.negative = end.negative && z.midpoint.size != 0;
      return z;
    };
    return round_to<Capacity>(hull(at(lower(x)), at(upper(x)), bits), bits);
  }
  if (x.midpoint.size != 0) y = detail::tanh_of_dyadic(resized<wide>(x.midpoint), x.exponent, bits);
  y.negative = x.negative;
  return round_to<Capacity>(detail::widen(y, detail::at_least(x.radius, x.exponent), bits), bits);
}

}  // namespace attest
