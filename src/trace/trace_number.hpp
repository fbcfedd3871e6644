#pragma once

#include <attest/reference/exact_values.hpp>
#include <attest/symbolic/print.hpp>

#include <string>

namespace attest {

/// A notation in which a number that is too long to be read is written as a rounded decimal, and whether that
/// happened.
struct trace_notation : notation {
  unsigned digits = 6;  // significant, of a rounded number
  std::string_view ten_to_the, ten_close;
  bool* rounded = nullptr;
};

/// The number as it is written in a trace: a short integer, fraction or decimal exactly, anything else
/// rounded.
struct trace_number {
  std::string sign;
  std::string magnitude;  // of a decimal or integer; of a fraction: the numerator
  std::string denominator;
  std::string exponent;
  bool rounded = false;
};
trace_number to_trace_number(const exact_scalar& x, unsigned digits);

template <exact_number T>
exact_scalar exact_scalar_of(const T& x) {
  if constexpr (exact_number_traits<T>::rank == 3)
    return simplest(x);
  else
    return x;
}

template <exact_number T>
bool is_written_whole(const trace_notation& style, const T& x) {
  const trace_number n = to_trace_number(exact_scalar_of(x), style.digits);
  return n.denominator.empty() && n.exponent.empty();
}

template <class Out, exact_number T>
void print_number(Out& out, const trace_notation& style, const T& x) {
  const trace_number n = to_trace_number(exact_scalar_of(x), style.digits);
  if (n.rounded && style.rounded != nullptr) *style.rounded = true;
  print(out, n.sign);
  if (!n.denominator.empty()) print(out, style.fraction_open);
  print(out, n.magnitude);
  if (!n.denominator.empty()) {
    print(out, style.fraction_bar);
    print(out, n.denominator);
    print(out, style.fraction_close);
  }
  if (n.exponent.empty()) return;
  print(out, style.ten_to_the);
  print(out, n.exponent);
  print(out, style.ten_close);
}

}  // namespace attest
