#include <attest/io/attention_file.hpp>

#include <attest/io/input_error.hpp>
#include <attest/reference/number_text.hpp>
#include <attest/reference/rounded.hpp>

#include <cmath>
#include <optional>
#include <vector>

namespace attest::io {

namespace {

class writer {
 public:
  writer(const case_batch& file, std::span<const attention_reference> answers, std::string_view name)
      : file_(file), answers_(answers), name_(name) {}

  std::string write() {
    open('{');
    member("version", "\"attention-v1\"");
    keep("provenance");
    keep("positions");
    inputs();
    open_member("expected");
    member("Q", answer_array("expected.Q", &attention_reference::queries));
    member("K", answer_array("expected.K", &attention_reference::keys));
    member("V", answer_array("expected.V", &attention_reference::values));
    member("dots", answer_array("expected.dots", &attention_reference::dots));
    member("weights", answer_array("expected.weights", &attention_reference::weights));
    member("output", answer_array("expected.output", &attention_reference::output));
    close('}');
    keep("derivation");
    keep("tolerance");
    keep("display_decimals");
    block();
    close('}');
    return text_ + '\n';
  }

 private:
  // --- layout: one member a line, two spaces a level; a matrix on one line if that is short enough ---

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
    for (const auto& [name, content] : file_.kept)
      if (name == key) member(key, json::write(content));
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
    const auto row = [&](std::size_t i) {
      return list(column_count, [&](std::size_t j) { return element(i, j); });
    };
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

  // --- a batch's examples one below another, or the only example by itself; `of` gets its number ---

  template <class Of>
  std::string examples(bool leading_level, Of of) {
    if (!leading_level) return of(0);
    ++depth_;
    std::vector<std::string> each;
    for (std::size_t b = 0; b < answers_.size(); ++b) each.push_back(of(b));
    --depth_;
    return one_below_another(each.size(), [&](std::size_t b) { return each[b]; });
  }
  template <class Of>
  std::string examples(Of of) {
    return examples(file_.is_batch(), of);
  }

  // --- numbers ---

  std::string number(std::string_view place, double nearest) const {
    if (std::isinf(nearest))
      throw input_error(name_ + ": " + std::string(place) +
                        " overflows binary64, in which attention-v1 is written: scale the inputs down");
    return shortest_text(nearest);
  }
  std::string number(std::string_view place, const exact_scalar& x) const {
    return is_integer(x) ? exact_text(x) : number(place, nearest_binary64(x));
  }
  std::string number(std::string_view place, const reference_value& x) const {
    return x.exact && is_integer(*x.exact) ? exact_text(*x.exact) : number(place, x.nearest);
  }

  // The index of an element, after that of its example if there is one.
  std::string place(std::string_view array, bool leading_level, std::size_t b, std::size_t i,
                    std::size_t j) const {
    return "array " + std::string(array) + ": element [" + (leading_level ? std::to_string(b) + ", " : "") +
           std::to_string(i) + ", " + std::to_string(j) + ']';
  }
  // An array of all examples; m(b) is that of example b.
  template <class Of>
  std::string array(std::string_view name, bool leading_level, Of m) {
    return examples(leading_level, [&](std::size_t b) {
      const auto& one = m(b);
      return rows(rows_of(one), columns_of(one), [&](std::size_t i, std::size_t j) {
        return number(place(name, leading_level, b, i, j), element_of(one, i, j));
      });
    });
  }
  template <class Array>
  std::string answer_array(std::string_view name, Array attention_reference::* member) {
    return array(name, file_.is_batch(), [&](std::size_t b) -> const Array& { return answers_[b].*member; });
  }

  static std::size_t rows_of(const exact_matrix& m) { return attest::rows(m); }
  static std::size_t columns_of(const exact_matrix& m) { return attest::columns(m); }
  static exact_scalar element_of(const exact_matrix& m, std::size_t i, std::size_t j) {
    return element(m, i, j);
  }
  static std::size_t rows_of(const matrix<reference_value>& m) { return m.rows(); }
  static std::size_t columns_of(const matrix<reference_value>& m) { return m.columns(); }
  static const reference_value& element_of(const matrix<reference_value>& m, std::size_t i, std::size_t j) {
    return m(i, j);
  }

  // --- inputs: as numbers that any reader takes, and exactly in the block where those numbers round ---

  // f(name, whether it has a leading level, the matrix of example b as a function of b) of each input there
  // is.
  template <class F>
  void for_each_input(F f) {
    const attest::problem& first = file_.examples[0];
    const auto input = [&](std::string_view key, auto of) {
      f(key, file_.has_leading_level(key),
        [this, of](std::size_t b) -> const exact_matrix& { return of(file_.examples[b].inputs); });
    };
    if (const auto* one = std::get_if<projected_inputs>(&first.inputs)) {
      input("X", [](const auto& in) -> const exact_matrix& { return std::get<projected_inputs>(in).x; });
      if (one->y)
        input("Y", [](const auto& in) -> const exact_matrix& { return *std::get<projected_inputs>(in).y; });
      input("WQ", [](const auto& in) -> const exact_matrix& { return std::get<projected_inputs>(in).wq; });
      input("WK", [](const auto& in) -> const exact_matrix& { return std::get<projected_inputs>(in).wk; });
      input("WV", [](const auto& in) -> const exact_matrix& { return std::get<projected_inputs>(in).wv; });
    } else {
      input("Q", [](const auto& in) -> const exact_matrix& { return std::get<head_inputs>(in).q; });
      input("K", [](const auto& in) -> const exact_matrix& { return std::get<head_inputs>(in).k; });
      input("V", [](const auto& in) -> const exact_matrix& { return std::get<head_inputs>(in).v; });
    }
  }

