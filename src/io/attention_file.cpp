#include <attest/io/attention_file.hpp>

#include <attest/io/input_error.hpp>
#include <attest/reference/rounded.hpp>

#include <cmath>
#include <optional>

namespace attest::io {

namespace {

class writer {
 public:
  writer(const case_file& file, const attention_reference& answer, std::string_view name)
      : file_(file), answer_(answer), name_(name) {}

  std::string write() {
    open('{');
    member("version", "\"attention-v1\"");
    keep("provenance");
    keep("positions");
    inputs();
    open_member("expected");
    member("Q", array("expected.Q", answer_.queries));
    member("K", array("expected.K", answer_.keys));
    member("V", array("expected.V", answer_.values));
    member("dots", array("expected.dots", answer_.dots));
    member("weights", array("expected.weights", answer_.weights));
    member("output", array("expected.output", answer_.output));
    close('}');
    keep("derivation");
    keep("tolerance");
    keep("display_decimals");
    block();
    close('}');
    return text_ + '\n';
  }

 private:
  // --- layout: one member a line, two spaces a level; a matrix stands on one line if that is short enough ---

  void new_line() {
    if (!first_) text_ += ',';
    first_ = false;
    text_ += '\n';
    text_.append(2 * depth_, ' ');
  }
  void open(char bracket) {
    text_ += bracket;
    ++depth_;
    first_ = true;
  }
  void close(char bracket) {
    --depth_;
    first_ = false;
    text_ += '\n';
    text_.append(2 * depth_, ' ');
    text_ += bracket;
  }
  void open_member(std::string_view key) {
    new_line();
    text_ += json::quote(key) + ": ";
    open('{');
  }
  void member(std::string_view key, const std::string& content) {
    new_line();
    text_ += json::quote(key) + ": " + content;
  }
  void keep(std::string_view key) {
    if (const json::value* v = file_.find_kept(key)) member(key, json::write(*v));
  }

  template <class Element>
  std::string list(std::size_t count, Element element, std::string_view separator = ", ") const {
    std::string out = "[";
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0) out += separator;
      out += element(i);
    }
    return out + ']';
  }
  template <class Element>
  std::string rows(std::size_t row_count, std::size_t column_count, Element element) const {
    constexpr std::size_t widest = 240;
    const auto row = [&](std::size_t i) { return list(column_count, [&](std::size_t j) { return element(i, j); }); };
    const std::string on_one_line = list(row_count, row);
    if (on_one_line.size() <= widest) return on_one_line;
    return one_below_another(row_count, row);
  }
  template <class Element>
  std::string one_below_another(std::size_t count, Element element) const {
    const std::string indent = '\n' + std::string(2 * depth_ + 2, ' ');
    const std::string listed = list(count, element, "," + indent);
    return '[' + indent + listed.substr(1, listed.size() - 2) + '\n' + std::string(2 * depth_, ' ') + ']';
  }

  // --- numbers ---

  std::string number(std::string_view place, double nearest) const {
    if (std::isinf(nearest))
      throw input_error(name_ + ": " + std::string(place) +
                        " overflows binary64, in which attention-v1 is written: scale the inputs down");
    return shortest_decimal(nearest);
  }
  std::string number(std::string_view place, const exact_scalar& x) const {
    return is_integer(x) ? exact_text(x) : number(place, nearest_binary64(x));
  }
  std::string number(std::string_view place, const reference_value& x) const {
    return x.exact && is_integer(*x.exact) ? exact_text(*x.exact) : number(place, x.nearest);
  }

  static std::string place(std::string_view array, std::size_t i, std::size_t j) {
    return "array " + std::string(array) + ": element [" + std::to_string(i) + ", " + std::to_string(j) + ']';
  }
  std::string array(std::string_view name, const exact_matrix& m) const {
    return rows(attest::rows(m), attest::columns(m),
                [&](std::size_t i, std::size_t j) { return number(place(name, i, j), element(m, i, j)); });
  }
  std::string array(std::string_view name, const matrix<reference_value>& m) const {
    return rows(m.rows(), m.columns(), [&](std::size_t i, std::size_t j) { return number(place(name, i, j), m(i, j)); });
  }

