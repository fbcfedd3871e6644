#include "array_layout.hpp"

#include <attest/io/input_error.hpp>
#include <attest/io/json.hpp>

#include <array>
#include <charconv>
#include <limits>

// The format of numpy.save: numpy.lib.format, versions 1.0, 2.0 and 3.0 of the header.
namespace attest::io {

namespace {

constexpr std::uint64_t longest_header = std::uint64_t{1} << 16;

// The Python literal of a header: a dictionary of three entries.
class header_parser {
 public:
  header_parser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  void parse(npy_header& result) {
    expect('{');
    bool has_descr = false;
    bool has_order = false;
    bool has_shape = false;
    const auto once = [&](bool& has, const std::string& key) {
      if (has) fail("the key '" + key + "' occurs twice");
      has = true;
    };
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr") {
        once(has_descr, key);
        if (peek() == '[') fail_to_read("its elements are records: save each field as an array of its own");
        read_descr(string(), result);
      } else if (key == "fortran_order") {
        once(has_order, key);
        result.fortran_order = boolean();
      } else if (key == "shape") {
        once(has_shape, key);
        read_shape(result.info.shape);
      } else {
        fail("its header has the unknown key '" + key.substr(0, 40) + "'");
      }
      if (!accept(',') && peek() != '}') fail("its header is no Python dictionary");
    }
    if (peek() != '\0') fail("something follows the dictionary in its header");
    if (!has_descr || !has_order || !has_shape) fail("its header lacks descr, fortran_order or shape");
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw input_error(where_ + what); }
  [[noreturn]] void fail_to_read(const std::string& what) const { throw unread_type(where_ + what); }

  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail("its header is no Python dictionary");
  }
  std::string string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail("its header is no Python dictionary of three entries");
    const std::size_t end = text_.find(quote, ++at_);
    if (end == std::string_view::npos) fail("a string in its header is not closed");
    const std::string result(text_.substr(at_, end - at_));
    at_ = end + 1;
    return result;
  }
  bool boolean() {
    peek();
    for (const auto& [word, value] : {std::pair<std::string_view, bool>("True", true), {"False", false}})
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return value;
      }
    fail("fortran_order in its header is neither True nor False");
  }
  void read_shape(std::vector<std::size_t>& shape) {
    expect('(');
    while (!accept(')')) {
      peek();
      std::uint64_t extent = 0;
      const char* const begin = text_.data() + at_;
      const auto read = std::from_chars(begin, text_.data() + text_.size(), extent);
      if (read.ec == std::errc::result_out_of_range ||
          extent > static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max()))
        fail("an extent in its shape does not fit into any memory: the header is wrong");
      if (read.ec != std::errc()) fail("its shape is no tuple of whole numbers");
      at_ += static_cast<std::size_t>(read.ptr - begin);
      if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2
      shape.push_back(static_cast<std::size_t>(extent));
      if (shape.size() > most_axes) fail("it has more than " + std::to_string(most_axes) + " axes");
      if (!accept(',') && peek() != ')') fail("its shape is no tuple of whole numbers");
    }
  }
  void read_descr(const std::string& descr, npy_header& result) const {
    std::string_view kind = descr;
    char order = '|';
    if (!kind.empty() && std::string_view("<>|=").find(kind[0]) != std::string_view::npos) {
      order = kind[0];
      kind.remove_prefix(1);
    }
    if (kind.starts_with('O'))
      fail_to_read(
          "its elements are Python objects (a pickle), which are never read: save numbers, with "
          "dtype=float64 or another");
    constexpr std::pair<std::string_view, dtype> kinds[] = {
        {"b1", dtype::boolean},  {"?", dtype::boolean}, {"i1", dtype::int8},     {"i2", dtype::int16},
        {"i4", dtype::int32},    {"i8", dtype::int64},  {"u1", dtype::uint8},    {"u2", dtype::uint16},
        {"u4", dtype::uint32},   {"u8", dtype::uint64}, {"f2", dtype::binary16}, {"f4", dtype::binary32},
        {"f8", dtype::binary64}, {"V1", dtype::uint8},  {"V2", dtype::uint16},   {"f1", dtype::uint8}};
    for (const auto& [name, type] : kinds)
      if (kind == name) {
        result.info.type = type;
        result.info.untyped = kind.starts_with('V') || kind == "f1";
        result.big_endian = order == '>';
        if (order == '|' && size_of(type) > 1 && !result.info.untyped)
          fail("its dtype '" + descr.substr(0, 40) + "' does not say the order of the bytes");
        return;
      }
    fail_to_read("its dtype '" + descr.substr(0, 40) + "' is not read: save floats, integers or booleans");
  }

  std::string_view text_;
  std::string where_;
  std::size_t at_ = 0;
};

