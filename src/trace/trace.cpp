#include <attest/trace/trace.hpp>

#include "page.hpp"
#include "reference/significant_decimal.hpp"
#include "trace_number.hpp"

#include <attest/enclosure/printed.hpp>
#include <attest/io/input_error.hpp>
#include <attest/problem/one_line.hpp>
#include <attest/problem/shape_text.hpp>
#include <attest/reference/exact_head.hpp>
#include <attest/symbolic/softmax.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace attest {

namespace {

constexpr std::size_t most_rows = 16;            // of a matrix; of more, the first 8 and the last are shown
constexpr std::size_t most_columns = 10;         // of more, the first 6 and the last
constexpr std::size_t most_worked = 12;  // elements whose dot products are written out; of more, the first 3
constexpr std::size_t most_terms = 8;            // of a dot product; of more, the first 4 and the last
constexpr std::size_t most_unfolded_keys = 6;    // for which an output is written out term by term
constexpr std::size_t most_keys_in_fraction = 6;  // over which a row of weights is set as a fraction
constexpr std::size_t longest_name = 24;

// The places 0 to n - 1 that are shown; `gap` stands for those left out.
constexpr std::size_t gap = ~std::size_t{0};
std::vector<std::size_t> shown(std::size_t n, std::size_t most, std::size_t first) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < (n <= most ? n : first); ++i) places.push_back(i);
  if (n > most) places.insert(places.end(), {gap, n - 1});
  return places;
}
std::vector<std::size_t> shown_rows(std::size_t n) { return shown(n, most_rows, 8); }
std::vector<std::size_t> shown_columns(std::size_t n) { return shown(n, most_columns, 6); }
/// Fits 80 columns.
std::vector<std::size_t> shown_weights(std::size_t n) { return shown(n, most_columns, 5); }

std::string number(std::size_t place) { return std::to_string(place + 1); }

template <exact_number T>
class tracer {
 public:
  tracer(const problem& p, const trace_options& options)
      : problem_(p),
        options_(options),
        style_(style_of(options.format)),
        digits_(std::max(options.decimals, 1u)),
        head_(exact_head_of<T>(p)),
        weights_(softmax(head_.scores, head_.visible)),
        outputs_(weights_ * head_.values),
        page_(style_) {}

  std::string write() {
    page_.title("One attention head, step by step");
    if (!options_.title.empty()) page_.paragraph(foreign(options_.title));
    inputs();
    projections();
    dots();
    scaled_scores();
    rows();
    outputs();
    return std::move(page_).finished();
  }

 private:
  // --- pieces of mathematics; whether one has a rounded number is remembered until a relation is written ---

  trace_notation notation_of(const notation& math) {
    trace_notation n;
    static_cast<notation&>(n) = math;
    n.digits = digits_;
    n.ten_to_the = style_.ten_to_the;
    n.ten_close = style_.ten_close;
    n.rounded = &rounded_;
    return n;
  }
  template <class X>
  std::string written(const X& x, const notation& math) {
    std::string text;
    if constexpr (exact_number<X>)
      print_number(text, notation_of(math), x);
    else
      print(text, notation_of(math), x);
    return text;
  }
  template <class X>
  std::string written(const X& x) {
    return written(x, style_.math);
  }

  // " = ", or " ≈ " where what was written since the last relation has a rounded number in it.
  std::string relation() {
    const std::string text = rounded_ ? " " + std::string(style_.approximately) + " " : " = ";
    rounded_ = false;
    return text;
  }
  std::string about() const { return " " + std::string(style_.approximately) + " "; }

  std::string in_brackets_where_needed(const std::string& text) const {
    const bool simple = text[0] != '-' && (style_.math.groups || text.find('/') == std::string::npos);
    return simple ? text : "(" + text + ")";
  }
  std::string element(std::string_view name, std::size_t i, std::size_t j) const {
    return std::string(name).append(style_.index_open) + number(i) + "," + number(j) +
           std::string(style_.index_close);
  }
  std::string row_name(std::string_view name, std::size_t i) const {
    return std::string(name).append(style_.subscript_open) + number(i) + std::string(style_.subscript_close);
  }
  std::string root_of(std::string_view d) const {
    return std::string(style_.math.root_open).append(d).append(style_.math.root_close);
  }
  std::string fraction(const std::string& above, const std::string& below) const {
    return std::string(style_.math.fraction_open) + above + std::string(style_.math.fraction_bar) + below +
           std::string(style_.math.fraction_close);
  }
  static std::string shape(std::size_t rows, std::size_t columns) {
    return shape_text(std::array{rows, columns});
  }
  std::string foreign(const std::string& text) const { return page_.words(one_line(text)); }

