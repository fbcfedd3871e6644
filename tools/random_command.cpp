#include "arguments.hpp"
#include "commands.hpp"

#include <attest/inputs/numpy_stream.hpp>
#include <attest/io/array_file.hpp>
#include <attest/io/files.hpp>
#include <attest/io/input_error.hpp>
#include <attest/io/json.hpp>
#include <attest/io/number.hpp>
#include <attest/reference/number_text.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace attest::tools {

namespace {

constexpr std::size_t most_values = std::size_t{1} << 22;
constexpr std::size_t most_axes = 8;

struct request {
  std::string seed;
  std::vector<std::string> shapes;
  std::string output = "-";
  bool hexadecimal = false;
  bool as_numpy = false;
};

struct drawn_array {
  std::string name;  // empty: the only one
  std::vector<std::size_t> shape;
  std::size_t count = 1;
};

// Nothing, or what is wrong with the text.
std::string seed_text(const std::string& text) {
  std::uint32_t seed = 0;
  return is_number(text, seed) ? std::string()
                               : text + " is no seed: give a whole number from 0 to 4294967295";
}

[[noreturn]] void refuse(const std::string& shape, const std::string& why) {
  throw io::input_error("--shape: " + shape + ": " + why);
}

drawn_array array_of(const std::string& text) {
  drawn_array array;
  std::string_view extents = text;
  if (const auto equals = extents.find('='); equals != std::string_view::npos) {
    array.name = extents.substr(0, equals);
    if (array.name.empty()) refuse(text, "the name before = is empty");
    extents.remove_prefix(equals + 1);
  }
  for (;;) {
    const auto comma = extents.find(',');
    std::size_t extent = 0;
    if (!is_number(extents.substr(0, comma), extent) || extent == 0)
      refuse(text, "expected whole numbers from 1 on, such as 24,8, or with a name, X=24,8");
    if (array.shape.size() == most_axes)
      refuse(text, "it has more than " + std::to_string(most_axes) + " axes");
    if (extent > most_values / array.count)
      refuse(text, "it has more than " + std::to_string(most_values) + " elements");
    array.count *= extent;
    array.shape.push_back(extent);
    if (comma == std::string_view::npos) return array;
    extents.remove_prefix(comma + 1);
  }
}

std::vector<drawn_array> arrays_of(const request& r) {
  std::vector<drawn_array> arrays;
  std::set<std::string> names;
  std::size_t count = 0;
  for (const std::string& text : r.shapes) {
    arrays.push_back(array_of(text));
    const drawn_array& a = arrays.back();
    if (a.name.empty() && r.shapes.size() > 1) refuse(text, "several arrays need names: X=24,8");
    if (!names.insert(a.name).second) refuse(text, "the name " + a.name + " is given twice");
    count += a.count;
    if (count > most_values)
      refuse(text, "all arrays together have more than " + std::to_string(most_values) + " elements");
  }
  return arrays;
}

std::string element(double x, bool hexadecimal) {
  if (!hexadecimal) return shortest_text(x);
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, std::fabs(x), std::chars_format::hex).ptr;
  return std::string(std::signbit(x) ? "\"-0x" : "\"0x") + std::string(digits, end) + '"';
}

// The array as nested lists; the innermost lists, a line each, begin at the given depth.
void write_list(std::string& out, const drawn_array& array, std::size_t axis, const double*& next,
                bool hexadecimal, std::size_t depth) {
  const bool innermost = axis + 1 == array.shape.size();
  const std::string indent = "\n" + std::string(2 * (depth + 1), ' ');
  out += '[';
  for (std::size_t i = 0; i < array.shape[axis]; ++i) {
    if (i > 0) out += innermost ? ", " : ",";
    if (!innermost) out += indent;
    if (innermost)
      out += element(*next++, hexadecimal);
    else
      write_list(out, array, axis + 1, next, hexadecimal, depth + 1);
  }
  if (!innermost) out += "\n" + std::string(2 * depth, ' ');
  out += ']';
}