class npy_file final : public array_file {
 public:
  npy_file(std::shared_ptr<const byte_source> source, const std::string& name, const std::string& array_name,
           const std::optional<std::string>& sidecar)
      : source_(std::move(source)) {
    name_ = name;
    where_ = name + ": ";
    std::uint64_t at = 0;
    const auto next = [&](void* to, std::size_t count) {
      source_->read(at, to, count);
      at += count;
    };
    header_ = read_npy_header(next, array_name, where_);
    const std::uint64_t bytes =
        checked_elements(header_.info.shape, size_of(header_.info.type), where_) * size_of(header_.info.type);
    const std::uint64_t there = source_->size() - header_.size;
    if (there != bytes)
      throw input_error(where_ + "shape " + shape_text(header_.info.shape) + " of " +
                        to_string(header_.info.type) + " takes " + std::to_string(bytes) + " bytes and " +
                        std::to_string(there) + " follow the header: it is " +
                        (there < bytes ? "truncated" : "damaged, or holds more than one array"));
    if (sidecar) read_sidecar(*sidecar);
    arrays_.push_back(header_.info);
    if (!dtype_name_.empty()) arrays_[0] = reinterpreted_info(header_.info, dtype_name_, where_);
  }

 private:
  void read_sidecar(const std::string& text) {
    const std::string where = name_ + ".json: ";
    json::value root;
    try {
      root = json::parse(text);
    } catch (const json::syntax_error& e) {
      throw input_error(where + e.what());
    }
    if (root.type != json::kind::object)
      throw input_error(where + "it holds no object: expected {\"dtype\": \"bfloat16\"}");
    for (const std::string& key : root.keys)
      if (key != "name" && key != "dtype" && key != "attest" && key != "version")
        throw input_error(where + "the key " + json::quote(key) +
                          " is not known: it may have name, dtype, version and attest");
    for (const char* key : {"name", "dtype", "version"})
      if (const json::value* v = root.find(key); v != nullptr && v->type != json::kind::string)
        throw input_error(where + key + " is no string");
    if (const json::value* v = root.find("name")) header_.info.name = v->text;
    if (const json::value* v = root.find("dtype")) dtype_name_ = v->text;
    if (const json::value* v = root.find("attest")) provenance_ = json::write(*v);
  }

  host_array load_at(std::size_t) const override {
    std::uint64_t at = header_.size;
    const auto next = [&](void* to, std::size_t count) {
      source_->read(at, to, count);
      at += count;
    };
    host_array a = read_elements(header_.info, header_.fortran_order, header_.big_endian, next, where_);
    return dtype_name_.empty() ? a : reinterpreted(std::move(a), dtype_name_, where_);
  }

  std::shared_ptr<const byte_source> source_;
  std::string where_;
  npy_header header_;
  std::string dtype_name_;
};

