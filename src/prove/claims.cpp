#include <attest/prove/claims.hpp>

#include <attest/enclosure/printed.hpp>
#include <attest/exact/decimal.hpp>
#include <attest/io/input_error.hpp>
#include <attest/io/number.hpp>
#include <attest/reference/attention.hpp>
#include <attest/reference/exact_head.hpp>
#include <attest/reference/number_text.hpp>
#include <attest/reference/rounded.hpp>
#include <attest/rounding/rounding_test.hpp>
#include <attest/symbolic/softmax.hpp>
#include <attest/symbolic/written.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

namespace attest::prove {

namespace {

using io::json::kind;
using io::json::value;

constexpr std::array<std::string_view, 7> array_names = {"Q",      "K",       "V",     "dots",
                                                         "scores", "weights", "output"};

using numeral_value = basic_decimal<unbounded_integer>;
using exact_surd = surd<unbounded_rational>;

// --- reading -----------------------------------------------------------------------------------------------

bool is_hexadecimal(std::string_view text) {
  return text.find_first_of("xX") != std::string_view::npos;
}
bool is_plain_decimal(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789+-.eE") == std::string_view::npos;
}

class reader {
 public:
  reader(std::string_view name, const io::case_batch& inputs, std::optional<claim_kind> otherwise)
      : name_(name), inputs_(inputs), otherwise_(otherwise) {}

  std::vector<printed_array> read(const value& root) {
    const value* expected = root.find("expected");
    if (expected == nullptr)
      fail("the key \"expected\", which holds the printed numbers, is missing: add it, as in "
           "\"expected\": {\"weights\": [[0.25, 0.75]]}");
    if (expected->type != kind::object)
      fail("expected is " + std::string(name_of(expected->type)) +
           ": expected an object of arrays, such as {\"weights\": [[0.25, 0.75]]}");
    if (expected->items.empty()) fail("expected holds no array: add what is to be proved");
    for (const std::string& key : expected->keys) check_name(key, "array expected." + key);
    read_kinds(root.find("claims"), *expected);

    std::vector<printed_array> arrays;
    for (const auto array : array_names)
      if (const value* v = expected->find(array)) arrays.push_back(read_array(std::string(array), *v));
    return arrays;
  }

 private:
  [[noreturn]] void fail(const std::string& message) const { throw io::input_error(name_ + ": " + message); }
  [[noreturn]] void fail_array(const printed_array& a, const std::string& message) const {
    fail("array expected." + a.name + ": " + message);
  }

  void check_name(const std::string& key, const std::string& what) const {
    if (std::find(array_names.begin(), array_names.end(), key) == array_names.end())
      fail(what + ": no such array is known: there are Q, K, V, dots, scores, weights and output");
  }

  void read_kinds(const value* claims, const value& expected) {
    if (claims == nullptr) return;
    const auto read_kind = [&](const value& v, const std::string& what) {
      const auto k = v.type == kind::string ? claim_kind_of(v.text) : std::nullopt;
      if (!k) fail(what + " is " + io::json::write(v) + R"(: expected "exactly", "decimal" or "binary64")");
      return *k;
    };
    if (claims->type != kind::object) {
      otherwise_ = read_kind(*claims, "claims");
      return;
    }
    for (std::size_t i = 0; i < claims->items.size(); ++i) {
      check_name(claims->keys[i], "claims." + claims->keys[i]);
      if (expected.find(claims->keys[i]) == nullptr)
        fail("claims." + claims->keys[i] + ": there is no array " + claims->keys[i] + " under \"expected\"");
      kinds_.emplace_back(claims->keys[i], read_kind(claims->items[i], "claims." + claims->keys[i]));
    }
  }

  std::vector<std::size_t> shape_of(std::string_view array) const {
    const extents e = checked_extents(inputs_.examples[0]);
    std::vector<std::size_t> shape;
    if (inputs_.is_batch()) shape.push_back(inputs_.examples.size());
    const bool of_keys = array == "K" || array == "V";
    shape.push_back(of_keys ? e.keys : e.queries);
    shape.push_back(array == "Q" || array == "K"          ? e.key_width
                    : array == "V" || array == "output" ? e.value_width
                                                        : e.keys);
    return shape;
  }