int run(const request& r) {
  const std::vector<drawn_array> arrays = arrays_of(r);
  std::uint32_t seed = 0;
  is_number(r.seed, seed);
  const std::string file = r.output.substr(r.output.find_last_of('/') + 1);
  const auto format = io::format_of_path(file);
  const bool is_text = format.value_or(io::array_format::json) == io::array_format::json;
  if (const auto dot = file.rfind('.'); !format && dot != std::string::npos && dot != 0)
    throw io::input_error(
        r.output +
        ": its extension names no format: use .json, .npy, .npz, .safetensors, .bin, .raw or .hpp");
  if (!is_text && r.hexadecimal)
    throw io::input_error("--hex: it is of JSON: " + r.output + " holds the doubles themselves");
  if (!is_text && arrays[0].name.empty() && format != io::array_format::npy)
    refuse(r.shapes[0], "an array in " + r.output + " needs a name: X=" + r.shapes[0]);
  std::optional<io::output_file> target;
  if (r.output != "-" && is_text) target.emplace(r.output);

  std::size_t count = 0;
  for (const drawn_array& a : arrays) count += a.count;
  std::vector<double> values;
  try {
    values = numpy_stream(seed, count,
                          r.as_numpy ? randn_logarithm::c_library : randn_logarithm::correctly_rounded);
  } catch (const different_c_library& e) {
    throw io::input_error(std::string("--numpy: ") + e.what());
  }
  const double* next = values.data();
  if (!is_text) {
    io::arrays_to_write content;
    for (const drawn_array& a : arrays) {
      io::host_array& array = content.arrays.emplace_back();
      array.name = a.name.empty() ? file.substr(0, file.rfind('.')) : a.name;
      array.shape = a.shape;
      array.bytes.resize(8 * a.count);
      std::memcpy(array.bytes.data(), next, array.bytes.size());
      next += a.count;
    }
    io::write_arrays(r.output, content);
    return done;
  }
  std::string text;
  if (arrays[0].name.empty()) {
    write_list(text, arrays[0], 0, next, r.hexadecimal, 0);
  } else {
    text = "{";
    for (std::size_t k = 0; k < arrays.size(); ++k) {
      text += (k > 0 ? ",\n  " : "\n  ") + io::json::quote(arrays[k].name) + ": ";
      write_list(text, arrays[k], 0, next, r.hexadecimal, 1);
    }
    text += "\n}";
  }
  text += '\n';
  if (target)
    target->write(text);
  else
    io::write_standard_output(text);
  return done;
}

const char* const explanation =
    "The values are NumPy's: np.random.seed(S), then np.random.randn() until the shapes are full. Every\n"
    "operation, the logarithm too, is correctly rounded, so that the values are the same on every\n"
    "machine; NumPy's own differ by an ulp in a few of ten thousand, where its C library rounds the\n"
    "logarithm otherwise. --numpy takes this machine's logarithm as NumPy does, if it is the one of\n"
    "glibc 2.36 on x86-64.\n"
    "\n"
    "The format follows the extension: JSON, or .npy, .npz, .safetensors, .bin, .raw and .hpp, in\n"
    "binary64.\n"
    "\n"
    "One shape gives a JSON list. Shapes with names are drawn one after the other and give an object,\n"
    "which is a case where they are those of its inputs:\n"
    "  attest random --seed 42 --shape X=8,8 --shape WQ=8,4 --shape WK=8,4 --shape WV=8,4 -o case.json\n"
    "Numbers are the shortest decimals that read back as the doubles; with --hex, strings of\n"
    "hexadecimal floats.\n"
    "\n"
    "Exit status: 0 done, 2 bad usage or bad input (one line on standard error says what).";

}  // namespace

void add_random_command(CLI::App& program, action& chosen) {
  CLI::App* command = program.add_subcommand("random", "Write random inputs, NumPy's seeded randn");
  const auto r = std::make_shared<request>();
  command->add_option("--seed", r->seed, "The seed, 0 to 4294967295")
      ->required()
      ->type_name("S")
      ->check(seed_text);
  command
      ->add_option("--shape", r->shapes,
                   "The shape, such as 24,8, or with a name, X=24,8; may be given again")
      ->required()
      ->type_name("[NAME=]N,N...")
      ->allow_extra_args(false);
  command
      ->add_option("-o,--output", r->output, "The file to write; - (the default) writes to standard output")
      ->type_name("FILE");
  command->add_flag("--hex", r->hexadecimal, "Write hexadecimal floats, as strings");
  command->add_flag("--numpy", r->as_numpy,
                    "The values of NumPy on this machine, with the logarithm of its C library");
  command->footer(explanation);
  command->callback([r, &chosen] { chosen = [r] { return run(*r); }; });
}

}  // namespace attest::tools
