#include "array_layout.hpp"

#include <attest/io/case_file.hpp>
#include <attest/io/expected_arrays.hpp>
#include <attest/io/input_error.hpp>
#include <attest/io/json.hpp>
#include <attest/io/number.hpp>
#include <attest/reference/number_text.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

// JSON and C++ headers: arrays as text.
namespace attest::io {

namespace {

constexpr std::array<std::string_view, 13> inputs = {
    "X", "Y", "WQ", "WK", "WV", "Q", "K", "V", "mask", "bias", "sinks", "alibi_slopes", "key_lengths"};

// Whether a case of arrays may have it at the top level.
bool is_input(std::string_view key) {
  if (std::find(inputs.begin(), inputs.end(), key) != inputs.end()) return true;
  for (const std::string_view ending : {"_scale", "_descale", "_zero"})
    if (key.ends_with(ending))
      return std::find(inputs.begin(), inputs.begin() + 8, key.substr(0, key.size() - ending.size())) !=
             inputs.begin() + 8;
  return false;
}

class json_file final : public array_file {
 public:
  json_file(std::string_view text, const std::string& name) : root_(read_attention_v1(text, name)) {
    name_ = name;
    for (std::size_t i = 0; i < root_.keys.size(); ++i) {
      const std::string& key = root_.keys[i];
      if (key == "scale")
        case_options_ = "{\"scale\": " + json::write(root_.items[i]) + "}";
      else if (!is_case_key(key) && !is_input(key))
        unknown_keys_.push_back(key);
      if (key.ends_with("_scale") || key.ends_with("_zero") || key.ends_with("_descale"))
        if (is_input(key)) add(key, root_.items[i]);
    }
    for (const std::string_view key : inputs)
      if (const json::value* v = root_.find(key)) add(std::string(key), *v);
    const json::value* attest = root_.find("attest");
    if (attest != nullptr && attest->type == json::kind::object) {
      exact_inputs_ = attest->find("inputs");
      if (attest->find("options") != nullptr) provenance_ = json::write(*attest);
    }
    // What stands under `expected` is no input: where there are inputs of that name, it has another.
    const bool projected = root_.find("X") != nullptr;
    const json::value* expected = root_.find("expected");
    if (expected != nullptr && expected->type == json::kind::object)
      for (std::size_t i = 0; i < expected->keys.size(); ++i) {
        const std::string& key = expected->keys[i];
        const bool taken = projected ? key == "Q" || key == "K" || key == "V" : find(key) != nullptr;
        add(taken ? "expected." + key : key, expected->items[i]);
      }
  }

 private:
  void add(const std::string& name, const json::value& v) {
    array_info info{name, dtype::binary64, {}, false};
    const json::value* level = &v;
    for (; level->type == json::kind::array; level = &level->items[0]) {
      info.shape.push_back(level->items.size());
      if (level->items.empty()) break;
    }
    if (level->type == json::kind::boolean) info.type = dtype::boolean;
    if (find(name) != nullptr) return;
    arrays_.push_back(info);
    values_.push_back(&v);
  }

  host_array load_at(std::size_t index) const override {
    const array_info& info = arrays_[index];
    const std::string where = array_prefix(name_, info.name);
    host_array a;
    static_cast<array_info&>(a) = info;
    if (info.type == dtype::boolean) {
      read_booleans(*values_[index], 0, a, where);
      return a;
    }
    if (exact_inputs_ != nullptr && exact_inputs_->find(info.name) != nullptr)
      throw input_error(where +
                        "its elements are exact numbers that no binary64 is, and an array of floats would "
                        "round them: keep the case in JSON");
    json::value list;  // a number is read as a list of one
    if (info.shape.empty()) {
      list.type = json::kind::array;
      list.items.push_back(*values_[index]);
    }
    exact_array read = read_array(info.shape.empty() ? list : *values_[index], name_, info.name);
    if (info.shape.empty()) read.shape.clear();
    if (!read.beyond.empty())
      throw input_error(where + "element " + index_text(read.shape, read.beyond.begin()->first) +
                        " is an exact number that no binary64 is, and an array of floats would round it: "
                        "keep the case in JSON");
    a.shape = read.shape;
    a.bytes.resize(8 * read.values.size());
    if (!read.values.empty()) std::memcpy(a.bytes.data(), read.values.data(), a.bytes.size());
    return a;
  }

