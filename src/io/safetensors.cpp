#include "array_layout.hpp"

#include <attest/io/input_error.hpp>
#include <attest/io/json.hpp>

#include <algorithm>
#include <array>

// https://github.com/huggingface/safetensors, "Format": eight bytes of the header's length, a JSON header,
// and the arrays' bytes without gaps.
namespace attest::io {

namespace {

constexpr std::uint64_t longest_header = 100'000'000;  // as the format's own reader has it

struct stored_type {
  std::string_view name;
  unsigned bits;
  std::optional<dtype> type;
  std::string_view other = {};  // of what is read as another type: see read_as_another()
};

constexpr stored_type stored_types[] = {{"BOOL", 8, dtype::boolean},
                                        {"U8", 8, dtype::uint8},
                                        {"I8", 8, dtype::int8},
                                        {"F8_E4M3", 8, dtype::float8_e4m3fn},
                                        {"F8_E5M2", 8, dtype::float8_e5m2},
                                        {"F8_E4M3FNUZ", 8, dtype::float8_e4m3fnuz},
                                        {"F8_E5M2FNUZ", 8, dtype::float8_e5m2fnuz},
                                        {"I16", 16, dtype::int16},
                                        {"U16", 16, dtype::uint16},
                                        {"F16", 16, dtype::binary16},
                                        {"BF16", 16, dtype::bfloat16},
                                        {"I32", 32, dtype::int32},
                                        {"U32", 32, dtype::uint32},
                                        {"F32", 32, dtype::binary32},
                                        {"I64", 64, dtype::int64},
                                        {"U64", 64, dtype::uint64},
                                        {"F64", 64, dtype::binary64},
                                        {"C64", 64, std::nullopt},
                                        {"F8_E8M0", 8, dtype::binary32, "float8_e8m0fnu"},
                                        {"F6_E2M3", 6, std::nullopt},
                                        {"F6_E3M2", 6, std::nullopt},
                                        {"F4", 4, dtype::float8_e4m3fn, "float4_e2m1fn"}};

class safetensors_file final : public array_file {
 public:
  safetensors_file(std::shared_ptr<const byte_source> source, const std::string& name)
      : source_(std::move(source)) {
    name_ = name;
    std::array<unsigned char, 8> length{};
    if (source_->size() < length.size())
      fail("it has " + std::to_string(source_->size()) +
           " bytes and begins with a length of 8: it is truncated");
    source_->read(0, length.data(), length.size());
    std::uint64_t header = 0;
    for (std::size_t i = length.size(); i-- > 0;) header = header << 8 | length[i];
    if (header > longest_header)
      fail("its header claims " + std::to_string(header) + " bytes: at most " +
           std::to_string(longest_header) + " are read");
    if (header > source_->size() - length.size())
      fail("its header claims " + std::to_string(header) + " bytes and " +
           std::to_string(source_->size() - length.size()) + " follow: it is truncated");
    std::string text(static_cast<std::size_t>(header), '\0');
    source_->read(length.size(), text.data(), text.size());
    begin_ = length.size() + header;
    if (!text.starts_with('{')) fail("its header does not begin with {");
    try {
      read_header(json::parse(text));
    } catch (const json::syntax_error& e) {
      fail(std::string("header: ") + e.what());
    }
    check_places();
  }

 private:
  struct place {
    std::uint64_t first;
    std::uint64_t last;
    std::optional<dtype> type;
    std::string stored;
    std::string_view other;
  };

  [[noreturn]] void fail(const std::string& what) const { throw input_error(name_ + ": " + what); }

  std::uint64_t whole_number(const json::value& v, const std::string& where) const {
    if (const auto size = size_in_json(v)) return *size;
    throw input_error(where + json::write(v).substr(0, 40) + " is no size: the header is wrong");
  }

  void read_header(const json::value& root) {
    for (std::size_t i = 0; i < root.keys.size(); ++i) {
      const json::value& entry = root.items[i];
      if (root.keys[i] == "__metadata__") {
        read_metadata(entry);
        continue;
      }
      const std::string where = array_prefix(name_, root.keys[i]);
      const auto member = [&](const char* key, json::kind kind) -> const json::value& {
        const json::value* v = entry.find(key);
        if (v == nullptr || v->type != kind)
          throw input_error(where + "its header has no " + key + " of the right kind");
        return *v;
      };
      if (entry.type != json::kind::object) throw input_error(where + "its header is no object");
      for (const std::string& key : entry.keys)
        if (key != "dtype" && key != "shape" && key != "data_offsets")
          throw input_error(where + "its header has the unknown key " + json::quote(key));
      const std::string& stored = member("dtype", json::kind::string).text;
      const auto* type = std::find_if(std::begin(stored_types), std::end(stored_types),
                                      [&](const stored_type& t) { return t.name == stored; });
      if (type == std::end(stored_types))
        throw input_error(where + "the dtype " + json::quote(stored).substr(0, 40) + " is not known");
      array_info info{root.keys[i], type->type.value_or(dtype::uint8), {}, false};
      for (const json::value& extent : member("shape", json::kind::array).items)
        info.shape.push_back(static_cast<std::size_t>(whole_number(extent, where)));
      const json::value& offsets = member("data_offsets", json::kind::array);
      if (offsets.items.size() != 2) throw input_error(where + "data_offsets are no pair");
      const place p{whole_number(offsets.items[0], where), whole_number(offsets.items[1], where), type->type,
                    stored, type->other};
      const std::uint64_t count = checked_elements(info.shape, 8, where);
      if (count > UINT64_MAX / type->bits)
        throw input_error(where + "shape " + shape_text(info.shape) + " does not fit into any memory");
      const std::uint64_t bits = count * type->bits;
      if (bits % 8 != 0) throw input_error(where + "its elements fill no whole number of bytes");
      if (p.last < p.first || p.last - p.first != bits / 8)
        throw input_error(where + "shape " + shape_text(info.shape) + " of " + stored + " takes " +
                          std::to_string(bits / 8) + " bytes and its offsets are " + std::to_string(p.first) +
                          " to " + std::to_string(p.last));
      if (p.last > source_->size() - begin_)
        throw input_error(where + "it ends at byte " + std::to_string(p.last) +
                          " of the data and there are " + std::to_string(source_->size() - begin_) +
                          ": the file is truncated");
      info.readable = type->type.has_value();
      arrays_.push_back(info);
      places_.push_back(p);
    }
  }

