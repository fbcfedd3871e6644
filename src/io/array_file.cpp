#include "array_layout.hpp"

#include <attest/io/files.hpp>
#include <attest/io/input_error.hpp>
#include <attest/io/json.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <numeric>

#include <sys/stat.h>

namespace attest::io {

static_assert(std::endian::native == std::endian::little || std::endian::native == std::endian::big);

namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

std::string megabytes(std::uint64_t bytes) { return std::to_string((bytes >> 20) + 1) + " MiB"; }

void reverse_each(std::vector<unsigned char>& bytes, std::size_t size) {
  for (std::size_t at = 0; at + size <= bytes.size(); at += size)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                 bytes.begin() + static_cast<std::ptrdiff_t>(at + size));
}

// The elements of an array whose first index runs fastest, row by row.
std::vector<unsigned char> by_rows(const std::vector<unsigned char>& columns,
                                   const std::vector<std::size_t>& shape, std::size_t size) {
  std::vector<unsigned char> result(columns.size());
  std::vector<std::size_t> index(shape.size(), 0);
  std::vector<std::size_t> steps(shape.size(), 1);
  for (std::size_t axis = 1; axis < shape.size(); ++axis) steps[axis] = steps[axis - 1] * shape[axis - 1];
  std::size_t from = 0;
  for (std::size_t to = 0; to < result.size(); to += size) {
    std::memcpy(result.data() + to, columns.data() + from * size, size);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      from += steps[axis];
      if (++index[axis] < shape[axis]) break;
      from -= steps[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  return result;
}

template <class T>
double number_at(const std::vector<unsigned char>& bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at * sizeof(T), sizeof(T));
  return static_cast<double>(value);
}

std::optional<std::string> sidecar_text(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return read_file(path);
}

}  // namespace

std::optional<array_format> format_of_path(std::string_view path) {
  constexpr std::pair<std::string_view, array_format> extensions[] = {
      {".npy", array_format::npy},
      {".npz", array_format::npz},
      {".safetensors", array_format::safetensors},
      {".bin", array_format::raw},
      {".raw", array_format::raw},
      {".json", array_format::json},
      {".hpp", array_format::cpp_header},
      {".h", array_format::cpp_header}};
  const std::string name = lower(path);
  for (const auto& [extension, format] : extensions)
    if (name.ends_with(extension)) return format;
  return std::nullopt;
}

double host_array::value(std::size_t at) const {
  if (type == dtype::int64) return number_at<std::int64_t>(bytes, at);
  if (type == dtype::binary64) return number_at<double>(bytes, at);
  if (type == dtype::binary32) return number_at<float>(bytes, at);
  return any_tensor(bytes.data() + at * size_of(type), type, layout{1, 1})(0, 0, 0, 0);
}

any_tensor view_of(const host_array& a) {
  const std::vector<std::size_t>& s = a.shape;
  switch (s.size()) {
    case 2:
      return {a.bytes.data(), a.type, layout{s[0], s[1]}};
    case 3:
      return {a.bytes.data(), a.type, layout{s[0], s[1], s[2]}};
    case 4:
      return {a.bytes.data(), a.type, layout{s[0], s[1], s[2], s[3]}};
    default:
      throw attention_error(fault::shape, a.name,
                            "shape " + shape_text(a.shape) +
                                ": give it two, three or four axes, [T, d], [B, T, d] or [B, H, T, d]");
  }
}

std::string array_prefix(const std::string& file, const std::string& array) {
  return file + ": array " + array + ": ";
}

std::optional<std::uint64_t> size_in_json(const json::value& v) {
  std::uint64_t size = 0;
  const char* const end = v.text.data() + v.text.size();
  if (v.type != json::kind::number) return std::nullopt;
  const auto read = std::from_chars(v.text.data(), end, size);
  if (read.ec != std::errc() || read.ptr != end || size > static_cast<std::uint64_t>(PTRDIFF_MAX))
    return std::nullopt;
  return size;
}