  static std::string index_text(const std::vector<std::size_t>& index) {
    std::string text = "[";
    for (const std::size_t i : index) text += (text.size() > 1 ? ", " : "") + std::to_string(i);
    return text + ']';
  }

  printed_array read_array(const std::string& array, const value& v) const {
    printed_array result{array, claim_kind::exactly, shape_of(array), {}};
    const auto named =
        std::find_if(kinds_.begin(), kinds_.end(), [&](const auto& k) { return k.first == array; });
    std::optional<claim_kind> said;
    if (named != kinds_.end())
      said = named->second;
    else if (has_point(v))
      said = otherwise_;
    if (said) result.kind = *said;
    std::vector<std::size_t> at;
    read_level(result, v, at, said.has_value());
    return result;
  }

  // Whether any number in the list has a point or an exponent: integers and fractions are exactly meant,
  // whatever others are.
  static bool has_point(const value& v) {
    if (v.type == kind::array) return std::any_of(v.items.begin(), v.items.end(), has_point);
    return (v.type == kind::number || v.type == kind::string) && v.text.find("sqrt") == std::string::npos &&
           v.text.find_first_of(".eE") != std::string::npos;
  }

  void read_level(printed_array& array, const value& v, std::vector<std::size_t>& at, bool said) const {
    const std::string place = at.empty() ? "it" : "element " + index_text(at);
    if (at.size() == array.shape.size()) {
      if (v.type != kind::number && v.type != kind::string)
        fail_array(array, place + " is " + std::string(name_of(v.type)) +
                              ": expected a number, or a string such as \"1/3\"");
      if (!said && v.type == kind::number && v.text.find_first_of(".eE") != std::string::npos)
        fail_array(array, place + " is " + v.text + ": say what its numbers are, as in \"claims\": {\"" +
                              array.name +
                              "\": \"decimal\"} (each rounded at its last digit) or \"binary64\" (each reads "
                              "back as the nearest double)");
      check_numeral(array, v, place);
      array.numerals.push_back(v.text);
      return;
    }
    const std::string wanted = "the inputs give shape " + index_text(array.shape);
    if (v.type != kind::array)
      fail_array(array, place + " is " + std::string(name_of(v.type)) + ", and " + wanted);
    if (v.items.size() != array.shape[at.size()])
      fail_array(array, place + " has " + std::to_string(v.items.size()) +
                            (v.items.size() == 1 ? " entry" : " entries") + ", and " + wanted);
    for (std::size_t i = 0; i < v.items.size(); ++i) {
      at.push_back(i);
      read_level(array, v.items[i], at, said);
      at.pop_back();
    }
  }

  void check_numeral(const printed_array& array, const value& v, const std::string& place) const {
    const std::string quoted = io::json::quote(v.text.substr(0, 40));
    try {
      switch (array.kind) {
        case claim_kind::exactly:
          if (v.text.find("sqrt") == std::string::npos)
            io::read_exact(v.text);
          else if (v.text.find(' ') != std::string::npos)
            fail_array(array, place + ": " + quoted + ": write a root as \"3/sqrt(2)\", without spaces");
          else
            parse_exact<unbounded_integer>(v.text);
          return;
        case claim_kind::decimal:
          if (!is_plain_decimal(v.text)) fail_array(array, place + ": " + quoted + " is no decimal");
          io::read_exact(v.text);
          return;
        case claim_kind::binary64:
          if (!is_plain_decimal(v.text) && !is_hexadecimal(v.text))
            fail_array(array, place + ": " + quoted + " is no binary64");
          const exact_scalar x = io::read_exact(v.text);
          const double nearest = nearest_binary64(x);
          if (std::isinf(nearest)) fail_array(array, place + ": " + quoted + " overflows binary64");
          if (is_hexadecimal(v.text) && exact_scalar(exact_value<unbounded_integer>(nearest)) != x)
            fail_array(array, place + ": " + quoted + " is no binary64: it has more than 53 bits");
          return;
      }
    } catch (const io::number_error& e) {
      fail_array(array, place + ": " + e.what());
    } catch (const std::logic_error&) {  // parse_exact()
      fail_array(array, place + ": " + quoted + " is no number: write a root as \"3/sqrt(2)\"");
    }
  }

