#include <attest/io/json.hpp>

#include <attest/io/number.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>

namespace attest::io::json {

namespace {

// The library reads every number's value before it hands out its text, and refuses a token whose value
// overflows. Over `long double` that begins at 10^4932 instead of 10^308, beyond attest's own limit on
// numbers.
using parser =
    nlohmann::basic_json<std::map, std::vector, std::string, bool, std::int64_t, std::uint64_t, long double>;
static_assert(std::numeric_limits<long double>::max_exponent10 > maximum_decimal_exponent);

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// "NaN", "Infinity" or "-Infinity" for a word of that meaning, else nothing.
std::string_view not_finite_meaning(std::string_view word) {
  const bool negative = word.starts_with('-');
  if (negative || word.starts_with('+')) word.remove_prefix(1);
  std::string lower(word);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  if (lower == "nan") return "NaN";
  if (lower == "inf" || lower == "infinity") return negative ? "-Infinity" : "Infinity";
  return {};
}

// A JSON text in which strings of one character that the text does not have stand for its NaNs and
// infinities, byte for byte in their places; and what those are, in their order. (A text that does have it is
// left as it is.)
struct replaced_words {
  static constexpr char mark = '\x7f';
  std::string text;
  std::vector<std::string> meanings;
};

replaced_words replace_not_finite(std::string_view text) {
  replaced_words result{std::string(text), {}};
  for (const std::string_view written : {"\x7f", "\\u007f", "\\u007F"})
    if (text.find(written) != std::string_view::npos) return result;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
      continue;
    }
    in_string = c == '"';
    const std::size_t first_letter = c == '-' || c == '+' ? i + 1 : i;
    std::size_t end = first_letter;
    while (end < text.size() && is_letter(text[end])) ++end;
    if (end == first_letter) continue;
    const auto goes_on = [&](std::size_t at) {
      return at < text.size() && std::string_view("0123456789._").find(text[at]) != std::string_view::npos;
    };
    const std::string_view meaning = not_finite_meaning(text.substr(i, end - i));
    if (!meaning.empty() && !goes_on(end) && (i == 0 || !goes_on(i - 1))) {
      result.text.replace(i, end - i, end - i, replaced_words::mark);
      result.text[i] = result.text[end - 1] = '"';
      result.meanings.emplace_back(meaning);
    }
    i = end - 1;
  }
  return result;
}

class builder : public nlohmann::json_sax<parser> {
 public:
  /// The text that positions in messages are of, and what the strings of marks in the text that is read stand
  /// for.
  builder(std::string_view text, std::vector<std::string> marked) : text_(text), marked_(std::move(marked)) {}

  value take() {
    if (problem_) throw syntax_error(*problem_);
    return std::move(root_);
  }

  bool null() override { return place({}); }
  bool boolean(bool truth) override {
    value v;
    v.type = kind::boolean;
    v.truth = truth;
    return place(std::move(v));
  }
  // An integer that is not negative comes here as "-0" alone.
  bool number_integer(std::int64_t n) override {
    return place(leaf(kind::number, n == 0 ? "-0" : std::to_string(n)));
  }
  bool number_unsigned(std::uint64_t n) override { return place(leaf(kind::number, std::to_string(n))); }
  bool number_float(long double, const std::string& token) override {
    // The token as written, but for the point, which the library replaces by that of the C locale in force.
    std::string text = token;
    for (char& c : text)
      if (std::string_view("0123456789+-eE").find(c) == std::string_view::npos) c = '.';
    return place(leaf(kind::number, std::move(text)));
  }
  bool string(std::string& characters) override {
    if (is_mark(characters)) return place(leaf(kind::number, marked_[next_marked_++]));
    return place(leaf(kind::string, std::move(characters)));
  }
  bool binary(binary_t&) override { return fail("binary data is not JSON"); }

  bool start_object(std::size_t) override { return open(kind::object); }
  bool start_array(std::size_t) override { return open(kind::array); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string& name) override {
    if (is_mark(name)) return fail("not JSON: " + marked_[next_marked_] + " is no key: put it into quotes");
    if (!keys_.back().insert(name).second)
      return fail("the key " + quote(name) + " occurs twice in one object: keep one of them");
    open_.back()->keys.push_back(std::move(name));
    return true;
  }

