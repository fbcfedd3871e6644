#include "targets.hpp"

#include <attest/io/array_file.hpp>
#include <attest/io/attention_arrays.hpp>
#include <attest/io/attention_file.hpp>
#include <attest/io/case_file.hpp>
#include <attest/io/expected_arrays.hpp>
#include <attest/io/input_error.hpp>
#include <attest/io/json.hpp>
#include <attest/reference/number_text.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <type_traits>
#include <variant>
#include <vector>

namespace fuzz {

namespace {

using namespace attest;

void promise(bool kept, const std::string& what) {
  if (!kept) throw broken_promise(what);
}

void check_message(const std::string& message, std::string_view begins_with) {
  promise(message.starts_with(begins_with), "a message does not begin with the file's name: " + message);
  for (const char c : message)
    promise(static_cast<unsigned char>(c) >= 0x20 && c != '\x7f', "a message has a control character: " + message);
}

// The name that the readers are given, and that their messages must begin with.
constexpr std::string_view name = "fuzzed.json";
constexpr std::string_view prefix = "fuzzed.json: ";

// --- json --------------------------------------------------------------------------------------------------------

std::optional<io::json::value> parsed(std::string_view text, io::json::not_finite words) {
  try {
    return io::json::parse(text, words);
  } catch (const io::json::syntax_error&) {
    return std::nullopt;
  }
}

bool same(const io::json::value& a, const io::json::value& b) {
  if (a.type != b.type || a.truth != b.truth || a.text != b.text || a.keys != b.keys) return false;
  if (a.items.size() != b.items.size()) return false;
  for (std::size_t i = 0; i < a.items.size(); ++i)
    if (!same(a.items[i], b.items[i])) return false;
  return true;
}

void check_json(const io::json::value& v, io::json::not_finite words) {
  const std::string written = io::json::write(v);
  const auto again = parsed(written, words);
  promise(again.has_value(), "what json::write writes is refused: " + written);
  promise(same(v, *again), "what json::write writes reads as something else: " + written);
  promise(io::json::write(*again) == written, "json::write writes it differently the second time: " + written);
}

// --- cases -------------------------------------------------------------------------------------------------------

// Numbers of which a head can be computed in the blink of an eye.
bool is_small(const exact_scalar& x) {
  constexpr long most = 96;
  const auto is_small_integer = [](const unbounded_integer& n) { return bit_length(n) <= std::size_t{most}; };
  if (const auto* d = std::get_if<unbounded_dyadic>(&x))
    return is_small_integer(d->significand()) && std::labs(d->exponent()) <= most;
  const auto& q = std::get<unbounded_rational>(x);
  return is_small_integer(q.numerator()) && is_small_integer(q.denominator());
}
bool is_small(const exact_matrix& m) {
  if (rows(m) * columns(m) > 12) return false;
  for (std::size_t i = 0; i < rows(m); ++i)
    for (std::size_t j = 0; j < columns(m); ++j)
      if (!is_small(element(m, i, j))) return false;
  return true;
}

std::vector<const exact_matrix*> inputs_of(const problem& p) {
  if (const auto* in = std::get_if<projected_inputs>(&p.inputs)) {
    std::vector<const exact_matrix*> all = {&in->x, &in->wq, &in->wk, &in->wv};
    if (in->y) all.push_back(&*in->y);
    return all;
  }
  const auto& in = std::get<head_inputs>(p.inputs);
  return {&in.q, &in.k, &in.v};
}

bool is_small(const problem& p) {
  for (const exact_matrix* m : inputs_of(p))
    if (!is_small(*m)) return false;
  return !p.scale || is_small(*p.scale);
}

bool same(const problem& a, const problem& b) {
  const auto x = inputs_of(a);
  const auto y = inputs_of(b);
  if (a.inputs.index() != b.inputs.index() || x.size() != y.size()) return false;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!(*x[i] == *y[i])) return false;
  return a.mask == b.mask && a.scale == b.scale;
}

std::optional<io::case_batch> read(std::string_view bytes, io::decimals meaning) {
  try {
    return io::read_batch(bytes, name, meaning);
  } catch (const io::input_error& e) {
    check_message(e.what(), prefix);
    return std::nullopt;
  }
}

void check_case(const io::case_batch& file) {
  if (file.examples.size() > 2) return;
  for (const problem& p : file.examples)
    if (!is_small(p)) return;
  std::vector<attention_reference> answers;
  for (const problem& p : file.examples) answers.push_back(attention(p, {5, {}}));
  std::string written;
  try {
    written = io::attention_v1(file, answers, name);
  } catch (const io::input_error& e) {  // a product that overflows binary64
    check_message(e.what(), prefix);
    return;
  }
  // An attention-v1 file holds doubles, and beside them what they round.
  const auto again = read(written, io::decimals::nearest_binary64);
  promise(again.has_value(), "the file written for a case is refused: " + written);
  promise(again->per_example == file.per_example && again->examples.size() == file.examples.size(),
          "the file written for a case is another batch: " + written);
  for (std::size_t b = 0; b < file.examples.size(); ++b)
    promise(same(file.examples[b], again->examples[b]), "the file written for a case is another case: " + written);
  promise(io::attention_v1(*again, answers, name) == written, "a case is written differently the second time: " + written);
}

// --- expected arrays ---------------------------------------------------------------------------------------------

void write_level(std::string& out, const exact_array& a, std::size_t level, std::size_t& at) {
  if (level == a.shape.size()) {
    const double x = a.values[at];
    if (const auto beyond = a.beyond.find(at); beyond != a.beyond.end())
      out += io::json::quote(exact_text(beyond->second));
    else if (std::isnan(x))
      out += "NaN";
    else if (std::isinf(x))
      out += x < 0 ? "-Infinity" : "Infinity";
    else
      out += shortest_text(x);
    ++at;
    return;
  }
  out += '[';
  for (std::size_t i = 0; i < a.shape[level]; ++i) {
    if (i > 0) out += ", ";
    write_level(out, a, level + 1, at);
  }
  out += ']';
}

std::string written(const std::vector<io::expected_array>& arrays) {
  std::string out = "{\"expected\": {";
  for (const io::expected_array& each : arrays) {
    if (&each != &arrays.front()) out += ", ";
    out += io::json::quote(each.name) + ": ";
    std::size_t at = 0;
    write_level(out, each.array, 0, at);
    promise(at == each.array.values.size(), "the array " + each.name + " has another number of elements than its shape");
  }
  return out + "}}";
}

std::optional<std::vector<io::expected_array>> read_arrays(std::string_view bytes) {
  try {
    return io::read_expected(io::read_attention_v1(bytes, name), name, "give it");
  } catch (const io::input_error& e) {
    check_message(e.what(), prefix);
    return std::nullopt;
  }
}

bool same(const exact_array& a, const exact_array& b) {
  if (a.shape != b.shape || a.values.size() != b.values.size() || a.beyond != b.beyond) return false;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    if (std::isnan(a.values[i]) && std::isnan(b.values[i])) continue;
    if (std::bit_cast<std::uint64_t>(a.values[i]) != std::bit_cast<std::uint64_t>(b.values[i])) return false;
  }
  return true;
}

