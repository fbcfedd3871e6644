#include <attest/io/case_file.hpp>

#include <attest/io/attention_arrays.hpp>
#include <attest/io/input_error.hpp>
#include <attest/io/near_name.hpp>
#include <attest/problem/shape_text.hpp>
#include <attest/reference/rounded.hpp>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <type_traits>

namespace attest::io {

namespace {

using json::kind;
using json::value;

constexpr std::array<std::string_view, 19> known_keys = {
    "version", "provenance", "positions", "X",    "Y",     "WQ",         "WK",        "WV",
    "Q",       "K",          "V",         "mask", "scale", "derivation", "tolerance", "display_decimals",
    "attest",  "expected",   "claims"};
constexpr std::array<std::string_view, 5> kept_keys = {"provenance", "positions", "derivation", "tolerance",
                                                       "display_decimals"};

const value* kept_value(const std::vector<std::pair<std::string, value>>& kept, std::string_view key) {
  for (const auto& [name, content] : kept)
    if (name == key) return &content;
  return nullptr;
}

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

  case_batch read(const value& root) const {
    if (root.type != kind::object)
      fail("the file holds " + std::string(name_of(root.type)) +
           ": expected an object with X, WQ, WK and WV, or Q, K and V");
    check_keys(root);
    check_version(root);

    case_batch result;
    for (const auto key : kept_keys)
      if (const value* v = root.find(key)) result.kept.emplace_back(key, *v);
    read_inputs(root, exact_inputs(root), result);
    if (const value* scale = root.find("scale")) {
      const exact_scalar factor = read_scale(*scale);
      for (attest::problem& p : result.examples) p.scale = factor;
    }
    extents common{};
    for (std::size_t b = 0; b < result.examples.size(); ++b) {
      try {
        common = checked_extents(result.examples[b]);
      } catch (const problem_error& e) {
        fail((result.is_batch() ? example_name(b) : "") + e.what());
      }
    }
    check_descriptions(result, common);
    return result;
  }

 private:
  void check_keys(const value& root) const {
    for (const std::string& key : root.keys) {
      if (std::find(known_keys.begin(), known_keys.end(), key) != known_keys.end()) continue;
      fail(unknown_key(key));
    }
  }

  void check_version(const value& root) const {
    const value* version = root.find("version");
    if (version != nullptr && (version->type != kind::string || version->text != "attention-v1"))
      fail("version is " + json::write(*version) + ": expected \"attention-v1\"");
  }

  static std::string example_name(std::size_t b) { return "example " + std::to_string(b) + ": "; }

  // One matrix for all examples, or one for each of them.
  template <class Matrix>
  struct input_array {
    std::vector<Matrix> examples;
    bool leading_level = false;

    const Matrix& of(std::size_t b) const { return examples[leading_level ? b : 0]; }
  };

  void read_inputs(const value& root, const value* exact, case_batch& result) const {
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

    // The first array of the inputs says whether they are a batch, and of how many.
    const std::string_view first = direct.empty() ? "X" : "Q";
    std::size_t count = 1;
    const auto join = [&](std::string_view key, bool leading_level, std::size_t examples) {
      if (!leading_level) return;
      if (key == first)
        count = examples;
      else if (!result.is_batch())
        fail(key, "it has a leading list level, for a batch, and " + std::string(first) + " has none: give " +
                      std::string(first) + " one, too");
      else if (examples != count)
        fail(key, "it has " + std::to_string(examples) + " examples and " + std::string(first) + " has " +
                      std::to_string(count) + ": give as many, or one matrix for all");
      result.per_example.emplace_back(key);
    };
    const auto array = [&](std::string_view key) {
      const value* v = root.find(key);
      if (v == nullptr) fail(key, "it is missing: give X, WQ, WK and WV, or Q, K and V");
      auto a = read_input(key, *v, exact);
      join(key, a.leading_level, a.examples.size());
      return a;
    };
    if (!direct.empty()) {
      const auto q = array("Q"), k = array("K"), v = array("V");
      for (std::size_t b = 0; b < count; ++b)
        result.examples.push_back({head_inputs{q.of(b), k.of(b), v.of(b)}, {}, {}});
    } else {
      const auto x = array("X");
      std::optional<input_array<exact_matrix>> y;
      if (root.find("Y") != nullptr) y = array("Y");
      const auto wq = array("WQ"), wk = array("WK"), wv = array("WV");
      for (std::size_t b = 0; b < count; ++b)
        result.examples.push_back({projected_inputs{x.of(b), y ? std::optional(y->of(b)) : std::nullopt,
                                                    wq.of(b), wk.of(b), wv.of(b)},
                                   {},
                                   {}});
    }
    if (const value* v = root.find("mask")) {
      const auto mask = read_mask(*v);
      join("mask", mask.leading_level, mask.examples.size());
      for (std::size_t b = 0; b < count; ++b) result.examples[b].mask = mask.of(b);
    }
  }

