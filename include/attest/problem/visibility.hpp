#pragma once

#include <attest/problem/options.hpp>

namespace attest {

/// Which keys each query sees, after mask, bias of -∞, causal, window and key lengths. Reads the arrays of
/// the options, which have to outlive it. An index outside the shape is not checked.
class visibility {
 public:
  /// The shape is that of checked_shape() with the same options.
  visibility(const attention_shape& shape, const attention_options& options);

  struct key_range {
    std::size_t first;
    std::size_t last;  // one beyond the end
  };
  /// The keys that causal, window and key lengths leave to query i, {0, 0} for none. They are the same for
  /// all heads.
  key_range keys(std::size_t b, std::size_t i) const;
  /// Where query i stands among the keys; negative for the first queries when Tq > Tk at the bottom-right
  /// corner.
  std::ptrdiff_t position(std::size_t b, std::size_t i) const;
  /// Whether query i of query head h sees key j.
  bool operator()(std::size_t b, std::size_t h, std::size_t i, std::size_t j) const;
  /// Whether query i of query head h sees any key.
  bool any(std::size_t b, std::size_t h, std::size_t i) const;

 private:
  std::size_t key_count(std::size_t b) const;

  std::size_t queries_;
  std::size_t keys_;
  std::vector<std::size_t> key_lengths_;
  bool causal_;
  std::optional<key_window> window_;
  std::optional<causal_corner> corner_;
  std::optional<std::size_t> past_keys_;
  std::optional<any_tensor> mask_;
  std::optional<any_tensor> bias_;
};

/// Looks at every element: Q has to be finite, the bias neither NaN nor +∞, and K and V finite in every row
/// that some query sees (rows that nobody sees may hold anything). attention_error (fault::value) names array
/// and index.
void check_values(const any_tensor& q, const any_tensor& k, const any_tensor& v,
                  const attention_options& options, const attention_shape& shape, const visibility& visible);

/// Its two halves: Q and the bias; K and V.
void check_query_values(const any_tensor& q, const attention_options& options);
void check_key_values(const any_tensor& k, const any_tensor& v, const attention_shape& shape,
                      const visibility& visible);

/// That the options say what an empty row gives, if there is one. Where a log-sum-exp is wanted, its value
/// there too. With sinks no row is empty. attention_error (fault::option) names the first empty row.
void check_empty_rows(const attention_options& options, const attention_shape& shape,
                      const visibility& visible);

}  // namespace attest
