#include <attest/io/attention_arrays.hpp>
#include <attest/io/input_error.hpp>
#include <attest/io/near_name.hpp>
#include <attest/io/number.hpp>
#include <attest/reference/number_text.hpp>
#include <attest/reference/rounded.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace attest::io {

namespace {

using json::kind;
using json::value;

constexpr std::array<std::string_view, 20> names = {
    "scale",       "softcap",      "causal", "corner",      "window",    "past_keys",    "key_lengths",
    "alibi_slopes", "sinks",       "log_sum_exp", "empty_row", "output_dtype", "direction", "saturate",
    "low_word",    "certificates", "weights", "max_bits",   "mask",      "bias"};

class option_reader {
 public:
  option_reader(attention_options& attention, output_options& output, const std::string& where)
      : attention_(attention), output_(output), where_(where) {}

  void read(const value& object) {
    if (object.type != kind::object) throw input_error(where_ + "the options are no object");
    for (std::size_t i = 0; i < object.keys.size(); ++i) {
      key_ = object.keys[i];
      option(object.items[i]);
    }
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw input_error(where_ + "option " + key_ + ": " + what);
  }

  void option(const value& v) {
    if (key_ == "scale")
      attention_.scale = number(v);
    else if (key_ == "softcap")
      attention_.softcap = number(v);
    else if (key_ == "causal")
      attention_.causal = truth(v);
    else if (key_ == "corner")
      attention_.corner = choice<causal_corner>(
          v, {{"top_left", causal_corner::top_left}, {"bottom_right", causal_corner::bottom_right}});
    else if (key_ == "window")
      attention_.window = window(v);
    else if (key_ == "past_keys")
      attention_.past_keys = size(v);
    else if (key_ == "key_lengths")
      attention_.key_lengths = list<std::size_t>(v, [&](const value& x) { return size(x); });
    else if (key_ == "alibi_slopes")
      attention_.alibi_slopes = list<double>(v, [&](const value& x) { return number(x); });
    else if (key_ == "sinks")
      attention_.sinks = list<double>(v, [&](const value& x) { return number(x); });
    else if (key_ == "log_sum_exp")
      attention_.log_sum_exp = log_sum_exp(v);
    else if (key_ == "empty_row")
      attention_.empty_row = choice<empty_row_policy>(v, {{"zero", empty_row_policy::zero},
                                                          {"nan", empty_row_policy::nan},
                                                          {"error", empty_row_policy::error}});
    else if (key_ == "output_dtype")
      output_.type = float_dtype(v);
    else if (key_ == "direction")
      output_.direction = choice<rounding>(v, {{"nearest_even", rounding::nearest_even},
                                               {"toward_zero", rounding::toward_zero},
                                               {"up", rounding::up},
                                               {"down", rounding::down},
                                               {"to_odd", rounding::to_odd}});
    else if (key_ == "saturate")
      output_.saturate = truth(v);
    else if (key_ == "low_word")
      output_.low_word = truth(v);
    else if (key_ == "certificates")
      output_.certificates = truth(v);
    else if (key_ == "weights")
      output_.weights = truth(v);
    else if (key_ == "max_bits")
      output_.max_bits = static_cast<unsigned>(size(v, 1u << 30));
    else if (key_ == "mask" || key_ == "bias")
      fail("it is an array: put it beside Q, K and V");
    else
      fail("it is not known: " + meant());
  }

  std::string meant() const {
    constexpr std::array<std::string_view, 3> of_arrays = {"names", "dtypes", "blocks"};  // read before these
    std::string_view near = nearest_name(key_, names);
    if (near.empty()) near = nearest_name(key_, of_arrays);
    return near.empty() ? "see docs/formats.md" : "did you mean " + std::string(near) + "?";
  }

  bool truth(const value& v) const {
    if (v.type != kind::boolean) fail(json::write(v).substr(0, 60) + " is neither true nor false");
    return v.truth;
  }
  std::size_t size(const value& v, std::size_t most = static_cast<std::size_t>(PTRDIFF_MAX)) const {
    std::size_t result = 0;
    const char* const end = v.text.data() + v.text.size();
    if (v.type == kind::number) {
      const auto read = std::from_chars(v.text.data(), end, result);
      if (read.ec == std::errc() && read.ptr == end && result <= most) return result;
    }
    fail(json::write(v).substr(0, 60) + " is no whole number from 0 to " + std::to_string(most));
  }
  // The float itself: a decimal stands for the nearest binary64, as everywhere; a string is exact and has to
  // be one.
  double number(const value& v) const {
    try {
      if (v.type == kind::number) return nearest_binary64(read_number(v.text, decimals::nearest_binary64));
      if (v.type == kind::string) {
        const exact_scalar x = read_exact(v.text);
        const double nearest = nearest_binary64(x);
        if (std::isfinite(nearest) && exact_scalar(exact_value<unbounded_integer>(nearest)) == x)
          return nearest;
        fail("\"" + v.text.substr(0, 60) +
             "\" is no binary64: give the float that is meant, as a decimal or a hexadecimal float");
      }
    } catch (const number_error& e) {
      fail(e.what());
    }
    fail(json::write(v).substr(0, 60) + " is no number");
  }
  template <class T>
  T choice(const value& v, std::initializer_list<std::pair<const char*, T>> choices) const {
    std::string all;
    for (const auto& [name, meaning] : choices) {
      if (v.type == kind::string && v.text == name) return meaning;
      all += (all.empty() ? "" : ", ") + std::string(name);
    }
    fail(json::write(v).substr(0, 60) + " is none of " + all);
  }
  template <class T, class F>
  std::vector<T> list(const value& v, F element) const {
    if (v.type != kind::array) fail(json::write(v).substr(0, 60) + " is no list");
    std::vector<T> result;
    for (const value& item : v.items) result.push_back(element(item));
    return result;
  }
  key_window window(const value& v) const {
    if (v.type != kind::object)
      fail(json::write(v).substr(0, 60) +
           R"( is no object: expected {"left": 127, "right": 0}, with either left out for no limit)");
    key_window result;
    for (std::size_t i = 0; i < v.keys.size(); ++i) {
      if (v.keys[i] == "left")
        result.left = size(v.items[i]);
      else if (v.keys[i] == "right")
        result.right = size(v.items[i]);
      else
        fail("it has left and right, and no " + v.keys[i]);
    }
    return result;
  }
  log_sum_exp_form log_sum_exp(const value& v) const {
    const value* base = v.type == kind::object ? v.find("base") : nullptr;
    if (base == nullptr) fail(R"(its base has to be said: {"base": "e"} or {"base": "two"})");
    log_sum_exp_form result{
        choice<log_sum_exp_base>(*base, {{"e", log_sum_exp_base::e}, {"two", log_sum_exp_base::two}})};
    for (std::size_t i = 0; i < v.keys.size(); ++i) {
      if (v.keys[i] == "empty")
        result.empty =
            choice<empty_log_sum_exp>(v.items[i], {{"minus_infinity", empty_log_sum_exp::minus_infinity},
                                                   {"plus_infinity", empty_log_sum_exp::plus_infinity}});
      else if (v.keys[i] != "base")
        fail("it has base and empty, and no " + v.keys[i]);
    }
    return result;
  }
  dtype float_dtype(const value& v) const {
    const auto type = v.type == kind::string ? dtype_named(v.text) : std::nullopt;
    if (!type || format_of(*type) == nullptr)
      fail(json::write(v).substr(0, 60) +
           " is no float: " + std::string(float_dtype_names));
    return *type;
  }

