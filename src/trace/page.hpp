#pragma once

#include <attest/symbolic/notation.hpp>
#include <attest/trace/trace.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attest {

/// Everything in which one format of a trace differs from another.
struct page_style {
  notation math;
  notation flat_math;  // for lines that may have to be broken: fractions on one line
  // signs
  std::string_view approximately, times, dot, transpose, infinity, ellipsis, sum_ellipsis, down_ellipsis;
  std::string_view index_open, index_close;          // of an element
  std::string_view subscript_open, subscript_close;  // of a row
  std::string_view ten_to_the, ten_close;            // of a number with an exponent
  // the page
  std::string_view document_open, document_close;
  std::string_view title_open, title_close, heading_open, heading_close;
  std::string_view math_open, math_close;  // within a sentence
  std::string_view line_open, line_close;  // a line of mathematics
  // a matrix and what it equals; the shape comes first, or last
  bool shape_first;
  std::string_view display_open, display_close, shape_separator, matrix_open, row_open, cell_separator,
      row_close, matrix_close;
  // a table: "l" or "r" for each column after table_open
  std::string_view table_open, table_after_columns, head_open, table_row_open, table_cell_separator,
      table_row_close;
  // Rules for each column under the head, where there are any.
  std::string_view rule_left, rule_right, table_close;
  bool names_columns;                                   // in table_open
  std::span<const std::pair<char, std::string_view>> escapes;  // for other people's words
  std::size_t width;                                           // of a line; 0: as long as it comes
};

const page_style& style_of(trace_format format);

/// The columns that a terminal takes for UTF-8 text: two for East Asian characters and emoji, none for
/// accents that combine.
std::size_t display_width(std::string_view text);

/// A page under construction. Strings of mathematics are in the notation of its style.
class page {
 public:
  explicit page(const page_style& style) : style_(style), text_(style.document_open) {}

  void title(std::string_view text);
  void heading(std::string_view text);
  void paragraph(std::string_view text);
  /// "name [shape] relation" and the matrix; the cells are listed by rows. columns: their numbers from 1, 0
  /// for dots.
  void matrix_block(std::string_view name, std::string_view definition, std::string_view shape,
                    const std::vector<std::vector<std::string>>& cells,
                    const std::vector<std::size_t>& columns);
  void lines(const std::vector<std::string>& mathematics);
  /// The first row is the head, and the first column the names of the rows.
  void table(const std::vector<std::vector<std::string>>& rows);

  std::string words(std::string_view foreign) const;   // escaped
  std::string math(std::string_view mathematics) const;  // within a sentence

  std::string finished() &&;

 private:
  void new_block();
  void wrapped(std::string_view text, std::string_view indent, std::string_view further_indent);

  const page_style& style_;
  std::string text_;
};

}  // namespace attest
