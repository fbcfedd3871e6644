#include "array_layout.hpp"

#include <attest/io/attention_arrays.hpp>
#include <attest/io/case_file.hpp>
#include <attest/io/input_error.hpp>
#include <attest/io/near_name.hpp>
#include <attest/io/sha256.hpp>
#include <attest/reference/exact_values.hpp>
#include <attest/reference/rounded.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>

namespace attest::io {

namespace {

constexpr const char* tensors[] = {"Q", "K", "V", "X", "Y", "WQ", "WK", "WV"};
constexpr const char* option_arrays[] = {"mask", "bias", "sinks", "alibi_slopes", "key_lengths"};

// Every array that attention has, in the order in which messages look for what was meant.
const std::vector<std::string>& known_names() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> names(std::begin(option_arrays), std::end(option_arrays));
    for (const char* tensor : tensors)
      for (const char* ending : {"", "_scale", "_zero"}) names.push_back(std::string(tensor) + ending);
    return names;
  }();
  return all;
}

// The array that the name stands for, in any case: K_scale for k_descale. Empty: none.
std::string known_name(const std::string& name) {
  std::string lower = lower_case(name);
  if (lower.ends_with("_descale")) lower = lower.substr(0, lower.size() - 8) + "_scale";
  for (const std::string& known : known_names())
    if (lower_case(known) == lower) return known;
  return {};
}

bool is_result(std::string_view name) {
  return name.starts_with("expected.") || name == "dots" || is_result_name(name);
}

std::vector<std::string> words_of(const std::string& name) {
  std::vector<std::string> words(1);
  for (const char c : lower_case(name)) {
    if (c == '_' || c == '-' || c == ' ')
      words.emplace_back();
    else
      words.back() += c;
  }
  return words;
}

// The array that somebody who chose this name may have meant. Names with points or slashes are of models,
// which hold many arrays with such words.
std::string resembled_name(const std::string& name) {
  if (name.find_first_of("./") != std::string::npos) return {};
  for (const std::string& known : known_names())
    if (is_near(name, known)) return known;
  const std::vector<std::string> words = words_of(name);
  constexpr std::pair<std::string_view, std::string_view> telling[] = {
      {"mask", "mask"},          {"masks", "mask"},          {"bias", "bias"},
      {"sink", "sinks"},         {"sinks", "sinks"},         {"alibi", "alibi_slopes"},
      {"slope", "alibi_slopes"}, {"slopes", "alibi_slopes"}, {"lengths", "key_lengths"},
      {"lens", "key_lengths"},   {"seqlens", "key_lengths"}};
  for (const auto& [word, known] : telling)
    if (words.front() == word || words.back() == word) return std::string(known);
  return {};
}

// The option of attention that somebody who chose this name may have meant: "soft_cap", "is_causal".
std::string resembled_option(const std::string& name) {
  if (name.find_first_of("./") != std::string::npos) return {};
  constexpr std::string_view options[] = {"scale",  "softcap",   "causal",    "corner",
                                          "window", "past_keys", "empty_row", "log_sum_exp"};
  if (const std::string_view near = nearest_name(name, options); !near.empty()) return std::string(near);
  const std::vector<std::string> words = words_of(name);
  for (const std::string_view option : {"softcap", "causal", "window"})
    if (words.front() == option || words.back() == option) return std::string(option);
  for (const std::string_view option : option_names())
    if (name == option && known_name(name).empty()) return name;
  return {};
}

// Whether the name speaks of the factors of some array: q_proj_scale, descale_q, zero_point.
bool is_of_quantisation(const std::string& name) {
  if (name.find_first_of("./") != std::string::npos) return false;
  const std::vector<std::string> words = words_of(name);
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word == "scale" || word == "scales" || word == "descale" || word == "zero" || word == "zeros";
  });
}

struct opened_file {
  std::string path;
  std::string only;  // the name that the command line gives its one array
  std::unique_ptr<array_file> file;
  std::vector<std::string> used;
};

