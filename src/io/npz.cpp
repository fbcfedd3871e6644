#include "array_layout.hpp"

#include <attest/io/input_error.hpp>
#include <attest/io/json.hpp>

#include <zip.h>

#include <algorithm>
#include <cstring>
#include <set>

// The format of numpy.savez: a zip archive of .npy members.
namespace attest::io {

namespace {

// What an archive may unpack to whatever its size, and how many times its size beyond that. (deflate packs up
// to 1032 times; arrays that are not nearly constant hardly ten times.)
constexpr std::uint64_t always_unpacked = std::uint64_t{64} << 20;
constexpr std::uint64_t most_times = 200;
constexpr std::size_t longest_name = 65535;  // bytes of a member's, as zip archives have it
constexpr std::uint64_t longest_provenance = std::uint64_t{16} << 20;

// The source of libzip that reads a byte_source.
struct zip_reader {
  std::shared_ptr<const byte_source> source;
  std::uint64_t at = 0;
  zip_error_t error;

  static zip_int64_t callback(void* user, void* data, zip_uint64_t length, zip_source_cmd_t command) {
    auto& self = *static_cast<zip_reader*>(user);
    switch (command) {
      case ZIP_SOURCE_OPEN:
        self.at = 0;
        return 0;
      case ZIP_SOURCE_READ: {
        const std::uint64_t count = std::min<std::uint64_t>(length, self.source->size() - self.at);
        try {
          self.source->read(self.at, data, static_cast<std::size_t>(count));
        } catch (const input_error&) {
          zip_error_set(&self.error, ZIP_ER_READ, 0);
          return -1;
        }
        self.at += count;
        return static_cast<zip_int64_t>(count);
      }
      case ZIP_SOURCE_CLOSE:
        return 0;
      case ZIP_SOURCE_STAT: {
        auto* stat = static_cast<zip_stat_t*>(data);
        zip_stat_init(stat);
        stat->size = self.source->size();
        stat->valid |= ZIP_STAT_SIZE;
        return sizeof *stat;
      }
      case ZIP_SOURCE_ERROR:
        return zip_error_to_data(&self.error, data, length);
      case ZIP_SOURCE_FREE:
        zip_error_fini(&self.error);
        delete &self;
        return 0;
      case ZIP_SOURCE_SEEK: {
        const zip_int64_t to =
            zip_source_seek_compute_offset(self.at, self.source->size(), data, length, &self.error);
        if (to < 0) return -1;
        self.at = static_cast<std::uint64_t>(to);
        return 0;
      }
      case ZIP_SOURCE_TELL:
        return static_cast<zip_int64_t>(self.at);
      case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE,
                                              ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE,
                                              ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL, ZIP_SOURCE_SUPPORTS, -1);
      default:
        zip_error_set(&self.error, ZIP_ER_OPNOTSUPP, 0);
        return -1;
    }
  }
};

struct discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_file_t* file) const { zip_fclose(file); }
  void operator()(zip_source_t* source) const { zip_source_free(source); }
};
using archive_handle = std::unique_ptr<zip_t, discard>;

std::string text_of(zip_error_t* error) { return zip_error_strerror(error); }

// Nothing is unpacked to a folder; but no honest archive has such names.
bool climbs(const std::string& entry) {
  if (entry.empty() || entry.starts_with('/') || entry.find('\\') != std::string::npos ||
      entry.find(':') == 1)
    return true;
  for (std::size_t at = 0; at <= entry.size();) {
    const std::size_t end = std::min(entry.find('/', at), entry.size());
    if (entry.substr(at, end - at) == "..") return true;
    at = end + 1;
  }
  return false;
}

class npz_file final : public array_file {
 public:
  npz_file(std::shared_ptr<const byte_source> source, const std::string& name)
      : packed_size_(source->size()) {
    name_ = name;
    if (packed_size_ == 0) fail("it is empty");  // which libzip takes for an archive without members
    auto* reader = new zip_reader{std::move(source), 0, {}};
    zip_error_init(&reader->error);
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t* const raw = zip_source_function_create(zip_reader::callback, reader, &error);
    if (raw == nullptr) {
      delete reader;
      fail("libzip: " + text_of(&error));
    }
    archive_.reset(zip_open_from_source(raw, ZIP_RDONLY | ZIP_CHECKCONS, &error));
    if (!archive_) {
      zip_source_free(raw);
      const std::string reason = text_of(&error);
      const bool twice = zip_error_code_zip(&error) == ZIP_ER_EXISTS;
      zip_error_fini(&error);
      if (twice) fail("two of its members have one name: save each array once");
      fail("it is no whole zip archive: " + reason);
    }
    zip_error_fini(&error);
    list_members();
  }

 private:
  struct member {
    zip_uint64_t index;
    npy_header header;
    std::string dtype_name;  // from attest.json
    std::string unread;      // why its array cannot be read
  };

  [[noreturn]] void fail(const std::string& what) const { throw input_error(name_ + ": " + what); }