  bool parse_error(std::size_t position, const std::string& last_token,
                   const nlohmann::detail::exception& e) override {
    constexpr int number_overflow = 406;
    if (e.id == number_overflow) return fail(past_the_limits(last_token));
    if (!not_finite_meaning(word_at(position)).empty())
      return fail("byte " + std::to_string(position) +
                  ": NaN and infinity are not JSON and not exact numbers: remove them");
    std::string message =
        e.what();  // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
    if (const auto bracket = message.find("] "); message.starts_with('[') && bracket != std::string::npos)
      message.erase(0, bracket + 2);
    constexpr std::string_view at = "parse error at ";
    if (message.starts_with(at)) message.erase(0, at.size());
    return fail("not JSON: " + message);
  }

 private:
  static value leaf(kind type, std::string text) {
    value v;
    v.type = type;
    v.text = std::move(text);
    return v;
  }

  // The word around the byte, counted from 1, at which reading stopped.
  std::string_view word_at(std::size_t position) const {
    const auto letter_at = [&](std::size_t i) { return i < text_.size() && is_letter(text_[i]); };
    std::size_t first = position == 0 ? 0 : position - 1;
    std::size_t last = first;
    while (first > 0 && letter_at(first) && letter_at(first - 1)) --first;
    while (letter_at(last)) ++last;
    return text_.substr(std::min(first, text_.size()), last - first);
  }
  bool is_mark(std::string_view characters) const {
    return next_marked_ < marked_.size() && characters.starts_with(replaced_words::mark);
  }

  bool fail(std::string message) {
    problem_ = std::move(message);
    return false;
  }

  // Addresses of open containers stay valid: only the innermost one grows.
  bool place(value v) {
    if (open_.empty())
      root_ = std::move(v);
    else
      open_.back()->items.push_back(std::move(v));
    return true;
  }
  bool open(kind type) {
    if (open_.size() == maximum_depth)
      return fail("arrays and objects nest deeper than " + std::to_string(maximum_depth) +
                  " levels: flatten them");
    value v;
    v.type = type;
    place(std::move(v));
    open_.push_back(open_.empty() ? &root_ : &open_.back()->items.back());
    keys_.emplace_back();
    return true;
  }
  bool close() {
    open_.pop_back();
    keys_.pop_back();
    return true;
  }

  std::string_view text_;
  std::vector<std::string> marked_;
  std::size_t next_marked_ = 0;
  value root_;
  std::vector<value*> open_;
  std::vector<std::set<std::string>> keys_;  // those of each open container so far
  std::optional<std::string> problem_;
};

void write_to(std::string& out, const value& v) {
  switch (v.type) {
    case kind::null: out += "null"; break;
    case kind::boolean: out += v.truth ? "true" : "false"; break;
    case kind::number: out += v.text; break;
    case kind::string: out += quote(v.text); break;
    case kind::array:
    case kind::object:
      out += v.type == kind::array ? '[' : '{';
      for (std::size_t i = 0; i < v.items.size(); ++i) {
        if (i > 0) out += ", ";
        if (v.type == kind::object) out += quote(v.keys[i]) + ": ";
        write_to(out, v.items[i]);
      }
      out += v.type == kind::array ? ']' : '}';
  }
}

}  // namespace

std::string_view name_of(kind k) {
  switch (k) {
    case kind::null: return "null";
    case kind::boolean: return "a boolean";
    case kind::number: return "a number";
    case kind::string: return "a string";
    case kind::array: return "a list";
    case kind::object: return "an object";
  }
  return "nothing";
}

const value* value::find(std::string_view key) const {
  const auto at = std::find(keys.begin(), keys.end(), key);
  return at == keys.end() ? nullptr : &items[static_cast<std::size_t>(at - keys.begin())];
}

value parse(std::string_view text, not_finite words) {
  // The library takes a NUL for the end of the text, and would not look at what follows.
  if (const auto nul = text.find('\0'); nul != std::string_view::npos)
    throw syntax_error("not JSON: byte " + std::to_string(nul + 1) + " is NUL: is this a text file?");
  if (words == not_finite::refused) {
    builder sax(text, {});
    parser::sax_parse(text.begin(), text.end(), &sax);
    return sax.take();
  }
  replaced_words replaced = replace_not_finite(text);
  builder sax(text, std::move(replaced.meanings));
  parser::sax_parse(replaced.text.begin(), replaced.text.end(), &sax);
  return sax.take();
}

std::string quote(std::string_view characters) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : characters) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (code < 0x20) {
      out += "\\u00";
      out += digits[code >> 4];
      out += digits[code & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string write(const value& v) {
  std::string out;
  write_to(out, v);
  return out;
}

}  // namespace attest::io::json