std::uint64_t checked_elements(const std::vector<std::size_t>& shape, std::size_t element_bytes,
                               const std::string& where) {
  if (shape.size() > most_axes)
    throw input_error(where + "it has " + std::to_string(shape.size()) + " axes: at most " +
                      std::to_string(most_axes) + " are read");
  if (std::find(shape.begin(), shape.end(), 0u) != shape.end()) return 0;
  std::uint64_t count = 1;
  const std::uint64_t most =
      static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max()) / element_bytes;
  for (const std::size_t extent : shape) {
    if (extent > most / count)
      throw input_error(where + "shape " + shape_text(shape) +
                        " does not fit into any memory: the header is wrong");
    count *= extent;
  }
  return count;
}

void check_memory(std::uint64_t bytes, const std::string& where) {
  constexpr std::uint64_t always = std::uint64_t{1} << 24;
  if (bytes <= always) return;
  const std::uint64_t available = available_memory();
  if (bytes > available)
    throw input_error(where + "it needs " + megabytes(bytes) + " of memory and there are " +
                      megabytes(available) +
                      ": split it (--rows A:B takes some queries alone), or use a larger machine");
}

host_array read_elements(const array_info& info, bool fortran_order, bool big_endian, const next_bytes& next,
                         const std::string& where) {
  const std::size_t size = size_of(info.type);
  const std::uint64_t total = checked_elements(info.shape, size, where) * size;
  check_memory(fortran_order ? 2 * total : total, where);
  host_array result;
  static_cast<array_info&>(result) = info;
  // Memory follows what has come, so that a header alone cannot ask for it.
  constexpr std::uint64_t piece = std::uint64_t{1} << 26;
  for (std::uint64_t have = 0; have < total;) {
    const std::uint64_t now = std::min(piece, total - have);
    if (have != 0 && result.bytes.capacity() < total)
      result.bytes.reserve(static_cast<std::size_t>(total));  // it is no empty claim
    result.bytes.resize(static_cast<std::size_t>(have + now));
    next(result.bytes.data() + have, static_cast<std::size_t>(now));
    have += now;
  }
  if (size > 1 && big_endian != (std::endian::native == std::endian::big)) reverse_each(result.bytes, size);
  if (fortran_order && info.shape.size() > 1) result.bytes = by_rows(result.bytes, info.shape, size);
  return result;
}

