#pragma once

#include <attest/enclosure/printed.hpp>
#include <attest/exact/batch.hpp>
#include <attest/exact/decimal.hpp>
#include <attest/proof/text.hpp>
#include <attest/rounding/numeral.hpp>
#include <attest/symbolic/print.hpp>
#include <attest/symbolic/written.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

// Claims: what a proof says of a namespace-scope constexpr variable. Each is a concept, used and negated like a bool:
//
//   static_assert(exactly<D, "[[1, 0, 1], [1, 1, 2], [2, 1, 3]]">);
//   static_assert(decimal<A, "0.401112 0.197776 0.401112 ...">);
//   static_assert(!binary64<A12, "0.1977758146404282">);
//
// A claim about an array names all of its elements, row by row; brackets, commas and line breaks between numerals are
// free, so that lists can be pasted from a book, JSON or NumPy. Rows and columns count from 0; in a batch, row t of example b is row b T + t.
//
// A claim that does not hold names the first element that drifted, in every compiler's message:
//
//   verdict<false, shown::row<0>, shown::column<1>, shown::actual<{"0.197776"}>, shown::expected<{"0.197777"}>>
//
// The verdict is a bool that is computed before any of those texts; overflow, or too little working precision, while it
// is computed is a compile error and never "false", so that a negated claim cannot pass by accident.
namespace attest {

/// The labels of a refused claim's message.
namespace shown {
template <std::size_t>
struct row;
template <std::size_t>
struct column;
template <text>
struct actual;
template <text>
struct expected;
}  // namespace shown

template <bool Holds, class Row, class Column, class Actual, class Expected>
struct verdict {
  static constexpr bool holds = Holds;
};

template <class Verdict>
concept holds = Verdict::holds;

namespace detail {

inline constexpr std::size_t message_length = 120;

/// What was found of a claim: it holds, or the first place where it does not.
struct finding {
  bool holds = true;
  std::size_t row = 0;
  std::size_t column = 0;
  fixed_text<message_length> actual;
  fixed_text<message_length> expected;

  template <class Actual, class Expected>
  constexpr void refuse(const Actual& is, const Expected& should_be) {
    holds = false;
    print(actual, is);
    print(expected, should_be);
  }
};

template <const auto& Text>
inline constexpr auto as_argument = text<Text.size + 1>::copy(&Text.characters[0]);

// A finding that cannot be computed is an error, not a claim that fails. This atomic constraint evaluates it first, so
// that every compiler reports the error at the claim; met on the way into a verdict's arguments, g++ names no line of it.
template <const auto& Finding>
concept computed = Finding.holds || !Finding.holds;

template <const auto& Finding>
using verdict_of =
    verdict<Finding.holds, shown::row<Finding.row>, shown::column<Finding.column>,
            shown::actual<as_argument<Finding.actual>>, shown::expected<as_argument<Finding.expected>>>;

template <const auto& Finding>
concept confirmed = computed<Finding> && holds<verdict_of<Finding>>;

template <class X>
concept array_expression = requires(const X& x) {
  x.rows();
  x.columns();
};

// A single expression is an array of one element.
template <class X>
constexpr std::size_t rows_of(const X& x) {
  if constexpr (array_expression<X>)
    return x.rows();
  else
    return 1;
}
template <class X>
constexpr std::size_t columns_of(const X& x) {
  if constexpr (array_expression<X>)
    return x.columns();
  else
    return 1;
}
template <class X>
constexpr auto element(const X& x, std::size_t i, std::size_t j) {
  if constexpr (array_expression<X>)
    return x(i, j);
  else
    return x;
}

// The extents of an array, the outermost first; a batch has three.
struct array_shape {
  std::size_t extents[3]{};
  std::size_t rank = 2;