std::string file_sha256(const std::string& path) {
  const auto source = open_source(path);
  sha256_stream stream;
  std::string buffer(std::size_t{1} << 20, '\0');
  for (std::uint64_t at = 0; at < source->size();) {
    const std::size_t count =
        static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), source->size() - at));
    source->read(at, buffer.data(), count);
    stream.add(std::string_view(buffer).substr(0, count));
    at += count;
  }
  return stream.digits();
}

class reader {
 public:
  explicit reader(const array_request& request) : request_(request) {
    check_known(request_.names, "--name");
    check_known(request_.dtypes, "--dtype");
    check_known(request_.blocks, "--block");
    result_.case_options.type = json::kind::object;
    for (const std::string& given : request_.files) open(given);
    for (const std::string& name : request_.ignored)
      if (std::none_of(opened_.begin(), opened_.end(),
                       [&](const opened_file& o) { return o.file->find(name) != nullptr; }))
        throw input_error("--ignore: " + files() + ": there is no array " + name + ": it has " + all_names());
  }

  attention_arrays read() {
    const bool projected = has("X") || has("WQ") || has("WK") || has("WV");
    const bool direct = has("Q") || has("K") || has("V");
    if (projected && direct)
      throw input_error(
          files() + ": X, WQ, WK, WV and Q, K, V are given: give either (--name says which array is which)");
    if (!projected && !direct)
      throw input_error(files() + ": there are neither Q, K and V nor X, WQ, WK and WV: it has " +
                        all_names() + "; --name Q=NAME says which is which");
    for (const std::string& name : projected ? std::vector<std::string>{"X", "WQ", "WK", "WV"}
                                             : std::vector<std::string>{"Q", "K", "V"}) {
      if (!has(name))
        throw input_error(files() + ": array " + name + " is missing: it has " + all_names() + "; --name " +
                          name + "=NAME says which one it is");
      result_.inputs[name] = tensor(name);
    }
    if (projected && has("Y")) result_.inputs["Y"] = tensor("Y");
    if (has("mask")) {
      const host_array& mask = keep(load("mask"));
      if (mask.type != dtype::boolean)
        throw input_error(where(find("mask"), "mask") + "its elements are " + to_string(mask.type) +
                          ", and a mask is boolean, true where the query sees the key: " +
                          (size_of(mask.type) == 1 ? "if 1 stands for that, give --dtype mask=boolean"
                                                   : "if 1 stands for that, save it as booleans") +
                          (format_of(mask.type) == nullptr
                               ? std::string()
                               : "; if its numbers are added to the scores, give it as bias, --name bias=" +
                                     find("mask").info->name));
      result_.options.mask = view_of(mask);
    }
    if (has("bias")) result_.options.bias = view_of(keep(load("bias")));
    if (has("sinks")) result_.options.sinks = numbers("sinks");
    if (has("alibi_slopes")) result_.options.alibi_slopes = numbers("alibi_slopes");
    if (has("key_lengths"))
      for (const double length : numbers("key_lengths")) {
        if (!(length >= 0 && length == std::floor(length) && length < 0x1p53))
          throw input_error(files() + ": array key_lengths: its elements are no whole numbers");
        result_.options.key_lengths.push_back(static_cast<std::size_t>(length));
      }
    look_at_the_request();
    look_at_the_rest();
    write_provenance();
    return std::move(result_);
  }

 private:
  // The names as this file has them.
  template <class Content>
  static void check_known(std::map<std::string, Content>& by_name, const char* option) {
    std::map<std::string, Content> result;
    for (auto& [name, content] : by_name) {
      const std::string known = known_name(name);
      if (known.empty())
        throw input_error(std::string(option) + ": there is no array " + name +
                          ": Q, K, V, X, Y, WQ, WK, WV, each with _scale and _zero, mask, bias, sinks, "
                          "alibi_slopes, key_lengths");
      if (!result.emplace(known, std::move(content)).second)
        throw input_error(std::string(option) + ": array " + known + " is there twice");
    }
    by_name = std::move(result);
  }