  std::string name_;
  const io::case_batch& inputs_;
  std::optional<claim_kind> otherwise_;
  std::vector<std::pair<std::string, claim_kind>> kinds_;
};

// --- deciding ----------------------------------------------------------------------------------------------

unbounded_rational rational(const exact_scalar& x) { return exact_as<unbounded_rational>(x); }

/// A number that is known exactly, or enclosed and comparable.
struct quantity {
  std::optional<exact_surd> exact;                           // where it is algebraic
  unbounded_rational low, high;                              // low <= x <= high
  std::function<int(const unbounded_rational& y)> side;      // the sign of x - y, decided
  std::uint64_t nearest = 0;                                 // the bits of the correctly rounded binary64

  int compared_with(const unbounded_rational& y) const {
    if (low > y) return 1;
    if (high < y) return -1;
    return side(y);
  }
};

unbounded_rational ratio_of(long long n, const unbounded_integer& d) {
  return unbounded_rational(unbounded_integer(n), d);
}

quantity quantity_of(const exact_scalar& x) {
  const unbounded_rational value = rational(x);
  return {exact_surd(value), value, value,
          [value](const unbounded_rational& y) { return value < y ? -1 : value == y ? 0 : 1; },
          std::bit_cast<std::uint64_t>(nearest_binary64(x))};
}

quantity quantity_of(const exact_surd& x) {
  if (x.is_rational()) return quantity_of(simplest(x.rational_part()));
  const auto decimal = to_significant_decimal(x, 40);
  return {x, decimal.value() - decimal.unit(), decimal.value() + decimal.unit(),
          [x](const unbounded_rational& y) { return compare(x, y); },
          round_correctly(x, formats::binary64)};
}

// A weight or an output; `expression` makes it symbolically, which is asked for only where its decimal
// decides nothing.
template <class Expression>
quantity quantity_of(const reference_value& v, Expression expression) {
  if (v.exact) return quantity_of(*v.exact);
  quantity q;
  q.nearest = std::bit_cast<std::uint64_t>(v.nearest);
  q.side = [expression](const unbounded_rational& y) { return compare(expression(), y); };
  // Nearer to zero than any numeral that can be written in a file but zero: its decimal may have millions of
  // digits.
  const unbounded_rational tiny = ratio_of(1, power_of_ten<unbounded_integer>(9000));
  const auto e = v.decimal.find('e');
  const bool is_tiny = v.decimal.find_first_of("<>") != std::string::npos ||
                       (e != std::string::npos && v.decimal.size() - e > 6);
  if (is_tiny) {
    const bool negative = v.decimal.find('-') < std::min(e, v.decimal.size());
    q.low = negative ? unbounded_rational(-tiny) : unbounded_rational(0);
    q.high = negative ? unbounded_rational(0) : tiny;
  } else {
    const numeral_value d = parse_decimal<unbounded_integer>(v.decimal);
    q.low = d.value() - d.half_unit();
    q.high = d.value() + d.half_unit();
  }
  return q;
}

// x / unit, cut off toward zero.
unbounded_integer whole_units(const unbounded_rational& x, long exponent) {
  const unbounded_integer power = power_of_ten<unbounded_integer>(checked_count(exponent));
  const unbounded_integer n = exponent < 0 ? unbounded_integer(x.numerator() * power) : x.numerator();
  const unbounded_integer d = exponent < 0 ? x.denominator() : unbounded_integer(x.denominator() * power);
  return n / d;
}

std::string text_of(const numeral_value& x) {
  std::string text;
  print(text, x);
  return text;
}

std::string text_of(const unbounded_integer& significand, long exponent, bool negative) {
  return text_of(numeral_value{significand, exponent, negative});
}

// How many digits a number has before its point, or minus the zeros after it.
long leading_digits(const unbounded_rational& x) {
  long at =
      static_cast<long>(x.numerator().str().size()) - static_cast<long>(x.denominator().str().size()) - 1;
  const unbounded_rational magnitude = x < unbounded_rational(0) ? unbounded_rational(-x) : x;
  while (!whole_units(magnitude, at).is_zero()) ++at;
  return at;
}

// The leading digits of the value, to the unit 10^exponent, and whether that is all of it.
std::string leading_text(const quantity& q, long exponent) {
  if (q.exact && q.exact->is_rational()) {
    std::string full = exact_text(simplest(q.exact->rational_part()));
    if (full.find_first_of("x/") == std::string::npos && full.size() <= 40) return full;
    // A finite decimal that is no longer than the digits asked for.
    const unbounded_integer units = whole_units(q.low, exponent);
    if (numeral_value{units, exponent, false}.value() == q.low) {
      const unbounded_integer ten(10);
      unbounded_integer shorter = units;
      long at = exponent;
      while (at < 0 && shorter % ten == unbounded_integer(0)) shorter /= ten, ++at;
      return text_of(shorter, at, shorter.sign() < 0);
    }
    if (full.find('/') != std::string::npos && full.size() <= 12) return full;
  }
  // Cut off toward zero; the enclosure may begin just below the digits that its number has.
  const bool negative = q.high <= unbounded_rational(0);
  unbounded_integer units = whole_units(negative ? q.high : q.low, exponent);
  const unbounded_integer next = units + unbounded_integer(negative ? -1 : 1);
  const int beyond = q.compared_with(numeral_value{next, exponent, negative}.value());
  if (negative ? beyond <= 0 : beyond >= 0) units = next;
  return text_of(units, exponent, negative) + "…";
}

// x rounded at the unit 10^exponent; at a tie to the even multiple.
numeral_value rounded(const quantity& q, long exponent) {
  const unbounded_integer start = whole_units(q.low, exponent);
  for (int step : {0, 1, -1, 2, -2}) {
    const unbounded_integer n = start + unbounded_integer(step);
    const numeral_value candidate{n, exponent, n.sign() < 0};
    const int below = q.compared_with(candidate.value() - candidate.half_unit());
    const int above = q.compared_with(candidate.value() + candidate.half_unit());
    const bool even = unbounded_integer(n % unbounded_integer(2)).is_zero();
    if ((below > 0 || (below == 0 && even)) && (above < 0 || (above == 0 && even))) return candidate;
  }
  return {start, exponent, start.sign() < 0};
}

std::uint64_t pattern_of_numeral(const std::string& numeral) {
  const double x = nearest_binary64(io::read_exact(numeral));
  return std::bit_cast<std::uint64_t>(x == 0 && numeral.starts_with('-') ? -0.0 : x);
}

// Nothing where the numeral is right.
std::optional<wrong_number> judged(claim_kind k, const std::string& numeral, const quantity& q) {
  wrong_number wrong;
  wrong.printed = numeral;
  switch (k) {
    case claim_kind::exactly: {
      const bool is_root = numeral.find("sqrt") != std::string::npos;
      const exact_surd claimed =
          is_root ? parse_exact<unbounded_integer>(numeral) : exact_surd(rational(io::read_exact(numeral)));
      if (q.exact && *q.exact == claimed) return std::nullopt;
      wrong.exact = leading_text(q, std::min(leading_digits(q.low) - 17, 0L));
      if (wrong.exact.ends_with("…") && q.exact && q.exact->is_rational()) {
        const std::string fraction = exact_text(simplest(q.exact->rational_part()));
        if (fraction.find('x') == std::string::npos && fraction.size() <= 24) wrong.right = fraction;
      }
      return wrong;
    }
    case claim_kind::decimal: {
      const numeral_value d = parse_decimal<unbounded_integer>(numeral);
      if (q.compared_with(d.value() - d.half_unit()) >= 0 && q.compared_with(d.value() + d.half_unit()) <= 0)
        return std::nullopt;
      wrong.exact = leading_text(q, std::min(d.exponent, 0L) - 2);
      wrong.right = text_of(rounded(q, d.exponent));
      return wrong;
    }
    case claim_kind::binary64: {
      if (q.nearest == pattern_of_numeral(numeral)) return std::nullopt;
      const double right = std::bit_cast<double>(q.nearest);
      wrong.exact = leading_text(q, std::max(leading_digits(q.low) - 20, -1100L));
      if (!std::isinf(right)) wrong.right = shortest_text(right);
      return wrong;
    }
  }
  return std::nullopt;
}

/// The exact values of one example, each made when it is asked for.
class exact_values {
 public:
  exact_values(const problem& p, unsigned digits) : problem_(p), reference_(attention(p, {digits})) {}

