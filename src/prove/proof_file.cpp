#include <attest/prove/proof_file.hpp>

#include <attest/exact/decimal.hpp>
#include <attest/io/input_error.hpp>
#include <attest/io/number.hpp>
#include <attest/problem/one_line.hpp>
#include <attest/reference/number_text.hpp>
#include <attest/reference/rounded.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace attest::prove {

namespace {

/// Bits of an integer of a proof, with room left for what is done with it.
constexpr unsigned widest_integer = 480;
/// Digits, and powers of ten, of a numeral that stay within them.
constexpr long widest_numeral = 140;
/// Products that one constant may take: see attest/proof/product.hpp.
constexpr std::size_t products_at_once = 400;
constexpr std::size_t line_length = 110;

// --- numbers as C++ writes them ----------------------------------------------------------------------------

/// The kinds of literal that the elements of a matrix can have in common, each wider than the one before.
enum class literal { small_integer, word, integer, binary64, dyadic, rational };

bool is_word(const unbounded_integer& n) {
  return n.is_zero() || msb(n.sign() < 0 ? unbounded_integer(-n) : n) < 62;
}

literal literal_of(const exact_scalar& x) {
  if (!is_dyadic(x)) return literal::rational;
  if (is_integer(x)) {
    const unbounded_integer n = exact_as<unbounded_rational>(x).numerator();
    if (!is_word(n)) return literal::integer;
    return n.is_zero() || msb(n.sign() < 0 ? unbounded_integer(-n) : n) < 31 ? literal::small_integer
                                                                             : literal::word;
  }
  const double nearest = nearest_binary64(x);
  const bool is_double = std::isfinite(nearest) && exact_scalar(exact_value<unbounded_integer>(nearest)) == x;
  return is_double ? literal::binary64 : literal::dyadic;
}

bool is_double(const exact_scalar& x) {
  const double nearest = nearest_binary64(x);
  return std::isfinite(nearest) && is_dyadic(x) && exact_scalar(exact_value<unbounded_integer>(nearest)) == x;
}

/// As a double: a short decimal where that is the number itself, otherwise a hexadecimal float.
std::string double_text(const exact_scalar& x) {
  const double value = nearest_binary64(x);
  const std::string decimal = shortest_text(value);
  if (decimal.size() <= 10 && io::read_exact(decimal) == x) return decimal;
  char buffer[40];
  const double magnitude = std::fabs(value);
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, magnitude, std::chars_format::hex).ptr;
  return std::string(value < 0 ? "-0x" : "0x") + std::string(buffer, end);
}

class writer {
 public:
  writer(const io::case_batch& inputs, const std::vector<printed_array>& printed, const proof_source& source)
      : inputs_(inputs), printed_(printed), source_(source) {}

  std::string write() {
    for (std::size_t b = 0; b < inputs_.examples.size(); ++b) {
      if (inputs_.is_batch())
        body_ += "// ======== example " + std::to_string(b) + "\nnamespace example_" + std::to_string(b) +
                 " {\n\n";
      write_example(b);
      if (inputs_.is_batch()) body_ += "}  // namespace example_" + std::to_string(b) + "\n\n";
    }
    const std::string space = "proof_of_" + identifier(source_.case_name);
    std::string text = "// Every number printed in " + one_line(source_.case_name) +
                       ", proved: this file compiles exactly when each of them is right.\n"
                       "// Written by attest (" + one_line(source_.command) +
                       "); change the case, not this file.\n"
                       "// case sha256: " + source_.case_sha256 + "\n"
                       "#include <attest/proof.hpp>\n\n"
                       "namespace " + space + " {\n\n"
                       "using namespace attest;\n\n";
    if (needs_whole_)
      text +=
          "// An integer that is too long for a literal.\n"
          "constexpr integer whole(std::string_view digits) { return parse_decimal(digits).significand; }\n"
          "\n";
    if (!shared_.empty()) shared_ += '\n';
    return text + shared_ + body_ + "}  // namespace " + space + '\n';
  }

 private:
  // --- inputs ---

