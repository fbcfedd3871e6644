#pragma once

#include <attest/io/array_file.hpp>
#include <attest/io/json.hpp>
#include <attest/problem/options.hpp>
#include <attest/rounding/direction.hpp>

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Attention whose inputs are files of arrays: which array is which, what its elements stand for, and the
// options.
namespace attest::io {

/// What is asked of the results, beyond attention_options.
struct output_options {
  dtype type = dtype::binary64;  // of output, lse and weights
  rounding direction = rounding::nearest_even;
  bool saturate = false;
  bool low_word = false;
  bool weights = false;
  bool certificates = false;
  std::optional<unsigned> max_bits = {};
};

/// Reads options from a JSON object, whose keys are the names of attention_options and output_options
/// (docs/formats.md lists them). `mask` and `bias` are arrays and never stand here. An unknown key and a
/// value that does not fit are input_error, which begins with `where`.
void read_options(const json::value& object, attention_options& attention, output_options& output,
                  const std::string& where);

/// Whether a file of results calls an array like that; and whether the array only says more of another:
/// output_low, weights_certificates.
bool is_result_name(std::string_view name);
bool is_companion_name(std::string_view name);

/// The keys that read_options() knows.
std::span<const std::string_view> option_names();
/// How the command line gives the option of this key: "--past-keys".
std::string option_on_command_line(std::string_view key);

/// The options as such an object again, on one line: the same options give the same text.
std::string options_text(const attention_options& attention, const output_options& output);

/// Which arrays to take and how to read them.
struct array_request {
  std::vector<std::string> files;             // a path, or NAME=path for a file of one array
  std::map<std::string, std::string> names;   // Q -> model.layers.0.q
  std::map<std::string, std::string> dtypes;  // K -> bfloat16
  std::map<std::string, std::vector<std::size_t>>
      blocks;  // K -> 1,1,1,32: the extents of a block that shares a scale
  std::set<std::string> ignored;  // arrays, as the files call them, that are as good as not there
};

/// The inputs of attention. Views of what this owns.
struct attention_arrays {
  std::deque<host_array> owned;
  /// Q, K and V; or X, Y (null without), WQ, WK and WV, by those names.
  std::map<std::string, const host_array*> inputs;
  attention_options options;  // mask, bias, sinks, alibi_slopes and key_lengths, where the files have them
  json::value case_options;   // an object: the options that the files themselves give (a JSON case: scale)
  /// Arrays of the files that nothing is made of and that are no results of attention either.
  std::vector<std::string> unused;
  std::string provenance;     // a JSON list of the files: their names without folders, SHA-256 and arrays

  const host_array* find(const std::string& name) const;
  bool projected() const { return find("X") != nullptr; }
};

/// Opens the files, finds the arrays by name (in any case, or as `names` says), decodes what is quantised and
/// loads nothing else. Every element is taken exactly; what would have to be rounded is input_error.
///
/// What was given and not taken does not pass in silence: a file of which nothing is taken, an array with the
/// name of an option, one whose name is much like that of an array that is not there (attn_mask, k_scal), and
/// a name, dtype or block of an array that nothing is made of are input_error; other arrays are in `unused`.
///
/// An array A of Q, K, V, X, Y, WQ, WK, WV may have factors A_scale (or A_descale) and zero points A_zero:
/// its elements are then scale·(element - zero), which has to be a binary64.
attention_arrays read_attention_arrays(const array_request& request);

/// scale·(q - zero) for each element; shapes as docs/formats.md has them ("Quantised arrays"). `zero` may be
/// null.
host_array dequantised(const host_array& codes, const host_array& scale, const host_array* zero,
                       const std::vector<std::size_t>& block, const std::string& where);

/// X·W, exactly: [T, C] or [B, T, C] times [C, d]. Nothing where an element is no binary64.
std::optional<host_array> exact_product(const host_array& x, const host_array& w, const std::string& name);

}  // namespace attest::io
