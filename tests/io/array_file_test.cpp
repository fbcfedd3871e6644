// Files of arrays.
// - what NumPy and safetensors wrote (fixtures/make.py): every dtype, byte orders, orders of elements,
// headers, shapes
// - hostile files, made here byte by byte: refused with a line that names file and array, and without the
// memory they claim
// - what is written reads as the same bits, and is the same bytes twice
#include "contains.hpp"

#include <attest/io/array_file.hpp>
#include <attest/io/input_error.hpp>
#include <attest/io/json.hpp>
#include <attest/io/rounded_array.hpp>
#include <attest/io/sha256.hpp>

#include <zip.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include <unistd.h>

using namespace attest;
using namespace attest::io;
using attest_testing::ContainsSubstring;

namespace {

const std::string fixtures = std::string(ATTEST_SOURCE_DIR) + "/tests/io/fixtures/";

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <class F>
std::string refusal(F f) {
  try {
    f();
  } catch (const input_error& e) {
    const std::string message = e.what();
    CHECK(message.find('\n') == std::string::npos);
    return message;
  }
  return "no error";
}

std::string opening(const std::string& bytes, array_format format, const std::string& name,
                    const std::optional<std::string>& sidecar = {}) {
  return refusal([&] {
    const auto file = open_arrays(bytes, format, name, sidecar);
    for (const array_info& a : file->arrays()) file->load(a.name);
  });
}

// Element i of a fixture: i / 4 - 1 for floats, i for integers, odd i for booleans.
void check_counted(const host_array& a, std::size_t count) {
  REQUIRE(a.elements() == count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto n = static_cast<double>(i);
    const double wanted = a.type == dtype::boolean       ? std::fmod(n, 2)
                          : format_of(a.type) != nullptr ? n / 4 - 1
                                                         : n;
    CHECK(a.value(i) == wanted);
  }
}

host_array loaded(const std::string& file) {
  const auto opened = open_arrays(fixtures + file);
  REQUIRE(opened->arrays().size() == 1);
  return opened->load(opened->arrays()[0].name);
}

host_array array_of(const std::string& name, dtype type, const std::vector<std::size_t>& shape,
                    const std::string& bytes) {
  host_array a;
  a.name = name;
  a.type = type;
  a.shape = shape;
  a.bytes.assign(bytes.begin(), bytes.end());
  return a;
}

std::string npy(const std::string& dictionary, const std::string& data, char major = 1) {
  std::string header = dictionary;
  const std::size_t width = major == 1 ? 2 : 4;
  while ((8 + width + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string bytes("\x93NUMPY", 6);
  bytes += major;
  bytes += '\0';
  for (std::size_t i = 0; i < width; ++i) bytes += static_cast<char>(header.size() >> (8 * i) & 255);
  return bytes + header + data;
}
std::string npy_of(const std::string& descr, const std::string& shape, const std::string& data) {
  return npy("{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }", data);
}

std::string safetensors(const std::string& header, const std::string& data) {
  std::string bytes;
  for (int shift = 0; shift < 64; shift += 8) bytes += static_cast<char>(header.size() >> shift & 255);
  return bytes + header + data;
}

// A zip archive of these members, written by libzip.
std::string zipped(const std::vector<std::pair<std::string, std::string>>& members,
                   zip_int32_t method = ZIP_CM_STORE) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("attest-zip-" + std::to_string(::getpid()))).string();
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
  REQUIRE(archive != nullptr);
  for (const auto& [name, bytes] : members) {
    zip_source_t* source = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
    const zip_int64_t at = zip_file_add(archive, name.c_str(), source, ZIP_FL_ENC_UTF_8);
    REQUIRE(at >= 0);
    REQUIRE(zip_set_file_compression(archive, static_cast<zip_uint64_t>(at), method, 0) == 0);
  }
  REQUIRE(zip_close(archive) == 0);
  const std::string bytes = content(path);
  std::filesystem::remove(path);
  return bytes;
}

}  // namespace

TEST_CASE("NumPy's files: every dtype") {
  const std::pair<const char*, dtype> all[] = {
      {"float64.npy", dtype::binary64},    {"float32.npy", dtype::binary32},
      {"float16.npy", dtype::binary16},    {"int8.npy", dtype::int8},
      {"int16.npy", dtype::int16},         {"int32.npy", dtype::int32},
      {"int64.npy", dtype::int64},         {"uint8.npy", dtype::uint8},
      {"uint16.npy", dtype::uint16},       {"uint32.npy", dtype::uint32},
      {"uint64.npy", dtype::uint64},       {"bool.npy", dtype::boolean},
      {"big_endian.npy", dtype::binary64}, {"big_endian_int16.npy", dtype::int16},
      {"version2.npy", dtype::binary64},   {"version3.npy", dtype::binary64}};
  for (const auto& [file, type] : all) {
    INFO(file);
    const host_array a = loaded(file);
    CHECK(a.type == type);
    CHECK(a.shape == std::vector<std::size_t>{2, 3});
    CHECK_FALSE(a.untyped);
    check_counted(a, 6);
  }
}