  quantity operator()(std::string_view array, std::size_t i, std::size_t j) {
    if (array == "Q") return quantity_of(element(reference_.queries, i, j));
    if (array == "K") return quantity_of(element(reference_.keys, i, j));
    if (array == "V") return quantity_of(element(reference_.values, i, j));
    if (array == "dots") return quantity_of(element(reference_.dots, i, j));
    if (array == "scores") return quantity_of(exact_surd(head().scores(i, j)));
    if (array == "weights")
      return quantity_of(reference_.weights(i, j), [=, this] { return symbolic().row_weights()(i, j); });
    return quantity_of(reference_.output(i, j), [=, this] { return symbolic()(i, j); });
  }

 private:
  using head_outputs = outputs<unbounded_rational, dynamic, dynamic, dynamic>;

  const exact_head<unbounded_rational>& head() {
    if (!head_) head_ = exact_head_of<unbounded_rational>(problem_);
    return *head_;
  }
  const head_outputs& symbolic() {
    if (!outputs_) outputs_ = softmax(head().scores, head().visible) * head().values;
    return *outputs_;
  }

  const problem& problem_;
  attention_reference reference_;
  std::optional<exact_head<unbounded_rational>> head_;
  std::optional<head_outputs> outputs_;
};

std::size_t longest_numeral(const std::vector<printed_array>& printed) {
  std::size_t longest = 0;
  for (const printed_array& array : printed)
    for (const std::string& numeral : array.numerals) longest = std::max(longest, numeral.size());
  return longest;
}

}  // namespace

std::string_view name_of(claim_kind k) {
  switch (k) {
    case claim_kind::exactly: return "exactly";
    case claim_kind::decimal: return "decimal";
    case claim_kind::binary64: return "binary64";
  }
  return "";
}

std::optional<claim_kind> claim_kind_of(std::string_view word) {
  for (const claim_kind k : {claim_kind::exactly, claim_kind::decimal, claim_kind::binary64})
    if (word == name_of(k)) return k;
  return std::nullopt;
}

std::vector<printed_array> read_claims(const value& root, std::string_view name, const io::case_batch& inputs,
                                       std::optional<claim_kind> otherwise) {
  return reader(name, inputs, otherwise).read(root);
}

std::string wrong_number::message() const {
  return place + ": printed " + printed + ", exact " + exact +
         (right.empty() || right == exact ? "" : ": write " + right);
}

std::vector<wrong_number> wrong_numbers(const io::case_batch& inputs,
                                        const std::vector<printed_array>& printed,
                                        const std::function<void(std::size_t, std::size_t)>& progress) {
  // Enough digits to tell most numerals from the value without its symbolic form.
  const auto digits = static_cast<unsigned>(std::max<std::size_t>(40, longest_numeral(printed) + 12));
  std::vector<std::vector<wrong_number>> of_array(printed.size());
  for (std::size_t b = 0; b < inputs.examples.size(); ++b) {
    exact_values values(inputs.examples[b], digits);
    for (std::size_t a = 0; a < printed.size(); ++a) {
      const printed_array& array = printed[a];
      for (std::size_t i = 0; i < array.rows(); ++i)
        for (std::size_t j = 0; j < array.columns(); ++j) {
          auto wrong = judged(array.kind, array.numeral(b, i, j), values(array.name, i, j));
          if (!wrong) continue;
          const auto in_brackets = [](std::size_t n) { return '[' + std::to_string(n) + ']'; };
          wrong->place =
              array.name + (inputs.is_batch() ? in_brackets(b) : "") + in_brackets(i) + in_brackets(j);
          of_array[a].push_back(std::move(*wrong));
        }
    }
    if (progress) progress(b + 1, inputs.examples.size());
  }
  std::vector<wrong_number> all;
  for (auto& each : of_array) all.insert(all.end(), each.begin(), each.end());
  return all;
}

}  // namespace attest::prove