  void open(const std::string& given) {
    opened_file opened;
    const std::size_t equals = given.find('=');
    const std::string name = given.substr(0, equals);
    opened.path = given;
    if (equals != std::string::npos) {
      const std::string content = given.substr(equals + 1);
      std::error_code ignored;
      if (!known_name(name).empty()) {
        opened.only = known_name(name);
        opened.path = content;
        if (dtype_named(content) && !std::filesystem::exists(content, ignored))
          throw input_error(given + ": there is no file " + content +
                            ": for what the elements are, give --dtype " + given);
      } else if (!std::filesystem::exists(given, ignored) && std::filesystem::exists(content, ignored)) {
        const std::string meant = resembled_name(name);
        throw input_error(given + ": there is no array " + name + ": " +
                          (meant.empty()
                               ? "Q, K, V, X, Y, WQ, WK, WV, mask, bias, sinks, alibi_slopes, key_lengths"
                               : "did you mean " + meant + "=" + content + "?"));
      }
    }
    opened.file = open_arrays(opened.path);
    if (!opened.file->unknown_keys().empty())
      throw input_error(opened.path + ": " + unknown_key(opened.file->unknown_keys()[0]));
    if (!opened.only.empty() && opened.file->arrays().size() != 1)
      throw input_error(opened.path + ": it has " + std::to_string(opened.file->arrays().size()) +
                        " arrays, and " + opened.only + "= names one: use --name " + opened.only + "=NAME");
    if (!opened.file->case_options().empty()) {
      const json::value options = json::parse(opened.file->case_options());
      for (std::size_t i = 0; i < options.keys.size(); ++i) {
        if (const json::value* other = result_.case_options.find(options.keys[i])) {
          if (json::write(*other) == json::write(options.items[i])) continue;
          throw input_error(opened.path + ": " + options.keys[i] + " is " + json::write(options.items[i]) +
                            " and " + json::write(*other) + " in another of the files: give it as " +
                            option_on_command_line(options.keys[i]) + ", with files that do not have it");
        }
        result_.case_options.keys.push_back(options.keys[i]);
        result_.case_options.items.push_back(options.items[i]);
      }
    }
    opened_.push_back(std::move(opened));
  }

  // What the request says of arrays that nothing is made of.
  void look_at_the_request() const {
    const auto check = [&](const auto& by_name, const std::string& option) {
      for (const auto& [name, content] : by_name)
        if (!taken_.contains(name))
          throw input_error(option + ": " + files() + ": nothing is made of an array " + name +
                            " here: leave it out, or say which array is meant");
    };
    check(request_.names, "--name");
    check(request_.dtypes, "--dtype");
    check(request_.blocks, "--block");
    for (const auto& [name, block] : request_.blocks)
      if (!taken_.contains(name + "_scale"))
        throw input_error("--block: " + files() + ": array " + name +
                          " has no scale that its blocks share: give " + name + "_scale (--name " + name +
                          "_scale=NAME says which array it is), or leave it out");
  }

  // What was given and not taken.
  void look_at_the_rest() {
    for (const opened_file& o : opened_)
      for (const array_info& a : o.file->arrays()) {
        if (std::find(o.used.begin(), o.used.end(), a.name) != o.used.end() || is_result(a.name) ||
            request_.ignored.contains(a.name))
          continue;
        const std::string begin = o.path + ": array " + a.name + " is not used: ";
        const std::string leave = "; or leave it out with --ignore " + a.name;
        const auto taken = [&](const std::string& name) { return find(name).info != nullptr; };
        if (const std::string known = known_name(a.name); !known.empty() && !request_.names.contains(known))
          throw input_error(begin + "nothing here goes with it" + leave);
        if (const std::string option = resembled_option(a.name); !option.empty())
          throw input_error(begin + "this is no array but an option: give it as " +
                            option_on_command_line(option) + ", or in the file of --options" + leave);
        const std::string meant = resembled_name(a.name);
        if (!meant.empty() && !taken(meant))
          throw input_error(begin + "if it is " + meant + ", say so with --name " + meant + "=" + a.name +
                            leave);
        if (meant.empty() && is_of_quantisation(a.name))
          throw input_error(
              begin + "if it is the scale or the zero point of K, say so with --name K_scale=" + a.name +
              " or K_zero=" + a.name + "; if it is that of the scores, give --scale" + leave);
        result_.unused.push_back(a.name);
      }
    for (const opened_file& o : opened_)
      if (o.used.empty())
        throw input_error(o.path + ": nothing of it is used: " +
                          (o.file->arrays().size() == 1 ? "say what its array " + o.file->arrays()[0].name +
                                                              " is, as in mask=" + o.path
                                                        : "say which of its arrays are meant with --name") +
                          ", or leave the file out");
  }

