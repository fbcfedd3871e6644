#include "page.hpp"

#include <algorithm>
#include <array>

namespace attest {

namespace {

using escape = std::pair<char, std::string_view>;

constexpr std::array<escape, 12> markdown_escapes = {{{'\\', "\\\\"},
                                                      {'`', "\\`"},
                                                      {'*', "\\*"},
                                                      {'_', "\\_"},
                                                      {'[', "\\["},
                                                      {']', "\\]"},
                                                      {'<', "\\<"},
                                                      {'>', "\\>"},
                                                      {'|', "\\|"},
                                                      {'$', "\\$"},
                                                      {'~', "\\~"},
                                                      {'#', "\\#"}}};
constexpr std::array<escape, 13> latex_escapes = {{{'\\', "\\textbackslash{}"},
                                                   {'{', "\\{"},
                                                   {'}', "\\}"},
                                                   {'$', "\\$"},
                                                   {'&', "\\&"},
                                                   {'#', "\\#"},
                                                   {'%', "\\%"},
                                                   {'_', "\\_"},
                                                   {'^', "\\textasciicircum{}"},
                                                   {'~', "\\textasciitilde{}"},
                                                   {'<', "$<$"},
                                                   {'>', "$>$"},
                                                   {'|', "$|$"}}};

constexpr std::size_t terminal_width = 80;

page_style text_style(const notation& math) {
  page_style s{};
  s.math = s.flat_math = math;
  s.index_open = "[";
  s.index_close = "]";
  s.subscript_open = "_";
  s.ten_to_the = "e";
  s.heading_close = "\n";
  s.title_close = "\n";
  s.line_open = "    ";
  s.line_close = "\n";
  s.shape_first = true;
  s.shape_separator = " ";
  s.display_close = "\n";
  s.row_open = "    [ ";
  s.cell_separator = "  ";
  s.row_close = " ]\n";
  s.head_open = s.table_row_open = "    ";
  s.table_cell_separator = "  ";
  s.table_row_close = "\n";
  s.width = terminal_width;
  return s;
}

page_style unicode_style() {
  page_style s = text_style(notations::unicode);
  s.approximately = "≈";
  s.times = "×";
  s.dot = "·";
  s.transpose = "ᵀ";
  s.infinity = "∞";
  s.ellipsis = s.down_ellipsis = s.sum_ellipsis = "…";
  return s;
}

page_style ascii_style() {
  page_style s = text_style(notations::ascii);
  s.approximately = "~=";
  s.times = "*";
  s.dot = " ";
  s.transpose = "^T";
  s.infinity = "inf";
  s.ellipsis = s.down_ellipsis = s.sum_ellipsis = "...";
  return s;
}

// What mathematics has in common in LaTeX and Markdown.
page_style tex_style() {
  page_style s{};
  s.math = s.flat_math = notations::latex;
  s.flat_math.fraction_open = s.flat_math.fraction_close = "";
  s.flat_math.fraction_bar = "/";
  s.flat_math.groups = false;
  s.approximately = "\\approx";
  s.times = " \\times ";
  s.dot = " \\cdot ";
  s.transpose = "^{\\mathsf T}";
  s.infinity = "\\infty";
  s.ellipsis = "\\ldots";
  s.sum_ellipsis = "\\cdots";
  s.down_ellipsis = "\\vdots";
  s.index_open = s.subscript_open = "_{";
  s.index_close = s.subscript_close = "}";
  s.ten_to_the = " \\cdot 10^{";
  s.ten_close = "}";
  s.math_open = s.math_close = "$";
  s.shape_separator = " \\qquad ";
  s.matrix_open = "\\begin{bmatrix}\n";
  s.cell_separator = " & ";
  s.matrix_close = "\\end{bmatrix}";
  return s;
}

// Sites let Markdown at the mathematics before it is set: so no line begins with a sign that opens a list or
// a heading, and no backslash stands before anything but a letter.
page_style markdown_style() {
  page_style s = tex_style();
  s.title_open = "# ";
  s.title_close = "\n";
  s.heading_open = "## ";
  s.heading_close = "\n";
  s.line_open = "- $";
  s.line_close = "$\n";
  s.display_open = "$$\n";
  s.display_close = "\n$$\n";
  s.matrix_open = "\\begin{bmatrix} ";
  s.row_close = " \\cr ";
  s.head_open = s.table_row_open = "| ";
  s.table_cell_separator = " | ";
  s.table_row_close = " |\n";
  s.rule_left = ":--";
  s.rule_right = "--:";
  s.escapes = markdown_escapes;
  return s;
}

page_style latex_style() {
  page_style s = tex_style();
  s.flat_math.separator = ",\\allowbreak ";
  s.document_open =
      "\\documentclass{article}\n"
      "\\usepackage{amsmath}\n"
      "\\setcounter{MaxMatrixCols}{20}\n"
      "\\setlength{\\parindent}{0pt}\n"
      "\\setlength{\\parskip}{1ex}\n"
      "\\begin{document}\n"
      "\\raggedright\n";
  s.document_close = "\n\\end{document}\n";
  s.title_open = "\\section*{";
  s.heading_open = "\\subsection*{";
  s.title_close = s.heading_close = "}\n";
  s.line_open = "$\\displaystyle ";
  s.line_close = "$\\par\n";
  s.display_open = "\\[\n";
  s.display_close = "\n\\]\n";
  s.row_close = " \\\\\n";
  s.table_open = "\\begin{center}\n\\begin{tabular}{";
  s.names_columns = true;
  s.table_after_columns = "}\n";
  s.table_cell_separator = " & ";
  s.table_row_close = " \\\\\n";
  s.table_close = "\\end{tabular}\n\\end{center}\n";
  s.escapes = latex_escapes;
  return s;
}

std::string padding(std::string_view text, std::size_t width) {
  const std::size_t taken = display_width(text);
  return std::string(width > taken ? width - taken : 0, ' ');
}

// The number of the character that begins at text[at] in UTF-8, and its bytes; what is no UTF-8 counts byte
// by byte.
std::pair<char32_t, std::size_t> character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t length = byte(at) >= 0xf0 ? 4 : byte(at) >= 0xe0 ? 3 : byte(at) >= 0xc0 ? 2 : 1;
  if (length == 1 || at + length > text.size()) return {byte(at), 1};
  char32_t number = byte(at) & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) number = number << 6 | (byte(at + i) & 0x3fu);
  return {number, length};
}