  void list_members() {
    const zip_int64_t count = zip_get_num_entries(archive_.get(), 0);
    std::set<std::string> names;
    std::uint64_t unpacked = 0;
    for (zip_int64_t i = 0; i < count; ++i) {
      const auto index = static_cast<zip_uint64_t>(i);
      zip_stat_t stat;
      zip_stat_init(&stat);
      if (zip_stat_index(archive_.get(), index, 0, &stat) != 0 || (stat.valid & ZIP_STAT_NAME) == 0 ||
          (stat.valid & ZIP_STAT_SIZE) == 0 || (stat.valid & ZIP_STAT_COMP_METHOD) == 0)
        fail("its directory is damaged at entry " + std::to_string(i));
      const std::string entry = stat.name;
      if (!names.insert(entry).second) fail("the member " + json::quote(entry) + " occurs twice");
      check_name(entry);
      unpacked += stat.size;
      if (stat.size > most_times * packed_size_ + always_unpacked ||
          unpacked > most_times * packed_size_ + always_unpacked)
        fail("its " + std::to_string(packed_size_) + " bytes claim to unpack to more than " +
             std::to_string(most_times) + " times as many: save it without compression (numpy.savez)");
      if (entry == provenance_member) {
        if (stat.size > longest_provenance)
          fail("its member attest.json has more than " + std::to_string(longest_provenance) + " bytes");
        read_sidecar(text(index, stat.size));
        continue;
      }
      if (!entry.ends_with(".npy")) continue;
      const std::string array = entry.substr(0, entry.size() - 4);
      const std::string where = array_prefix(name_, array);
      if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE)
        throw input_error(where + "it is compressed with method " + std::to_string(stat.comp_method) +
                          ": numpy.savez and savez_compressed use others");
      if ((stat.valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && stat.encryption_method != ZIP_EM_NONE)
        throw input_error(where + "it is encrypted");
      const auto file = open(index, where);
      npy_header header;
      try {
        header = read_npy_header(next(file.get(), where), array, where);
      } catch (const unread_type& e) {
        header.info = {array, dtype::uint8, {}, true, false};
        arrays_.push_back(header.info);
        members_.push_back({index, header, {}, e.what()});
        continue;
      }
      const std::uint64_t bytes =
          checked_elements(header.info.shape, size_of(header.info.type), where) * size_of(header.info.type);
      if (stat.size < header.size || stat.size - header.size != bytes)
        throw input_error(where + "shape " + shape_text(header.info.shape) + " of " +
                          to_string(header.info.type) + " takes " + std::to_string(bytes) +
                          " bytes and its member has " + std::to_string(stat.size) +
                          " with the header: it is damaged");
      arrays_.push_back(header.info);
      members_.push_back({index, header, {}, {}});
    }
    for (std::size_t i = 0; i < arrays_.size(); ++i)
      if (const json::value* type = dtypes_.find(arrays_[i].name);
          type != nullptr && type->type == json::kind::string && arrays_[i].readable) {
        members_[i].dtype_name = type->text;
        arrays_[i] = reinterpreted_info(arrays_[i], type->text, array_prefix(name_, arrays_[i].name));
      }
  }

  void read_sidecar(const std::string& content) {
    json::value root;
    try {
      root = json::parse(content);
    } catch (const json::syntax_error& e) {
      fail(std::string("attest.json: ") + e.what());
    }
    if (const json::value* attest = root.find("attest")) provenance_ = json::write(*attest);
    if (const json::value* dtypes = root.find("dtypes")) dtypes_ = *dtypes;
  }

  void check_name(const std::string& entry) const {
    if (climbs(entry))
      fail("the member " + json::quote(entry) +
           " climbs out of its folder: the archive is not to be trusted");
  }

  std::unique_ptr<zip_file_t, discard> open(zip_uint64_t index, const std::string& where) const {
    std::unique_ptr<zip_file_t, discard> file(zip_fopen_index(archive_.get(), index, 0));
    if (!file) throw input_error(where + "its member cannot be unpacked: " + zip_strerror(archive_.get()));
    return file;
  }

  static next_bytes next(zip_file_t* file, const std::string& where) {
    return [file, where](void* to, std::size_t count) {
      auto* place = static_cast<char*>(to);
      while (count > 0) {
        const zip_int64_t got = zip_fread(file, place, count);
        if (got < 0) throw input_error(where + "its member cannot be unpacked: " + zip_file_strerror(file));
        if (got == 0) throw input_error(where + "its member ends before the array does");
        place += got;
        count -= static_cast<std::size_t>(got);
      }
    };
  }

  // The check sum is compared when the end has been read.
  static void finish(zip_file_t* file, const std::string& where) {
    char extra = 0;
    const zip_int64_t got = zip_fread(file, &extra, 1);
    if (got < 0) throw input_error(where + "its member cannot be unpacked: " + zip_file_strerror(file));
    if (got > 0) throw input_error(where + "its member is longer than the archive says");
  }