  std::string files() const {
    std::string text;
    for (const opened_file& o : opened_) text += (text.empty() ? "" : ", ") + o.path;
    return text;
  }
  std::string all_names() const {
    std::string text;
    std::size_t count = 0;
    for (const opened_file& o : opened_)
      for (const array_info& a : o.file->arrays())
        if (++count <= 20) text += (text.empty() ? "" : ", ") + (o.only.empty() ? a.name : o.only);
    if (count > 20) text += " and " + std::to_string(count - 20) + " more";
    return text.empty() ? "no array" : text;
  }

  struct found {
    opened_file* file = nullptr;
    const array_info* info = nullptr;
  };
  found find(const std::string& name) {
    const auto mapped = request_.names.find(name);
    const auto is_it = [&](const opened_file& o, const array_info& a) {
      if (mapped != request_.names.end()) return a.name == mapped->second;
      return known_name(o.only.empty() ? a.name : o.only) == name;
    };
    found result;
    for (opened_file& o : opened_)
      for (const array_info& a : o.file->arrays()) {
        if (!is_it(o, a) || request_.ignored.contains(a.name)) continue;
        if (result.info != nullptr)
          throw input_error(files() + ": array " + name + " is there twice, as " + result.info->name +
                            " and as " + a.name + ": --name " + name + "=NAME says which one is meant");
        result = {&o, &a};
      }
    if (result.info == nullptr && mapped != request_.names.end())
      throw input_error("--name: " + files() + ": there is no array " + mapped->second + ": it has " +
                        all_names());
    return result;
  }
  bool has(const std::string& name) { return find(name).info != nullptr; }

  std::string where(const found& f, const std::string& name) const {
    return f.file->path + ": array " + name + (f.info->name == name ? "" : " (" + f.info->name + ")") + ": ";
  }

  host_array load(const std::string& name) {
    const found f = find(name);
    f.file->used.push_back(f.info->name);
    taken_.insert(name);
    host_array a = f.file->file->load(f.info->name);
    if (const auto named = request_.dtypes.find(name); named != request_.dtypes.end())
      a = reinterpreted(std::move(a), named->second, where(f, name));
    a.name = name;
    if (a.untyped) throw input_error(where(f, name) + untyped_text(a, name));
    return a;
  }

  const host_array& keep(host_array a) {
    result_.owned.push_back(std::move(a));
    return result_.owned.back();
  }

  std::vector<double> numbers(const std::string& name) {
    const found f = find(name);
    return exact_doubles(load(name), where(f, name));
  }