  // A matrix, or a list of matrices of one shape: `read` reads one, with what it is called in messages.
  template <class Matrix, class Read>
  input_array<Matrix> read_examples(std::string_view array, const value& v, Read read) const {
    const auto first_item = [](const value& list) {
      return list.type == kind::array && !list.items.empty() ? &list.items[0] : nullptr;
    };
    const value* row = first_item(v);
    const value* item = row == nullptr ? nullptr : first_item(*row);
    input_array<Matrix> result;
    result.leading_level = item != nullptr && item->type == kind::array;
    if (!result.leading_level) {
      result.examples.push_back(read(v, std::string()));
      return result;
    }
    const auto shape_of = [](const Matrix& m) {
      if constexpr (std::is_same_v<Matrix, exact_matrix>)
        return shape_text(std::array{rows(m), columns(m)});
      else
        return shape_text(std::array{m.rows(), m.columns()});
    };
    for (std::size_t b = 0; b < v.items.size(); ++b) {
      result.examples.push_back(read(v.items[b], example_name(b)));
      if (shape_of(result.examples[b]) != shape_of(result.examples[0]))
        fail(array, "example " + std::to_string(b) + " has shape " + shape_of(result.examples[b]) +
                        " and example 0 has " + shape_of(result.examples[0]) +
                        ": give all examples of a batch one shape");
    }
    return result;
  }

  // Rows of equal length, each element handed to `read` with its place.
  template <class Read>
  void read_rows(std::string_view array, const std::string& example, const value& v, std::size_t& rows,
                 std::size_t& columns, Read read) const {
    const std::string remedy = array == "mask"
                                   ? ": expected a list of rows, such as [[true, false], [true, true]]"
                                   : ": expected a list of rows, such as [[1, 0], [0, 1]]";
    if (v.type != kind::array)
      fail(array, example + "it is " + std::string(name_of(v.type)) + remedy);
    if (v.items.empty()) fail(array, example + "it is empty: give at least one row");
    rows = v.items.size();
    for (std::size_t i = 0; i < rows; ++i) {
      const value& row = v.items[i];
      const std::string row_name = "row " + std::to_string(i);
      if (row.type != kind::array)
        fail(array, example + row_name + " is " + std::string(name_of(row.type)) + remedy);
      if (row.items.empty())
        fail(array, example + row_name + " is empty: give at least one element in each row");
      if (i == 0) columns = row.items.size();
      if (row.items.size() != columns)
        fail(array, example + row_name + " has " + std::to_string(row.items.size()) +
                        " elements and row 0 has " + std::to_string(columns) +
                        ": make all rows equally long");
      for (std::size_t j = 0; j < columns; ++j) read(i, j, row.items[j]);
    }
  }

  static std::string place(std::size_t i, std::size_t j) {
    return "element [" + std::to_string(i) + ", " + std::to_string(j) + ']';
  }