  static std::string identifier(std::string_view name) {
    std::string result;
    for (const char c : name.substr(0, name.rfind('.')))
      result += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '_';
    return result;
  }

  std::string whole(const unbounded_integer& n, const std::string& place) {
    if (!n.is_zero() && msb(n.sign() < 0 ? unbounded_integer(-n) : n) >= widest_integer)
      throw io::input_error(source_.case_name + ": " + place + ": it has more than " +
                            std::to_string(widest_integer) +
                            " bits, which is more than a proof can compute with: scale the inputs");
    if (is_word(n)) return n.str();
    needs_whole_ = true;
    return "whole(\"" + n.str() + "\")";
  }

  std::string number(const exact_scalar& x, literal kind, const std::string& place) {
    switch (kind) {
      case literal::small_integer: return whole(exact_as<unbounded_rational>(x).numerator(), place);
      case literal::word: return whole(exact_as<unbounded_rational>(x).numerator(), place) + "LL";
      case literal::integer: return integer_call(exact_as<unbounded_rational>(x).numerator(), place);
      case literal::binary64: return double_text(x);
      case literal::dyadic: {
        const auto& d = std::get<unbounded_dyadic>(x);
        return "dyadic(" + integer_call(d.significand(), place) + ", " + std::to_string(d.exponent()) + ')';
      }
      case literal::rational: {
        const auto r = exact_as<unbounded_rational>(x);
        if (is_word(r.numerator()) && is_word(r.denominator()))
          return "ratio(" + r.numerator().str() + ", " + r.denominator().str() + ')';
        return "ratio(" + integer_call(r.numerator(), place) + ", " + integer_call(r.denominator(), place) +
               ')';
      }
    }
    return "";
  }
  std::string integer_call(const unbounded_integer& n, const std::string& place) {
    const std::string text = whole(n, place);
    return text.starts_with("whole") ? text : "integer(" + text + (text.size() > 9 ? "LL)" : ")");
  }

  static literal common_literal(const exact_matrix& m) {
    literal common = literal::small_integer;
    bool all_doubles = true;
    for (std::size_t i = 0; i < attest::rows(m); ++i)
      for (std::size_t j = 0; j < attest::columns(m); ++j) {
        const exact_scalar x = element(m, i, j);
        common = std::max(common, literal_of(x));
        all_doubles = all_doubles && is_double(x);
      }
    return common == literal::binary64 && !all_doubles ? literal::dyadic : common;
  }

  // Items separated by ", " after `indent`, in lines of bounded length.
  static std::string wrapped(const std::vector<std::string>& items, const std::string& indent) {
    std::string text;
    std::size_t width = indent.size();
    for (std::size_t i = 0; i < items.size(); ++i) {
      const std::string item = items[i] + (i + 1 < items.size() ? "," : "");
      if (i > 0 && width + item.size() + 1 > line_length) {
        text += '\n' + indent;
        width = indent.size();
      } else if (i > 0) {
        text += ' ';
        ++width;
      }
      text += item;
      width += item.size();
    }
    return text;
  }