std::string little_endian_bytes(const host_array& a) {
  std::vector<unsigned char> bytes = a.bytes;
  if (std::endian::native == std::endian::big) reverse_each(bytes, size_of(a.type));
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

const array_info* array_file::find(std::string_view array) const {
  for (const array_info& a : arrays_)
    if (a.name == array) return &a;
  return nullptr;
}

host_array array_file::load(std::string_view array) const {
  for (std::size_t i = 0; i < arrays_.size(); ++i)
    if (arrays_[i].name == array) return load_at(i);
  std::string known;
  for (const array_info& a : arrays_) known += (known.empty() ? "" : ", ") + a.name;
  throw input_error(name_ + ": it has no array " + std::string(array) + ": it has " +
                    (known.empty() ? "none" : known));
}

// Takes the options of the case out of what attest wrote beside the arrays: what is left is the provenance.
std::unique_ptr<array_file> with_case_options(std::unique_ptr<array_file> file) {
  if (file->provenance_.find("\"case\"") == std::string::npos) return file;
  json::value v;
  try {
    v = json::parse(file->provenance_);
  } catch (const json::syntax_error&) {
    return file;  // who needs the provenance finds that
  }
  if (v.type != json::kind::object) return file;
  for (std::size_t i = 0; i < v.keys.size(); ++i) {
    if (v.keys[i] != "case") continue;
    if (v.items[i].type != json::kind::object)
      throw input_error(file->name_ +
                        ": \"case\" of what attest wrote beside the arrays is no object of options");
    file->case_options_ = json::write(v.items[i]);
    v.keys.erase(v.keys.begin() + static_cast<std::ptrdiff_t>(i));
    v.items.erase(v.items.begin() + static_cast<std::ptrdiff_t>(i));
    file->provenance_ = v.find("options") == nullptr ? std::string() : json::write(v);
    break;
  }
  return file;
}

namespace {

std::unique_ptr<array_file> open_by_extension(const std::string& path) {
  const auto format = format_of_path(path);
  if (path.empty()) throw input_error("the name of a file is empty: give one");
  if (path == "-") throw input_error("standard input: arrays are read at their places: copy them to a file");
  if (!format)
    throw input_error(path +
                      ": its extension names no format: use .npy, .npz, .safetensors, .bin, .raw or .json");
  switch (*format) {
    case array_format::npy:
      return open_npy(open_source(path), path, std::filesystem::path(path).stem().string(),
                      sidecar_text(path + ".json"));
    case array_format::npz:
      return open_npz(open_source(path), path);
    case array_format::safetensors:
      return open_safetensors(open_source(path), path);
    case array_format::raw:
      return open_raw(open_source(path), path, sidecar_text(path + ".json"));
    case array_format::json:
      return open_json(read_file(path), path);
    case array_format::cpp_header:
      break;
  }
  throw input_error(
      path + ": C++ headers are written and not read: keep the arrays as .safetensors or .npz as well");
}

std::unique_ptr<array_file> open_bytes(std::string bytes, array_format format, const std::string& name,
                                       const std::optional<std::string>& sidecar) {
  if (format == array_format::json) return open_json(bytes, name);
  const auto source = memory_source(std::move(bytes), name);
  switch (format) {
    case array_format::npy:
      return open_npy(source, name, std::filesystem::path(name).stem().string(), sidecar);
    case array_format::npz:
      return open_npz(source, name);
    case array_format::safetensors:
      return open_safetensors(source, name);
    case array_format::raw:
      return open_raw(source, name, sidecar);
    default:
      throw input_error(name + ": C++ headers are written and not read");
  }
}

}  // namespace

std::unique_ptr<array_file> open_arrays(const std::string& path) {
  return with_case_options(open_by_extension(path));
}
std::unique_ptr<array_file> open_arrays(std::string bytes, array_format format, const std::string& name,
                                        const std::optional<std::string>& sidecar) {
  return with_case_options(open_bytes(std::move(bytes), format, name, sidecar));
}

const char* const float_dtype_names =
    "binary64 (float64), binary32 (float32), binary16 (float16, fp16, half), bfloat16 (bf16), "
    "float8_e4m3fn (e4m3), float8_e5m2 (e5m2), float8_e4m3fnuz, float8_e5m2fnuz";
const char* const integer_dtype_names = 
    "int8 to int64, uint8 to uint64, boolean; int4, uint4, float4_e2m1fn: two in a byte; float8_e8m0fnu";

std::optional<dtype> dtype_named(std::string_view name) {
  constexpr std::pair<std::string_view, dtype> names[] = {{"boolean", dtype::boolean},
                                                          {"bool", dtype::boolean},
                                                          {"int8", dtype::int8},
                                                          {"i8", dtype::int8},
                                                          {"int16", dtype::int16},
                                                          {"i16", dtype::int16},
                                                          {"int32", dtype::int32},
                                                          {"i32", dtype::int32},
                                                          {"int64", dtype::int64},
                                                          {"i64", dtype::int64},
                                                          {"uint8", dtype::uint8},
                                                          {"u8", dtype::uint8},
                                                          {"uint16", dtype::uint16},
                                                          {"u16", dtype::uint16},
                                                          {"uint32", dtype::uint32},
                                                          {"u32", dtype::uint32},
                                                          {"uint64", dtype::uint64},
                                                          {"u64", dtype::uint64},
                                                          {"float8_e4m3fn", dtype::float8_e4m3fn},
                                                          {"f8_e4m3", dtype::float8_e4m3fn},
                                                          {"e4m3", dtype::float8_e4m3fn},
                                                          {"float8_e4m3", dtype::float8_e4m3fn},
                                                          {"fp8_e4m3", dtype::float8_e4m3fn},
                                                          {"fp8_e5m2", dtype::float8_e5m2},
                                                          {"e4m3fn", dtype::float8_e4m3fn},
                                                          {"float8_e5m2", dtype::float8_e5m2},
                                                          {"f8_e5m2", dtype::float8_e5m2},
                                                          {"e5m2", dtype::float8_e5m2},
                                                          {"float8_e4m3fnuz", dtype::float8_e4m3fnuz},
                                                          {"f8_e4m3fnuz", dtype::float8_e4m3fnuz},
                                                          {"e4m3fnuz", dtype::float8_e4m3fnuz},
                                                          {"float8_e5m2fnuz", dtype::float8_e5m2fnuz},
                                                          {"f8_e5m2fnuz", dtype::float8_e5m2fnuz},
                                                          {"e5m2fnuz", dtype::float8_e5m2fnuz},
                                                          {"bfloat16", dtype::bfloat16},
                                                          {"bf16", dtype::bfloat16},
                                                          {"binary16", dtype::binary16},
                                                          {"float16", dtype::binary16},
                                                          {"fp16", dtype::binary16},
                                                          {"half", dtype::binary16},
                                                          {"f16", dtype::binary16},
                                                          {"binary32", dtype::binary32},
                                                          {"float32", dtype::binary32},
                                                          {"fp32", dtype::binary32},
                                                          {"f32", dtype::binary32},
                                                          {"binary64", dtype::binary64},
                                                          {"float64", dtype::binary64},
                                                          {"fp64", dtype::binary64},
                                                          {"f64", dtype::binary64}};
  const std::string wanted = lower(name);
  for (const auto& [known, type] : names)
    if (known == wanted) return type;
  return std::nullopt;
}

const read_as* read_as_another(std::string_view name) {
  constexpr read_as int4{"int4", 4, dtype::int8};
  constexpr read_as uint4{"uint4", 4, dtype::uint8};
  constexpr read_as e2m1{"float4_e2m1fn", 4, dtype::float8_e4m3fn};
  constexpr read_as e8m0{"float8_e8m0fnu", 8, dtype::binary32};
  static constexpr std::pair<std::string_view, read_as> names[] = {
      {"int4", int4},          {"uint4", uint4}, {"float4_e2m1fn", e2m1},  {"float4_e2m1fn_x2", e2m1},
      {"f4_e2m1", e2m1},       {"e2m1", e2m1},   {"float8_e8m0fnu", e8m0}, {"f8_e8m0", e8m0},
      {"float8_e8m0", e8m0},   {"e8m0", e8m0}};
  for (const auto& [known, type] : names)
    if (known == name) return &type;
  return nullptr;
}

namespace {

// Four bits of a type as a byte of the type that it is read as.
unsigned char widened_half(std::string_view type, unsigned half) {
  if (type == "int4") return static_cast<unsigned char>(half >= 8 ? half + 240 : half);
  if (type == "uint4") return static_cast<unsigned char>(half);
  // Magnitudes 0, 1/2, 1, 3/2, 2, 3, 4, 6: in e4m3fn a biased exponent of 7 is that of 1.
  constexpr unsigned char magnitudes[] = {0, 6 << 3, 7 << 3, 7 << 3 | 4, 8 << 3, 8 << 3 | 4, 9 << 3, 9 << 3 | 4};
  return static_cast<unsigned char>(magnitudes[half & 7u] | (half & 8u) << 4);
}

// 2^(exponent - 127) in binary32, NaN for 255.
void append_power(std::vector<unsigned char>& bytes, unsigned exponent) {
  const float x = exponent == 255 ? std::numeric_limits<float>::quiet_NaN()
                                  : std::ldexp(1.0F, static_cast<int>(exponent) - 127);
  unsigned char place[sizeof x];
  std::memcpy(place, &x, sizeof x);
  bytes.insert(bytes.end(), place, place + sizeof x);
}

}  // namespace

host_array reinterpreted(host_array a, std::string_view dtype_name, const std::string& where) {
  const bool bits = a.untyped || a.type == dtype::uint8 || a.type == dtype::uint16 ||
                    a.type == dtype::uint32 || a.type == dtype::uint64 || a.type == dtype::int8 ||
                    a.type == dtype::int16 || a.type == dtype::int32 || a.type == dtype::int64;
  if (const read_as* const other = read_as_another(lower(dtype_name))) {
    const std::string wanted(other->name);
    const bool packed = other->bits == 4 && !a.untyped;
    if (size_of(a.type) != 1 || !bits || (packed && a.shape.empty()))
      throw input_error(where + "its elements are " + to_string(a.type) + " and its shape is " +
                        shape_text(a.shape) + ": " + wanted + " is read from an array of bytes, " +
                        (other->bits == 4 ? "two elements" : "one element") + " in each");
    host_array result;
    static_cast<array_info&>(result) = a;
    result.untyped = false;
    result.type = other->type;
    result.bytes.reserve((packed ? 2 : 1) * size_of(other->type) * a.bytes.size());
    if (packed) result.shape.back() *= 2;
    for (std::size_t i = 0; i < a.bytes.size(); ++i) {
      const unsigned byte = a.bytes[i];
      if (other->bits == 8) {
        append_power(result.bytes, byte);
        continue;
      }
      // NumPy's V1, as its types of such a name, from ml_dtypes, are saved: an int4 there has its sign extended.
      if (a.untyped && byte > 15 && !(wanted == "int4" && byte >= 0xf8))
        throw input_error(where + "element " + std::to_string(i) + " has more than the four bits of " + wanted);
      result.bytes.push_back(widened_half(wanted, byte & 15u));
      if (packed) result.bytes.push_back(widened_half(wanted, byte >> 4));
    }
    return result;
  }
  const auto type = dtype_named(dtype_name);
  if (!type)
    throw input_error(where + "there is no dtype " + std::string(dtype_name) + ": " + float_dtype_names +
                      "; " + integer_dtype_names);
  if (*type == a.type && !a.untyped) return a;
  if (!bits)
    throw input_error(where + "its elements are " + to_string(a.type) +
                      ", and only integers are read as the bits of " + to_string(*type) +
                      (format_of(*type) != nullptr && format_of(a.type) != nullptr
                           ? ": to round them to it, write another file: attest convert IN OUT --round-to " +
                                 a.name + "=" + to_string(*type)
                           : std::string()));
  if (size_of(*type) != size_of(a.type))
    throw input_error(where + "its elements have " + std::to_string(size_of(a.type)) +
                      " bytes, and those of " + to_string(*type) + " have " + std::to_string(size_of(*type)));
  a.type = *type;
  a.untyped = false;
  return a;
}

std::string untyped_text(const array_info& a, const std::string& name) {
  const bool byte = size_of(a.type) == 1;
  return "its elements are " + std::string(byte ? "1 byte" : "2 bytes") +
         " without a type: say what they are, as in --dtype " + name +
         (byte ? "=float8_e4m3fn" : "=bfloat16");
}

std::vector<double> exact_doubles(const host_array& a, const std::string& where) {
  const std::size_t count = a.elements();
  check_memory(std::uint64_t{count} * 8, where);
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = a.value(i);
  if (a.type != dtype::int64 && a.type != dtype::uint64) return values;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t bits;
    std::memcpy(&bits, a.bytes.data() + 8 * i, 8);
    const std::uint64_t magnitude = a.type == dtype::int64 && (bits >> 63) != 0 ? 0 - bits : bits;
    const std::uint64_t odd = magnitude == 0 ? 0 : magnitude >> std::countr_zero(magnitude);
    if ((odd >> 53) != 0)
      throw input_error(where + "element " + std::to_string(i) +
                        " is an integer past 2^53 that no binary64 is: give floats, or a JSON case");
  }
  return values;
}