  exact_scalar read_scalar(const value& v, decimals meaning) const {
    return v.type == kind::string ? read_exact(v.text) : read_number(v.text, meaning);
  }

  input_array<exact_matrix> read_array(std::string_view array, const value& v, decimals meaning) const {
    return read_examples<exact_matrix>(array, v, [&](const value& one, const std::string& example) {
      return read_matrix(array, example, one, meaning);
    });
  }
  exact_matrix read_matrix(std::string_view array, const std::string& example, const value& v,
                           decimals meaning) const {
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::vector<exact_scalar> elements;
    read_rows(array, example, v, rows, columns, [&](std::size_t i, std::size_t j, const value& item) {
      const std::string at = example + place(i, j);
      if (item.type == kind::array)
        fail(array, at + " is a list: expected two levels of lists, the rows of one matrix" +
                        (example.empty() ? ""
                                         : ", in each example; heads, [B, H, T, d], are read as arrays: give "
                                           "attest reference an option of attention, such as --output-dtype "
                                           "binary64, or an output that is no JSON"));
      if (item.type != kind::number && item.type != kind::string)
        fail(array, at + " is " + std::string(name_of(item.type)) +
                        ": expected a number, or a string such as \"1/3\"");
      try {
        elements.push_back(read_scalar(item, meaning));
      } catch (const number_error& e) {
        fail(array, at + ": " + e.what());
      }
    });
    return make_exact_matrix(rows, columns, elements);
  }

  // An array of the file; where attest wrote the exact elements down as well, those, if they round to what
  // the array has.
  input_array<exact_matrix> read_input(std::string_view key, const value& v, const value* exact) const {
    const value* exact_array = exact == nullptr ? nullptr : exact->find(key);
    if (exact_array == nullptr) return read_array(key, v, meaning_);
    const auto shown = read_array(key, v, decimals::nearest_binary64);
    auto kept = read_array("attest.inputs." + std::string(key), *exact_array, decimals::exact);
    if (shown.leading_level != kept.leading_level || shown.examples.size() != kept.examples.size() ||
        rows(shown.of(0)) != rows(kept.of(0)) || columns(shown.of(0)) != columns(kept.of(0)))
      fail(key, "it and attest.inputs." + std::string(key) +
                    " have different shapes: remove the block \"attest\"");
    for (std::size_t e = 0; e < kept.examples.size(); ++e)
      for (std::size_t i = 0; i < rows(kept.of(e)); ++i)
        for (std::size_t j = 0; j < columns(kept.of(e)); ++j) {
          const exact_scalar a = element(shown.of(e), i, j);
          const exact_scalar b = element(kept.of(e), i, j);
          if (a != b && nearest_binary64(a) != nearest_binary64(b))
            fail(key, (kept.leading_level ? example_name(e) : "") + place(i, j) +
                          " is not what attest.inputs." + std::string(key) +
                          " rounds to: remove the block \"attest\"");
        }
    return kept;
  }

  const value* exact_inputs(const value& root) const {
    const value* block = root.find("attest");
    if (block == nullptr) return nullptr;
    if (block->type != kind::object)
      fail("attest is " + std::string(name_of(block->type)) +
           ": expected the block that attest reference writes, or none");
    const value* exact = block->find("inputs");
    if (exact == nullptr) return nullptr;
    if (exact->type != kind::object)
      fail("attest.inputs is " + std::string(name_of(exact->type)) +
           ": expected the block that attest reference writes");
    return exact;
  }

