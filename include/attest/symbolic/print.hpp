#pragma once

#include <attest/symbolic/notation.hpp>
#include <attest/symbolic/softmax.hpp>

#include <concepts>
#include <string>
#include <string_view>

// Expressions as text, the way a page writes them: r stands for e^(1/√d), and a fraction is divided through by the
// smallest power of r that occurs in it: [r, 1, r]/(2r + 1). Where one expression has exponents over different roots, no r
// stands for all of them, and they are written out: e^(1/sqrt(2)) + e^(1/sqrt(8)). Anything with push_back(char) receives the
// text. The notation is plain text, or what print(out, style, x) is given; a type derived from `notation` may write numbers in
// its own way, with overloads of print_number and is_written_whole for it.
namespace attest {

template <class Out>
constexpr void print(Out& out, std::string_view text) {
  for (const char c : text) out.push_back(c);
}

template <class Out, exact_integer Integer>
constexpr void print(Out& out, Integer n) {
  if (n.sign() < 0) {
    out.push_back('-');
    n = -n;
  }
  // Eighteen digits at a time, the most significant first.
  const Integer chunk(1'000'000'000'000'000'000LL);
  Integer power(1);
  for (Integer rest = n / chunk; !rest.is_zero(); rest = rest / chunk) power = power * chunk;
  for (bool first = true; !power.is_zero(); power = power / chunk, first = false) {
    const Integer digits = n / power;
    const Integer used = digits * power;
    n = n - used;
    auto value = static_cast<unsigned long long>(digits);
    char reversed[20]{};
    int length = 0;
    for (; value != 0 || (first ? length == 0 : length < 18); value /= 10)
      reversed[length++] = static_cast<char>('0' + value % 10);
    while (length > 0) out.push_back(reversed[--length]);
  }
}

template <class Out, exact_integer Integer>
constexpr void print(Out& out, basic_rational<Integer> x) {
  print(out, Integer(x.numerator()));
  if (x.denominator() == Integer(1)) return;
  out.push_back('/');
  print(out, Integer(x.denominator()));
}

/// An integer in decimal, a short fraction as such, anything else as a hexadecimal float: always the exact value.
template <class Out, exact_integer Integer>
constexpr void print(Out& out, basic_dyadic<Integer> x) {
  Integer significand = x.significand();
  if (x.exponent() >= 0 && x.exponent() <= 64)
    return print(out, shift_left(significand, x.exponent()));
  if (x.exponent() < 0 && x.exponent() >= -10) {
    print(out, significand);
    out.push_back('/');
    return print(out, shift_left(Integer(1), -x.exponent()));
  }
  if (significand.sign() < 0) out.push_back('-');
  print(out, "0x1");
  const unsigned bits = bit_length(significand) - 1;
  if (bits > 0) {
    out.push_back('.');
    if (significand.sign() < 0) significand = -significand;
    for (unsigned done = 0; done < bits; done += 4) {
      // The four bits below the leading 1 and the `done` bits after it, padded with zeros at the end.
      const Integer tail = bits - done >= 4 ? shift_right(significand, bits - done - 4)
                                            : shift_left(significand, 4 - (bits - done));
      out.push_back("0123456789abcdef"[limb(tail, 0) & 15]);
    }
  }
  out.push_back('p');
  print(out, Integer(static_cast<long long>(x.exponent()) + static_cast<long long>(bits)));
}

namespace detail {

/// k where d = k², otherwise 0.
constexpr unsigned long long exact_square_root(unsigned long long d) {
  unsigned long long k = 1;
  while (k < d / k) ++k;
  return k * k == d ? k : 0;
}

}  // namespace detail

/// Whether a notation writes the magnitude of x as digits alone, which need no brackets in front of or above other signs.
template <exact_number T>
constexpr bool is_written_whole(const notation&, T x) {
  const auto p = parts(x);
  return p.denominator == integer_of<T>(1) && p.exponent >= 0 && p.exponent <= 64;
}

/// An exact number in a notation.
template <class Out, exact_number T>
constexpr void print_number(Out& out, const notation& style, T x) {
  if (!style.groups) return print(out, x);
  const auto p = parts(x);
  const bool is_short = p.exponent >= -10 && p.exponent <= 64;
  if (is_written_whole(style, x) || !is_short) return print(out, x);
  using Integer = integer_of<T>;
  if (p.numerator.sign() < 0) out.push_back('-');
  print(out, style.fraction_open);
  print(out, p.numerator.sign() < 0 ? Integer(-p.numerator) : p.numerator);
  print(out, style.fraction_bar);
  print(out, p.exponent < 0 ? shift_left(p.denominator, -p.exponent) : p.denominator);
  print(out, style.fraction_close);
}

namespace detail {

template <exact_number T>
constexpr bool is_short_integer(T x) {
  const auto p = parts(x);
  return p.denominator == integer_of<T>(1) && p.exponent >= 0 && bit_length(p.numerator) + p.exponent <= 20;
}

// x as a factor, or as what stands over a root.
template <class Out, class Notation, exact_number T>
constexpr void print_factor(Out& out, const Notation& style, T x) {
  const bool simple = style.groups || is_written_whole(style, x);
  if (!simple) out.push_back('(');
  print_number(out, style, x);
  if (!simple) out.push_back(')');
}

}  // namespace detail

template <class Out, class Notation, exact_number T>
  requires std::derived_from<Notation, notation>
constexpr void print(Out& out, const Notation& style, surd<T> x) {
  if (x.is_rational()) return print_number(out, style, x.rational_part());
  if (const auto k = detail::exact_square_root(x.radicand()); k != 0) {
    using Rational = basic_rational<integer_of<T>>;
    const Rational root_part = exact_quotient(exact_cast<Rational>(x.root_part()), k);
    return print_number(out, style, Rational(exact_cast<Rational>(x.rational_part()) + root_part));
  }
  T root_part = x.root_part();
  if (sign(x.rational_part()) != 0) {
    print_number(out, style, x.rational_part());
    print(out, sign(root_part) < 0 ? " - " : " + ");
    root_part = absolute(root_part);
  }
  print(out, style.fraction_open);
  detail::print_factor(out, style, root_part);
  print(out, style.fraction_bar);
  print(out, style.root_open);
  print(out, integer_of<T>(x.radicand()));
  print(out, style.root_close);
  print(out, style.fraction_close);
}

namespace detail {

template <class Out, class Notation, exact_number T>
constexpr void print_power(Out& out, const Notation& style, std::string_view base, T exponent) {
  print(out, base);
  const bool in_full = style.full && base == "e";
  if (exponent == T(1) && !in_full) return;
  const bool simple = !in_full && is_written_whole(style, exponent) && sign(exponent) > 0;
  if (simple && !style.raised_digits.of[0].empty() && is_short_integer(exponent)) {
    struct raiser {
      Out& target;
      const digit_texts& digits;
      constexpr void push_back(char c) {
        if (c >= '0' && c <= '9') print(target, digits.of[c - '0']);
      }
    } raised{out, style.raised_digits};
    return print(raised, exponent);
  }
  print(out, simple ? style.short_power_open : style.power_open);
  print_number(out, style, exponent);
  print(out, simple ? style.short_power_close : style.power_close);
}

// The radicand that all irrational exponents met so far share.
struct shared_root {
  unsigned long long radicand = 1;  // 1: none met yet
  bool shared = true;