  // --- certified decimals ---

  struct decimal {
    std::string text;
    bool exact;
  };

  // To so many places; a value of more than 15 digits before the point to so many digits.
  template <class X>
  decimal to_places(const X& x) {
    constexpr unsigned bits = 128;
    constexpr std::int64_t most_bits = 50;
    const interval<growing> value = evaluate<growing>(x, bits);
    const auto magnitude = static_cast<std::int64_t>(bit_length(value.midpoint));
    if (value.exponent + magnitude > most_bits) {
      enclosed_number same;
      same.enclose = [&](unsigned precision) { return evaluate<growing>(x, precision); };
      same.side_of = [&](const unbounded_rational& y) { return compare(x, y); };
      const std::string text = significant_decimal(same, digits_);
      const std::size_t e = text.find('e');
      if (e == std::string::npos) return {text, false};
      return {text.substr(0, e) + std::string(style_.ten_to_the) + text.substr(e + 1) +
                  std::string(style_.ten_close),
              false};
    }
    const auto rounded = to_decimal(x, -static_cast<long>(options_.decimals));
    const bool negative = rounded.significand.sign() < 0;
    std::string digits = negative ? unbounded_integer(-rounded.significand).str() : rounded.significand.str();
    if (digits.size() <= options_.decimals) digits.insert(0, options_.decimals + 1 - digits.size(), '0');
    if (options_.decimals > 0) digits.insert(digits.size() - options_.decimals, ".");
    return {(negative ? "-" : "") + digits, compare(x, rounded.value()) == 0};
  }

  // --- blocks ---

  template <class Cell>
  std::vector<std::vector<std::string>> cells_of(std::size_t rows, std::size_t columns, Cell cell) const {
    std::vector<std::vector<std::string>> cells;
    for (const std::size_t i : shown_rows(rows)) {
      cells.emplace_back();
      for (const std::size_t j : shown_columns(columns))
        cells.back().push_back(i == gap   ? std::string(style_.down_ellipsis)
                               : j == gap ? std::string(style_.ellipsis)
                                          : cell(i, j));
    }
    return cells;
  }

  template <class Cell>
  void matrix_block(const std::string& name, const std::string& definition, std::size_t rows,
                    std::size_t columns, Cell cell) {
    rounded_ = false;
    const auto cells = cells_of(rows, columns, cell);
    std::vector<std::size_t> numbers;
    for (const std::size_t j : shown_columns(columns)) numbers.push_back(j == gap ? 0 : j + 1);
    std::string related = relation();
    related.pop_back();
    page_.matrix_block(name, (definition.empty() ? "" : " = " + definition) + related, shape(rows, columns),
                       cells, numbers);
  }
  void matrix_block(const std::string& name, const std::string& definition, const matrix<T>& m) {
    matrix_block(name, definition, m.rows(), m.columns(),
                 [&](std::size_t i, std::size_t j) { return written(T(m(i, j))); });
  }
  void input(const std::string& name, const exact_matrix& m) { matrix_block(name, "", exact_as<T>(m)); }

  // "Q[1,2] = 1×0 + 0×1 = 0" for the elements of the product of the rows of a and the columns of b.
  void worked(std::string_view name, const matrix<T>& a, const matrix<T>& b) {
    std::vector<std::string> lines;
    const std::size_t all = a.rows() * b.columns();
    const std::size_t count = all <= most_worked ? all : 3;
    for (std::size_t n = 0; n < count; ++n) {
      const std::size_t i = n / b.columns();
      const std::size_t j = n % b.columns();
      rounded_ = false;
      std::string sum;
      T total(0);
      for (std::size_t k = 0; k < a.columns(); ++k) total = total + T(a(i, k) * b(k, j));
      for (const std::size_t k : shown(a.columns(), most_terms, 4)) {
        if (!sum.empty()) sum += " + ";
        sum += k == gap ? std::string(style_.sum_ellipsis)
                        : in_brackets_where_needed(written(T(a(i, k)))) + std::string(style_.times) +
                              in_brackets_where_needed(written(T(b(k, j))));
      }
      const std::string first = relation();
      const std::string result = written(total);
      lines.push_back(element(name, i, j) + first + sum + relation() + result);
    }
    page_.lines(lines);
    if (count < all)
      page_.paragraph("The other " + std::to_string(all - count) + " elements follow in the same way.");
  }