// What LaTeX sets without further packages: ASCII and the accented letters of Latin-1. Anything else is
// named.
std::string latex_character(char32_t c, std::string_view bytes) {
  const bool accented =
      c >= 0xc0 && c <= 0xff && c != 0xd0 && c != 0xd7 && c != 0xde && c != 0xf0 && c != 0xf7 && c != 0xfe;
  if (c < 0x80 || accented) return std::string(bytes);
  std::string digits;
  for (char32_t rest = c; rest != 0 || digits.size() < 4; rest >>= 4)
    digits.insert(digits.begin(), "0123456789ABCDEF"[rest & 15]);
  return "U+" + digits;
}

// Groups of columns that fit into the width together, as [first, end).
std::vector<std::pair<std::size_t, std::size_t>> column_groups(const std::vector<std::size_t>& widths,
                                                               std::size_t first, std::size_t taken,
                                                               std::size_t separator, std::size_t width) {
  std::vector<std::pair<std::size_t, std::size_t>> groups;
  for (std::size_t at = first; at < widths.size();) {
    std::size_t end = at;
    std::size_t sum = taken;
    while (end < widths.size() && (end == at || width == 0 || sum + separator + widths[end] <= width))
      sum += separator + widths[end++];
    groups.emplace_back(at, end);
    at = end;
  }
  return groups;
}

std::vector<std::size_t> column_widths(const std::vector<std::vector<std::string>>& cells) {
  std::vector<std::size_t> widths(cells.front().size(), 0);
  for (const auto& row : cells)
    for (std::size_t j = 0; j < row.size(); ++j) widths[j] = std::max(widths[j], display_width(row[j]));
  return widths;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto [c, length] = character_at(text, at);
    const auto within = [number = c](char32_t first, char32_t last) {
      return number >= first && number <= last;
    };
    const bool combining = within(0x300, 0x36f) || within(0x200b, 0x200f) || within(0xfe00, 0xfe0f);
    const bool wide = within(0x1100, 0x115f) || within(0x2e80, 0xa4cf) || within(0xac00, 0xd7a3) ||
                      within(0xf900, 0xfaff) || within(0xfe30, 0xfe6f) || within(0xff00, 0xff60) ||
                      within(0xffe0, 0xffe6) || within(0x1f300, 0x1faff) || within(0x20000, 0x3fffd);
    width += combining ? 0 : wide ? 2 : 1;
    at += length;
  }
  return width;
}

const page_style& style_of(trace_format format) {
  static const page_style styles[] = {unicode_style(), ascii_style(), markdown_style(), latex_style()};
  return styles[static_cast<std::size_t>(format)];
}

void page::new_block() {
  if (text_.size() > style_.document_open.size()) text_ += '\n';
}

void page::title(std::string_view text) {
  new_block();
  text_.append(style_.title_open).append(text).append(style_.title_close);
}

void page::heading(std::string_view text) {
  new_block();
  text_.append(style_.heading_open).append(text).append(style_.heading_close);
}

void page::paragraph(std::string_view text) {
  new_block();
  wrapped(text, "", "");
  text_ += '\n';
}

