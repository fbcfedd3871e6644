#include "array_layout.hpp"

#include <attest/io/input_error.hpp>
#include <attest/io/json.hpp>

#include <algorithm>

// Raw binary: the arrays' bytes, and a JSON sidecar that says what they are.
namespace attest::io {

namespace {

class raw_file final : public array_file {
 public:
  raw_file(std::shared_ptr<const byte_source> source, const std::string& name, const std::string& sidecar)
      : source_(std::move(source)), sidecar_(name + ".json: ") {
    name_ = name;
    json::value root;
    try {
      root = json::parse(sidecar);
    } catch (const json::syntax_error& e) {
      fail(e.what());
    }
    if (root.type != json::kind::object) fail("it holds no object: expected {\"arrays\": [...]}");
    if (const json::value* attest = root.find("attest")) provenance_ = json::write(*attest);
    if (const json::value* version = root.find("version");
        version != nullptr && (version->type != json::kind::string || version->text != "attest-raw-v1"))
      fail("version is " + json::write(*version).substr(0, 40) + ": expected \"attest-raw-v1\"");
    const json::value* arrays = root.find("arrays");
    if (arrays == nullptr || arrays->type != json::kind::array)
      fail(
          "the key \"arrays\" is missing, or no list: expected [{\"name\": \"Q\", \"dtype\": \"float32\", "
          "\"shape\": [2, 3], \"byte_order\": \"little\"}]");
    for (const std::string& key : root.keys)
      if (key != "arrays" && key != "version" && key != "attest")
        fail("the key " + json::quote(key) + " is not known");
    bool placed = false;
    for (const json::value& entry : arrays->items) placed = read_array(entry) || placed;
    check_places(placed);
  }

 private:
  struct place {
    std::uint64_t first;
    std::uint64_t last;
    bool big_endian;
    bool fortran_order;
    const read_as* other;  // what the elements are read as, if there is no dtype of theirs
    array_info stored;
  };

  [[noreturn]] void fail(const std::string& what) const { throw input_error(sidecar_ + what); }

  std::uint64_t whole_number(const json::value& v, const std::string& what) const {
    if (const auto size = size_in_json(v)) return *size;
    fail(what + json::write(v).substr(0, 40) + " is no size");
  }

  // Whether the entry says where its array is.
  bool read_array(const json::value& entry) {
    if (entry.type != json::kind::object) fail("an entry of \"arrays\" is no object");
    const json::value* name = entry.find("name");
    if (name == nullptr || name->type != json::kind::string || name->text.empty())
      fail("an entry of \"arrays\" has no name");
    const std::string where = "array " + name->text + ": ";
    if (find(name->text) != nullptr) fail(where + "it occurs twice");
    for (const std::string& key : entry.keys)
      if (key != "name" && key != "dtype" && key != "shape" && key != "byte_order" && key != "offset" &&
          key != "order")
        fail(where + "the key " + json::quote(key) +
             " is not known: it may have name, dtype, shape, byte_order, order and offset");
    const auto word = [&](const char* key) -> std::string {
      const json::value* v = entry.find(key);
      if (v == nullptr) return {};
      if (v->type != json::kind::string) fail(where + key + " is no string");
      return v->text;
    };
    place p{};
    const std::string dtype_name = word("dtype");
    p.other = read_as_another(dtype_name);
    const auto type = p.other == nullptr ? dtype_named(dtype_name) : dtype::uint8;
    if (!type)
      fail(where + "there is no dtype " + json::quote(dtype_name.substr(0, 40)) +
           ": see docs/formats.md for their names");
    const std::string byte_order = word("byte_order");
    if (byte_order != "little" && byte_order != "big" && (size_of(*type) > 1 || !byte_order.empty()))
      fail(where + "its byte_order has to be said: \"little\" or \"big\"");
    p.big_endian = byte_order == "big";
    const std::string order = word("order");
    if (!order.empty() && order != "C" && order != "F") fail(where + "order is neither \"C\" nor \"F\"");
    p.fortran_order = order == "F";
    array_info info{name->text, *type, {}, false};
    const json::value* shape = entry.find("shape");
    if (shape == nullptr || shape->type != json::kind::array) fail(where + "its shape is no list");
    for (const json::value& extent : shape->items)
      info.shape.push_back(static_cast<std::size_t>(whole_number(extent, where)));
    p.stored = info;
    if (p.other != nullptr) info.type = p.other->type;
    if (p.other != nullptr && p.other->bits == 4) {
      const std::string packed(p.other->name);
      // Of rows of odd length some files pad each (Keras), others the whole array alone (ONNX).
      if (info.shape.empty() || info.shape.back() % 2 != 0)
        fail(where + "the last extent of " + packed +
             " has to be even, as two elements share a byte, and shape " + shape_text(info.shape) +
             " does not say what stands in the other half at the end of a row: unpack it, to " +
             to_string(info.type));
      if (p.fortran_order) fail(where + packed + " is read in order \"C\" alone");
      p.stored.shape.back() /= 2;
    }
    const std::uint64_t bytes =
        checked_elements(p.stored.shape, size_of(*type), sidecar_ + where) * size_of(*type);
    const json::value* offset = entry.find("offset");
    p.first = offset != nullptr ? whole_number(*offset, where) : places_.empty() ? 0 : places_.back().last;
    if (p.first > source_->size() || bytes > source_->size() - p.first)
      throw input_error(array_prefix(name_, info.name) + "shape " + shape_text(info.shape) + " takes " +
                        std::to_string(bytes) + " bytes from byte " + std::to_string(p.first) +
                        " on, and the file has " + std::to_string(source_->size()) +
                        ": it is truncated, or the sidecar is wrong");
    p.last = p.first + bytes;
    arrays_.push_back(info);
    places_.push_back(p);
    return offset != nullptr;
  }