  // --- the steps ---

  void inputs() {
    page_.heading("1. Inputs");
    if (!options_.positions.empty()) {
      std::string names = "The positions are";
      for (const std::size_t i : shown_rows(options_.positions.size()))
        names += " " + (i == gap ? "..." : position(i)) + (i + 1 == options_.positions.size() ? "" : ",");
      page_.paragraph(names);
    }
    if (const auto* in = std::get_if<projected_inputs>(&problem_.inputs)) {
      input("X", in->x);
      if (in->y) input("Y", *in->y);
      input("W_Q", in->wq);
      input("W_K", in->wk);
      input("W_V", in->wv);
    } else {
      const auto& given = std::get<head_inputs>(problem_.inputs);
      input("Q", given.q);
      input("K", given.k);
      input("V", given.v);
    }
    if (!problem_.mask) return;
    const matrix<bool>& mask = *problem_.mask;
    page_.paragraph("In the mask, 1 stands where the query of the row sees the key of the column.");
    matrix_block("M", "", mask.rows(), mask.columns(),
                 [&](std::size_t i, std::size_t j) { return std::string(mask(i, j) ? "1" : "0"); });
  }

  void projections() {
    const auto* in = std::get_if<projected_inputs>(&problem_.inputs);
    if (in == nullptr) return;
    page_.heading(next_number() + "Queries, keys and values");
    const matrix<T> x = exact_as<T>(in->x);
    const matrix<T> y = in->y ? exact_as<T>(*in->y) : x;
    const std::string source = in->y ? "Y" : "X";
    matrix_block("Q", "X W_Q", head_.queries);
    worked("Q", x, exact_as<T>(in->wq));
    matrix_block("K", source + " W_K", head_.keys);
    worked("K", y, exact_as<T>(in->wk));
    matrix_block("V", source + " W_V", head_.values);
    worked("V", y, exact_as<T>(in->wv));
  }

  void dots() {
    page_.heading(next_number() + "Dot products of every query with every key");
    matrix_block("D", "Q K" + std::string(style_.transpose), head_.dots);
    worked("D", head_.queries, transpose(head_.keys));
  }

  // In s = 1/√d where d is no square and no dot product too long to be written.
  void scaled_scores() {
    page_.heading(next_number() + "Scaled scores");
    const std::size_t d = head_.keys.columns();
    const unsigned long long square_root = detail::exact_square_root(d);
    rounded_ = false;
    for (std::size_t i = 0; i < head_.dots.rows(); ++i)
      for (std::size_t j = 0; j < head_.dots.columns(); ++j) written(T(head_.dots(i, j)));
    const bool in_s = !problem_.scale && square_root == 0 && !rounded_;
    rounded_ = false;
    std::string definition;
    if (problem_.scale) {
      const std::string scale = std::visit([&](const auto& x) { return written(x); }, *problem_.scale);
      page_.paragraph("The dot products are multiplied with the given scale:");
      page_.lines({"c" + relation() + scale});
      definition = "c D";
    } else if (square_root != 0) {
      divided_by_root();
      page_.lines(
          {root_of("d_k") + " = " + root_of(std::to_string(d)) + " = " + std::to_string(square_root)});
      definition = square_root == 1 ? "D" : fraction("D", std::to_string(square_root));
    } else {
      divided_by_root();
      const surd<T> s(T(0), T(1), d);
      page_.lines({"s = " + fraction("1", root_of("d_k")) + " = " +
                   fraction("1", root_of(std::to_string(d))) + about() + to_places(s).text});
      definition = fraction("D", root_of(std::to_string(d)));
    }
    const auto in_units_of_s = [&](const T& dot) {
      if (sign(dot) == 0) return std::string("0");
      if (dot == T(1)) return std::string("s");
      if (dot == T(-1)) return std::string("-s");
      const std::string factor = written(dot);
      const bool brackets = !style_.math.groups && factor.find('/') != std::string::npos;
      return (brackets ? "(" + factor + ")" : factor) + "s";
    };
    matrix_block("S", definition, head_.dots.rows(), head_.dots.columns(), [&](std::size_t i, std::size_t j) {
      if (!head_.visible(i, j)) return "-" + std::string(style_.infinity);
      if (in_s) return in_units_of_s(head_.dots(i, j));
      const surd<T>& score = head_.scores(i, j);
      if (problem_.scale || square_root != 0) return written(score);
      rounded_ = true;
      return to_places(score).text;
    });
    if (in_s) one_score(in_units_of_s);
  }