void page::wrapped(std::string_view text, std::string_view indent, std::string_view further_indent) {
  text_ += indent;
  if (style_.width == 0) {
    text_ += text;
    return;
  }
  std::size_t column = indent.size();
  bool first = true;
  while (!text.empty()) {
    std::size_t end = std::min(text.find(' '), text.size());
    // A relation stays with what comes after it.
    if (text.substr(0, end) == "=" || text.substr(0, end) == style_.approximately)
      end = std::min(text.find(' ', end + 1), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t width = display_width(word);
    if (!first && column + 1 + width > style_.width) {
      text_.append("\n").append(further_indent);
      column = further_indent.size();
    } else if (!first) {
      text_ += ' ';
      ++column;
    }
    text_ += word;
    column += width;
    first = false;
  }
}

void page::lines(const std::vector<std::string>& mathematics) {
  new_block();
  const std::string further(style_.line_open.size() + 4, ' ');
  for (const std::string& line : mathematics) {
    wrapped(line, style_.line_open, further);
    text_ += style_.line_close;
  }
}

void page::matrix_block(std::string_view name, std::string_view definition, std::string_view shape,
                        const std::vector<std::vector<std::string>>& cells,
                        const std::vector<std::size_t>& columns) {
  new_block();
  text_.append(style_.display_open).append(name);
  if (style_.shape_first) text_.append(style_.shape_separator).append(shape);
  text_.append(definition).append(style_.shape_first ? "\n" : " ").append(style_.matrix_open);
  const std::vector<std::size_t> widths = column_widths(cells);
  const std::size_t brackets = display_width(style_.row_open) + 2;
  const auto groups = column_groups(widths, 0, brackets - 2, style_.cell_separator.size(), style_.width);
  for (const auto& [first, end] : groups) {
    if (groups.size() > 1) {
      const auto number = [&](std::size_t j) {
        return columns[j] == 0 ? std::string(style_.ellipsis) : std::to_string(columns[j]);
      };
      text_ += "    columns " + number(first) + " to " + number(end - 1) + ":\n";
    }
    for (const auto& row : cells) {
      text_ += style_.row_open;
      for (std::size_t j = first; j < end; ++j) {
        if (j > first) text_ += style_.cell_separator;
        text_ += padding(row[j], widths[j]) + row[j];
      }
      text_ += style_.row_close;
    }
  }
  text_ += style_.matrix_close;
  if (!style_.shape_first) text_.append(style_.shape_separator).append(shape).append(style_.display_close);
}

void page::table(const std::vector<std::vector<std::string>>& rows) {
  new_block();
  std::vector<std::size_t> widths = column_widths(rows);
  for (std::size_t& width : widths) width = std::max(width, style_.rule_right.size());
  const std::size_t separator = style_.table_cell_separator.size();
  const auto groups =
      column_groups(widths, 1, style_.table_row_open.size() + widths[0], separator, style_.width);
  for (const auto& [first, end] : groups) {
    if (first > 1) text_ += '\n';
    text_ += style_.table_open;
    if (style_.names_columns) text_ += 'l' + std::string(end - first, 'r');
    text_ += style_.table_after_columns;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      text_.append(i == 0 ? style_.head_open : style_.table_row_open)
          .append(rows[i][0])
          .append(padding(rows[i][0], widths[0]));
      for (std::size_t j = first; j < end; ++j)
        text_.append(style_.table_cell_separator).append(padding(rows[i][j], widths[j])).append(rows[i][j]);
      text_ += style_.table_row_close;
      if (i > 0 || style_.rule_left.empty()) continue;
      text_.append(style_.table_row_open)
          .append(style_.rule_left)
          .append(padding(style_.rule_left, widths[0]));
      for (std::size_t j = first; j < end; ++j)
        text_.append(style_.table_cell_separator)
            .append(padding(style_.rule_right, widths[j]))
            .append(style_.rule_right);
      text_ += style_.table_row_close;
    }
    text_ += style_.table_close;
  }
}

std::string page::words(std::string_view foreign) const {
  std::string result;
  for (std::size_t at = 0; at < foreign.size();) {
    const auto [character, length] = character_at(foreign, at);
    const std::string_view bytes = foreign.substr(at, length);
    const auto known = std::find_if(style_.escapes.begin(), style_.escapes.end(),
                                    [&](const escape& e) { return e.first == bytes[0]; });
    if (known != style_.escapes.end())
      result += known->second;
    else
      result += style_.document_open.empty() ? std::string(bytes) : latex_character(character, bytes);
    at += length;
  }
  // A paragraph that would begin a list or a quotation in Markdown.
  if (style_.rule_left.empty()) return result;
  const std::size_t after_digits = std::min(result.find_first_not_of("0123456789"), result.size());
  const bool numbered = after_digits > 0 && after_digits < result.size() &&
                        (result[after_digits] == '.' || result[after_digits] == ')');
  const bool bullet = !result.empty() && std::string_view("+-=").find(result[0]) != std::string_view::npos;
  if (numbered || bullet) result.insert(after_digits, "\\");
  return result;
}

std::string page::math(std::string_view mathematics) const {
  return std::string(style_.math_open).append(mathematics).append(style_.math_close);
}

std::string page::finished() && { return std::move(text_) + std::string(style_.document_close); }

}  // namespace attest