TEST_CASE("NumPy's files: orders, shapes, and what NumPy has no type for") {
  const host_array fortran = loaded("fortran.npy");
  CHECK(fortran.shape == std::vector<std::size_t>{2, 3, 4});
  check_counted(fortran, 24);
  const host_array number = loaded("number.npy");
  CHECK(number.shape.empty());
  check_counted(number, 1);
  const host_array empty = loaded("empty.npy");
  CHECK(empty.shape == std::vector<std::size_t>{2, 0, 3});
  CHECK(empty.elements() == 0);
  const host_array bits = reinterpreted(loaded("bfloat16_bits.npy"), "bfloat16", "");
  CHECK(bits.type == dtype::bfloat16);
  check_counted(bits, 6);
  const host_array untyped = loaded("bfloat16_void.npy");
  CHECK(untyped.untyped);
  check_counted(reinterpreted(untyped, "bf16", ""), 6);
  CHECK_THAT(refusal([] { reinterpreted(loaded("float32.npy"), "bfloat16", "x: "); }),
             ContainsSubstring("x: its elements are binary32, and only integers"));
  CHECK_THAT(refusal([] { reinterpreted(loaded("float32.npy"), "bfloat16", "x: "); }),
             ContainsSubstring("attest convert IN OUT --round-to float32=bfloat16"));
  CHECK_THAT(refusal([] { reinterpreted(loaded("uint32.npy"), "bfloat16", "x: "); }),
             ContainsSubstring("have 4 bytes, and those of bfloat16 have 2"));
  CHECK_THAT(refusal([] { reinterpreted(loaded("uint16.npy"), "bfloat17", "x: "); }),
             ContainsSubstring("there is no dtype bfloat17"));
}

TEST_CASE("NumPy's files that are refused") {
  CHECK_THAT(
      refusal([] { loaded("objects.npy"); }),
      ContainsSubstring("objects.npy: its elements are Python objects (a pickle), which are never read"));
  CHECK_THAT(refusal([] { loaded("records.npy"); }), ContainsSubstring("its elements are records"));
  CHECK_THAT(refusal([] { loaded("complex.npy"); }), ContainsSubstring("its dtype '<c16' is not read"));
}

TEST_CASE("archives of NumPy") {
  const auto stored = open_arrays(fixtures + "stored.npz");
  REQUIRE(stored->arrays().size() == 3);
  CHECK(shape_text(stored->find("Q")->shape) == "[1, 2, 3, 4]");
  check_counted(stored->load("Q"), 24);
  check_counted(stored->load("V"), 10);
  const auto deflated = open_arrays(fixtures + "deflated.npz");
  check_counted(deflated->load("k"), 20);
  const host_array mask = deflated->load("mask");
  CHECK(mask.type == dtype::boolean);
  for (std::size_t i = 0; i < 15; ++i) CHECK(mask.value(i) == (i % 5 <= i / 5 ? 1 : 0));
  CHECK_THAT(refusal([&] { deflated->load("Q"); }),
             ContainsSubstring("deflated.npz: it has no array Q: it has q, k, v, mask"));
}

TEST_CASE("safetensors files of the library") {
  const auto file = open_arrays(fixtures + "case.safetensors");
  check_counted(file->load("Q"), 24);
  check_counted(file->load("flags"), 3);
  const auto floats = open_arrays(fixtures + "floats.safetensors");
  for (const auto& [name, type] : {std::pair("bf16", dtype::bfloat16),
                                   {"e4m3", dtype::float8_e4m3fn},
                                   {"e5m2", dtype::float8_e5m2},
                                   {"e4m3fnuz", dtype::float8_e4m3fnuz},
                                   {"e5m2fnuz", dtype::float8_e5m2fnuz}}) {
    const host_array a = floats->load(name);
    CHECK(a.type == type);
    check_counted(a, 6);
  }
}

TEST_CASE("every prefix of a fixture is refused") {
  for (const char* file :
       {"float64.npy", "version3.npy", "deflated.npz", "stored.npz", "floats.safetensors"}) {
    const std::string bytes = content(fixtures + file);
    const auto format = *format_of_path(file);
    for (std::size_t length = 0; length < bytes.size(); length += length < 300 ? 1 : 7) {
      INFO(file << ", " << length << " bytes of it");
      CHECK_THAT(opening(bytes.substr(0, length), format, file), ContainsSubstring(file));
    }
  }
}