encoded_arrays encode(const arrays_to_write& given, array_format format, const std::string& name) {
  if (!given.case_options.empty() && format != array_format::json) {
    arrays_to_write with_case = given;
    with_case.case_options.clear();
    const std::string begin = given.provenance.empty()
                                  ? std::string("{\"version\": \"attest-v1\"")
                                  : given.provenance.substr(0, given.provenance.rfind('}'));
    with_case.provenance = begin + ", \"case\": " + given.case_options + "}";
    return encode(with_case, format, name);
  }
  const arrays_to_write& content = given;
  switch (format) {
    case array_format::npy:
      return encode_npy(content, name);
    case array_format::npz:
      return encode_npz(content, name);
    case array_format::safetensors:
      return encode_safetensors(content);
    case array_format::raw:
      return encode_raw(content);
    case array_format::json:
      return encode_json(content, name);
    case array_format::cpp_header:
      return encode_cpp_header(content, name);
  }
  return {};
}

void write_arrays(const std::string& path, const arrays_to_write& content) {
  if (path.empty()) throw input_error("the name of a file to write is empty: give one");
  const auto format = format_of_path(path);
  if (!format)
    throw input_error(
        path + ": its extension names no format: use .npy, .npz, .safetensors, .bin, .raw, .json or .hpp");
  const encoded_arrays encoded = encode(content, *format, path);
  const output_file file(path);
  if (encoded.sidecar) {
    const output_file beside(path + ".json");
    file.write_with(beside, encoded.bytes, *encoded.sidecar);
  } else {
    file.write(encoded.bytes);
  }
}

}  // namespace attest::io