  static void read_booleans(const json::value& v, std::size_t level, host_array& a,
                            const std::string& where) {
    if (level == a.shape.size()) {
      if (v.type != json::kind::boolean)
        throw input_error(where + "an element is " + std::string(json::name_of(v.type)) +
                          " and the first one is true or false");
      a.bytes.push_back(v.truth ? 1 : 0);
      return;
    }
    if (v.type != json::kind::array || v.items.size() != a.shape[level])
      throw input_error(where + "its rows are not equally long: make them so");
    for (const json::value& item : v.items) read_booleans(item, level + 1, a, where);
  }

  json::value root_;
  const json::value* exact_inputs_ = nullptr;
  std::vector<const json::value*> values_;
};

void write_level(std::string& out, const host_array& a, std::size_t level, std::size_t& at) {
  if (level == a.shape.size()) {
    const double x = a.value(at);
    if (a.type == dtype::boolean) {
      out += x != 0 ? "true" : "false";
    } else if (a.type == dtype::int64 || a.type == dtype::uint64) {
      std::uint64_t bits;
      std::memcpy(&bits, a.bytes.data() + 8 * at, 8);
      out += a.type == dtype::uint64 ? std::to_string(bits) : std::to_string(static_cast<std::int64_t>(bits));
    } else if (std::isnan(x)) {
      out += "\"NaN\"";
    } else if (std::isinf(x)) {
      out += x < 0 ? "\"-Infinity\"" : "\"Infinity\"";
    } else if (format_of(a.type) == nullptr) {
      out += std::to_string(static_cast<std::int64_t>(x));
    } else {
      out += shortest_text(x);
    }
    ++at;
    return;
  }
  out += '[';
  for (std::size_t i = 0; i < a.shape[level]; ++i) {
    if (i > 0) out += level + 1 == a.shape.size() ? ", " : ",\n";
    write_level(out, a, level + 1, at);
  }
  out += ']';
}

std::string identifier(const std::string& name) {
  std::string result;
  for (const char c : name)
    result += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '_';
  if (result.empty() || (result[0] >= '0' && result[0] <= '9')) result = "array_" + result;
  return result;
}

struct cpp_type {
  const char* name;
  const char* suffix;
};
cpp_type cpp_type_of(dtype type) {
  switch (type) {
    case dtype::boolean:
      return {"bool", ""};
    case dtype::int8:
      return {"std::int8_t", ""};
    case dtype::int16:
      return {"std::int16_t", ""};
    case dtype::int32:
      return {"std::int32_t", ""};
    case dtype::int64:
      return {"std::int64_t", "LL"};
    case dtype::uint8:
      return {"std::uint8_t", ""};
    case dtype::uint16:
      return {"std::uint16_t", ""};
    case dtype::uint32:
      return {"std::uint32_t", "u"};
    case dtype::uint64:
      return {"std::uint64_t", "ULL"};
    case dtype::binary64:
      return {"double", ""};
    default:
      return {"float", "f"};  // holds every narrower float
  }
}

std::string cpp_number(const host_array& a, std::size_t at, const cpp_type& type) {
  const double x = a.value(at);
  if (a.type == dtype::boolean) return x != 0 ? "true" : "false";
  if (format_of(a.type) == nullptr) {
    std::uint64_t bits = 0;
    if (size_of(a.type) == 8) std::memcpy(&bits, a.bytes.data() + 8 * at, 8);
    if (a.type == dtype::uint64) return std::to_string(bits) + type.suffix;
    if (a.type == dtype::int64) {
      const auto value = static_cast<std::int64_t>(bits);
      return value == INT64_MIN ? "INT64_MIN" : std::to_string(value) + type.suffix;
    }
    return std::to_string(static_cast<std::int64_t>(x)) + type.suffix;
  }
  const std::string limits = std::string("std::numeric_limits<") + type.name + ">::";
  if (std::isnan(x)) return limits + "quiet_NaN()";
  if (std::isinf(x)) return (x < 0 ? "-" : "") + limits + "infinity()";
  if (x == 0) return (std::signbit(x) ? "-0x0p+0" : "0x0p+0") + std::string(type.suffix);
  int exponent = 0;
  const auto significand = static_cast<std::uint64_t>(std::ldexp(std::frexp(std::fabs(x), &exponent), 53));
  std::string digits;
  std::uint64_t fraction = significand & ((std::uint64_t{1} << 52) - 1);
  for (; fraction != 0; fraction = fraction << 4 & ((std::uint64_t{1} << 52) - 1))
    digits += "0123456789abcdef"[fraction >> 48];
  const int power = exponent - 1;
  return std::string(x < 0 ? "-" : "") + "0x1" + (digits.empty() ? "" : "." + digits) + "p" +
         (power < 0 ? "-" : "+") + std::to_string(std::abs(power)) + type.suffix;
}

}  // namespace

std::unique_ptr<array_file> open_json(std::string_view text, const std::string& name) {
  return std::make_unique<json_file>(text, name);
}

encoded_arrays encode_json(const arrays_to_write& content, const std::string& name) {
  for (const host_array& a : content.arrays)
    if (a.elements() == 0)
      throw input_error(array_prefix(name, a.name) + "it has no elements, and JSON cannot say its shape " +
                        shape_text(a.shape) + ": write another format");
  std::string top;
  std::string expected;
  for (const host_array& a : content.arrays) {
    const bool input = std::find(inputs.begin(), inputs.end(), a.name) != inputs.end();
    std::string& out = input ? top : expected;
    const bool prefixed = a.name.starts_with("expected.");
    out += (input              ? "  "
            : expected.empty() ? "\n    "
                               : ",\n    ") +
           json::quote(prefixed ? a.name.substr(9) : a.name) + ": ";
    std::size_t at = 0;
    write_level(out, a, 0, at);
    if (input) out += ",\n";
  }
  if (!content.case_options.empty()) {
    const json::value options = json::parse(content.case_options);
    for (std::size_t i = 0; i < options.keys.size(); ++i)
      top += "  " + json::quote(options.keys[i]) + ": " + json::write(options.items[i]) + ",\n";
  }
  encoded_arrays result;
  result.bytes = "{\n  \"version\": \"attention-v1\",\n" + top;
  if (!expected.empty() || top.empty()) result.bytes += "  \"expected\": {" + expected + "\n  },\n";
  if (content.provenance.empty())
    result.bytes.erase(result.bytes.size() - 2);
  else
    result.bytes += "  \"attest\": " + content.provenance;
  result.bytes += result.bytes.ends_with('\n') ? "}\n" : "\n}\n";
  return result;
}

encoded_arrays encode_cpp_header(const arrays_to_write& content, const std::string& name) {
  std::string text =
      "#pragma once\n\n#include <array>\n#include <cstddef>\n#include <cstdint>\n#include <limits>\n\n";
  if (!content.provenance.empty()) text += "// attest " + content.provenance + "\n";
  text += "namespace attest_arrays {\n";
  std::vector<std::string> names;
  for (const host_array& a : content.arrays) {
    const std::string id = identifier(a.name);
    for (const std::string& other : names)
      if (other == id)
        throw input_error(name + ": array " + a.name + ": two arrays would have the name " + id +
                          " in C++: leave one out");
    names.push_back(id);
    const cpp_type type = cpp_type_of(a.type);
    text += "\n// " + to_string(a.type) + " " + shape_text(a.shape) + "\n";
    std::string shape;
    for (const std::size_t extent : a.shape) shape += (shape.empty() ? "" : ", ") + std::to_string(extent);
    text += "inline constexpr std::array<std::size_t, " + std::to_string(a.shape.size()) + "> " + id +
            "_shape{" + shape + "};\n";
    text += "inline constexpr std::array<" + std::string(type.name) + ", " + std::to_string(a.elements()) +
            "> " + id + "{";
    std::size_t column = 0;
    for (std::size_t i = 0; i < a.elements(); ++i) {
      const std::string number = cpp_number(a, i, type);
      if (i == 0 || column + number.size() > 100) {
        text += i == 0 ? "\n    " : ",\n    ";
        column = 4;
      } else {
        text += ", ";
        column += 2;
      }
      text += number;
      column += number.size();
    }
    text += "};\n";
  }
  encoded_arrays result;
  result.bytes = text + "\n}  // namespace attest_arrays\n";
  return result;
}

}  // namespace attest::io