// --- arrays ------------------------------------------------------------------------------------------------------

struct arrays_read {
  std::vector<io::host_array> arrays;
  std::string provenance;
};

// --dtype takes an array for another or refuses it.
void read_as_other_types(const io::host_array& a) {
  for (const char* const type : {"int4", "uint4", "boolean", "int8", "float8_e4m3fn", "bfloat16", "binary32"}) {
    try {
      const io::host_array b = io::reinterpreted(a, type, std::string(prefix));
      const bool two_in_a_byte = size_of(a.type) == 1 && !a.untyped && std::string_view(type).ends_with("int4");
      std::size_t elements = 1;
      for (const std::size_t extent : b.shape) elements *= extent;
      promise(!b.untyped && b.elements() == elements && elements == a.elements() * (two_in_a_byte ? 2 : 1),
              std::string("an array has another number of elements as ") + type);
    } catch (const io::input_error& e) {
      check_message(e.what(), prefix);
    }
  }
}

std::optional<arrays_read> read_arrays(const std::string& bytes, io::array_format format, const std::string& file,
                                       const std::optional<std::string>& sidecar) {
  try {
    const auto opened = io::open_arrays(bytes, format, file, sidecar);
    arrays_read result{{}, opened->provenance()};
    for (const io::array_info& info : opened->arrays()) {
      result.arrays.push_back(opened->load(info.name));
      const io::host_array& a = result.arrays.back();
      promise(a.name == info.name && a.type == info.type && a.shape == info.shape, "an array is loaded as another than is listed: " + info.name);
      std::size_t elements = 1;
      for (const std::size_t extent : a.shape) elements *= extent;
      promise(a.bytes.size() == elements * size_of(a.type), "an array has another number of elements than its shape: " + info.name);
      read_as_other_types(a);
    }
    return result;
  } catch (const io::input_error& e) {
    check_message(e.what(), file.substr(0, file.find('.')));
    return std::nullopt;
  }
}