std::string descr_of(dtype type) {
  switch (type) {
    case dtype::boolean:
      return "|b1";
    case dtype::int8:
      return "|i1";
    case dtype::int16:
      return "<i2";
    case dtype::int32:
      return "<i4";
    case dtype::int64:
      return "<i8";
    case dtype::binary16:
      return "<f2";
    case dtype::binary32:
      return "<f4";
    case dtype::binary64:
      return "<f8";
    default:
      return size_of(type) == 1 ? "|u1" : "<u" + std::to_string(size_of(type));
  }
}

}  // namespace

npy_header read_npy_header(const next_bytes& next, const std::string& array_name, const std::string& where) {
  std::array<unsigned char, 8> start{};
  next(start.data(), start.size());
  constexpr std::array<unsigned char, 6> magic = {0x93, 'N', 'U', 'M', 'P', 'Y'};
  if (!std::equal(magic.begin(), magic.end(), start.begin()))
    throw input_error(where + "it does not begin as an .npy file does");
  const unsigned major = start[6];
  if (major < 1 || major > 3 || start[7] != 0)
    throw input_error(where + "version " + std::to_string(major) + "." + std::to_string(start[7]) +
                      " of the .npy format is not known: 1.0, 2.0 and 3.0 are read");
  const std::size_t width = major == 1 ? 2 : 4;
  std::array<unsigned char, 4> length{};
  next(length.data(), width);
  std::uint64_t size = 0;
  for (std::size_t i = width; i-- > 0;) size = size << 8 | length[i];
  if (size > longest_header)
    throw input_error(where + "its header claims " + std::to_string(size) + " bytes: at most " +
                      std::to_string(longest_header) + " are read");
  std::string text(static_cast<std::size_t>(size), '\0');
  next(text.data(), text.size());
  npy_header result;
  result.info.name = array_name;
  result.size = 8 + width + size;
  header_parser(text, where).parse(result);
  return result;
}

std::unique_ptr<array_file> open_npy(std::shared_ptr<const byte_source> source, const std::string& name,
                                     const std::string& array_name,
                                     const std::optional<std::string>& sidecar) {
  return std::make_unique<npy_file>(std::move(source), name, array_name, sidecar);
}

array_info reinterpreted_info(const array_info& info, const std::string& dtype_name,
                              const std::string& where) {
  host_array empty;
  static_cast<array_info&>(empty) = info;
  return reinterpreted(empty, dtype_name, where);
}

bool is_numpy_type(dtype type) {
  return format_of(type) == nullptr || type == dtype::binary16 || type == dtype::binary32 ||
         type == dtype::binary64;
}

std::string npy_header_bytes(const host_array& a) {
  std::string shape;
  for (const std::size_t extent : a.shape)
    shape += std::to_string(extent) + (a.shape.size() == 1 || &extent != &a.shape.back() ? "," : "") +
             (&extent != &a.shape.back() ? " " : "");
  std::string header =
      "{'descr': '" + descr_of(a.type) + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  constexpr std::size_t alignment = 64;
  const std::size_t unpadded = 10 + header.size() + 1;
  header.append((alignment - unpadded % alignment) % alignment, ' ');
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 255);  // most_axes extents of 20 digits are far below 2^16
  bytes += static_cast<char>(header.size() >> 8);
  return bytes + header;
}

encoded_arrays encode_npy(const arrays_to_write& content, const std::string& name) {
  if (content.arrays.size() != 1) {
    std::string names;
    for (const host_array& a : content.arrays) names += (names.empty() ? "" : ", ") + a.name;
    throw input_error(name + ": an .npy file holds one array, not " + std::to_string(content.arrays.size()) +
                      " (" + names + "): write .npz or .safetensors");
  }
  const host_array& a = content.arrays[0];
  encoded_arrays result;
  result.bytes = npy_header_bytes(a) + little_endian_bytes(a);
  result.sidecar = "{\"version\": \"attest-npy-v1\", \"name\": " + json::quote(a.name) +
                   ", \"dtype\": " + json::quote(to_string(a.type)) +
                   (content.provenance.empty() ? "" : ", \"attest\": " + content.provenance) + "}\n";
  return result;
}

}  // namespace attest::io
