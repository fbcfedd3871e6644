#include <attest/io/expected_arrays.hpp>

#include <attest/io/input_error.hpp>
#include <attest/io/number.hpp>
#include <attest/reference/rounded.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace attest::io {

namespace {

using json::kind;
using json::value;

// NaN or an infinity, if the text is a word for one.
std::optional<double> not_finite_word(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  const bool negative = lower.starts_with('-');
  if (negative || lower.starts_with('+')) lower.erase(0, 1);
  if (lower == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (lower != "inf" && lower != "infinity") return std::nullopt;
  return negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
}

class reader {
 public:
  reader(std::string_view file, const std::string& name) : file_(file), name_(name) {}

  exact_array read(const value& v) {
    if (v.type != kind::array)
      fail("it is " + std::string(json::name_of(v.type)) +
           ": expected a list of rows, such as [[1, 0], [0, 1]]");
    for (const value* level = &v; level->type == kind::array; level = &level->items[0]) {
      if (level->items.empty())
        fail(result_.shape.empty() ? "it is empty: give at least one row"
                                   : place() + " is empty: give each list an element");
      result_.shape.push_back(level->items.size());
      at_.push_back(0);
    }
    at_.clear();
    read_level(v);
    return std::move(result_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw input_error(file_ + ": array " + name_ + ": " + message);
  }

  std::string place() const { return (at_.size() == 1 ? "row " : "list ") + bare_place(); }
  std::string bare_place() const { return at_.size() == 1 ? std::to_string(at_[0]) : shape_text(at_); }

  void read_level(const value& v) {
    const std::size_t level = at_.size();
    const bool is_list = v.type == kind::array;
    if (level == result_.shape.size()) {
      if (is_list)
        fail("element " + shape_text(at_) + " is a list, and the first one is none: nest all alike");
      read_element(v);
      return;
    }
    if (!is_list)
      fail(place() + " is " + std::string(json::name_of(v.type)) +
           ", and the first one is a list: nest all alike");
    if (v.items.size() != result_.shape[level]) {
      const std::vector<std::size_t> first(level, 0);
      const std::string first_place = level == 1 ? "row 0" : "list " + shape_text(first);
      fail(place() + " has " + std::to_string(v.items.size()) + " elements and " + first_place + " has " +
           std::to_string(result_.shape[level]) + ": make all rows equally long");
    }
    for (std::size_t i = 0; i < v.items.size(); ++i) {
      at_.push_back(i);
      read_level(v.items[i]);
      at_.pop_back();
    }
  }

  void read_element(const value& v) {
    const std::string element = "element " + shape_text(at_);
    if (v.type == kind::null)
      fail(element + " is null, which may stand for NaN or for infinity: write NaN, Infinity or -Infinity");
    if (v.type != kind::number && v.type != kind::string)
      fail(element + " is " + std::string(json::name_of(v.type)) + ": expected a number");
    if (const auto word = not_finite_word(v.text)) {
      result_.values.push_back(*word);
      return;
    }
    try {
      append(v.type == kind::string ? read_exact(v.text) : read_number(v.text, decimals::nearest_binary64),
             v.text.starts_with('-'));
    } catch (const binary64_overflow&) {
      fail(element + ": \"" + v.text.substr(0, 40) +
           "\" overflows binary64: write Infinity, or the exact number as a string");
    } catch (const number_error& e) {
      fail(element + ": " + e.what());
    }
  }

  void append(const exact_scalar& x, bool negative) {
    const double nearest = nearest_binary64(x);
    const bool is_binary64 =
        std::isfinite(nearest) && exact_scalar(exact_value<unbounded_integer>(nearest)) == x;
    if (!is_binary64) result_.beyond.emplace(result_.values.size(), x);
    result_.values.push_back(nearest == 0 && negative ? -0.0 : nearest);
  }

  std::string file_;
  std::string name_;
  exact_array result_;
  std::vector<std::size_t> at_;  // the index of what is being read
};

}  // namespace

json::value read_attention_v1(std::string_view text, std::string_view name) {
  const auto fail = [&](const std::string& message) {
    throw input_error(std::string(name) + ": " + message);
  };
  json::value root;
  try {
    root = json::parse(text, json::not_finite::kept);
  } catch (const json::syntax_error& e) {
    fail(e.what());
  }
  if (root.type != kind::object)
    fail("the file holds " + std::string(json::name_of(root.type)) +
         R"(: expected an object, such as {"expected": {"output": [[1, 0], [0, 1]]}})");
  const value* version = root.find("version");
  if (version != nullptr && (version->type != kind::string || version->text != "attention-v1"))
    fail("version is " + json::write(*version) + ": expected \"attention-v1\"");
  return root;
}

exact_array read_array(const json::value& v, std::string_view file, const std::string& array) {
  return reader(file, array).read(v);
}

bool has_inputs(const json::value& root) {
  constexpr std::array<std::string_view, 8> inputs = {"X", "Y", "WQ", "WK", "WV", "Q", "K", "V"};
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](std::string_view key) { return root.find(key) != nullptr; });
}

std::vector<expected_array> read_expected(const json::value& root, std::string_view name,
                                          std::string_view remedy) {
  const auto fail = [&](const std::string& message) {
    throw input_error(std::string(name) + ": " + message);
  };
  const value* expected = root.find("expected");
  if (expected == nullptr)
    fail("the key \"expected\", which holds the arrays, is missing: " + std::string(remedy));
  if (expected->type != kind::object)
    fail("expected is " + std::string(json::name_of(expected->type)) +
         R"(: expected an object of arrays, such as {"output": [[1, 0], [0, 1]]})");
  if (expected->items.empty()) fail("expected holds no array: " + std::string(remedy));
  std::vector<expected_array> arrays;
  for (std::size_t i = 0; i < expected->items.size(); ++i)
    arrays.push_back(
        {expected->keys[i], read_array(expected->items[i], name, "expected." + expected->keys[i])});
  return arrays;
}

}  // namespace attest::io
