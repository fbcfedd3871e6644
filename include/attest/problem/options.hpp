#pragma once

#include <attest/problem/tensor.hpp>

#include <optional>
#include <vector>

namespace attest {

/// Where the queries stand among the keys when there are not as many of one as of the other: the first query
/// at the first key (top_left), or the last query at the last key (bottom_right).
enum class causal_corner { top_left, bottom_right };

/// What a row gives that sees no key and has no sink: zeros, NaNs, or an error. The row of weights likewise.
enum class empty_row_policy { zero, nan, error };

/// What attention gives: the output [B, Hq, Tq, d_v], weights [B, Hq, Tq, Tk], log-sum-exps [B, Hq, Tq, 1].
enum class reference_array : unsigned char { output, weights, log_sum_exp };

enum class log_sum_exp_base { e, two };
enum class empty_log_sum_exp { minus_infinity, plus_infinity };

/// The log-sum-exp of each row, log Σ_j e^{s_j} over the keys that it sees and its sink.
struct log_sum_exp_form {
  log_sum_exp_base base;
  std::optional<empty_log_sum_exp> empty = {};  // has to be said where a row is empty
};

/// A query at position p sees the keys p - left to p + right, both included: left + 1 keys to the left, its
/// own among them. An absent side has no limit.
struct key_window {
  std::optional<std::size_t> left = {};
  std::optional<std::size_t> right = {};
};

/// Everything that attention is asked for beyond Q, K and V. An option that is absent is not applied; where
/// projects disagree about a meaning there is no default, and the caller has to say.
///
/// The score of query i and key j goes through these steps, in this order:
///
///     s = scale · (q_i · k_j)             scale
///     s = softcap · tanh(s / softcap)     softcap
///     s = s + bias_ij - slope · |p - j|   bias and ALiBi, where query i stands at position p
///     s = -∞                              where the key is hidden: mask, bias of -∞, causal, window,
///                                         key lengths
///     a sink as one more score            neither scaled nor capped
///     softmax over the keys and the sink; the sink's value row is 0
///
/// Query head h reads the key/value head h / (Hq / Hkv).
///
/// Positions: keys stand at 0, 1, ..., and Tk counts past keys. Query i stands at past_keys + i; with a
/// corner instead at i (top_left) or Tk - Tq + i (bottom_right). Causal, window and ALiBi need positions;
/// where Tq != Tk, either past_keys or a corner has to be said. Saying both is fine when they agree.
struct attention_options {
  /// That float, exactly; absent: exactly 1/√d_k.
  std::optional<double> scale;
  /// Positive.
  std::optional<double> softcap;
  /// [B, Hq, Tq, Tk], float; extents of 1 repeat. -∞ hides a key; +∞ and NaN are errors.
  std::optional<any_tensor> bias;
  /// One for each query head, the floats as they are.
  std::vector<double> alibi_slopes;
  /// [B, Hq, Tq, Tk], boolean; extents of 1 repeat. True: the query sees the key.
  std::optional<any_tensor> mask;
  /// A query sees no key beyond its own position.
  bool causal = false;
  std::optional<key_window> window;
  std::optional<causal_corner> corner;
  std::optional<std::size_t> past_keys;
  /// One for each batch element: K and V end there, and Tk is this length.
  std::vector<std::size_t> key_lengths;
  /// One for each query head.
  std::vector<double> sinks;
  std::optional<log_sum_exp_form> log_sum_exp;
  /// Has to be said where a row is empty.
  std::optional<empty_row_policy> empty_row;
};

/// Names of what a kernel may take or not, for supports_only() and its messages.
enum class option {
  scale,
  softcap,
  bias,
  alibi_slopes,
  mask,
  causal,
  window,
  corner,
  past_keys,
  key_lengths,
  sinks,
  log_sum_exp,
  empty_row,
  grouped_heads
};

/// Its name as above, "grouped heads" in two words.
std::string to_string(option o);

/// The extents of a call whose arrays fit each other.
struct attention_shape {
  std::size_t batch;            // B
  std::size_t query_heads;      // Hq
  std::size_t key_value_heads;  // Hkv, a divisor of Hq
  std::size_t queries;          // Tq, may be 0
  std::size_t keys;             // Tk, may be 0
  std::size_t key_width;        // d_k
  std::size_t value_width;      // d_v

  /// The key/value head that a query head reads.
  std::size_t key_value_head(std::size_t query_head) const {
    return query_head / (query_heads / key_value_heads);
  }
};

/// The shape of Q, K, V and the options, after everything that can be checked without reading an element of
/// Q, K or V: shapes, element types of mask and bias, domains of numbers, options that contradict each other
/// or miss a corner. What does not fit is attention_error with a message that names the array, the shapes and
/// the remedy.
attention_shape checked_shape(const any_tensor& q, const any_tensor& k, const any_tensor& v,
                              const attention_options& options);

/// Refuses, with the kernel's name, the first option that is set and not in the list: attention_error
/// (fault::unsupported). (The log-sum-exp counts as set when its form is given, grouped heads when Hq !=
/// Hkv.)
void supports_only(const char* kernel, std::initializer_list<option> taken, const attention_shape& shape,
                   const attention_options& options);

/// That an array to write to has this shape and memory, and that no stride along several elements is 0;
/// attention_error otherwise. (Other strides that make elements overlap are not found.)
void check_result(const char* name, const layout& array, const void* data,
                  const std::array<std::size_t, 4>& shape);

/// That log-sum-exps are asked for by their form in the options and an array to write them to, or by neither;
/// attention_error otherwise.
void check_log_sum_exp(const attention_options& options, bool has_array);

}  // namespace attest