  void divided_by_root() {
    page_.paragraph("The dot products are divided by the root of " + page_.math("d_k") +
                    ", the width of a key:");
  }

  // The largest of the scores as a surd and as a decimal: "S[3,3] = 3s = 3/√2 ≈ 2.121320".
  template <class InUnits>
  void one_score(InUnits in_units_of_s) {
    std::size_t row = 0;
    std::size_t column = 0;
    for (std::size_t i = 0; i < head_.dots.rows(); ++i)
      for (std::size_t j = 0; j < head_.dots.columns(); ++j) {
        const bool better = !head_.visible(row, column) || head_.dots(row, column) < head_.dots(i, j);
        if (head_.visible(i, j) && better) row = i, column = j;
      }
    const T dot = head_.dots(row, column);
    if (sign(dot) == 0) return;
    page_.lines({element("S", row, column) + " = " + in_units_of_s(dot) + " = " +
                 written(head_.scores(row, column)) + about() + to_places(head_.scores(row, column)).text});
  }

  void rows() {
    page_.heading(next_number() + "Weights");
    const std::size_t d = head_.keys.columns();
    page_.paragraph(
        "Each row of scores is exponentiated, divided by a power that all its terms contain, and divided by "
        "its sum.");
    if (!problem_.scale && d > 1) {
      const surd<T> s(T(0), T(1), d);
      const exp_sum<T, 1> r = exp(s);
      const auto square_root = detail::exact_square_root(d);
      const std::string power_of_s = square_root != 0 ? "" : " = e" + raised("s");
      const std::string exponent =
          square_root != 0 ? "1/" + std::to_string(square_root) : written(s, style_.flat_math);
      page_.lines({"r" + power_of_s + " = e" + raised(exponent) + about() + to_places(r).text});
    }
    for (const std::size_t i : shown_rows(head_.queries.rows()))
      page_.lines(i == gap ? std::vector{std::string(style_.down_ellipsis)} : row(i));
    table();
  }

  std::string raised(const std::string& exponent) const {
    const bool is_short = exponent.size() == 1;
    const notation& n = style_.math;
    return std::string(is_short ? n.short_power_open : n.power_open) + exponent +
           std::string(is_short ? n.short_power_close : n.power_close);
  }

  // e^S, then A, for one row.
  std::vector<std::string> row(std::size_t i) {
    std::vector<std::string> lines;
    const std::size_t keys = head_.keys.rows();
    const bool flat = keys > most_keys_in_fraction;
    const notation& math = flat ? style_.flat_math : style_.math;
    const surd<T> smallest = smallest_score(i);
    rounded_ = false;
    const auto entries = [&](const surd<T>& divisor) {
      std::string text = "[";
      for (const std::size_t j : shown(keys, most_rows, 8)) {
        if (j > 0) text += math.separator;
        text += j == gap ? std::string(style_.ellipsis) : written(power(i, j, divisor), math);
      }
      return text + "]";
    };
    const std::string exponentials = entries(surd<T>(0));
    const std::string e_to_the_row = "e" + std::string(style_.math.short_power_open) + row_name("S", i) +
                                     std::string(style_.math.short_power_close);
    std::string line = e_to_the_row + relation() + exponentials;
    const std::string divided = entries(smallest);
    if (sign(smallest) != 0) {
      const std::string common = written(exp(smallest), math);
      line += relation() + common + std::string(style_.dot) + divided;
    }
    lines.push_back(line);
    rounded_ = false;
    const exp_sum<T, dynamic> normaliser = divided_normaliser(i, smallest);
    std::string sum = sum_of(normaliser, math);
    const bool one = normaliser.size() == 1 && normaliser[0].coefficient == surd<T>(1);
    std::string a = entries(smallest);
    const bool brackets = !math.groups && normaliser.size() > 1;
    if (!one)
      a = std::string(math.fraction_open) + a + std::string(math.fraction_bar) +
          (brackets ? "(" + sum + ")" : sum) + std::string(math.fraction_close);
    lines.push_back(row_name("A", i) + relation() + a);
    if (normaliser.size() > 1 && is_moderate(normaliser))
      lines.push_back(sum + about() + to_places(normaliser).text);
    return lines;
  }