TEST_CASE("hostile .npy files") {
  const auto message = [](const std::string& bytes) { return opening(bytes, array_format::npy, "a.npy"); };
  const std::string eight(8, '\0');
  CHECK(message(npy_of("<f8", "(1,)", eight)) == "no error");
  CHECK_THAT(message("no array"), ContainsSubstring("a.npy: it does not begin as an .npy file does"));
  CHECK_THAT(
      message(npy_of("<f8", "(2,)", eight)),
      ContainsSubstring("shape [2] of binary64 takes 16 bytes and 8 follow the header: it is truncated"));
  CHECK_THAT(message(npy_of("<f8", "(1,)", eight + eight)),
             ContainsSubstring("damaged, or holds more than one array"));
  CHECK_THAT(message(npy_of("<f8", "(1152921504606846976, 16)", eight)),
             ContainsSubstring("does not fit into any memory"));
  CHECK_THAT(message(npy_of("<f8", "(99999999999999999999999,)", eight)),
             ContainsSubstring("does not fit into any memory"));
  CHECK_THAT(message(npy_of("<f8", "(-1,)", eight)),
             ContainsSubstring("its shape is no tuple of whole numbers"));
  CHECK_THAT(message(npy_of("<f8", "(4294967296, 4294967296, 0)", eight)),
             ContainsSubstring("takes 0 bytes"));
  CHECK(message(npy_of("<f8", "(4294967296, 4294967296, 0)", "")) == "no error");
  CHECK_THAT(message(npy_of("|O", "(1,)", eight)), ContainsSubstring("pickle"));
  CHECK_THAT(message(npy_of("<f16", "(1,)", eight + eight)),
             ContainsSubstring("its dtype '<f16' is not read"));
  CHECK_THAT(message(npy_of("|f8", "(1,)", eight)), ContainsSubstring("does not say the order of the bytes"));
  CHECK_THAT(message(npy("{'descr': '<f8', 'fortran_order': False}", eight)),
             ContainsSubstring("lacks descr, fortran_order or shape"));
  CHECK_THAT(message(npy("{'descr': '<f8', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", eight)),
             ContainsSubstring("the key 'descr' occurs twice"));
  CHECK_THAT(message(npy("{'descr': '<f8', 'fortran_order': 1, 'shape': (1,)}", eight)),
             ContainsSubstring("neither True nor False"));
  CHECK_THAT(message(npy("{'descr': __import__('os'), 'fortran_order': False, 'shape': (1,)}", eight)),
             ContainsSubstring("no Python dictionary"));
  CHECK_THAT(message(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)} + 1", eight)),
             ContainsSubstring("something follows the dictionary"));
  CHECK_THAT(message(npy_of("<f8", "(1,)", eight).replace(6, 1, "\x04")), ContainsSubstring("version 4.0"));
  std::string long_header = npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", eight, 2);
  long_header.replace(8, 4, "\xff\xff\xff\x7f");
  CHECK_THAT(message(long_header), ContainsSubstring("its header claims 2147483647 bytes"));
  std::string axes = "(";
  for (int i = 0; i < 65; ++i) axes += "1, ";
  CHECK_THAT(message(npy_of("<f8", axes + ")", eight)), ContainsSubstring("more than 64 axes"));
}

TEST_CASE("sidecars of .npy files") {
  const std::string bits = npy_of("<u2", "(2,)", std::string("\x80\x3f\x00\xc0", 4));  // 1, -2 as bfloat16
  const auto file =
      open_arrays(bits, array_format::npy, "a.npy",
                  "{\"name\": \"K\", \"dtype\": \"bfloat16\", \"attest\": {\"version\": \"x\"}}");
  const host_array a = file->load("K");
  CHECK(a.type == dtype::bfloat16);
  CHECK(a.value(0) == 1);
  CHECK(a.value(1) == -2);
  CHECK(file->provenance() == "{\"version\": \"x\"}");
  CHECK_THAT(opening(bits, array_format::npy, "a.npy", "{\"dtype\": \"binary32\"}"),
             ContainsSubstring("have 2 bytes, and those of binary32 have 4"));
  CHECK_THAT(opening(bits, array_format::npy, "a.npy", "{\"dtyp\": \"binary32\"}"),
             ContainsSubstring("a.npy.json: the key \"dtyp\" is not known"));
  CHECK_THAT(opening(bits, array_format::npy, "a.npy", "[]"),
             ContainsSubstring("a.npy.json: it holds no object"));
  CHECK_THAT(opening(bits, array_format::npy, "a.npy", "{\"dtype\": 1}"),
             ContainsSubstring("dtype is no string"));
}

TEST_CASE("types that NumPy has no name for, as it saves them") {
  // ml_dtypes' bfloat16 and the floats of eight bits, of which float8_e5m2 calls itself f1.
  for (const auto& [descr, data, name, value] :
       {std::tuple("<V2", std::string("\xc0\x3f"), "bfloat16", 1.5), {"<V1", std::string("\x3c"), "float8_e4m3fn", 1.5},
        {"<f1", std::string("\x3e"), "float8_e5m2", 1.5}, {"<V1", std::string("\xff"), "int8", -1.0}}) {
    const auto file = open_arrays(npy_of(descr, "(1, 1)", data), array_format::npy, "a.npy");
    const host_array a = file->load("a");
    CHECK(a.untyped);
    CHECK(reinterpreted(a, name, "").value(0) == value);
    CHECK_FALSE(reinterpreted(a, name, "").untyped);
    CHECK(untyped_text(a, "K") == (data.size() == 1
                                       ? "its elements are 1 byte without a type: say what they are, as in --dtype K=float8_e4m3fn"
                                       : "its elements are 2 bytes without a type: say what they are, as in --dtype K=bfloat16"));
  }
  // int4 and uint4 have a byte for each element, whose upper half is 0 (or the sign).
  const auto nibbles = open_arrays(npy_of("<V1", "(2, 2)", std::string("\x0f\x01\xf8\x07")), array_format::npy, "a.npy");
  const host_array four = reinterpreted(nibbles->load("a"), "int4", "");
  CHECK(four.shape == std::vector<std::size_t>{2, 2});
  CHECK(four.type == dtype::int8);
  CHECK(four.value(0) == -1);
  CHECK(four.value(1) == 1);
  CHECK(four.value(2) == -8);
  CHECK(four.value(3) == 7);
  CHECK_THAT(refusal([&] { reinterpreted(nibbles->load("a"), "uint4", "a: "); }),
             ContainsSubstring("a: element 2 has more than the four bits of uint4"));
  const auto two = open_arrays(npy_of("<V1", "(1, 1)", "\x21"), array_format::npy, "a.npy");
  CHECK_THAT(refusal([&] { reinterpreted(two->load("a"), "int4", "a: "); }),
             ContainsSubstring("a: element 0 has more than the four bits of int4"));
  // Two in a byte of a type, as before.
  const auto packed = open_arrays(npy_of("|u1", "(1, 1)", "\x21"), array_format::npy, "a.npy");
  CHECK(reinterpreted(packed->load("a"), "uint4", "").shape == std::vector<std::size_t>{1, 2});
}

