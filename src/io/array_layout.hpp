#pragma once

#include "byte_source.hpp"

#include <attest/io/array_file.hpp>
#include <attest/io/input_error.hpp>
#include <attest/io/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

// What the readers of arrays have in common.
namespace attest::io {

/// The axes that an array in a file may have (as in NumPy).
inline constexpr std::size_t most_axes = 64;

/// "file: array NAME: ".
std::string array_prefix(const std::string& file, const std::string& array);

/// How many elements a shape has; input_error, which begins with `where`, for one that does not fit into
/// memory whatever the machine. (A shape with a zero has none, whatever its other extents are.)
std::uint64_t checked_elements(const std::vector<std::size_t>& shape, std::size_t element_bytes,
                               const std::string& where);

/// A size as JSON has it, at most PTRDIFF_MAX; nothing for any other value.
std::optional<std::uint64_t> size_in_json(const json::value& v);

/// Reads the elements as they follow each other in a file, and puts them row by row in this machine's byte
/// order. `fortran_order`: the first index runs fastest in the file. `big_endian`: their bytes' order there.
host_array read_elements(const array_info& info, bool fortran_order, bool big_endian, const next_bytes& next,
                         const std::string& where);

std::unique_ptr<array_file> open_npy(std::shared_ptr<const byte_source> source, const std::string& name,
                                     const std::string& array_name,
                                     const std::optional<std::string>& sidecar);
std::unique_ptr<array_file> open_npz(std::shared_ptr<const byte_source> source, const std::string& name);
std::unique_ptr<array_file> open_safetensors(std::shared_ptr<const byte_source> source,
                                             const std::string& name);
std::unique_ptr<array_file> open_raw(std::shared_ptr<const byte_source> source, const std::string& name,
                                     const std::optional<std::string>& sidecar);
std::unique_ptr<array_file> open_json(std::string_view text, const std::string& name);

/// What read_npy_header() throws of elements that are no numbers: other arrays of the file can be read all
/// the same.
class unread_type : public input_error {
 public:
  using input_error::input_error;
};

/// The header of an .npy, and the bytes that it takes. Nothing of the elements is read.
struct npy_header {
  array_info info;
  bool fortran_order = false;
  bool big_endian = false;
  std::uint64_t size = 0;  // of the header, in bytes
};
npy_header read_npy_header(const next_bytes& next, const std::string& array_name, const std::string& where);

std::string npy_header_bytes(const host_array& a);
encoded_arrays encode_npz(const arrays_to_write& content, const std::string& name);
encoded_arrays encode_safetensors(const arrays_to_write& content);
encoded_arrays encode_raw(const arrays_to_write& content);
encoded_arrays encode_npy(const arrays_to_write& content, const std::string& name);
encoded_arrays encode_json(const arrays_to_write& content, const std::string& name);
encoded_arrays encode_cpp_header(const arrays_to_write& content, const std::string& name);

/// The elements in little-endian order.
std::string little_endian_bytes(const host_array& a);

/// The array as a dtype's name takes it, without elements.
array_info reinterpreted_info(const array_info& info, const std::string& dtype_name,
                              const std::string& where);

/// Whether an .npy says what these elements are.
bool is_numpy_type(dtype type);

/// The member of npz files that holds the provenance, and the dtypes that .npy has no name for.
inline constexpr std::string_view provenance_member = "attest.json";

/// An element type that is read as another, as no dtype is it.
struct read_as {
  std::string_view name;
  unsigned bits;  // 4: two elements in each byte, the low half first
  dtype type;
};
/// Null: the name is none of them. Small letters.
const read_as* read_as_another(std::string_view name);

}  // namespace attest::io