  // --- inputs: as numbers that any reader takes, and exactly in the block where those numbers round ---

  template <class F>
  void for_each_input(F f) const {
    if (const auto* projected = std::get_if<projected_inputs>(&file_.problem.inputs)) {
      f("X", projected->x);
      if (projected->y) f("Y", *projected->y);
      f("WQ", projected->wq);
      f("WK", projected->wk);
      f("WV", projected->wv);
    } else {
      const auto& head = std::get<head_inputs>(file_.problem.inputs);
      f("Q", head.q);
      f("K", head.k);
      f("V", head.v);
    }
  }

  static bool is_exact_as_number(const exact_scalar& x) {
    if (is_integer(x)) return true;
    const double nearest = nearest_binary64(x);
    return is_dyadic(x) && std::isfinite(nearest) && exact_scalar(exact_value<unbounded_integer>(nearest)) == x;
  }
  static bool is_exact_as_numbers(const exact_matrix& m) {
    for (std::size_t i = 0; i < attest::rows(m); ++i)
      for (std::size_t j = 0; j < attest::columns(m); ++j)
        if (!is_exact_as_number(element(m, i, j))) return false;
    return true;
  }

  void inputs() {
    for_each_input([&](std::string_view key, const exact_matrix& m) { member(key, array(key, m)); });
    if (const auto& mask = file_.problem.mask)
      member("mask", rows(mask->rows(), mask->columns(),
                          [&](std::size_t i, std::size_t j) { return std::string((*mask)(i, j) ? "true" : "false"); }));
    if (const auto& scale = file_.problem.scale)
      member("scale", is_exact_as_number(*scale) ? number("scale", *scale) : json::quote(exact_text(*scale)));
  }

  void exact_inputs() {
    bool any = false;
    for_each_input([&](std::string_view, const exact_matrix& m) { any = any || !is_exact_as_numbers(m); });
    if (!any) return;
    open_member("inputs");
    for_each_input([&](std::string_view key, const exact_matrix& m) {
      if (is_exact_as_numbers(m)) return;
      member(key, rows(attest::rows(m), attest::columns(m),
                       [&](std::size_t i, std::size_t j) { return json::quote(exact_text(element(m, i, j))); }));
    });
    close('}');
  }

  // --- the block of attest's own ---

  std::string texts(const std::vector<std::string>& lines) const {
    return one_below_another(lines.size(), [&](std::size_t i) { return json::quote(lines[i]); });
  }
  std::string decimals_of(const matrix<reference_value>& m) const {
    return rows(m.rows(), m.columns(), [&](std::size_t i, std::size_t j) { return json::quote(m(i, j).decimal); });
  }

  void block() {
    open_member("attest");
    member("version", json::quote(block_version));
    member("digits", std::to_string(answer_.digits));
    exact_inputs();
    if (answer_.r_meaning)
      member("r", "{\"meaning\": " + json::quote(*answer_.r_meaning) + ", \"decimal\": " + json::quote(*answer_.r_decimal) + '}');
    open_member("weights");
    member("rows", texts(answer_.weight_rows));
    member("decimals", decimals_of(answer_.weights));
    close('}');
    open_member("output");
    member("rows", texts(answer_.output_rows));
    member("decimals", decimals_of(answer_.output));
    close('}');
    open_member("log_sum_exp");
    member("base", "\"e\"");
    member("decimals", one_below_another(answer_.log_sum_exp.size(),
                                         [&](std::size_t i) { return json::quote(answer_.log_sum_exp[i].decimal); }));
    close('}');
    close('}');
  }

  const case_file& file_;
  const attention_reference& answer_;
  std::string name_;
  std::string text_;
  std::size_t depth_ = 0;
  bool first_ = true;
};

}  // namespace

std::string attention_v1(const case_file& file, const attention_reference& answer, std::string_view name) {
  return writer(file, answer, name).write();
}

}  // namespace attest::io