TEST_CASE("names that no member of an archive can have") {
  for (const std::string& name : {std::string("../Q"), std::string("/Q"), std::string("a/../Q"), std::string("a\0b", 3),
                                  std::string("a\\b"), std::string(70000, 'a')})
    CHECK_THAT(refusal([&] { encode({{array_of(name, dtype::uint8, {1}, "1")}, {}}, array_format::npz, "a.npz"); }),
               ContainsSubstring("no member of an archive can have this name"));
  // What reads is written again: archives may have members called ...npy and .npy.
  for (const std::string& name : {std::string("model.layers/0.Q"), std::string("\xce\xa9"), std::string(65531, 'a'),
                                  std::string(".."), std::string(), std::string("a/..")}) {
    const auto bytes = encode({{array_of(name, dtype::uint8, {1}, "1")}, {}}, array_format::npz, "a.npz").bytes;
    CHECK(open_arrays(bytes, array_format::npz, "a.npz")->arrays()[0].name == name);
  }
}

TEST_CASE("hostile .npz files") {
  const auto message = [](const std::string& bytes) { return opening(bytes, array_format::npz, "a.npz"); };
  const std::string array = npy_of("<f8", "(1,)", std::string(8, '\0'));
  CHECK(message(zipped({{"Q.npy", array}, {"notes.txt", "ignored"}})) == "no error");
  CHECK(message(zipped({{"Q.npy", array}}, ZIP_CM_DEFLATE)) == "no error");
  for (const char* name : {"../Q.npy", "/etc/Q.npy", "a/../../Q.npy", "..\\Q.npy", "C:Q.npy"})
    CHECK_THAT(message(zipped({{name, array}})), ContainsSubstring("climbs out of its folder"));
  CHECK(message(zipped({{"layers/0/Q.npy", array}})) == "no error");
  CHECK_THAT(message(zipped({{"Q.npy", npy_of("<f8", "(2,)", std::string(8, '\0'))}})),
             ContainsSubstring("array Q: shape [2] of binary64 takes 16 bytes and its member has"));
  CHECK_THAT(message(zipped({{"Q.npy", "nothing"}})), ContainsSubstring("array Q: "));
  CHECK_THAT(message(zipped({{"Q.npy", npy_of("|O", "(1,)", "")}})), ContainsSubstring("pickle"));
  CHECK_THAT(message("PK"), ContainsSubstring("a.npz: it is no whole zip archive"));

  // Two members of one name: libzip does not write such, so one of two is renamed, in both places where names
  // stand.
  std::string twice = zipped({{"Q.npy", array}, {"q.npy", array}});
  for (std::size_t at = twice.find("q.npy"); at != std::string::npos; at = twice.find("q.npy"))
    twice[at] = 'Q';
  const std::string about_twice = message(twice);
  const bool told = about_twice.find("occurs twice") != std::string::npos ||
                    about_twice.find("two of its members have one name") != std::string::npos;
  INFO(about_twice);
  CHECK(told);  // by libzip itself, in some versions

  // Arrays of texts, dates, records and objects do not keep others from being read.
  for (const auto& [descr, why] : {std::pair("'<U1'", "its dtype '<U1' is not read"), {"'<M8[D]'", "its dtype '<M8[D]' is not read"},
                                   {"'|O'", "a pickle"}, {"[('a', '<f4'), ('b', '<i4')]", "records"}}) {
    const std::string strange = npy("{'descr': " + std::string(descr) + ", 'fortran_order': False, 'shape': (1,), }", "12345678");
    const auto file = open_arrays(zipped({{"Q.npy", array}, {"strange.npy", strange}}), array_format::npz, "a.npz");
    CHECK(file->find("Q")->readable);
    CHECK(file->load("Q").value(0) == 0);
    CHECK_FALSE(file->find("strange")->readable);
    CHECK_THAT(refusal([&] { file->load("strange"); }), ContainsSubstring("a.npz: array strange: ") && ContainsSubstring(why));
  }

  // A flipped bit of the data is found by its check sum.
  std::string flipped = zipped({{"Q.npy", array}});
  flipped[flipped.find("Q.npy") + 5 + array.size() - 4] ^= 1;
  CHECK_THAT(message(flipped), ContainsSubstring("array Q: its member cannot be unpacked"));

  // 256 MiB of zeros pack to a quarter of a MiB: a thousand times.
  const std::string zeros = npy_of("|u1", "(268435456,)", std::string(std::size_t{1} << 28, '\0'));
  const std::string bomb = zipped({{"Q.npy", zeros}}, ZIP_CM_DEFLATE);
  CHECK(bomb.size() < (std::size_t{1} << 19));
  CHECK_THAT(message(bomb), ContainsSubstring("claim to unpack to more than 200 times as many"));
}