  const host_array* tensor(const std::string& name) {
    const found f = find(name);
    host_array a = load(name);
    const std::string place = where(f, name);
    const bool quantised = has(name + "_scale");
    if (!quantised && has(name + "_zero"))
      throw input_error(place + "it has zero points and no scale: give " + name + "_scale");
    if (quantised) {
      const auto block = request_.blocks.find(name);
      const host_array scale = load(name + "_scale");
      if (scale.type == dtype::uint8 && !request_.dtypes.contains(name + "_scale"))
        throw input_error(
            where(find(name + "_scale"), name + "_scale") +
            "its elements are uint8, in which files without such a type keep float8: say what they "
            "are, as in --dtype " +
            name + "_scale=float8_e8m0fnu, or --dtype " + name + "_scale=uint8 for the integers themselves");
      std::optional<host_array> zero;
      if (has(name + "_zero")) zero = load(name + "_zero");
      return &keep(dequantised(a, scale, zero ? &*zero : nullptr,
                               block == request_.blocks.end() ? std::vector<std::size_t>{} : block->second,
                               place));
    }
    if (a.type == dtype::boolean) throw input_error(place + "its elements are boolean: give numbers");
    const bool is_unsigned = a.type == dtype::uint8 || a.type == dtype::uint16 || a.type == dtype::uint32 ||
                             a.type == dtype::uint64;
    if (is_unsigned && !request_.dtypes.contains(name))
      throw input_error(place + "its elements are " + to_string(a.type) +
                        ", in which files without such a type keep " +
                        (size_of(a.type) == 1   ? "float8"
                         : size_of(a.type) == 2 ? "bfloat16"
                                                : "floats") +
                        ": say what they are, as in --dtype " + name + "=" +
                        (size_of(a.type) == 1   ? "float8_e4m3fn"
                         : size_of(a.type) == 2 ? "bfloat16"
                                                : "binary32") +
                        ", or --dtype " + name + "=" + to_string(a.type) + " for the integers themselves");
    if (a.type == dtype::int64 || a.type == dtype::uint64) {
      const std::vector<double> values = exact_doubles(a, place);
      a.type = dtype::binary64;
      std::memcpy(a.bytes.data(), values.data(), a.bytes.size());
    }
    return &keep(std::move(a));
  }

  void write_provenance() {
    for (const opened_file& o : opened_) {
      if (o.used.empty()) continue;
      std::string names;
      for (const std::string& name : o.used) names += (names.empty() ? "" : ", ") + json::quote(name);
      result_.provenance += (result_.provenance.empty() ? "{\"file\": " : ", {\"file\": ") +
                            json::quote(valid_name(o.path)) + ", \"sha256\": \"" + file_sha256(o.path) + "\"";
      const auto format = format_of_path(o.path);
      std::error_code ignored;
      if ((format == array_format::npy || format == array_format::raw) &&
          std::filesystem::exists(o.path + ".json", ignored))
        result_.provenance += ", \"sidecar_sha256\": \"" + file_sha256(o.path + ".json") + "\"";
      result_.provenance += ", \"arrays\": [" + names + "]}";
    }
    result_.provenance = '[' + result_.provenance + ']';
  }

  // File names are bytes and JSON is UTF-8.
  static std::string valid_name(const std::string& path) {
    std::string name = std::filesystem::path(path).filename().string();
    for (char& c : name)
      if (static_cast<unsigned char>(c) >= 0x80) c = '?';
    return name;
  }

  array_request request_;
  std::vector<opened_file> opened_;
  std::set<std::string> taken_;  // by attention's names
  attention_arrays result_;
};

// a·b, if that is a binary64; the operands are finite.
std::optional<double> exact_double_product(double a, double b) {
  if (a == 0 || b == 0) return 0.0;
  const double product = a * b;
  const double magnitude = std::fabs(product);
  if (magnitude > 0x1p-900 && magnitude < 0x1p1000) {
    if (std::fma(a, b, -product) != 0) return std::nullopt;
    return product;
  }
  __extension__ typedef unsigned __int128 wide;
  int ea = 0;
  int eb = 0;
  wide m = static_cast<wide>(std::ldexp(std::frexp(std::fabs(a), &ea), 53)) *
           static_cast<wide>(std::ldexp(std::frexp(std::fabs(b), &eb), 53));
  int exponent = ea + eb - 106;
  for (; (m & 1) == 0; m >>= 1) ++exponent;
  if ((m >> 53) != 0 || exponent < -1074) return std::nullopt;
  const double result = std::ldexp(static_cast<double>(static_cast<std::uint64_t>(m)), exponent);
  if (std::isinf(result)) return std::nullopt;
  return (a < 0) != (b < 0) ? -result : result;
}

