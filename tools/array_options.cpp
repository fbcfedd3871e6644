#include "array_options.hpp"

#include "arguments.hpp"

#include <attest/io/files.hpp>
#include <attest/io/input_error.hpp>
#include <attest/problem/one_line.hpp>

#include <algorithm>
#include <iostream>

namespace attest::tools {

namespace {

using io::input_error;
using io::json::kind;
using io::json::value;

value text_value(kind type, const std::string& text) {
  value v;
  v.type = type;
  v.text = text;
  return v;
}

// A number as the command line has it: a decimal, or exactly a hexadecimal float.
value number_value(const std::string& text) {
  const bool hexadecimal = text.find_first_of("xX/") != std::string::npos;
  return text_value(hexadecimal ? kind::string : kind::number, text);
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == at)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

value list_value(const std::string& text) {
  value v;
  v.type = kind::array;
  for (const std::string& part : split(text, ',')) v.items.push_back(number_value(part));
  return v;
}

void set(value& object, const std::string& key, value content) {
  for (std::size_t i = 0; i < object.keys.size(); ++i)
    if (object.keys[i] == key) {
      object.items[i] = std::move(content);
      return;
    }
  object.keys.push_back(key);
  object.items.push_back(std::move(content));
}

value window_value(const std::string& text) {
  value v;
  v.type = kind::object;
  const std::vector<std::string> sides = split(text, ',');
  if (sides.size() != 2)
    throw input_error("--window: " + text + " is no pair: give LEFT,RIGHT, either empty for no limit");
  if (!sides[0].empty()) set(v, "left", number_value(sides[0]));
  if (!sides[1].empty()) set(v, "right", number_value(sides[1]));
  return v;
}

// What the command line sets, over what `object` has.
void override_with(value& object, const array_options& o) {
  const auto number = [&](const char* key, const std::string& text) {
    if (!text.empty()) set(object, key, number_value(text));
  };
  const auto word = [&](const char* key, const std::string& text) {
    if (!text.empty()) set(object, key, text_value(kind::string, text));
  };
  const auto flag = [&](const char* key, bool given) {
    if (!given) return;
    value v;
    v.type = kind::boolean;
    v.truth = true;
    set(object, key, v);
  };
  const auto list = [&](const char* key, const std::string& text) {
    if (!text.empty()) set(object, key, list_value(text));
  };
  number("scale", o.scale);
  number("softcap", o.softcap);
  flag("causal", o.causal);
  word("corner", o.corner);
  if (!o.window.empty()) set(object, "window", window_value(o.window));
  number("past_keys", o.past_keys);
  list("key_lengths", o.key_lengths);
  list("alibi_slopes", o.alibi_slopes);
  list("sinks", o.sinks);
  if (!o.lse.empty() || !o.empty_lse.empty()) {
    value form;
    form.type = kind::object;
    if (const value* known = object.find("log_sum_exp"); known != nullptr && known->type == kind::object)
      form = *known;
    if (!o.lse.empty()) set(form, "base", text_value(kind::string, o.lse == "2" ? "two" : o.lse));
    if (!o.empty_lse.empty()) set(form, "empty", text_value(kind::string, o.empty_lse));
    set(object, "log_sum_exp", form);
  }
  word("empty_row", o.empty_row);
  word("output_dtype", o.output_dtype);
  word("direction", o.direction);
  flag("saturate", o.saturate);
  flag("low_word", o.low_word);
  flag("certificates", o.certificates);
  flag("weights", o.weights);
  number("max_bits", o.max_bits);
}

std::vector<std::size_t> extents(const std::string& text) {
  std::vector<std::size_t> result;
  for (const std::string& part : split(text, ',')) {
    std::size_t extent = 0;
    if (!is_number(part, extent))
      throw input_error("--block: " + text + " are no extents: give one for each axis, as in K=1,1,1,32");
    result.push_back(extent);
  }
  return result;
}

value parse_file(const std::string& path) {
  try {
    return io::json::parse(io::read_file(path));
  } catch (const io::json::syntax_error& e) {
    throw input_error(io::input_name(path) + ": " + e.what());
  }
}

// Takes what says how arrays are read out of the options.
void take_request(value& object, io::array_request& request, const std::string& where) {
  const auto texts = [&](const char* key, std::map<std::string, std::string>& to) {
    for (std::size_t i = 0; i < object.keys.size(); ++i) {
      if (object.keys[i] != key) continue;
      const value& v = object.items[i];
      if (v.type != kind::object) throw input_error(where + key + " is no object of strings");
      for (std::size_t k = 0; k < v.keys.size(); ++k) {
        if (v.items[k].type != kind::string) throw input_error(where + key + " is no object of strings");
        to.emplace(v.keys[k], v.items[k].text);
      }
      object.keys.erase(object.keys.begin() + static_cast<std::ptrdiff_t>(i));
      object.items.erase(object.items.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
  };
  if (object.type != kind::object) throw input_error(where + "it holds no object of options");
  texts("names", request.names);
  texts("dtypes", request.dtypes);
  std::map<std::string, std::string> blocks;
  texts("blocks", blocks);
  for (const auto& [name, text] : blocks) request.blocks.emplace(name, extents(text));
}

}  // namespace

bool array_options::any() const {
  for (const auto* list : {&names, &dtypes, &blocks, &ignored})
    if (!list->empty()) return true;
  for (const auto* text :
       {&options_file, &scale, &softcap, &corner, &window, &past_keys, &key_lengths, &alibi_slopes, &sinks,
        &lse, &empty_lse, &empty_row, &output_dtype, &direction, &max_bits})
    if (!text->empty()) return true;
  return causal || saturate || low_word || certificates || weights;
}

void add_array_options(CLI::App& command, array_options& o, bool results) {
  const auto text = [&](const char* name, std::string& to, const char* type, const char* meaning) {
    command.add_option(name, to, meaning)->type_name(type)->group("Options of attention")->check(empty_text);
  };
  const auto flag = [&](const char* name, bool& to, const char* meaning) {
    command.add_flag(name, to, meaning)->group("Options of attention");
  };
  const auto list = [&](const char* name, std::vector<std::string>& to, const char* type,
                        const char* meaning) {
    command.add_option(name, to, meaning)->type_name(type)->allow_extra_args(false)->group("Arrays");
  };
  list("--name", o.names, "Q=NAME", "The array NAME is Q (or K, V, X, WQ, mask, ...); may be given again");
  list("--ignore", o.ignored, "NAME,...", "Arrays that are as good as not there; may be given again");
  list("--dtype", o.dtypes, "K=DTYPE,...",
       "The integers of array K are the bits of DTYPE: float16, bfloat16, e4m3, e5m2, e8m0, ...; int4, uint4,"
       " e2m1: two elements in a byte; several as Q=e4m3,K=e4m3, or given again");
  list("--block", o.blocks, "K=N,N,...",
       "The extents of the blocks of K that share a scale and a zero point; may be given again");
  command
      .add_option("--options", o.options_file,
                  "A JSON file of options, by their names in C++; the command line overrides it")
      ->type_name("FILE")
      ->check(empty_text)
      ->group("Options of attention");
  text("--scale", o.scale, "X", "What the dot products are multiplied with; otherwise exactly 1/sqrt(d_k)");
  text("--softcap", o.softcap, "X", "Scores s become X tanh(s / X)");
  flag("--causal", o.causal, "A query sees no key beyond its own position");
  text("--corner", o.corner, "CORNER", "Where the queries stand: top_left or bottom_right");
  text("--window", o.window, "L,R", "A query sees L keys to its left and R to its right; empty: no limit");
  text("--past-keys", o.past_keys, "N", "Query i stands at position N + i");
  text("--key-lengths", o.key_lengths, "N,N,...", "How many keys each batch element has");
  text("--alibi-slopes", o.alibi_slopes, "X,X,...", "ALiBi slopes, one for each query head");
  text("--sinks", o.sinks, "X,X,...", "Attention sinks, one for each query head");
  text("--lse", o.lse, "BASE", "Write the log-sum-exp of each row as well, to the base e or two (or 2)");
  text("--empty-lse", o.empty_lse, "VALUE",
       "That of a row that sees nothing: minus_infinity or plus_infinity");
  text("--empty-row", o.empty_row, "VALUE", "What a row that sees nothing gives: zero, nan or error");
  if (!results) return;
  text("--output-dtype", o.output_dtype, "DTYPE",
       "The results' format: binary64 (the default), binary32, binary16 or fp16, bfloat16, float8_e4m3fn"
       " or e4m3, float8_e5m2 or e5m2, float8_e4m3fnuz, float8_e5m2fnuz");
  text("--direction", o.direction, "ROUNDING", "nearest_even (the default), toward_zero, up, down or to_odd");
  flag("--saturate", o.saturate, "What overflows the format becomes its largest number");
  flag("--low-word", o.low_word,
       "Write exact - result as binary32, too; can take some hundred times as long in binary64");
  flag("--certificates", o.certificates,
       "Write what is known of each element, too: 0 correctly rounded, 1 so and exact or a tie, 2 undecided");
  flag("--weights", o.weights, "Write the weights as well");
  text("--max-bits", o.max_bits, "N",
       "Give up an element after enclosures of N bits; exit status 3 where one was given up");
}

array_problem read_array_problem(const std::vector<std::string>& files, const array_options& options,
                                 const std::optional<value>& written) {
  io::array_request request;
  request.files = files;
  const auto give = [](auto& by_name, const char* option, const auto& pair) {
    const auto& [name, content] = pair;
    const auto [at, is_new] = by_name.emplace(name, content);
    if (!is_new && at->second != content)
      throw input_error(std::string(option) + ": array " + name + " is there twice: give it once");
  };
  for (const std::string& text : options.names)
    give(request.names, "--name", assignment(text, "--name", "Q=NAME"));
  for (const std::string& list : options.dtypes)
    for (const std::string& text : split(list, ','))
      give(request.dtypes, "--dtype", assignment(text, "--dtype", "K=bfloat16"));
  for (const std::string& list : options.ignored)
    for (const std::string& name : split(list, ',')) request.ignored.insert(name);
  for (const std::string& text : options.blocks) {
    const auto [name, list] = assignment(text, "--block", "K=1,1,1,32");
    give(request.blocks, "--block", std::pair(name, extents(list)));
  }
  value object;
  object.type = kind::object;
  if (written) object = *written;
  std::string where = "command line: ";
  if (!options.options_file.empty()) {
    where = io::input_name(options.options_file) + ": ";
    value given = parse_file(options.options_file);
    take_request(given, request, where);
    for (std::size_t i = 0; i < given.keys.size(); ++i) set(object, given.keys[i], given.items[i]);
  }
  array_problem result;
  result.arrays = io::read_attention_arrays(request);
  // What the files themselves say counts where neither the options' file nor the command line does.
  const value& of_case = result.arrays.case_options;
  for (std::size_t i = 0; i < of_case.keys.size(); ++i)
    if (object.find(of_case.keys[i]) == nullptr) set(object, of_case.keys[i], of_case.items[i]);
  if (options.options_file.empty() && !of_case.keys.empty() && options.scale.empty())
    where = io::input_name(files[0]) + ": ";
  override_with(object, options);
  io::read_options(object, result.attention, result.output, where);
  attention_options& from_files = result.arrays.options;
  result.attention.mask = from_files.mask;
  result.attention.bias = from_files.bias;
  const auto merge = [&](auto& chosen, auto& from_file, const char* name) {
    if (chosen.empty())
      chosen = from_file;
    else if (!from_file.empty() && from_file != chosen)
      result.arrays.unused.push_back("the array " + std::string(name) + ", over which the option goes");
  };
  merge(result.attention.sinks, from_files.sinks, "sinks");
  merge(result.attention.alibi_slopes, from_files.alibi_slopes, "alibi_slopes");
  merge(result.attention.key_lengths, from_files.key_lengths, "key_lengths");
  const attention_options& a = result.attention;
  if (!written && !a.causal && !a.window && a.alibi_slopes.empty())
    for (const auto& [given, name] :
         {std::pair(a.corner.has_value(), "corner"), std::pair(a.past_keys.has_value(), "past_keys")})
      if (given)
        result.arrays.unused.push_back("the option " + std::string(name) +
                                       ", as nothing depends on positions (" +
                                       "causal, window, alibi_slopes)");
  return result;
}

std::string on_command_line(std::string message) {
  constexpr std::pair<std::string_view, std::string_view> names[] = {
      {"set log_sum_exp->empty to minus_infinity or plus_infinity",
       "give --empty-lse minus_infinity or plus_infinity"},
      {"set empty_row to zero or nan", "give --empty-row zero or nan"},
      {"set corner to top_left or bottom_right", "give --corner top_left or bottom_right"},
      {"bottom_right, or past_keys", "bottom_right, or --past-keys"},
      {"set past_keys", "give --past-keys"}};
  for (const auto& [in_cpp, option] : names)
    if (const std::size_t at = message.find(in_cpp); at != std::string::npos)
      message.replace(at, in_cpp.size(), option);
  return message;
}

void report_unused(const std::vector<std::string>& names) {
  constexpr std::size_t most = 8;
  if (names.empty()) return;
  std::string text = "attest: not used:";
  for (std::size_t i = 0; i < names.size() && i < most; ++i) text += (i == 0 ? " " : ", ") + names[i];
  if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
  std::cerr << one_line(text) + "\n";
}

std::optional<query_key_value> inputs_of(const io::attention_arrays& arrays) {
  query_key_value result;
  if (!arrays.projected()) {
    result.inputs = {io::view_of(*arrays.find("Q")), io::view_of(*arrays.find("K")),
                     io::view_of(*arrays.find("V"))};
    return result;
  }
  const io::host_array& x = *arrays.find("X");
  const io::host_array& y = arrays.find("Y") != nullptr ? *arrays.find("Y") : x;
  for (const auto& [name, from, weights] :
       {std::tuple("Q", &x, "WQ"), std::tuple("K", &y, "WK"), std::tuple("V", &y, "WV")}) {
    auto product = io::exact_product(*from, *arrays.find(weights), name);
    if (!product) return std::nullopt;
    result.products.push_back(std::move(*product));
  }
  result.inputs = {io::view_of(result.products[0]), io::view_of(result.products[1]),
                   io::view_of(result.products[2])};
  return result;
}

const char* const array_explanation =
    "Arrays. A CASE (or NAME=CASE for a file of one array, such as Q=q.npy; several may be given) with\n"
    "the extension .npz, .npy, .safetensors, .bin or .raw (with CASE.json beside it) holds arrays of\n"
    "numbers: Q, K and V, [T, d], [B, T, d] or [B, H, T, d], or X, WQ, WK and WV; and mask, bias, sinks,\n"
    "alibi_slopes, key_lengths. Any case will do, and --name maps other names. What is given and not used\n"
    "is refused if its name is like one of these or an option's (--ignore leaves it out), and otherwise\n"
    "named on standard error; a file of which nothing is used is refused. An array K may have\n"
    "K_scale and K_zero: its elements are then K_scale (K - K_zero). Every element is taken exactly, and\n"
    "what would have to be rounded is refused. A JSON case is taken as arrays when an option of attention\n"
    "is given, or when the output is no JSON.\n"
    "\n"
    "Each result is the exact value, rounded once to the output's format.\n";

}  // namespace attest::tools