TEST_CASE("hostile safetensors files") {
  const auto message = [](const std::string& header, std::size_t bytes) {
    return opening(safetensors(header, std::string(bytes, '\0')), array_format::safetensors, "a.safetensors");
  };
  const auto tensor = [](const std::string& name, const std::string& type, const std::string& shape,
                         const std::string& offsets) {
    return "\"" + name + "\":{\"dtype\":\"" + type + "\",\"shape\":" + shape +
           ",\"data_offsets\":" + offsets + "}";
  };
  CHECK(message("{" + tensor("Q", "F32", "[2]", "[0,8]") + "}   ", 8) == "no error");
  CHECK(message("{}", 0) == "no error");
  CHECK(message("{" + tensor("Q", "F32", "[0,7]", "[0,0]") + "}", 0) == "no error");
  CHECK_THAT(message("{" + tensor("Q", "F32", "[2]", "[0,4]") + "}", 4),
             ContainsSubstring("array Q: shape [2] of F32 takes 8 bytes and its offsets are 0 to 4"));
  CHECK_THAT(message("{" + tensor("Q", "F32", "[2]", "[8,0]") + "}", 8),
             ContainsSubstring("its offsets are 8 to 0"));
  CHECK_THAT(
      message("{" + tensor("Q", "F32", "[2]", "[0,8]") + "}", 4),
      ContainsSubstring("array Q: it ends at byte 8 of the data and there are 4: the file is truncated"));
  CHECK_THAT(
      message("{" + tensor("Q", "F32", "[2]", "[0,8]") + "," + tensor("K", "F32", "[2]", "[4,12]") + "}", 12),
      ContainsSubstring("array K: its bytes overlap another array's"));
  CHECK_THAT(
      message("{" + tensor("Q", "F32", "[1]", "[0,4]") + "," + tensor("K", "F32", "[1]", "[8,12]") + "}", 12),
      ContainsSubstring("bytes 4 to 8 belong to no array"));
  CHECK_THAT(message("{" + tensor("Q", "F32", "[1]", "[0,4]") + "}", 8),
             ContainsSubstring("4 bytes follow the last array"));
  CHECK_THAT(
      message("{" + tensor("Q", "F32", "[1]", "[0,4]") + "," + tensor("Q", "F32", "[1]", "[4,8]") + "}", 8),
      ContainsSubstring("Q"));
  CHECK_THAT(message("{" + tensor("Q", "F32", "[4294967296,4294967296]", "[0,4]") + "}", 4),
             ContainsSubstring("does not fit into any memory"));
  CHECK_THAT(message("{" + tensor("Q", "F32", "[-1]", "[0,4]") + "}", 4), ContainsSubstring("-1 is no size"));
  CHECK_THAT(message("{" + tensor("Q", "F32", "[1.0]", "[0,4]") + "}", 4),
             ContainsSubstring("1.0 is no size"));
  CHECK_THAT(message("{" + tensor("Q", "F128", "[1]", "[0,16]") + "}", 16),
             ContainsSubstring("the dtype \"F128\" is not known"));
  CHECK_THAT(message("{" + tensor("Q", "F6_E2M3", "[4]", "[0,3]") + "}", 3),
             ContainsSubstring("its dtype F6_E2M3 is not read"));
  CHECK_THAT(message("{" + tensor("Q", "F4", "[2,1]", "[0,1]") + "}", 1),
             ContainsSubstring("array Q: the last extent of F4 has to be even, as two elements share a byte, and "
                               "its shape is [2, 1]"));
  CHECK_THAT(message("{" + tensor("Q", "F4", "[3]", "[0,1]") + "}", 1),
             ContainsSubstring("fill no whole number of bytes"));
  CHECK_THAT(message(" {}", 0), ContainsSubstring("does not begin with {"));
  CHECK_THAT(message("{\"Q\":1}", 0), ContainsSubstring("array Q: its header is no object"));
  CHECK_THAT(message("{\"Q\":", 0), ContainsSubstring("a.safetensors: header: "));
  CHECK_THAT(message("{\"__metadata__\":{\"a\":1}}", 0),
             ContainsSubstring("__metadata__ is no object of strings"));
  std::string deep = "{\"a\":";
  for (int i = 0; i < 100000; ++i) deep += '[';
  CHECK_THAT(message(deep, 0), ContainsSubstring("a.safetensors: header: "));
  std::string huge = safetensors("{}", "");
  huge.replace(0, 8, "\xff\xff\xff\xff\xff\xff\xff\xff");
  CHECK_THAT(opening(huge, array_format::safetensors, "a.safetensors"),
             ContainsSubstring("at most 100000000 are read"));
  huge.replace(0, 8, std::string("\xff\xff\xff\x00\x00\x00\x00\x00", 8));
  CHECK_THAT(opening(huge, array_format::safetensors, "a.safetensors"),
             ContainsSubstring("claims 16777215 bytes and 2 follow: it is truncated"));
}