  template <exact_number T, std::size_t N>
  constexpr void meet(const exp_sum<T, N>& x) {
    for (std::size_t k = 0; k < x.size(); ++k) {
      if (x[k].exponent.is_rational()) continue;
      shared = shared && (radicand == 1 || radicand == x[k].exponent.radicand());
      radicand = x[k].exponent.radicand();
    }
  }
};

// coefficient · e^(a + b/√d) as coefficient e^(a) r^b, or as coefficient e^(a + b/√d) where r would be ambiguous.
template <class Out, class Notation, exact_number T>
constexpr void print_term(Out& out, const Notation& style, surd<T> coefficient, surd<T> exponent, bool shared, bool first) {
  const bool negative = sign(coefficient) < 0;
  if (first)
    print(out, negative ? "-" : "");
  else
    print(out, negative ? " - " : " + ");
  const surd<T> magnitude = negative ? -coefficient : coefficient;
  const bool is_number = sign(exponent.rational_part()) == 0 && sign(exponent.root_part()) == 0;
  if (is_number || !(magnitude == surd<T>(1))) {
    if (magnitude.is_rational() && (is_number || style.groups || is_written_whole(style, magnitude.rational_part())))
      print_number(out, style, magnitude.rational_part());
    else {
      out.push_back('(');
      print(out, style, magnitude);
      out.push_back(')');
    }
  }
  if (!shared && !exponent.is_rational()) {
    print(out, "e");
    print(out, style.power_open);
    print(out, style, exponent);
    return print(out, style.power_close);
  }
  if (sign(exponent.rational_part()) != 0) print_power(out, style, "e", exponent.rational_part());
  if (sign(exponent.root_part()) != 0) print_power(out, style, "r", exponent.root_part());
}

// The sum divided by e^divisor.
template <class Out, class Notation, exact_number T, std::size_t N>
constexpr void print_divided(Out& out, const Notation& style, const exp_sum<T, N>& x, surd<T> divisor, shared_root root) {
  if (is_zero(x)) out.push_back('0');
  for (std::size_t k = 0; k < x.size(); ++k)
    print_term(out, style, x[k].coefficient, x[k].exponent - divisor, root.shared, k == 0);
}

template <class Out, class Notation, exact_number T, std::size_t N>
constexpr void print_in_brackets(Out& out, const Notation& style, const exp_sum<T, N>& x, surd<T> divisor, shared_root root) {
  const bool brackets = x.size() > 1 && !style.groups;
  if (brackets) out.push_back('(');
  print_divided(out, style, x, divisor, root);
  if (brackets) out.push_back(')');
}

// "above", written by `print_above`, over the denominator.
template <class Out, class Notation, exact_number T, std::size_t N, class PrintAbove>
constexpr void print_over(Out& out, const Notation& style, const exp_sum<T, N>& denominator, surd<T> divisor, shared_root root,
                          PrintAbove print_above) {
  if (!style.full && denominator.size() == 1 && denominator[0].coefficient == surd<T>(1) && denominator[0].exponent == divisor)
    return print_above();
  print(out, style.fraction_open);
  print_above();
  print(out, style.fraction_bar);
  print_in_brackets(out, style, denominator, divisor, root);
  print(out, style.fraction_close);
}

template <exact_number T, std::size_t N>
constexpr void lower_to_smallest(const exp_sum<T, N>& x, surd<T>& smallest) {
  for (std::size_t k = 0; k < x.size(); ++k)
    if (sign(x[k].exponent - smallest) < 0) smallest = x[k].exponent;
}

}  // namespace detail

template <class Out, class Notation, exact_number T, std::size_t N>
  requires std::derived_from<Notation, notation>
constexpr void print(Out& out, const Notation& style, const exp_sum<T, N>& x) {
  detail::shared_root root;
  root.meet(x);
  detail::print_divided(out, style, x, surd<T>(0), root);
}

template <class Out, class Notation, exact_number T, std::size_t N, std::size_t M>
  requires std::derived_from<Notation, notation>
constexpr void print(Out& out, const Notation& style, const exp_fraction<T, N, M>& x) {
  surd<T> smallest = x.denominator[0].exponent;
  detail::lower_to_smallest(x.denominator, smallest);
  detail::lower_to_smallest(x.numerator, smallest);
  detail::shared_root root;
  root.meet(x.numerator);
  root.meet(x.denominator);
  detail::print_over(out, style, x.denominator, smallest, root,
                     [&] { detail::print_in_brackets(out, style, x.numerator, smallest, root); });
}

template <class Out, class Notation, exact_number T, std::size_t Columns, std::size_t N, std::size_t M>
  requires std::derived_from<Notation, notation>
constexpr void print(Out& out, const Notation& style, const exp_row<T, Columns, N, M>& x) {
  surd<T> smallest = x.denominator()[0].exponent;
  detail::lower_to_smallest(x.denominator(), smallest);
  detail::shared_root root;
  root.meet(x.denominator());
  for (std::size_t j = 0; j < x.columns(); ++j) {
    detail::lower_to_smallest(x.numerator(j), smallest);
    root.meet(x.numerator(j));
  }
  detail::print_over(out, style, x.denominator(), smallest, root, [&] {
    out.push_back('[');
    for (std::size_t j = 0; j < x.columns(); ++j) {
      if (j > 0) print(out, style.separator);
      detail::print_divided(out, style, x.numerator(j), smallest, root);
    }
    out.push_back(']');
  });
}

template <class Out, class Notation, exact_number T, std::size_t N>
  requires std::derived_from<Notation, notation>
constexpr void print(Out& out, const Notation& style, const exp_logarithm<T, N>& x) {
  print(out, x.base == log_base::e ? style.logarithm_e : style.logarithm_two);
  print(out, style, x.sum);
  out.push_back(')');
}

/// An expression in plain text.
template <class Out, class X>
  requires requires(Out& out, const X& x) { print(out, notations::plain, x); }
constexpr void print(Out& out, const X& x) {
  print(out, notations::plain, x);
}

/// Any expression as a string.
template <class X>
std::string to_text(const X& x) {
  std::string text;
  print(text, x);
  return text;
}

/// The first Capacity characters of a text, in one flat array, for use in the compiler; a longer text ends in "...".
template <std::size_t Capacity>
struct fixed_text {
  char characters[Capacity + 1]{};
  std::size_t size = 0;

  constexpr void push_back(char c) {
    if (size < Capacity)
      characters[size++] = c;
    else
      characters[Capacity - 1] = characters[Capacity - 2] = characters[Capacity - 3] = '.';
  }
  constexpr std::string_view view() const { return {characters, size}; }
};

template <std::size_t Capacity, class X>
constexpr fixed_text<Capacity> to_fixed_text(const X& x) {
  fixed_text<Capacity> text;
  print(text, x);
  return text;
}

}  // namespace attest