  void matrix_of(std::string& out, const std::string& name, const exact_matrix& m) {
    const literal kind = common_literal(m);
    std::vector<std::vector<std::string>> rows(attest::rows(m));
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t j = 0; j < attest::columns(m); ++j)
        rows[i].push_back(
            number(element(m, i, j), kind,
                   "array " + name + ": element [" + std::to_string(i) + ", " + std::to_string(j) + ']'));
    rows_of(out, name, rows);
  }
  static void rows_of(std::string& out, const std::string& name,
                      const std::vector<std::vector<std::string>>& rows) {
    out += "constexpr matrix " + name + "({\n";
    for (const auto& row : rows) out += "    {" + wrapped(row, "     ") + "},\n";
    out += "});\n";
  }

  // An input: in the section of its example, or once for all.
  void input(const std::string& name, const exact_matrix& m, std::size_t b) {
    const bool shared = inputs_.is_batch() && !inputs_.has_leading_level(name);
    if (shared && b > 0) return;
    matrix_of(shared ? shared_ : body_, name, m);
  }

  static std::string product(const std::string& a, const exact_matrix& a_is, const std::string& b,
                             const exact_matrix& b_is) {
    const std::size_t products = attest::rows(a_is) * attest::columns(a_is) * attest::columns(b_is);
    return products > products_at_once ? "product<" + a + ", " + b + '>' : a + " * " + b;
  }

  std::string scale_text(const exact_scalar& scale) {
    const literal kind = literal_of(scale);
    if (kind == literal::binary64) return "surd<dyadic>(exact_value(" + double_text(scale) + "))";
    if (kind == literal::rational) return "surd<rational>(" + number(scale, kind, "scale") + ')';
    if (kind == literal::dyadic) return "surd<dyadic>(" + number(scale, kind, "scale") + ')';
    return "surd<integer>(" + number(scale, literal::integer, "scale") + ')';
  }

  // --- claims ---

  const printed_array* find(std::string_view array) const {
    const auto at =
        std::find_if(printed_.begin(), printed_.end(), [&](const auto& a) { return a.name == array; });
    return at == printed_.end() ? nullptr : &*at;
  }

  /// One row's claim.
  struct row_claim {
    std::string concept_name;
    std::vector<std::string> items;  // numerals, or bit patterns
    bool quoted = true;
  };

  static bool fits_a_proof(const std::string& numeral) {
    if (numeral.find('/') != std::string::npos)
      return numeral.size() < static_cast<std::size_t>(widest_numeral);
    const auto d = parse_decimal<unbounded_integer>(numeral);
    const auto digits = static_cast<long>(d.significand.str().size());
    return digits <= widest_numeral && d.exponent >= -widest_numeral && d.exponent + digits <= widest_numeral;
  }

  static std::uint64_t pattern_of(const std::string& numeral) {
    const double x = nearest_binary64(io::read_exact(numeral));
    return std::bit_cast<std::uint64_t>(x == 0 && numeral.starts_with('-') ? -0.0 : x);
  }
  static std::string pattern_text(std::uint64_t pattern) {
    std::string text = "0x";
    for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[pattern >> shift & 0xf];
    return text;
  }
  static bool is_hexadecimal(const std::string& numeral) {
    return numeral.find_first_of("xX") != std::string::npos;
  }

  row_claim claim_of(const printed_array& array, std::size_t b, std::size_t i) const {
    row_claim claim{std::string(name_of(array.kind)), {}};
    bool as_bits = false;
    for (std::size_t j = 0; j < array.columns(); ++j) {
      std::string numeral = array.numeral(b, i, j);
      if (is_hexadecimal(numeral) && array.kind == claim_kind::exactly) {
        const auto r = exact_as<unbounded_rational>(io::read_exact(numeral));
        numeral = r.numerator().str() +
                  (r.denominator() == unbounded_integer(1) ? "" : '/' + r.denominator().str());
      }
      if (array.kind == claim_kind::binary64 && (is_hexadecimal(numeral) || !fits_a_proof(numeral)))
        as_bits = true;
      else if (!fits_a_proof(numeral))
        throw io::input_error(source_.case_name + ": array expected." + array.name + ": " +
                              io::json::quote(numeral.substr(0, 40)) + " has more than " +
                              std::to_string(widest_numeral) +
                              " digits, zeros included, which is more than a proof can compute with: scale "
                              "the inputs, or take it out");
      claim.items.push_back(numeral);
    }
    if (as_bits) {
      claim.concept_name = "binary64_bits";
      claim.quoted = false;
      for (std::size_t j = 0; j < array.columns(); ++j)
        claim.items[j] = pattern_text(pattern_of(array.numeral(b, i, j)));
    }
    return claim;
  }

  // The claim with another numeral in column j, which is then false of any value of which it was true:
  // decimals are 5 units of their last digit away, others differ.
  static row_claim altered(row_claim claim, std::size_t j) {
    std::string& item = claim.items[j];
    if (!claim.quoted) {
      item.back() = item.back() == '0' ? '1' : '0';
      return claim;
    }
    const std::size_t end = std::min(item.find_first_of("/eE"), item.size());
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    std::size_t at = end;
    if (claim.concept_name == "binary64")
      // The leading digit: the last one may not change the double.
      at = std::min(item.find_first_of("123456789"), end);
    if (at < end) {
      item[at] = static_cast<char>('1' + (item[at] - '0') % 9);
      return claim;
    }
    do --at;
    while (!is_digit(item[at]));
    item[at] = static_cast<char>('0' + (item[at] - '0' + 5) % 10);
    return claim;
  }

  static std::string statement(const row_claim& claim, const std::string& variable, bool negated,
                               const std::string& comment) {
    const std::string head =
        std::string("static_assert(") + (negated ? "!" : "") + claim.concept_name + '<' + variable + ", ";
    const std::string indent(head.size(), ' ');
    std::vector<std::string> lines(1);
    const std::size_t room = line_length > indent.size() + 40 ? line_length - indent.size() : 40;
    for (std::size_t j = 0; j < claim.items.size(); ++j) {
      const std::string item =
          claim.items[j] + (j + 1 < claim.items.size() ? (claim.quoted ? " " : ", ") : "");
      if (!lines.back().empty() && lines.back().size() + item.size() > room) lines.emplace_back();
      lines.back() += item;
    }
    std::string text = head;
    for (std::size_t k = 0; k < lines.size(); ++k) {
      if (k > 0) text += '\n' + indent;
      if (!claim.quoted && k + 1 < lines.size()) lines[k].pop_back();
      text += claim.quoted ? '"' + lines[k] + '"' : lines[k];
    }
    return text + ">);  // " + comment + '\n';
  }

  static std::string meaning(claim_kind kind) {
    switch (kind) {
      case claim_kind::exactly: return "exactly";
      case claim_kind::decimal: return "each the exact value, rounded at its last printed digit";
      case claim_kind::binary64: return "each reads back as the correctly rounded binary64";
    }
    return "";
  }

  std::string place(std::string_view array, std::size_t b, std::size_t i) const {
    const auto in_brackets = [](std::size_t n) { return '[' + std::to_string(n) + ']'; };
    return std::string(array) + (inputs_.is_batch() ? in_brackets(b) : "") + in_brackets(i);
  }

  // The claims about one array; `row` is row i of it as an expression.
  template <class Row>
  void claims(std::string_view array, std::size_t b, std::size_t rows, bool rows_are_needed, Row row) {
    const printed_array* printed = find(array);
    if (printed == nullptr && !rows_are_needed) return;
    body_ +=
        "// ---- " + std::string(array) + (printed == nullptr ? "" : ": " + meaning(printed->kind)) + '\n';
    const std::size_t middle = rows / 2;
    for (std::size_t i = 0; i < rows; ++i) {
      const std::string variable = std::string(array) + "_row_" + std::to_string(i);
      body_ += "constexpr auto " + variable + " = " + row(i) + ";\n";
      if (printed == nullptr) continue;
      const row_claim claim = claim_of(*printed, b, i);
      body_ += statement(claim, variable, false, place(array, b, i));
      // A spread of elements: the first of the first row, one of the middle, the last of the last row.
      const auto canary = [&](std::size_t j) {
        canaries_ +=
            statement(altered(claim, j), variable, true, place(array, b, i) + '[' + std::to_string(j) + ']');
      };
      if (i == 0) canary(0);
      if (i == middle && i != 0 && i + 1 != rows) canary(printed->columns() / 2);
      if (i + 1 == rows && (rows > 1 || printed->columns() > 1)) canary(printed->columns() - 1);
    }
    body_ += '\n';
  }

  void write_example(std::size_t b) {
    const attest::problem& p = inputs_.examples[b];
    const extents e = checked_extents(p);
    const bool needs_output = find("output") != nullptr;
    const bool needs_weights = needs_output || find("weights") != nullptr;
    const bool needs_scores = needs_weights || find("scores") != nullptr;
    const bool needs_dots = needs_scores || find("dots") != nullptr;
    const bool needs_q = needs_dots || find("Q") != nullptr;
    const bool needs_k = needs_dots || find("K") != nullptr;
    const bool needs_v = needs_output || find("V") != nullptr;
    canaries_.clear();

    const auto row_of = [](std::string_view array) {
      return
          [array](std::size_t i) { return "row_of(" + std::string(array) + ", " + std::to_string(i) + ')'; };
    };
    if (const auto* one = std::get_if<projected_inputs>(&p.inputs)) {
      const std::string contributor = one->y ? "Y" : "X";
      if (needs_q || !one->y) input("X", one->x, b);
      if (one->y && (needs_k || needs_v)) input("Y", *one->y, b);
      if (needs_q) input("WQ", one->wq, b);
      if (needs_k) input("WK", one->wk, b);
      if (needs_v) input("WV", one->wv, b);
      body_ += '\n';
      const exact_matrix& y = one->y ? *one->y : one->x;
      if (needs_q) body_ += "constexpr auto Q = " + product("X", one->x, "WQ", one->wq) + ";\n";
      if (needs_k) body_ += "constexpr auto K = " + product(contributor, y, "WK", one->wk) + ";\n";
      if (needs_v) body_ += "constexpr auto V = " + product(contributor, y, "WV", one->wv) + ";\n";
    } else {
      const auto& head = std::get<head_inputs>(p.inputs);
      if (needs_q) input("Q", head.q, b);
      if (needs_k) input("K", head.k, b);
      if (needs_v) input("V", head.v, b);
      body_ += '\n';
    }
    if (needs_dots) {
      if (e.queries * e.key_width * e.keys > products_at_once)
        body_ +=
            "constexpr auto K_transposed = transpose(K);\nconstexpr auto dots = product<Q, K_transposed>;\n";
      else
        body_ += "constexpr auto dots = Q * transpose(K);\n";
    }
    if (needs_scores)
      body_ += "constexpr auto scores = dots " +
               (p.scale ? "* " + scale_text(*p.scale) : "/ root(" + std::to_string(e.key_width) + ')') +
               ";\n";
    if (needs_weights && p.mask) {
      const bool shared = inputs_.is_batch() && !inputs_.has_leading_level("mask");
      std::vector<std::vector<std::string>> rows(e.queries);
      for (std::size_t i = 0; i < e.queries; ++i)
        for (std::size_t j = 0; j < e.keys; ++j) rows[i].emplace_back((*p.mask)(i, j) ? "true" : "false");
      if (!shared || b == 0) rows_of(shared ? shared_ : body_, "visible", rows);
    }
    body_ += '\n';

    claims("Q", b, e.queries, false, row_of("Q"));
    claims("K", b, e.keys, false, row_of("K"));
    claims("V", b, e.keys, false, row_of("V"));
    claims("dots", b, e.queries, false, row_of("dots"));
    claims("scores", b, e.queries, false, row_of("scores"));
    claims("weights", b, e.queries, needs_output, [&](std::size_t i) {
      const std::string row = std::to_string(i);
      return "softmax(row_of(scores, " + row + ')' + (p.mask ? ", row_of(visible, " + row + ')' : "") + ')';
    });
    claims("output", b, e.queries, false,
           [](std::size_t i) { return "weights_row_" + std::to_string(i) + " * V"; });
    body_ +=
        "// ---- canaries: the same with a digit altered, which is false. What accepts every claim fails "
        "here.\n" +
        canaries_ + '\n';
  }

  const io::case_batch& inputs_;
  const std::vector<printed_array>& printed_;
  const proof_source& source_;
  std::string shared_;    // what all examples of a batch share
  std::string body_;
  std::string canaries_;  // of the example that is being written
  bool needs_whole_ = false;
};

}  // namespace

std::string proof_file(const io::case_batch& inputs, const std::vector<printed_array>& printed,
                       const proof_source& source) {
  return writer(inputs, printed, source).write();
}

}  // namespace attest::prove