TEST_CASE("raw files and their sidecars") {
  const std::string bytes("\x3f\x80\x00\x00\xc0\x00\x00\x00\x01\xf8",
                          10);  // 1 and -2 as binary32, high bytes first; nibbles 1, 0, 8, 15
  const auto side = [](const std::string& arrays) {
    return "{\"version\": \"attest-raw-v1\", \"arrays\": [" + arrays + "]}";
  };
  const std::string floats = R"({"name": "Q", "dtype": "float32", "shape": [2], "byte_order": "big"})";
  const std::string packed = R"({"name": "K", "dtype": "int4", "shape": [2, 2]})";
  const auto file = open_arrays(bytes, array_format::raw, "a.bin", side(floats + ", " + packed));
  CHECK(file->load("Q").value(0) == 1);
  CHECK(file->load("Q").value(1) == -2);
  const host_array k = file->load("K");
  CHECK(k.shape == std::vector<std::size_t>{2, 2});
  CHECK(k.value(0) == 1);  // the low half of the first byte
  CHECK(k.value(1) == 0);
  CHECK(k.value(2) == -8);
  CHECK(k.value(3) == -1);
  const auto message = [&](const std::string& arrays) {
    return opening(bytes, array_format::raw, "a.bin", side(arrays));
  };
  CHECK_THAT(opening(bytes, array_format::raw, "a.bin"),
             ContainsSubstring("a.bin: its sidecar a.bin.json is missing"));
  CHECK_THAT(opening(bytes, array_format::raw, "a.bin", "{}"),
             ContainsSubstring("a.bin.json: the key \"arrays\" is missing"));
  CHECK_THAT(message(floats), ContainsSubstring("its arrays take 8 bytes and the file has 10"));
  CHECK_THAT(message(floats + ", " + floats), ContainsSubstring("array Q: it occurs twice"));
  CHECK_THAT(message(R"({"name": "Q", "dtype": "float32", "shape": [2]})"),
             ContainsSubstring("its byte_order has to be said"));
  CHECK_THAT(message(R"({"name": "Q", "dtype": "float33", "shape": [2], "byte_order": "big"})"),
             ContainsSubstring("there is no dtype \"float33\""));
  CHECK_THAT(message(R"({"name": "Q", "dtype": "float32", "shape": [3], "byte_order": "big"})"),
             ContainsSubstring("takes 12 bytes from byte 0 on, and the file has 10"));
  CHECK_THAT(
      message(
          R"({"name": "Q", "dtype": "uint8", "shape": [8], "offset": 0}, {"name": "K", "dtype": "uint8", "shape": [3], "offset": 7})"),
      ContainsSubstring("array K: its bytes overlap those of array Q"));
  CHECK_THAT(message(R"({"name": "Q", "dtype": "uint8", "shape": [1], "offset": 11})"),
             ContainsSubstring("from byte 11 on"));
  CHECK_THAT(message(R"({"name": "K", "dtype": "int4", "shape": [20, 1]})"),
             ContainsSubstring("array K: the last extent of int4 has to be even, as two elements share a byte, and shape [20, 1] "
                               "does not say what stands in the other half at the end of a row: unpack it, to int8"));
  CHECK_THAT(message(R"({"name": "Q", "dtype": "uint8", "shape": [10], "size": 1})"),
             ContainsSubstring("the key \"size\" is not known"));
  CHECK(open_arrays(bytes, array_format::raw, "a.bin",
                    side(R"({"name": "Q", "dtype": "uint8", "shape": [2, 5], "order": "F"})"))
            ->load("Q")
            .value(1) == 0);
}

TEST_CASE("JSON as arrays") {
  const auto file = open_arrays(
      R"({"Q": [[1, 0.5]], "mask": [[true, false]], "expected": {"output": [["0x1p-3", NaN]], "Q": [[7, 7]]}})",
      array_format::json, "a.json");
  CHECK(file->load("Q").value(1) == 0.5);
  CHECK(file->load("mask").type == dtype::boolean);
  CHECK(file->load("output").value(0) == 0.125);
  CHECK(std::isnan(file->load("output").value(1)));
  CHECK(file->load("expected.Q").value(0) == 7);
  const host_array number =
      open_arrays(R"({"expected": {"K_scale": 0.5}})", array_format::json, "a.json")->load("K_scale");
  CHECK(number.shape.empty());
  CHECK(number.value(0) == 0.5);
  CHECK_THAT(refusal([] {
               encode({{array_of("Q", dtype::int8, {0, 2}, "")}, ""}, array_format::json, "a.json");
             }),
             ContainsSubstring("a.json: array Q: it has no elements, and JSON cannot say its shape [0, 2]"));
  CHECK_THAT(opening(R"({"Q": [["1/3"]]})", array_format::json, "a.json"),
             ContainsSubstring("a.json: array Q: element [0, 0] is an exact number that no binary64 is"));
  CHECK_THAT(
      opening(R"({"Q": [[0.3]], "attest": {"inputs": {"Q": [["3/10"]]}}})", array_format::json, "a.json"),
      ContainsSubstring("an array of floats would round them"));
  CHECK_THAT(opening(R"({"mask": [[true], [1]]})", array_format::json, "a.json"),
             ContainsSubstring("an element is a number and the first one is true or false"));
}

TEST_CASE("what is written reads as the same bits") {
  std::vector<host_array> all;
  all.push_back(
      array_of("Q", dtype::binary64, {1, 2},
               std::string("\x00\x00\x00\x00\x00\x00\xf0\xbf\x01\x00\x00\x00\x00\x00\x00\x80", 16)));
  all.push_back(array_of("K", dtype::bfloat16, {2, 1}, std::string("\x80\x3f\xc0\x7f", 4)));
  all.push_back(array_of("flags", dtype::boolean, {2}, std::string("\x00\x01", 2)));
  all.push_back(array_of("codes", dtype::float8_e4m3fnuz, {0, 3}, ""));
  all.push_back(array_of("n", dtype::int64, {}, std::string("\xff\xff\xff\xff\xff\xff\xff\xff", 8)));
  const std::string provenance = "{\"version\": \"attest-v1\"}";
  for (const auto& [format, name] : {std::pair(array_format::safetensors, "a.safetensors"),
                                     {array_format::npz, "a.npz"},
                                     {array_format::raw, "a.bin"}}) {
    INFO(name);
    const encoded_arrays once = encode({all, provenance}, format, name);
    const encoded_arrays twice = encode({all, provenance}, format, name);
    CHECK(once.bytes == twice.bytes);
    CHECK(once.sidecar == twice.sidecar);
    const auto file = open_arrays(once.bytes, format, name, once.sidecar);
    CHECK(file->provenance() == provenance);
    for (const host_array& a : all) {
      const host_array b = file->load(a.name);
      CHECK(file->find(a.name)->type == a.type);
      CHECK(b.type == a.type);
      CHECK(b.shape == a.shape);
      CHECK(b.bytes == a.bytes);
    }
  }
  for (const host_array& a : all) {
    const encoded_arrays once = encode({{a}, ""}, array_format::npy, "a.npy");
    const host_array b = open_arrays(once.bytes, array_format::npy, "a.npy", once.sidecar)->load(a.name);
    CHECK(b.type == a.type);
    CHECK(b.shape == a.shape);
    CHECK(b.bytes == a.bytes);
  }
  CHECK_THAT(refusal([&] {
               encode({all, ""}, array_format::npy, "a.npy");
             }),
             ContainsSubstring("a.npy: an .npy file holds one array, not 5"));
}