outcome check_arrays(const std::string& bytes, io::array_format format, const std::string& file, const std::optional<std::string>& sidecar = {}) {
  const auto first = read_arrays(bytes, format, file, sidecar);
  if (!first) return outcome::refused;
  const io::encoded_arrays written = io::encode({first->arrays, first->provenance}, format, file);
  const auto again = read_arrays(written.bytes, format, file, written.sidecar);
  promise(again.has_value() && again->arrays.size() == first->arrays.size(), "arrays as they are written are refused");
  promise(again->provenance == first->provenance, "the provenance reads as another: " + first->provenance);
  for (const io::host_array& a : first->arrays) {
    bool same = false;
    for (const io::host_array& b : again->arrays) same = same || (a.name == b.name && a.type == b.type && a.shape == b.shape && a.bytes == b.bytes);
    promise(same, "an array reads as another: " + a.name);
  }
  return outcome::accepted;
}

}  // namespace

outcome npy(std::string_view bytes) { return check_arrays(std::string(bytes), io::array_format::npy, "fuzzed.npy"); }
outcome npz(std::string_view bytes) { return check_arrays(std::string(bytes), io::array_format::npz, "fuzzed.npz"); }
outcome safetensors(std::string_view bytes) { return check_arrays(std::string(bytes), io::array_format::safetensors, "fuzzed.safetensors"); }
outcome raw(std::string_view bytes) {
  const std::size_t end = std::min(bytes.find('\0'), bytes.size());
  return check_arrays(std::string(bytes.substr(std::min(end + 1, bytes.size()))), io::array_format::raw, "fuzzed.bin", std::string(bytes.substr(0, end)));
}

outcome options(std::string_view bytes) {
  const auto read = [](std::string_view text) -> std::optional<std::string> {
    try {
      attention_options attention;
      io::output_options output;
      io::read_options(io::json::parse(text), attention, output, std::string(prefix));
      return io::options_text(attention, output);
    } catch (const io::json::syntax_error&) {
      return std::nullopt;
    } catch (const io::input_error& e) {
      check_message(e.what(), prefix);
      return std::nullopt;
    }
  };
  const auto first = read(bytes);
  if (!first) return outcome::refused;
  const auto again = read(*first);
  promise(again.has_value(), "options as they are written are refused: " + *first);
  promise(*again == *first, "options are written differently the second time: " + *first);
  return outcome::accepted;
}

outcome json(std::string_view bytes) {
  const auto strict = parsed(bytes, io::json::not_finite::refused);
  const auto with_words = parsed(bytes, io::json::not_finite::kept);
  if (strict) {
    promise(with_words && same(*strict, *with_words), "NaN and infinity kept, a text without them reads as something else");
    check_json(*strict, io::json::not_finite::refused);
  }
  if (with_words) check_json(*with_words, io::json::not_finite::kept);
  return strict ? outcome::accepted : outcome::refused;
}

outcome attention_case(std::string_view bytes) {
  const auto nearest = read(bytes, io::decimals::nearest_binary64);
  const auto exact = read(bytes, io::decimals::exact);
  if (nearest) check_case(*nearest);
  if (exact) check_case(*exact);
  return nearest ? outcome::accepted : outcome::refused;
}

outcome expected(std::string_view bytes) {
  const auto arrays = read_arrays(bytes);
  if (!arrays) return outcome::refused;
  const std::string text = written(*arrays);
  const auto again = read_arrays(text);
  promise(again.has_value() && again->size() == arrays->size(), "arrays as they are written are refused: " + text);
  for (std::size_t i = 0; i < arrays->size(); ++i) {
    const io::expected_array& a = (*arrays)[i];
    promise(a.name == (*again)[i].name && same(a.array, (*again)[i].array), "an array reads as something else: " + text);
    const comparison c = compare_exact(a.array, a.array, {exact_scalar(unbounded_dyadic(0)), 0});
    promise(c.passed(), "an array is not equal to itself: " + text);
  }
  promise(written(*again) == text, "arrays are written differently the second time: " + text);
  return outcome::accepted;
}

}  // namespace fuzz