  surd<T> smallest_score(std::size_t i) const {
    std::optional<surd<T>> smallest;
    for (std::size_t j = 0; j < head_.keys.rows(); ++j)
      if (head_.visible(i, j) && (!smallest || sign(head_.scores(i, j) - *smallest) < 0))
        smallest = head_.scores(i, j);
    return *smallest;
  }
  exp_sum<T, 1> power(std::size_t i, std::size_t j, const surd<T>& divisor) const {
    return head_.visible(i, j) ? exp(head_.scores(i, j) - divisor) : exp_sum<T, 1>();
  }
  exp_sum<T, dynamic> divided_normaliser(std::size_t i, const surd<T>& divisor) const {
    exp_sum<T, dynamic> sum;
    for (std::size_t j = 0; j < head_.keys.rows(); ++j) sum.add(power(i, j, divisor));
    return sum;
  }
  std::string sum_of(const exp_sum<T, dynamic>& x, const notation& math) {
    if (x.size() <= most_rows) return written(x, math);
    std::string text;
    for (const std::size_t k : shown(x.size(), most_rows, 8)) {
      if (k > 0) text += " + ";
      if (k == gap) {
        text += style_.sum_ellipsis;
        continue;
      }
      exp_sum<T, 1> term;
      term.add(x[k].coefficient, x[k].exponent);
      text += written(term, math);
    }
    return text;
  }
  // Whether the sum is far from what has no decimals: every exponent below 1000.
  static bool is_moderate(const exp_sum<T, dynamic>& x) {
    for (std::size_t k = 0; k < x.size(); ++k)
      if (sign(x[k].exponent - surd<T>(1000)) > 0) return false;
    return true;
  }

  void table() {
    page_.paragraph("Weights " + page_.math("A") + " " + shape(head_.queries.rows(), head_.keys.rows()) +
                    ", to " + std::to_string(options_.decimals) +
                    (options_.decimals == 1 ? " decimal" : " decimals") +
                    "; each position distributes a total of one:");
    std::vector<std::vector<std::string>> table_rows(1);
    table_rows[0].push_back("position");
    for (const std::size_t j : shown_weights(head_.keys.rows()))
      table_rows[0].push_back(j == gap ? dots_in_words() : "value " + number(j));
    for (const std::size_t i : shown_rows(head_.queries.rows())) {
      table_rows.emplace_back();
      table_rows.back().push_back(i == gap ? dots_in_words() : position(i));
      for (const std::size_t j : shown_weights(head_.keys.rows()))
        table_rows.back().push_back(i == gap || j == gap        ? dots_in_words()
                                    : head_.visible(i, j) ? to_places(weights_(i, j)).text
                                                                : "0");
    }
    page_.table(table_rows);
  }
  static std::string dots_in_words() { return "..."; }

  // "1 red"
  std::string position(std::size_t i) const {
    if (options_.positions.empty()) return number(i);
    std::string name = one_line(options_.positions[i]);
    if (display_width(name) > longest_name) {
      std::size_t end = 0;
      for (std::size_t characters = 0; characters < longest_name - 2; ++characters)
        do ++end;
        while (end < name.size() && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80);
      name = name.substr(0, end) + "..";
    }
    return number(i) + " " + page_.words(name);
  }