// a - b, if that is a binary64.
std::optional<double> exact_double_difference(double a, double b) {
  const double difference = a - b;
  const double from_b = difference - a;
  const double error = (a - (difference - from_b)) + (-b - from_b);
  if (!std::isfinite(difference) || error != 0) return std::nullopt;
  return difference;
}

// For each element of an array, the one that it shares of another.
class sharing {
 public:
  sharing(const std::vector<std::size_t>& shape, const host_array& shared,
          const std::vector<std::size_t>& block, const std::string& where)
      : shape_(shape) {
    std::vector<std::size_t> extents = shared.shape;
    const std::string text = "shape " + shape_text(shared.shape) + " of " + shared.name;
    if (shared.elements() == 1 && extents.size() <= 1) {
      extents.assign(shape.size(), 1);
    } else if (shape.size() == 4 && (extents.size() == 1 || extents.size() == 2)) {
      // One for each head, or for each head of each batch element.
      const std::size_t heads = extents.back();
      const std::size_t batch = extents.size() == 2 ? extents[0] : 1;
      if (heads != shape[1] || (batch != 1 && batch != shape[0]))
        throw input_error(where + text + " fits neither its heads [" + std::to_string(shape[1]) + "] nor [" +
                          std::to_string(shape[0]) + ", " + std::to_string(shape[1]) + "]");
      extents = {batch, heads, 1, 1};
    }
    if (extents.size() != shape.size())
      throw input_error(
          where + text + " does not fit shape " + shape_text(shape) +
          ": give one number, one for each head, or as many axes with an extent for the blocks along each");
    if (!block.empty() && block.size() != shape.size())
      throw input_error(where + "--block gives " + std::to_string(block.size()) + " extents, and it has " +
                        std::to_string(shape.size()) + " axes");
    std::size_t step = 1;
    blocks_.resize(shape.size());
    steps_.resize(shape.size());
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      const std::size_t n = shape[axis];
      const std::size_t count = extents[axis];
      std::size_t size = 0;
      if (!block.empty() && count != 1) {
        size = block[axis];
        if (size == 0 || (n + size - 1) / size != count)
          throw input_error(where + text + ": axis " + std::to_string(axis) + " of " + std::to_string(n) +
                            " in blocks of " + std::to_string(size) + " does not have " +
                            std::to_string(count));
      } else {
        if (count == 0 ? n != 0 : n % count != 0)
          throw input_error(where + text + ": axis " + std::to_string(axis) + " of " + std::to_string(n) +
                            " is no whole number of blocks: say their extents with --block");
        size = count == 0 ? 1 : std::max<std::size_t>(n / count, 1);
      }
      blocks_[axis] = size;
      steps_[axis] = count == 1 ? 0 : step;
      step *= count;
    }
  }

  std::size_t operator()(std::size_t at) const {
    std::size_t result = 0;
    for (std::size_t axis = shape_.size(); axis-- > 0;) {
      result += at % shape_[axis] / blocks_[axis] * steps_[axis];
      at /= shape_[axis];
    }
    return result;
  }

 private:
  std::vector<std::size_t> shape_;
  std::vector<std::size_t> blocks_;
  std::vector<std::size_t> steps_;
};

void set_doubles(host_array& a, const std::vector<double>& values) {
  a.type = dtype::binary64;
  a.untyped = false;
  a.bytes.resize(8 * values.size());
  if (!values.empty()) std::memcpy(a.bytes.data(), values.data(), a.bytes.size());
}

}  // namespace

const host_array* attention_arrays::find(const std::string& name) const {
  const auto found = inputs.find(name);
  return found == inputs.end() ? nullptr : found->second;
}

attention_arrays read_attention_arrays(const array_request& request) { return reader(request).read(); }

