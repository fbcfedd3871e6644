#pragma once

#include <string_view>

namespace attest {

/// How 0 to 9 are written.
struct digit_texts {
  std::string_view of[10];
};

/// What a notation writes around the parts of an expression.
struct notation {
  std::string_view fraction_open, fraction_bar, fraction_close;  // p/q: one over the other
  std::string_view root_open, root_close;                        // √d
  std::string_view power_open, power_close;                      // of an exponent that needs brackets
  std::string_view short_power_open, short_power_close;          // of one that needs none
  digit_texts raised_digits;   // of short exponents; empty: as any other digits
  std::string_view separator;  // between the entries of a row
  std::string_view logarithm_e, logarithm_two;

  bool groups;  // fractions and powers hold their parts together, without brackets
  bool full;    // e^(1) and 1/1 are written as such, so that text can be read back term by term
};

namespace notations {

inline constexpr digit_texts raised{{"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"}};

/// ASCII, what files hold and proofs read: [r, 1, r^2]/(2r + 1), 3/sqrt(2), e^(1/2).
inline constexpr notation plain{"", "/", "", "sqrt(", ")", "^(", ")", "^", "", {}, ", ", "ln(", "log2(", false, true};
/// ASCII for reading: the same, but e and 5 rather than e^(1) and 5/1.
inline constexpr notation ascii{"", "/", "", "sqrt(", ")", "^(", ")", "^", "", {}, ", ", "ln(", "log2(", false, false};
/// UTF-8: [r, 1, r²]/(2r + 1), 3/√2, e^(1/2).
inline constexpr notation unicode{"", "/", "", "√", "", "^(", ")", "^", "", raised, ", ", "ln(", "log₂(", false, false};
/// For LaTeX's mathematics mode, and that of Markdown.
inline constexpr notation latex{"\\frac{",  "}{", "}",  "\\sqrt{",  "}",          "^{",  "}", "^{",
                                "}", {}, ", ", "\\ln(", "\\log_2(", true, false};

}  // namespace notations

}  // namespace attest
