#include <attest/io/case_file.hpp>

#include <attest/io/input_error.hpp>
#include <attest/reference/rounded.hpp>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>

namespace attest::io {

namespace {

using json::kind;
using json::value;

constexpr std::array<std::string_view, 18> known_keys = {
    "version", "provenance", "positions", "X",     "Y",          "WQ",        "WK",               "WV",     "Q",
    "K",       "V",          "mask",      "scale", "derivation", "tolerance", "display_decimals", "attest", "expected"};
constexpr std::array<std::string_view, 5> kept_keys = {"provenance", "positions", "derivation", "tolerance",
                                                       "display_decimals"};

class reader {
 public:
  reader(std::string_view name, decimals meaning) : name_(name), meaning_(meaning) {}

  [[noreturn]] void fail(const std::string& message) const { throw input_error(name_ + ": " + message); }
  [[noreturn]] void fail(std::string_view array, const std::string& message) const {
    fail("array " + std::string(array) + ": " + message);
  }

  value parse(std::string_view text) const {
    try {
      return json::parse(text);
    } catch (const json::syntax_error& e) {
      fail(e.what());
    }
  }

  case_file read(const value& root) const {
    if (root.type != kind::object)
      fail("the file holds " + std::string(name_of(root.type)) + ": expected an object with X, WQ, WK and WV, or Q, K and V");
    check_keys(root);
    check_version(root);

    case_file result;
    for (const auto key : kept_keys)
      if (const value* v = root.find(key)) result.kept.emplace_back(key, *v);
    const value* exact = exact_inputs(root);
    result.problem.inputs = inputs(root, exact);
    if (const value* mask = root.find("mask")) result.problem.mask = read_mask(*mask);
    if (const value* scale = root.find("scale")) result.problem.scale = read_scale(*scale);
    try {
      check_descriptions(result, checked_extents(result.problem));
    } catch (const problem_error& e) {
      fail(e.what());
    }
    return result;
  }

 private:
  void check_keys(const value& root) const {
    for (const std::string& key : root.keys) {
      if (std::find(known_keys.begin(), known_keys.end(), key) != known_keys.end()) continue;
      const std::string_view meant = nearest_key(key);
      fail("the key " + json::quote(key) + " is not known: " +
           (meant.empty() ? "remove it, or say it under \"provenance\"" : "did you mean \"" + std::string(meant) + "\"?"));
    }
  }

  // The known key that differs in case alone, or by one character.
  static std::string_view nearest_key(const std::string& key) {
    const auto lower = [](std::string_view text) {
      std::string result(text);
      for (char& c : result)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
      return result;
    };
    std::string letters = lower(key);
    std::erase_if(letters, [](char c) { return c == '_' || c == '-' || c == ' '; });
    const auto near = [&](std::string_view known) {
      std::string other = lower(known);
      std::erase(other, '_');
      if (letters == other) return true;
      if (other.size() < 4) return false;  // X and Y, Q and K are one character apart
      const auto same = [&](std::size_t skip_a, std::size_t skip_b) {
        std::size_t at = 0;
        while (at < letters.size() && at < other.size() && letters[at] == other[at]) ++at;
        return std::string_view(letters).substr(std::min(at + skip_a, letters.size())) ==
               std::string_view(other).substr(std::min(at + skip_b, other.size()));
      };
      return same(1, 1) || same(1, 0) || same(0, 1);
    };
    for (const auto known : known_keys)
      if (near(known)) return known;
    return {};
  }

  void check_version(const value& root) const {
    const value* version = root.find("version");
    if (version != nullptr && (version->type != kind::string || version->text != "attention-v1"))
      fail("version is " + json::write(*version) + ": expected \"attention-v1\"");
  }