  attention_options& attention_;
  output_options& output_;
  std::string where_;
  std::string key_;
};

}  // namespace

bool is_companion_name(std::string_view name) {
  for (const std::string_view array : {"output", "weights", "lse"})
    for (const std::string_view ending : {"_low", "_certificates"})
      if (name.starts_with(array) && name.substr(array.size()) == ending) return true;
  return false;
}

bool is_result_name(std::string_view name) {
  return name == "output" || name == "weights" || name == "lse" || is_companion_name(name);
}

std::span<const std::string_view> option_names() { return names; }

std::string option_on_command_line(std::string_view key) {
  if (key == "log_sum_exp") return "--lse";
  std::string option = "--" + std::string(key);
  std::replace(option.begin(), option.end(), '_', '-');
  return option;
}

void read_options(const value& object, attention_options& attention, output_options& output,
                  const std::string& where) {
  option_reader(attention, output, where).read(object);
}

std::string options_text(const attention_options& a, const output_options& o) {
  std::string text;
  const auto add = [&](const char* key, const std::string& content) {
    text += (text.empty() ? "" : ", ") + json::quote(key) + ": " + content;
  };
  const auto numbers = [](const std::vector<double>& all) {
    std::string list;
    for (const double x : all) list += (list.empty() ? "" : ", ") + shortest_text(x);
    return '[' + list + ']';
  };
  if (a.scale) add("scale", shortest_text(*a.scale));
  if (a.softcap) add("softcap", shortest_text(*a.softcap));
  if (a.causal) add("causal", "true");
  if (a.corner) add("corner", *a.corner == causal_corner::top_left ? "\"top_left\"" : "\"bottom_right\"");
  if (a.window) {
    std::string sides;
    if (a.window->left) sides += "\"left\": " + std::to_string(*a.window->left);
    if (a.window->right)
      sides += (sides.empty() ? "" : ", ") + ("\"right\": " + std::to_string(*a.window->right));
    add("window", '{' + sides + '}');
  }
  if (a.past_keys) add("past_keys", std::to_string(*a.past_keys));
  if (!a.key_lengths.empty()) {
    std::string list;
    for (const std::size_t n : a.key_lengths) list += (list.empty() ? "" : ", ") + std::to_string(n);
    add("key_lengths", '[' + list + ']');
  }
  if (!a.alibi_slopes.empty()) add("alibi_slopes", numbers(a.alibi_slopes));
  if (!a.sinks.empty()) add("sinks", numbers(a.sinks));
  if (a.log_sum_exp) {
    std::string form = a.log_sum_exp->base == log_sum_exp_base::e ? "{\"base\": \"e\"" : "{\"base\": \"two\"";
    if (a.log_sum_exp->empty)
      form += *a.log_sum_exp->empty == empty_log_sum_exp::minus_infinity ? ", \"empty\": \"minus_infinity\""
                                                                         : ", \"empty\": \"plus_infinity\"";
    add("log_sum_exp", form + '}');
  }
  if (a.empty_row)
    add("empty_row", *a.empty_row == empty_row_policy::zero  ? "\"zero\""
                     : *a.empty_row == empty_row_policy::nan ? "\"nan\""
                                                             : "\"error\"");
  add("output_dtype", json::quote(to_string(o.type)));
  constexpr const char* directions[] = {"nearest_even", "toward_zero", "up", "down", "to_odd"};
  add("direction", json::quote(directions[static_cast<std::size_t>(o.direction)]));
  add("saturate", o.saturate ? "true" : "false");
  add("low_word", o.low_word ? "true" : "false");
  if (o.certificates) add("certificates", "true");
  add("weights", o.weights ? "true" : "false");
  if (o.max_bits) add("max_bits", std::to_string(*o.max_bits));
  return '{' + text + '}';
}

}  // namespace attest::io