TEST_CASE("the bytes of a zip archive, fixed") {
  // From PKWARE's APPNOTE 6.3.10, 4.3.7: "PK\3\4", version 1.0 or 2.0, flags, method 0 (stored), then the
  // time 0 and the date 33 = 0·2^9 + 1·2^5 + 1, 1980-01-01.
  const std::string bytes =
      encode({{array_of("a", dtype::uint8, {1}, "x")}, ""}, array_format::npz, "a.npz").bytes;
  CHECK(bytes.substr(0, 4) == "PK\3\4");
  CHECK(bytes.substr(8, 2) == std::string(2, '\0'));
  CHECK(bytes.substr(10, 4) == std::string("\0\0\x21\0", 4));
  // Byte for byte what libzip 1.7 (Debian 12) and 1.11 (Debian 13) write.
  CHECK(bytes.size() == 30 + 5 + 129 + 46 + 5 + 22);
  CHECK(sha256(bytes) == "22eebfcc4e27484ac678c2ca72d641a5f4d21bdb4486098807ddc6bd44dd906b");
}

TEST_CASE("JSON and C++ as they are written") {
  host_array a = array_of("output", dtype::binary32, {2, 2}, "");
  for (const float x : {0.1f, -0.0f, std::numeric_limits<float>::infinity(), -1.5f}) {
    unsigned char bytes[4];
    std::memcpy(bytes, &x, 4);
    a.bytes.insert(a.bytes.end(), bytes, bytes + 4);
  }
  CHECK(encode({{a}, "{\"k\": 1}"}, array_format::json, "a.json").bytes ==
        "{\n  \"version\": \"attention-v1\",\n  \"expected\": {\n    \"output\": [[0.10000000149011612, "
        "-0.0],\n[\"Infinity\", -1.5]]\n  },\n  \"attest\": {\"k\": 1}\n}\n");
  const std::string cpp = encode({{a}, "{\"k\": 1}"}, array_format::cpp_header, "a.hpp").bytes;
  CHECK_THAT(cpp, ContainsSubstring("// attest {\"k\": 1}\n"));
  CHECK_THAT(cpp, ContainsSubstring("// binary32 [2, 2]\n"));
  // 0.1f = 13421773 / 2^27 = 0xccccd / 2^27 · ... : significand 1.999999 a, as glibc's %a prints it
  CHECK_THAT(cpp, ContainsSubstring("inline constexpr std::array<float, 4> output{\n    0x1.99999ap-4f, "
                                    "-0x0p+0f, std::numeric_limits<float>::infinity(), -0x1.8p+0f};"));
}

TEST_CASE("integers that no double is") {
  host_array a = array_of("Q", dtype::int64, {2},
                          std::string("\x01\0\0\0\0\0\x20\0\x02\0\0\0\0\0\x20\0", 16));  // 2^53 + 1, 2^53 + 2
  CHECK_THAT(refusal([&] { exact_doubles(a, "f: "); }),
             ContainsSubstring("f: element 0 is an integer past 2^53"));
  a.bytes.erase(a.bytes.begin(), a.bytes.begin() + 8);
  a.shape = {1};
  CHECK(exact_doubles(a, "")[0] == 0x1p53 + 2);
  a.bytes = {0, 0, 0, 0, 0, 0, 0, 0x80};
  CHECK(exact_doubles(a, "")[0] == -0x1p63);
  a.type = dtype::uint64;
  CHECK(exact_doubles(a, "")[0] == 0x1p63);
}

namespace {

host_array of_floats(const std::vector<float>& values) {
  host_array a;
  a.name = "a";
  a.type = dtype::binary32;
  a.shape = {values.size()};
  a.bytes.resize(4 * values.size());
  std::memcpy(a.bytes.data(), values.data(), a.bytes.size());
  return a;
}

}  // namespace