  std::string text(zip_uint64_t index, std::uint64_t size) const {
    const std::string where = name_ + ": attest.json: ";
    const auto file = open(index, where);
    std::string result(static_cast<std::size_t>(size), '\0');
    next(file.get(), where)(result.data(), result.size());
    finish(file.get(), where);
    return result;
  }

  host_array load_at(std::size_t index) const override {
    const std::string where = array_prefix(name_, arrays_[index].name);
    const member& m = members_[index];
    if (!m.unread.empty()) throw input_error(m.unread);
    const auto file = open(m.index, where);
    const next_bytes bytes = next(file.get(), where);
    read_npy_header(bytes, arrays_[index].name, where);
    host_array a = read_elements(m.header.info, m.header.fortran_order, m.header.big_endian, bytes, where);
    finish(file.get(), where);
    return m.dtype_name.empty() ? a : reinterpreted(std::move(a), m.dtype_name, where);
  }

  std::uint64_t packed_size_;
  archive_handle archive_;
  std::vector<member> members_;
  json::value dtypes_;
};

}  // namespace

std::unique_ptr<array_file> open_npz(std::shared_ptr<const byte_source> source, const std::string& name) {
  return std::make_unique<npz_file>(std::move(source), name);
}

encoded_arrays encode_npz(const arrays_to_write& content, const std::string& name) {
  // libzip writes no archive without members, which is the end record alone.
  if (content.arrays.empty() && content.provenance.empty()) return {"PK\x05\x06" + std::string(18, '\0'), {}};
  zip_error_t error;
  zip_error_init(&error);
  const auto fail = [&](const std::string& what) { throw input_error(name + ": libzip: " + what); };
  zip_source_t* const target = zip_source_buffer_create(nullptr, 0, 0, &error);
  if (target == nullptr) fail(text_of(&error));
  zip_source_keep(target);  // so that it can be read after the archive is closed
  const std::unique_ptr<zip_source_t, discard> kept(target);
  zip_t* const opened = zip_open_from_source(target, ZIP_TRUNCATE, &error);
  if (opened == nullptr) {
    zip_source_free(target);
    fail(text_of(&error));
  }
  archive_handle archive(opened);
  // The bytes of the members have to stay until the archive is closed.
  std::vector<std::pair<std::string, std::string>> members;
  for (const host_array& a : content.arrays) {
    const std::string member = a.name + ".npy";
    if (climbs(member) || member.find('\0') != std::string::npos || member.size() > longest_name)
      throw input_error(name + ": array " + a.name.substr(0, 100) +
                        ": no member of an archive can have this name: give it another with --name");
    members.emplace_back(member, npy_header_bytes(a) + little_endian_bytes(a));
  }
  std::string dtypes;
  for (const host_array& a : content.arrays)
    if (!is_numpy_type(a.type))
      dtypes += (dtypes.empty() ? "" : ", ") + json::quote(a.name) + ": " + json::quote(to_string(a.type));
  if (!content.provenance.empty() || !dtypes.empty())
    members.emplace_back(provenance_member,
                         "{\"version\": \"attest-npz-v1\", \"dtypes\": {" + dtypes + "}" +
                             (content.provenance.empty() ? "" : ", \"attest\": " + content.provenance) +
                             "}\n");
  for (const auto& [member, bytes] : members) {
    // Asked for UTF-8, versions differ in whether they say so of ASCII; left to look, they agree.
    zip_source_t* const source = zip_source_buffer(archive.get(), bytes.data(), bytes.size(), 0);
    const zip_int64_t index =
        source == nullptr ? -1 : zip_file_add(archive.get(), member.c_str(), source, ZIP_FL_ENC_GUESS);
    if (index < 0) {
      if (source != nullptr) zip_source_free(source);
      fail(zip_strerror(archive.get()));
    }
    const auto at = static_cast<zip_uint64_t>(index);
    // Stored, since other versions of a library pack to other bytes; and at the first moment that zip knows,
    // 1980-01-01.
    if (zip_set_file_compression(archive.get(), at, ZIP_CM_STORE, 0) != 0 ||
        zip_file_set_dostime(archive.get(), at, 0, 33, 0) != 0)
      fail(zip_strerror(archive.get()));
  }
  if (zip_close(archive.get()) != 0) fail(zip_strerror(archive.get()));
  archive.release();
  encoded_arrays result;
  zip_stat_t stat;
  if (zip_source_stat(target, &stat) != 0 || zip_source_open(target) != 0)
    fail("the archive cannot be read again");
  result.bytes.resize(static_cast<std::size_t>(stat.size));
  std::size_t have = 0;
  while (have < result.bytes.size()) {
    const zip_int64_t got = zip_source_read(target, result.bytes.data() + have, result.bytes.size() - have);
    if (got <= 0) fail("the archive cannot be read again");
    have += static_cast<std::size_t>(got);
  }
  zip_source_close(target);
  return result;
}

}  // namespace attest::io