  static bool is_exact_as_number(const exact_scalar& x) {
    if (is_integer(x)) return true;
    const double nearest = nearest_binary64(x);
    return is_dyadic(x) && std::isfinite(nearest) &&
           exact_scalar(exact_value<unbounded_integer>(nearest)) == x;
  }
  static bool is_exact_as_numbers(const exact_matrix& m) {
    for (std::size_t i = 0; i < attest::rows(m); ++i)
      for (std::size_t j = 0; j < attest::columns(m); ++j)
        if (!is_exact_as_number(element(m, i, j))) return false;
    return true;
  }

  void inputs() {
    for_each_input([&](std::string_view key, bool leading_level, auto of) {
      member(key, array(key, leading_level, of));
    });
    if (file_.examples[0].mask)
      member("mask", examples(file_.has_leading_level("mask"), [&](std::size_t b) {
               const matrix<bool>& mask = *file_.examples[b].mask;
               return rows(mask.rows(), mask.columns(), [&](std::size_t i, std::size_t j) {
                 return std::string(mask(i, j) ? "true" : "false");
               });
             }));
    if (const auto& scale = file_.examples[0].scale)
      member("scale", is_exact_as_number(*scale) ? number("scale", *scale) : json::quote(exact_text(*scale)));
  }

  template <class Of>
  bool all_exact_as_numbers(bool leading_level, Of of) const {
    for (std::size_t b = 0; b < (leading_level ? answers_.size() : 1); ++b)
      if (!is_exact_as_numbers(of(b))) return false;
    return true;
  }

  void exact_inputs() {
    bool any = false;
    for_each_input([&](std::string_view, bool leading_level, auto of) {
      any = any || !all_exact_as_numbers(leading_level, of);
    });
    if (!any) return;
    open_member("inputs");
    for_each_input([&](std::string_view key, bool leading_level, auto of) {
      if (all_exact_as_numbers(leading_level, of)) return;
      member(key, examples(leading_level, [&](std::size_t b) {
               const exact_matrix& m = of(b);
               return rows(attest::rows(m), attest::columns(m), [&](std::size_t i, std::size_t j) {
                 return json::quote(exact_text(element(m, i, j)));
               });
             }));
    });
    close('}');
  }

  // --- the block of attest's own ---

  std::string texts(std::vector<std::string> attention_reference::* lines) {
    return examples([&](std::size_t b) {
      const auto& each = answers_[b].*lines;
      return one_below_another(each.size(), [&](std::size_t i) { return json::quote(each[i]); });
    });
  }
  std::string decimals_of(matrix<reference_value> attention_reference::* values) {
    return examples([&](std::size_t b) {
      const auto& m = answers_[b].*values;
      return rows(m.rows(), m.columns(),
                  [&](std::size_t i, std::size_t j) { return json::quote(m(i, j).decimal); });
    });
  }

  void block() {
    const attention_reference& first = answers_[0];
    open_member("attest");
    member("version", json::quote(block_version));
    member("digits", std::to_string(first.digits));
    exact_inputs();
    if (first.r_meaning)
      member("r", "{\"meaning\": " + json::quote(*first.r_meaning) +
                      ", \"decimal\": " + json::quote(*first.r_decimal) + '}');
    open_member("weights");
    member("rows", texts(&attention_reference::weight_rows));
    member("decimals", decimals_of(&attention_reference::weights));
    close('}');
    open_member("output");
    member("rows", texts(&attention_reference::output_rows));
    member("decimals", decimals_of(&attention_reference::output));
    close('}');
    open_member("log_sum_exp");
    member("base", "\"e\"");
    member("decimals", examples([&](std::size_t b) {
             const auto& sums = answers_[b].log_sum_exp;
             return one_below_another(sums.size(),
                                      [&](std::size_t i) { return json::quote(sums[i].decimal); });
           }));
    close('}');
    close('}');
  }

  const case_batch& file_;
  std::span<const attention_reference> answers_;
  std::string name_;
  std::string text_;
  std::size_t depth_ = 0;
  bool first_ = true;
};

}  // namespace

std::string attention_v1(const case_batch& file, std::span<const attention_reference> answers,
                         std::string_view name) {
  return writer(file, answers, name).write();
}
std::string attention_v1(const case_file& file, const attention_reference& answer, std::string_view name) {
  return attention_v1(case_batch{{file.problem}, {}, file.kept}, std::span(&answer, 1), name);
}

}  // namespace attest::io