TEST_CASE("formats of microscaling blocks") {
  // 2^(b - 127) for every byte but 255; 2^-127 is subnormal in binary32, and exact.
  std::string bytes;
  for (int b = 0; b < 256; ++b) bytes += static_cast<char>(b);
  // Of E2M1 the low half comes first: 0x10 is 0 and 1/2, 0x32 1 and 3/2, and so on; 0xf7 is 6 and -6.
  const std::string halves("\x10\x32\x54\x76\x98\xba\xdc\xf7", 8);
  const double values[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, 6, -6};
  std::string header =
      "{\"s\":{\"dtype\":\"F8_E8M0\",\"shape\":[4,64],\"data_offsets\":[0,256]},"
      "\"f\":{\"dtype\":\"F4\",\"shape\":[2,8],\"data_offsets\":[256,264]}}";
  header.append((8 - header.size() % 8) % 8, ' ');
  std::string length(8, '\0');
  length[0] = static_cast<char>(header.size());
  const auto file =
      open_arrays(length + header + bytes + halves, array_format::safetensors, "mx.safetensors");
  const host_array s = file->load("s");
  CHECK((file->find("s")->type == dtype::binary32 && s.type == dtype::binary32));
  CHECK(s.shape == std::vector<std::size_t>{4, 64});
  for (int b = 0; b < 255; ++b) CHECK(s.value(static_cast<std::size_t>(b)) == std::ldexp(1.0, b - 127));
  CHECK(std::isnan(s.value(255)));
  const auto check_halves = [&](const host_array& f) {
    CHECK(f.type == dtype::float8_e4m3fn);
    CHECK(f.shape == std::vector<std::size_t>{2, 8});
    REQUIRE(f.elements() == 16);
    for (std::size_t i = 0; i < 16; ++i) {
      CHECK(f.value(i) == values[i]);
      CHECK(std::signbit(f.value(i)) == std::signbit(values[i]));
    }
  };
  check_halves(file->load("f"));
  // The same of bytes that say nothing, and of NumPy's V1, which has a byte for each element.
  host_array b;
  b.name = "b";
  b.type = dtype::uint8;
  b.shape = {2, 4};
  b.bytes.assign(halves.begin(), halves.end());
  check_halves(reinterpreted(b, "float4_e2m1fn_x2", ""));
  CHECK(reinterpreted(b, "E8M0", "").value(1) == std::ldexp(1.0, 0x32 - 127));
  b.untyped = true;
  CHECK_THAT(refusal([&] { reinterpreted(b, "e2m1", "x: "); }),
             ContainsSubstring("x: element 0 has more than the four bits of float4_e2m1fn"));
  b.bytes = {0x0f};
  b.shape = {1};
  CHECK(reinterpreted(b, "e2m1", "").value(0) == -6);
  b.type = dtype::binary16;
  CHECK_THAT(refusal([&] { reinterpreted(b, "e8m0", "x: "); }),
             ContainsSubstring("float8_e8m0fnu is read from an array of bytes, one element in each"));
}

TEST_CASE("floats rounded to another format") {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  // bfloat16 keeps 7 bits of the fraction: 1 + 2^-8 and 1 + 3 2^-8 are ties, for the even 1 and 1 + 2^-6.
  const host_array a = of_floats({1.00390625F, 1.01171875F, 1.00390637F, -0.0F, infinity, -infinity, nan, 0x1p-149F});
  const host_array b = in_format(a, dtype::bfloat16, inexact::rounded, "x: ");
  CHECK((b.type == dtype::bfloat16 && b.shape == a.shape && b.name == "a" && b.bytes.size() == 16));
  const auto pattern = [&](std::size_t i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, b.bytes.data() + 2 * i, 2);
    return bits;
  };
  CHECK(pattern(0) == 0x3F80);
  CHECK(pattern(1) == 0x3F82);
  CHECK(pattern(2) == 0x3F81);
  CHECK(pattern(3) == 0x8000);
  CHECK(pattern(4) == 0x7F80);
  CHECK(pattern(5) == 0xFF80);
  CHECK(pattern(6) == 0x7FC0);
  CHECK(pattern(7) == 0);  // 2^-149, below half of 2^-133
  // A wider format changes no number.
  CHECK(in_format(in_format(b, dtype::binary64, inexact::refused, ""), dtype::bfloat16, inexact::refused, "").bytes ==
        b.bytes);
  CHECK(refusal([&] { in_format(a, dtype::bfloat16, inexact::refused, "x: "); }) ==
        "x: element [0] is 1.00390625, which is no number of bfloat16: leave --dtype out, or round it first");
  // The largest binary16 is 65504, and 65520 is half way to 2^16, which it would be rounded to.
  const host_array large = of_floats({65519, 65520, -1e9F});
  CHECK(refusal([&] { in_format(large, dtype::binary16, inexact::rounded, "x: "); }) ==
        "x: element [1] is 65520.0, which overflows binary16, as 1 more do: scale the array first, round it to a wider "
        "format, or give --saturate for the largest number");
  const host_array saturated = in_format(large, dtype::binary16, inexact::saturated, "");
  CHECK((saturated.value(0) == 65504 && saturated.value(1) == 65504 && saturated.value(2) == -65504));
  // No infinity in e4m3fn.
  CHECK_THAT(refusal([&] { in_format(of_floats({-infinity}), dtype::float8_e4m3fn, inexact::rounded, "x: "); }),
             ContainsSubstring("x: element [0] is -Infinity, which overflows float8_e4m3fn: "));
  CHECK_THAT(refusal([&] { in_format(a, dtype::int8, inexact::rounded, "x: "); }),
             ContainsSubstring("x: int8 is no float"));
  host_array integers = a;
  integers.type = dtype::int32;
  CHECK_THAT(refusal([&] { in_format(integers, dtype::bfloat16, inexact::rounded, "x: "); }),
             ContainsSubstring("x: its elements are int32, and only floats are rounded to bfloat16"));
}