  std::variant<projected_inputs, head_inputs> inputs(const value& root, const value* exact) const {
    const auto first_of = [&](std::initializer_list<std::string_view> keys) {
      for (const auto key : keys)
        if (root.find(key) != nullptr) return key;
      return std::string_view();
    };
    const auto projected = first_of({"X", "WQ", "WK", "WV", "Y"});
    const auto direct = first_of({"Q", "K", "V"});
    if (!projected.empty() && !direct.empty())
      fail("arrays " + std::string(projected) + " and " + std::string(direct) +
           " are both given: give either X, WQ, WK and WV (with Y for cross-attention), or Q, K and V");
    const auto array = [&](std::string_view key) {
      const value* v = root.find(key);
      if (v == nullptr) fail(key, "it is missing: give X, WQ, WK and WV, or Q, K and V");
      return read_input(key, *v, exact);
    };
    if (!direct.empty()) {
      exact_matrix q = array("Q"), k = array("K"), v = array("V");
      return head_inputs{std::move(q), std::move(k), std::move(v)};
    }
    exact_matrix x = array("X");
    std::optional<exact_matrix> y;
    if (root.find("Y") != nullptr) y = array("Y");
    exact_matrix wq = array("WQ"), wk = array("WK"), wv = array("WV");
    return projected_inputs{std::move(x), std::move(y), std::move(wq), std::move(wk), std::move(wv)};
  }

  // Rows of equal length, each element handed to `read` with its place.
  template <class Read>
  void read_rows(std::string_view array, const value& v, std::size_t& rows, std::size_t& columns, Read read) const {
    if (v.type != kind::array)
      fail(array, "it is " + std::string(name_of(v.type)) + ": expected a list of rows, such as [[1, 0], [0, 1]]");
    if (v.items.empty()) fail(array, "it is empty: give at least one row");
    rows = v.items.size();
    for (std::size_t i = 0; i < rows; ++i) {
      const value& row = v.items[i];
      const std::string row_name = "row " + std::to_string(i);
      if (row.type != kind::array)
        fail(array, row_name + " is " + std::string(name_of(row.type)) + ": expected a list of rows, such as [[1, 0], [0, 1]]");
      if (row.items.empty()) fail(array, row_name + " is empty: give at least one element in each row");
      if (i == 0) columns = row.items.size();
      if (row.items.size() != columns)
        fail(array, row_name + " has " + std::to_string(row.items.size()) + " elements and row 0 has " +
                        std::to_string(columns) + ": make all rows equally long");
      for (std::size_t j = 0; j < columns; ++j) read(i, j, row.items[j]);
    }
  }

  static std::string place(std::size_t i, std::size_t j) {
    return "element [" + std::to_string(i) + ", " + std::to_string(j) + ']';
  }

  exact_scalar read_scalar(const value& v, decimals meaning) const {
    return v.type == kind::string ? read_exact(v.text) : read_number(v.text, meaning);
  }

  exact_matrix read_array(std::string_view array, const value& v, decimals meaning) const {
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::vector<exact_scalar> elements;
    read_rows(array, v, rows, columns, [&](std::size_t i, std::size_t j, const value& item) {
      if (item.type == kind::array)
        fail(array, place(i, j) + " is a list: expected two levels of lists, the rows of one matrix");
      if (item.type != kind::number && item.type != kind::string)
        fail(array, place(i, j) + " is " + std::string(name_of(item.type)) + ": expected a number, or a string such as \"1/3\"");
      try {
        elements.push_back(read_scalar(item, meaning));
      } catch (const number_error& e) {
        fail(array, place(i, j) + ": " + e.what());
      }
    });
    return make_exact_matrix(rows, columns, elements);
  }