  void check_places(bool placed) const {
    std::vector<std::size_t> order(places_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(places_[a].first, places_[a].last) < std::pair(places_[b].first, places_[b].last);
    });
    for (std::size_t i = 1; i < order.size(); ++i)
      if (places_[order[i]].first < places_[order[i - 1]].last)
        fail("array " + arrays_[order[i]].name + ": its bytes overlap those of array " +
             arrays_[order[i - 1]].name);
    const std::uint64_t end = places_.empty() ? 0 : places_.back().last;
    if (!placed && end != source_->size())
      fail("its arrays take " + std::to_string(end) + " bytes and the file has " +
           std::to_string(source_->size()) + ": give offsets, or correct the shapes");
  }

  host_array load_at(std::size_t index) const override {
    const place& p = places_[index];
    const std::string where = array_prefix(name_, arrays_[index].name);
    std::uint64_t at = p.first;
    host_array a = read_elements(
        p.stored, p.fortran_order, p.big_endian,
        [&](void* to, std::size_t count) {
          source_->read(at, to, count);
          at += count;
        },
        where);
    return p.other == nullptr ? a : reinterpreted(std::move(a), p.other->name, where);
  }

  std::shared_ptr<const byte_source> source_;
  std::string sidecar_;
  std::vector<place> places_;
};

}  // namespace

std::unique_ptr<array_file> open_raw(std::shared_ptr<const byte_source> source, const std::string& name,
                                     const std::optional<std::string>& sidecar) {
  if (!sidecar)
    throw input_error(name + ": its sidecar " + name +
                      ".json is missing, which says the dtype, shape and byte order of its arrays");
  return std::make_unique<raw_file>(std::move(source), name, *sidecar);
}

encoded_arrays encode_raw(const arrays_to_write& content) {
  encoded_arrays result;
  std::string list;
  for (const host_array& a : content.arrays) {
    std::string shape;
    for (const std::size_t extent : a.shape) shape += (shape.empty() ? "" : ", ") + std::to_string(extent);
    list += (list.empty() ? "\n  {" : ",\n  {") + ("\"name\": " + json::quote(a.name)) +
            ", \"dtype\": " + json::quote(to_string(a.type)) + ", \"shape\": [" + shape +
            "], \"byte_order\": \"little\", \"offset\": " + std::to_string(result.bytes.size()) + "}";
    result.bytes += little_endian_bytes(a);
  }
  result.sidecar = "{\"version\": \"attest-raw-v1\", \"arrays\": [" + list + "]" +
                   (content.provenance.empty() ? "" : ",\n \"attest\": " + content.provenance) + "}\n";
  return result;
}

}  // namespace attest::io