  friend constexpr bool operator==(const array_shape& x, const array_shape& y) {
    if (x.rank != y.rank) return false;
    for (std::size_t k = 0; k < x.rank; ++k)
      if (x.extents[k] != y.extents[k]) return false;
    return true;
  }
};
template <class X>
constexpr array_shape shape_of(const X& x) {
  return {{rows_of(x), columns_of(x)}, 2};
}
template <class Example, std::size_t B>
constexpr array_shape shape_of(const batch<Example, B>& x) {
  return {{B, rows_of(x[0]), columns_of(x[0])}, 3};
}

// Every row is evaluated once, in a constant of its own (the compilers' limits count per constant), and shared by all
// claims about it.
inline constexpr unsigned claim_precision = 192;
template <const auto& X, std::size_t Row>
inline constexpr auto enclosures_of_row = [] {
  if constexpr (array_expression<std::remove_cvref_t<decltype(X)>>) {
    return evaluate_row<compiler_limbs>(X, Row, claim_precision);
  } else {
    list<interval<compiler_limbs>, 1> one;
    one.push_back(evaluate<compiler_limbs>(X, claim_precision));
    return one;
  }
}();

struct no_enclosures {};

// The finding of Claim::check on each element of one row.
template <class Claim, const auto& X, std::size_t Row>
inline constexpr finding row_finding = [] {
  finding found;
  found.row = Row;
  std::size_t at = Claim::start(Row * columns_of(X));
  for (std::size_t j = 0; j < columns_of(X) && found.holds; ++j) {
    found.column = j;
    if constexpr (Claim::needs_enclosures)
      Claim::check(found, element(X, Row, j), enclosures_of_row<X, Row>[j], at);
    else
      Claim::check(found, element(X, Row, j), Row, j, at);
  }
  return found;
}();

constexpr finding first_refusal(const finding* const* rows, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    if (!rows[i]->holds) return *rows[i];
  return finding{};
}

template <class Claim, const auto& X>
inline constexpr finding count_finding = [] {
  finding count;
  Claim::check_count(count, rows_of(X) * columns_of(X));
  return count;
}();

// Elements are looked at only where there is a numeral for each of them.
template <class Claim, const auto& X>
inline constexpr finding claim_finding = []<std::size_t... Row>(std::index_sequence<Row...>) {
  if constexpr (!count_finding<Claim, X>.holds) {
    return count_finding<Claim, X>;
  } else {
    const finding* const rows[] = {&row_finding<Claim, X, Row>...};
    return first_refusal(rows, sizeof...(Row));
  }
}(std::make_index_sequence<rows_of(X)>{});

// What the claims that are written as a list of numerals have in common.
template <text Printed>
struct numerals {
  static constexpr bool needs_enclosures = true;

