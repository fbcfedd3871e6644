#pragma once

#include <attest/problem/tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Files of arrays: .npy, .npz, .safetensors, raw binary with a JSON sidecar, and JSON. docs/formats.md
// describes each as it is read here. Everything that is wrong with one is input_error, one line that names
// the file and the array.
namespace attest::io {

enum class array_format { npy, npz, safetensors, raw, json, cpp_header };

/// The format that the extension stands for: .npy, .npz, .safetensors, .bin or .raw, .json, and .hpp or .h,
/// in any case.
std::optional<array_format> format_of_path(std::string_view path);

/// What a file says of an array.
struct array_info {
  std::string name;
  dtype type = dtype::binary64;
  std::vector<std::size_t> shape;  // of any rank; none: a number
  /// Whether the elements are bits without a type: NumPy's V1 and V2, which is how it saves types that it
  /// does not know.
  bool untyped = false;
  /// Whether load() can read it. Files may also hold texts, dates, records or numbers of other formats;
  /// nothing else of such an array is known than its name.
  bool readable = true;
};

/// An array in memory: the elements row by row, in this machine's byte order.
struct host_array : array_info {
  std::vector<unsigned char> bytes;

  std::size_t elements() const { return bytes.size() / size_of(type); }
  /// Element `at` of the flat array as a double; exact, but for integers past 2^53.
  double value(std::size_t at) const;
};

/// The array as attention sees it, with its 2, 3 or 4 axes; any other number is attention_error.
any_tensor view_of(const host_array& a);

/// An open file of arrays. Opening reads what says where the arrays are, and load() one array; so nothing is
/// read that is not asked for.
class array_file {
 public:
  array_file() = default;
  array_file(const array_file&) = delete;
  array_file& operator=(const array_file&) = delete;
  virtual ~array_file() = default;

  /// How messages call the file.
  const std::string& name() const { return name_; }
  const std::vector<array_info>& arrays() const { return arrays_; }
  const array_info* find(std::string_view array) const;
  /// The JSON text of what attest wrote beside the arrays (docs/formats.md, "What an output says of itself");
  /// or empty.
  const std::string& provenance() const { return provenance_; }
  /// Options that the file gives for its arrays, as a JSON object ("scale" of a JSON case); or empty.
  const std::string& case_options() const { return case_options_; }
  /// Keys of a JSON case that nothing knows: misspelt ones, most likely.
  const std::vector<std::string>& unknown_keys() const { return unknown_keys_; }

  /// An array that needs more memory than there is is input_error before anything is allocated; memory grows
  /// with the bytes that the file really has.
  host_array load(std::string_view array) const;

 protected:
  virtual host_array load_at(std::size_t index) const = 0;

  std::string name_;
  std::vector<array_info> arrays_;
  std::string provenance_;
  std::string case_options_;
  std::vector<std::string> unknown_keys_;

 private:
  friend std::unique_ptr<array_file> with_case_options(std::unique_ptr<array_file> file);
};

/// Opens the file by its extension. "-" is refused, since arrays are read where they lie.
std::unique_ptr<array_file> open_arrays(const std::string& path);
/// The same of bytes in memory; `sidecar` is the JSON text beside a raw file or an .npy.
std::unique_ptr<array_file> open_arrays(std::string bytes, array_format format, const std::string& name,
                                        const std::optional<std::string>& sidecar = {});

/// The dtype of a name: attest's own, and those of NumPy, PyTorch and safetensors ("float32", "F32", "bf16",
/// "F8_E4M3").
std::optional<dtype> dtype_named(std::string_view name);

/// The names for people: floats, integers, and other names of the same.
extern const char* const float_dtype_names;
extern const char* const integer_dtype_names;

/// The same bits as elements of another dtype of the same size: unsigned or untyped integers that hold
/// floats. "int4", "uint4" and "float4_e2m1fn" take each byte for two elements, the low half first, so that
/// the last extent doubles; but an untyped byte for one element, as the NumPy types of that name have it. The
/// result is int8, uint8 or float8_e4m3fn. "float8_e8m0fnu", an exponent alone, becomes binary32. (Both: Open
/// Compute Project, Microscaling Formats Specification 1.0, section 5.) Anything else is input_error, which
/// begins with `where`.
host_array reinterpreted(host_array a, std::string_view dtype_name, const std::string& where);

/// What is wrong with untyped elements, and how to say their type: --dtype NAME=...
std::string untyped_text(const array_info& a, const std::string& name);

/// The elements as doubles, exactly; an integer that no double is, is input_error.
std::vector<double> exact_doubles(const host_array& a, const std::string& where);

/// That the system has so many bytes to give; input_error, which begins with `where`, otherwise.
void check_memory(std::uint64_t bytes, const std::string& where);

/// What a file to be written holds.
struct arrays_to_write {
  std::vector<host_array> arrays;
  std::string provenance;  // a JSON object, or empty
  std::string case_options = {};  // as array_file has them
};

/// Writes the arrays in the format of the path's extension. The same arrays give the same bytes everywhere.
/// An .npy holds one array. What .npy and raw files cannot say is in a sidecar, the path with ".json" added.
void write_arrays(const std::string& path, const arrays_to_write& content);

/// The bytes of that file and, where there is one, of the sidecar.
struct encoded_arrays {
  std::string bytes;
  std::optional<std::string> sidecar;
};
encoded_arrays encode(const arrays_to_write& content, array_format format, const std::string& name);

}  // namespace attest::io