  void outputs() {
    page_.heading(next_number() + "Outputs");
    const std::size_t queries = outputs_.rows();
    const std::size_t width = outputs_.columns();
    const std::size_t all = queries * width;
    const std::size_t count = all <= most_worked ? all : 3;
    page_.paragraph("Each value row is multiplied with its weight, and the products are added.");
    std::vector<std::string> lines;
    for (std::size_t n = 0; n < count; ++n) lines.push_back(output(n / width, n % width));
    page_.lines(lines);
    if (count < all)
      page_.paragraph("The other " + std::to_string(all - count) + " elements follow in the same way.");
    matrix_block("O", "A V", queries, width, [&](std::size_t i, std::size_t j) {
      const decimal value = to_places(outputs_(i, j));
      rounded_ = rounded_ || !value.exact;
      return value.text;
    });
  }

  // "O[1,1] = (r×1 + 1×1 + r×2)/(2r + 1) = (3r + 1)/(2r + 1) ≈ 1.401112"
  std::string output(std::size_t i, std::size_t c) {
    const std::size_t keys = head_.keys.rows();
    const surd<T> smallest = smallest_score(i);
    rounded_ = false;
    std::string line = element("O", i, c);
    const exp_sum<T, dynamic> normaliser = divided_normaliser(i, smallest);
    if (keys <= most_unfolded_keys) {
      std::string above;
      std::size_t terms = 0;
      for (std::size_t j = 0; j < keys; ++j) {
        if (!head_.visible(i, j)) continue;
        if (terms++ > 0) above += " + ";
        above += written(power(i, j, smallest)) + std::string(style_.times) +
                 in_brackets_where_needed(written(T(head_.values(j, c))));
      }
      const std::string below = written(normaliser);
      const bool groups = style_.math.groups;
      const bool one = normaliser.size() == 1 && normaliser[0].coefficient == surd<T>(1);
      const std::string unfolded =
          one ? above
              : fraction(groups || terms == 1 ? above : "(" + above + ")",
                         groups || normaliser.size() == 1 ? below : "(" + below + ")");
      line += relation() + unfolded;
    }
    const auto value = outputs_(i, c);
    const decimal rounded = to_places(value);
    if (const auto exact = rational_value(value)) {
      const std::string number_text = written(*exact);
      line += relation() + number_text;
      if (rounded.text != number_text && !rounded.exact) line += about() + rounded.text;
      return line;
    }
    if (normaliser.size() <= most_rows) {
      const std::string folded =
          written(value, keys > most_keys_in_fraction ? style_.flat_math : style_.math);
      line += relation() + folded;
    }
    rounded_ = false;
    return line + about() + rounded.text;
  }

  // The rational number that the fraction is, if its numerator is a rational multiple of its denominator.
  template <std::size_t N, std::size_t M>
  static std::optional<unbounded_rational> rational_value(const exp_fraction<T, N, M>& x) {
    if (is_zero(x.numerator)) return unbounded_rational(0);
    if (x.numerator.size() != x.denominator.size()) return std::nullopt;
    const auto first = coefficient_at(x.numerator, x.denominator[0].exponent);
    if (!first) return std::nullopt;
    const unbounded_rational ratio_of_first =
        *first / exact_cast<unbounded_rational>(x.denominator[0].coefficient.rational_part());
    const exp_fraction<unbounded_rational, N, M> wide = exact_cast<unbounded_rational>(x);
    exp_sum<unbounded_rational, N> difference = wide.numerator;
    difference.add(wide.denominator, surd<unbounded_rational>(-ratio_of_first));
    return is_zero(difference) ? std::optional(ratio_of_first) : std::nullopt;
  }
  template <std::size_t N>
  static std::optional<unbounded_rational> coefficient_at(const exp_sum<T, N>& x, const surd<T>& exponent) {
    for (std::size_t k = 0; k < x.size(); ++k)
      if (x[k].exponent == exponent) return exact_cast<unbounded_rational>(x[k].coefficient.rational_part());
    return std::nullopt;
  }

  std::string next_number() { return std::to_string(++sections_) + ". "; }

  const problem& problem_;
  const trace_options& options_;
  const page_style& style_;
  unsigned digits_;
  exact_head<T> head_;
  weights<T, dynamic, dynamic> weights_;
  attest::outputs<T, dynamic, dynamic, dynamic> outputs_;
  page page_;
  bool rounded_ = false;
  std::size_t sections_ = 1;
};

}  // namespace

std::string trace(const problem& p, const trace_options& options) {
  if (is_dyadic(p)) return tracer<unbounded_dyadic>(p, options).write();
  return tracer<unbounded_rational>(p, options).write();
}

}  // namespace attest