  input_array<matrix<bool>> read_mask(const value& v) const {
    return read_examples<matrix<bool>>(
        "mask", v, [&](const value& one, const std::string& example) { return read_mask(one, example); });
  }
  matrix<bool> read_mask(const value& v, const std::string& example) const {
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::vector<bool> elements;
    read_rows("mask", example, v, rows, columns, [&](std::size_t i, std::size_t j, const value& item) {
      if (item.type != kind::boolean)
        fail("mask", example + place(i, j) + " is " + std::string(name_of(item.type)) +
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

  void check_descriptions(const case_batch& file, const extents& e) const {
    const auto require = [&](std::string_view key, kind type, const char* expected) {
      const value* v = kept_value(file.kept, key);
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
    if (places != nullptr &&
        (places->text.size() > 4 || places->text.find_first_not_of("0123456789") != std::string::npos ||
         std::stoi(places->text) > 1000))
      fail("display_decimals is " + places->text + ": expected a whole number from 0 to 1000");
    const value* positions = require("positions", kind::array, "a list with a name for each query");
    if (positions == nullptr) return;
    // For a batch, one list for all examples or one for each.
    const bool nested =
        file.is_batch() && !positions->items.empty() && positions->items[0].type == kind::array;
    if (!nested) return check_positions(*positions, "positions", e.queries);
    if (positions->items.size() != file.examples.size())
      fail("positions has " + std::to_string(positions->items.size()) + " lists for " +
           std::to_string(file.examples.size()) + " examples: give one for each, or one for all");
    for (std::size_t b = 0; b < positions->items.size(); ++b)
      check_positions(positions->items[b], "positions of example " + std::to_string(b), e.queries);
  }

  void check_positions(const value& positions, const std::string& what, std::size_t queries) const {
    if (positions.type != kind::array)
      fail(what + ": it is " + std::string(name_of(positions.type)) +
           ": expected a list with a name for each query");
    for (const value& position : positions.items)
      if (position.type != kind::string)
        fail(what + " holds " + std::string(name_of(position.type)) + ": expected a list of strings");
    if (positions.items.size() != queries)
      fail(what + " has " + std::to_string(positions.items.size()) + " names for " + std::to_string(queries) +
           " queries: give one for each");
  }

  std::string name_;
  decimals meaning_;
};

// Names that a case of arrays has, and one of exact arithmetic has not.
constexpr std::array<std::string_view, 4> array_keys = {"bias", "sinks", "alibi_slopes", "key_lengths"};

}  // namespace

bool is_case_key(std::string_view key) {
  return std::find(known_keys.begin(), known_keys.end(), key) != known_keys.end();
}

std::string unknown_key(std::string_view key) {
  const std::string begin = "the key " + json::quote(key) + " is not known: ";
  std::string_view meant = nearest_name(key, known_keys);
  if (meant.empty()) meant = nearest_name(key, option_names());
  if (meant.empty()) return begin + "remove it, or say it under \"provenance\"";
  const bool of_arrays = std::find(array_keys.begin(), array_keys.end(), meant) != array_keys.end();
  if (meant == key && of_arrays)
    return begin +
           "it is read with arrays: give attest reference an option of attention, such as --output-dtype "
           "binary64, or an output that is no JSON";
  if (meant == key)
    return begin + "it is an option: give it to attest reference as " + option_on_command_line(meant) +
           ", or in the file of --options";
  return begin + "did you mean \"" + std::string(meant) + "\"?";
}

const json::value* case_file::find_kept(std::string_view key) const { return kept_value(kept, key); }

bool case_batch::has_leading_level(std::string_view array) const {
  return std::find(per_example.begin(), per_example.end(), array) != per_example.end();
}

case_batch read_batch(const json::value& root, std::string_view name, decimals meaning) {
  return reader(name, meaning).read(root);
}
case_batch read_batch(std::string_view text, std::string_view name, decimals meaning) {
  return read_batch(reader(name, meaning).parse(text), name, meaning);
}

case_file read_case(const json::value& root, std::string_view name, decimals meaning) {
  const case_batch all = read_batch(root, name, meaning);
  if (all.is_batch())
    throw input_error(std::string(name) + ": array " + all.per_example[0] +
                      ": it has a leading list level, for a batch: this command takes one example at a time");
  return all.example(0);
}
case_file read_case(std::string_view text, std::string_view name, decimals meaning) {
  return read_case(reader(name, meaning).parse(text), name, meaning);
}

}  // namespace attest::io