host_array dequantised(const host_array& codes, const host_array& scale, const host_array* zero,
                       const std::vector<std::size_t>& block, const std::string& where) {
  const std::vector<double> values = exact_doubles(codes, where);
  const std::vector<double> factors = exact_doubles(scale, where);
  const std::vector<double> zeros = zero == nullptr ? std::vector<double>{} : exact_doubles(*zero, where);
  for (const double factor : factors)
    if (!std::isfinite(factor))
      throw input_error(where + "an element of " + scale.name + " is NaN or infinite");
  for (const double z : zeros)
    if (!std::isfinite(z)) throw input_error(where + "an element of " + zero->name + " is NaN or infinite");
  const sharing scale_of(codes.shape, scale, block, where);
  std::optional<sharing> zero_of;
  if (zero != nullptr) zero_of.emplace(codes.shape, *zero, block, where);
  std::vector<double> result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::optional<double> x = values[i];
    const double factor = factors[scale_of(i)];
    if (std::isfinite(values[i])) {
      if (zero_of) x = exact_double_difference(values[i], zeros[(*zero_of)(i)]);
      if (x) x = exact_double_product(*x, factor);
      if (!x)
        throw input_error(where + "element " + index_text(codes.shape, i) +
                          ": scale times (element - zero) is no binary64: give scales of binary32 or "
                          "narrower, or decode it yourself");
    }
    result[i] = *x;
  }
  host_array a;
  a.name = codes.name;
  a.shape = codes.shape;
  set_doubles(a, result);
  return a;
}

std::optional<host_array> exact_product(const host_array& x, const host_array& w, const std::string& name) {
  const auto refuse = [&](const std::string& what) {
    throw attention_error(fault::shape, name,
                          what + ": give X [T, C] or [B, T, C], and weights [C, d]; or Q, K and V");
  };
  if (x.shape.size() < 2 || x.shape.size() > 3) refuse("shape " + shape_text(x.shape) + " of " + x.name);
  if (w.shape.size() != 2) refuse("shape " + shape_text(w.shape) + " of " + w.name);
  const std::size_t inner = w.shape[0];
  const std::size_t columns = w.shape[1];
  if (x.shape.back() != inner)
    refuse("shape " + shape_text(x.shape) + " of " + x.name + " does not fit " + shape_text(w.shape) +
           " of " + w.name);
  std::size_t rows = 1;
  for (std::size_t axis = 0; axis + 1 < x.shape.size(); ++axis) rows *= x.shape[axis];
  const std::vector<double> left = exact_doubles(x, "array " + x.name + ": ");
  const std::vector<double> right = exact_doubles(w, "array " + w.name + ": ");
  for (const auto& [values, a] : {std::pair(&left, &x), std::pair(&right, &w)})
    for (std::size_t i = 0; i < values->size(); ++i)
      if (!std::isfinite((*values)[i]))
        throw attention_error(fault::value, a->name,
                              "element " + index_text(a->shape, i) + " is NaN or infinite");
  std::vector<double> result(rows * columns);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) {
      // In doubles as long as every step is exact, and otherwise in integers.
      std::optional<double> sum = 0.0;
      for (std::size_t c = 0; c < inner && sum; ++c) {
        const std::optional<double> product =
            exact_double_product(left[i * inner + c], right[c * columns + j]);
        sum = product ? exact_double_difference(*sum, -*product) : std::nullopt;
      }
      if (!sum) {
        unbounded_dyadic exact(0);
        for (std::size_t c = 0; c < inner; ++c)
          exact = unbounded_dyadic(exact +
                                   unbounded_dyadic(exact_value<unbounded_integer>(left[i * inner + c]) *
                                                    exact_value<unbounded_integer>(right[c * columns + j])));
        const double nearest = nearest_binary64(exact_scalar(exact));
        if (!std::isfinite(nearest) || !(exact_value<unbounded_integer>(nearest) == exact))
          return std::nullopt;
        sum = nearest;
      }
      result[i * columns + j] = *sum;
    }
  host_array a;
  a.name = name;
  a.shape = x.shape;
  a.shape.back() = columns;
  set_doubles(a, result);
  return a;
}

}  // namespace attest::io