  // An array of the file; where attest wrote the exact elements down as well, those, if they round to what the array has.
  exact_matrix read_input(std::string_view key, const value& v, const value* exact) const {
    const value* exact_array = exact == nullptr ? nullptr : exact->find(key);
    if (exact_array == nullptr) return read_array(key, v, meaning_);
    const exact_matrix shown = read_array(key, v, decimals::nearest_binary64);
    exact_matrix kept = read_array("attest.inputs." + std::string(key), *exact_array, decimals::exact);
    if (rows(shown) != rows(kept) || columns(shown) != columns(kept))
      fail(key, "it and attest.inputs." + std::string(key) + " have different shapes: remove the block \"attest\"");
    for (std::size_t i = 0; i < rows(kept); ++i)
      for (std::size_t j = 0; j < columns(kept); ++j) {
        const exact_scalar a = element(shown, i, j);
        const exact_scalar b = element(kept, i, j);
        if (a != b && nearest_binary64(a) != nearest_binary64(b))
          fail(key, place(i, j) + " is not what attest.inputs." + std::string(key) + " rounds to: remove the block \"attest\"");
      }
    return kept;
  }

  const value* exact_inputs(const value& root) const {
    const value* block = root.find("attest");
    if (block == nullptr) return nullptr;
    if (block->type != kind::object)
      fail("attest is " + std::string(name_of(block->type)) + ": expected the block that attest reference writes, or none");
    const value* exact = block->find("inputs");
    if (exact == nullptr) return nullptr;
    if (exact->type != kind::object)
      fail("attest.inputs is " + std::string(name_of(exact->type)) + ": expected the block that attest reference writes");
    return exact;
  }

  matrix<bool> read_mask(const value& v) const {
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::vector<bool> elements;
    read_rows("mask", v, rows, columns, [&](std::size_t i, std::size_t j, const value& item) {
      if (item.type != kind::boolean)
        fail("mask", place(i, j) + " is " + std::string(name_of(item.type)) +
                         ": expected true where the query sees the key, and false where it does not");
      elements.push_back(item.truth);
    });
    matrix<bool> mask(rows, columns);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) mask(i, j) = elements[i * columns + j];
    return mask;
  }

  exact_scalar read_scale(const value& v) const {
    if (v.type != kind::number && v.type != kind::string)
      fail("scale is " + std::string(name_of(v.type)) + ": expected a number, or a string such as \"1/8\"");
    try {
      return read_scalar(v, meaning_);
    } catch (const number_error& e) {
      fail(std::string("scale: ") + e.what());
    }
  }

  void check_descriptions(const case_file& file, const extents& e) const {
    const auto require = [&](std::string_view key, kind type, const char* expected) {
      const value* v = file.find_kept(key);
      if (v != nullptr && v->type != type)
        fail(std::string(key) + " is " + std::string(name_of(v->type)) + ": expected " + expected);
      return v;
    };
    require("provenance", kind::string, "a string");
    require("derivation", kind::string, "a string");
    const value* tolerance = require("tolerance", kind::number, "a number that is not negative");
    if (tolerance != nullptr && tolerance->text.starts_with('-'))
      fail("tolerance is " + tolerance->text + ": expected a number that is not negative");
    const value* places = require("display_decimals", kind::number, "a whole number from 0 to 1000");
    if (places != nullptr && (places->text.size() > 4 || places->text.find_first_not_of("0123456789") != std::string::npos ||
                              std::stoi(places->text) > 1000))
      fail("display_decimals is " + places->text + ": expected a whole number from 0 to 1000");
    const value* positions = require("positions", kind::array, "a list with a name for each query");
    if (positions == nullptr) return;
    for (const value& position : positions->items)
      if (position.type != kind::string)
        fail("positions holds " + std::string(name_of(position.type)) + ": expected a list of strings");
    if (positions->items.size() != e.queries)
      fail("positions has " + std::to_string(positions->items.size()) + " names for " + std::to_string(e.queries) +
           " queries: give one for each");
  }

  std::string name_;
  decimals meaning_;
};

}  // namespace

const json::value* case_file::find_kept(std::string_view key) const {
  for (const auto& [name, content] : kept)
    if (name == key) return &content;
  return nullptr;
}

case_file read_case(std::string_view text, std::string_view name, decimals meaning) {
  const reader r(name, meaning);
  return r.read(r.parse(text));
}

case_file read_case(const json::value& root, std::string_view name, decimals meaning) {
  return reader(name, meaning).read(root);
}

}  // namespace attest::io