  static constexpr std::string_view next(std::size_t& at) { return next_numeral(Printed.view(), at); }
  static constexpr std::size_t start(std::size_t index) {
    std::size_t at = 0;
    for (std::size_t k = 0; k < index; ++k) next(at);
    return at;
  }
  static constexpr void check_count(finding& found, std::size_t elements) {
    std::size_t at = 0;
    std::size_t count = 0;
    while (!next(at).empty()) ++count;
    if (count == elements) return;
    found.refuse(integer(elements), integer(count));
    print(found.actual, " elements");
    print(found.expected, " numerals");
  }
};

template <text Printed>
struct decimal_claim : numerals<Printed> {
  template <class X>
  static constexpr void check(finding& found, const X& x, const interval<compiler_limbs>& value, std::size_t& at) {
    const std::string_view numeral = numerals<Printed>::next(at);
    const auto printed = parse_decimal(numeral);
    if (is_rounding_of(x, value, printed)) return;
    found.refuse(to_decimal(x, printed.exponent), numeral);
  }
};

template <const format& Format, text Printed>
struct rounding_claim : numerals<Printed> {
  template <class X>
  static constexpr void check(finding& found, const X& x, const interval<compiler_limbs>& value, std::size_t& at) {
    const std::string_view numeral = numerals<Printed>::next(at);
    const std::uint64_t actual = round_correctly(x, value, Format, rounding::nearest_even);
    const std::uint64_t expected = numeral_pattern(numeral, Format);
    if (actual == expected) return;
    found.holds = false;
    print_pattern(found.actual, actual, Format);
    print(found.expected, numeral);
  }
};

template <const format& Format, std::uint64_t... Patterns>
struct bits_claim {
  static constexpr bool needs_enclosures = true;
  static constexpr std::size_t start(std::size_t index) { return index; }
  static constexpr void check_count(finding& found, std::size_t elements) {
    if (sizeof...(Patterns) == elements) return;
    found.refuse(integer(elements), integer(sizeof...(Patterns)));
    print(found.actual, " elements");
    print(found.expected, " patterns");
  }
  template <class X>
  static constexpr void check(finding& found, const X& x, const interval<compiler_limbs>& value, std::size_t& at) {
    constexpr std::uint64_t patterns[] = {Patterns...};
    const std::uint64_t expected = patterns[at++];
    const std::uint64_t actual = round_correctly(x, value, Format, rounding::nearest_even);
    if (actual == expected) return;
    found.holds = false;
    print_pattern(found.actual, actual, Format);
    print_pattern(found.expected, expected, Format);
  }
};

template <text Printed, text Tolerance>
struct within_claim : numerals<Printed> {
  template <class X>
  static constexpr void check(finding& found, const X& x, const interval<compiler_limbs>&, std::size_t& at) {
    const std::string_view numeral = numerals<Printed>::next(at);
    const auto printed = parse_decimal(numeral).value();
    const auto tolerance = parse_decimal(Tolerance.view()).value();
    if (compare(x, rational(printed - tolerance)) >= 0 && compare(x, rational(printed + tolerance)) <= 0) return;
    found.refuse(to_decimal(x, parse_decimal(numeral).exponent), numeral);
  }
};

template <text Printed>
struct exact_claim : numerals<Printed> {
  static constexpr bool needs_enclosures = false;
  template <class X>
  static constexpr void check(finding& found, const X& x, std::size_t, std::size_t, std::size_t& at) {
    const std::string_view numeral = numerals<Printed>::next(at);
    if (!equals(x, parse_exact(numeral))) found.refuse(x, numeral);
  }
};

// What the claims about two expressions have in common. An Other of one row or one column counts for all.
template <const auto& Other>
struct relation {
  static constexpr bool needs_enclosures = false;
  static constexpr std::size_t start(std::size_t) { return 0; }
  static constexpr void check_count(finding&, std::size_t) {}
  static constexpr auto other(std::size_t i, std::size_t j) {
    return element(Other, rows_of(Other) == 1 ? 0 : i, columns_of(Other) == 1 ? 0 : j);
  }
};

template <const auto& Other>
struct equality_claim : relation<Other> {
  template <class X>
  static constexpr void check(finding& found, const X& x, std::size_t i, std::size_t j, std::size_t&) {
    const auto y = relation<Other>::other(i, j);
    if (!equals(x, y)) found.refuse(x, y);
  }
};

enum class order { less, at_most, at_least, greater };

template <const auto& Other, order Wanted>
struct order_claim : relation<Other> {
  template <class X>
  static constexpr void check(finding& found, const X& x, std::size_t i, std::size_t j, std::size_t&) {
    const auto y = relation<Other>::other(i, j);
    const int sign = compare(x, y);
    const bool upwards = Wanted == order::at_least || Wanted == order::greater;
    const bool equality_holds = Wanted == order::at_most || Wanted == order::at_least;
    if (sign == 0 ? equality_holds : (sign > 0) == upwards) return;
    constexpr std::string_view words[] = {"less than ", "at most ", "at least ", "greater than "};
    found.refuse(x, words[static_cast<int>(Wanted)]);
    print(found.expected, y);
  }
};

template <const auto& X, std::size_t... Extents>
inline constexpr finding shape_finding = [] {
  finding found;
  const array_shape actual = shape_of(X);
  const array_shape expected{{Extents...}, sizeof...(Extents)};
  if (actual == expected) return found;
  const auto print_shape = [](auto& out, const array_shape& x) {
    for (std::size_t k = 0; k < x.rank; ++k) {
      print(out, k == 0 ? "[" : ", ");
      print(out, integer(x.extents[k]));
    }
    print(out, "]");
  };
  found.holds = false;
  print_shape(found.actual, actual);
  print_shape(found.expected, expected);
  return found;
}();

template <const auto& X, text Written>
inline constexpr finding text_finding = [] {
  finding found;
  // One character more than is written tells a longer text apart.
  const auto actual = to_fixed_text<extent_maximum(message_length, sizeof(Written.characters))>(X);
  if (actual.view() != Written.view()) found.refuse(actual.view(), Written.view());
  return found;
}();

template <const auto& X, const auto& Y>
concept same_shape = shape_of(X) == shape_of(Y);
template <const auto& X, const auto& Y>
concept counts_for_all = (rows_of(Y) == rows_of(X) || rows_of(Y) == 1) &&
                         (columns_of(Y) == columns_of(X) || columns_of(Y) == 1);
template <const auto& X, order Wanted, const auto& Y>
concept ordered =
    counts_for_all<X, Y> && detail::confirmed<detail::claim_finding<detail::order_claim<Y, Wanted>, X>>;

}  // namespace detail

/// X has the shape [rows, columns]; a batch, [examples, rows, columns].
template <const auto& X, std::size_t... Extents>
concept shape = detail::confirmed<detail::shape_finding<X, Extents...>>;

/// Every element is exactly the number written: "2", "-1/3", "0.25" or "3/sqrt(2)".
template <const auto& X, text Written>
concept exactly = detail::confirmed<detail::claim_finding<detail::exact_claim<Written>, X>>;

/// Every numeral is the rounding of the exact value at the numeral's last digit (at an exact tie either neighbour is).
/// Trailing zeros are significant.
template <const auto& X, text Printed>
concept decimal = detail::confirmed<detail::claim_finding<detail::decimal_claim<Printed>, X>>;

/// Every numeral reads back as the exact value's correctly rounded float of the named format (nearest, ties to even).
template <const auto& X, const format& Format, text Printed>
concept rounds_to = detail::confirmed<detail::claim_finding<detail::rounding_claim<Format, Printed>, X>>;
template <const auto& X, text Printed>
concept binary64 = rounds_to<X, formats::binary64, Printed>;

/// The exact values' correctly rounded floats of the named format (nearest, ties to even) have these bit patterns.
template <const auto& X, const format& Format, std::uint64_t... Patterns>
concept has_bits = detail::confirmed<detail::claim_finding<detail::bits_claim<Format, Patterns...>, X>>;
template <const auto& X, std::uint64_t... Patterns>
concept binary64_bits = has_bits<X, formats::binary64, Patterns...>;

/// Every numeral is at most Tolerance away from the exact value.
template <const auto& X, text Printed, text Tolerance>
concept within = detail::confirmed<detail::claim_finding<detail::within_claim<Printed, Tolerance>, X>>;

/// X and Y are equal as expressions, element by element: their difference is zero, in whatever form they are written.
template <const auto& X, const auto& Y>
concept equal = detail::same_shape<X, Y> && detail::confirmed<detail::claim_finding<detail::equality_claim<Y>, X>>;

/// Every element of X compares so with its counterpart in Y: decided, not sampled. A Y of one row or one column counts
/// for all rows or columns.
template <const auto& X, const auto& Y>
concept less = detail::ordered<X, detail::order::less, Y>;
template <const auto& X, const auto& Y>
concept at_most = detail::ordered<X, detail::order::at_most, Y>;
template <const auto& X, const auto& Y>
concept at_least = detail::ordered<X, detail::order::at_least, Y>;
template <const auto& X, const auto& Y>
concept greater = detail::ordered<X, detail::order::greater, Y>;

/// X is written like this: "[r, 1, r]/(2r + 1)".
template <const auto& X, text Written>
concept reads = detail::confirmed<detail::text_finding<X, Written>>;

}  // namespace attest