  void read_metadata(const json::value& entry) {
    if (entry.type != json::kind::object) fail("__metadata__ is no object of strings");
    for (std::size_t i = 0; i < entry.keys.size(); ++i) {
      if (entry.items[i].type != json::kind::string) fail("__metadata__ is no object of strings");
      if (entry.keys[i] == "attest") provenance_ = entry.items[i].text;
    }
  }

  // The format has neither overlaps nor holes.
  void check_places() const {
    std::vector<std::size_t> order(places_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(places_[a].first, places_[a].last) < std::pair(places_[b].first, places_[b].last);
    });
    std::uint64_t at = 0;
    for (const std::size_t i : order) {
      if (places_[i].first < at)
        fail("array " + arrays_[i].name + ": its bytes overlap another array's: the header is wrong");
      if (places_[i].first > at)
        fail("bytes " + std::to_string(at) + " to " + std::to_string(places_[i].first) +
             " belong to no array: the header is wrong");
      at = places_[i].last;
    }
    if (at != source_->size() - begin_)
      fail(std::to_string(source_->size() - begin_ - at) +
           " bytes follow the last array: the header is wrong");
  }

  host_array load_at(std::size_t index) const override {
    const std::string where = array_prefix(name_, arrays_[index].name);
    if (!places_[index].type)
      throw input_error(where + "its dtype " + places_[index].stored + " is not read: convert it to another");
    std::uint64_t at = begin_ + places_[index].first;
    const auto next = [&](void* to, std::size_t count) {
      source_->read(at, to, count);
      at += count;
    };
    const std::string_view other = places_[index].other;
    if (other.empty()) return read_elements(arrays_[index], false, false, next, where);
    array_info bytes = arrays_[index];
    bytes.type = dtype::uint8;
    if (read_as_another(other)->bits == 4) {
      if (bytes.shape.empty() || bytes.shape.back() % 2 != 0)
        throw input_error(where + "the last extent of " + places_[index].stored + " has to be even, as two " +
                          "elements share a byte, and its shape is " + shape_text(bytes.shape) +
                          ": convert it to another");
      bytes.shape.back() /= 2;
    }
    return reinterpreted(read_elements(bytes, false, false, next, where), other, where);
  }

  std::shared_ptr<const byte_source> source_;
  std::uint64_t begin_ = 0;
  std::vector<place> places_;
};

std::string_view stored_name(dtype type) {
  for (const stored_type& t : stored_types)
    if (t.type == type && t.other.empty()) return t.name;
  return "";
}

}  // namespace

std::unique_ptr<array_file> open_safetensors(std::shared_ptr<const byte_source> source,
                                             const std::string& name) {
  return std::make_unique<safetensors_file>(std::move(source), name);
}

encoded_arrays encode_safetensors(const arrays_to_write& content) {
  // Wide elements first, so that each array is aligned; then by name.
  std::vector<const host_array*> order;
  for (const host_array& a : content.arrays) order.push_back(&a);
  std::sort(order.begin(), order.end(), [](const host_array* a, const host_array* b) {
    if (size_of(a->type) != size_of(b->type)) return size_of(a->type) > size_of(b->type);
    return a->name < b->name;
  });
  std::string header = "{";
  if (!content.provenance.empty())
    header += "\"__metadata__\":{\"attest\":" + json::quote(content.provenance) + "}";
  std::uint64_t at = 0;
  for (const host_array* a : order) {
    header += (header.size() > 1 ? "," : "") + json::quote(a->name) + ":{\"dtype\":\"" +
              std::string(stored_name(a->type)) + "\",\"shape\":[";
    for (std::size_t i = 0; i < a->shape.size(); ++i)
      header += (i == 0 ? "" : ",") + std::to_string(a->shape[i]);
    header += "],\"data_offsets\":[" + std::to_string(at) + "," + std::to_string(at + a->bytes.size()) + "]}";
    at += a->bytes.size();
  }
  header += "}";
  header.append((8 - header.size() % 8) % 8, ' ');
  encoded_arrays result;
  for (int shift = 0; shift < 64; shift += 8)
    result.bytes += static_cast<char>(std::uint64_t{header.size()} >> shift & 255);
  result.bytes += header;
  for (const host_array* a : order) result.bytes += little_endian_bytes(*a);
  return result;
}

}  // namespace attest::io
