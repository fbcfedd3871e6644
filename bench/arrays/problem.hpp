#pragma once

#include <attest/problem/options.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

// What is asked of the methods, and how good their answers are.
namespace bench {

/// Memory for an array, and how to read it.
class array {
 public:
  array() = default;
  array(attest::dtype type, const attest::layout& where);
  /// The values, each rounded to the dtype once (bfloat16, binary16, binary32, binary64).
  array(attest::dtype type, const attest::layout& where, const std::vector<double>& values);

  attest::any_tensor view() const { return {memory_.get(), type_, where_}; }
  attest::any_result result() const { return {memory_.get(), type_, where_}; }
  template <class T>
  T* data() const {
    return reinterpret_cast<T*>(memory_.get());
  }
  std::size_t size() const;
  /// In the order of memory, as doubles.
  std::vector<double> values() const;

 private:
  struct release {
    void operator()(unsigned char* p) const;
  };
  std::unique_ptr<unsigned char[], release> memory_;
  attest::dtype type_ = attest::dtype::binary64;
  attest::layout where_;
};

enum class inputs { normal, zero_padded, constant_values, integers, peaked };

/// Attention over arrays [1, H, T, d] in one dtype; with the default scale.
struct problem {
  problem(attest::dtype type, std::size_t heads, std::size_t queries, std::size_t keys, std::size_t width,
          inputs kind = inputs::normal);

  attest::dtype type;
  std::size_t heads, queries, keys, width;
  attest::attention_options options;
  array q, k, v;

  std::size_t outputs() const { return heads * queries * width; }
  /// Q K^T and P V, without what a mask hides.
  double multiply_adds() const;

  /// The certified answer: the correctly rounded double and the rest of the exact value (to a few digits), calculated when
  /// first asked for.
  struct exact_output {
    std::vector<double> high;
    std::vector<float> low;
    double tolerance;  // stable_bound() of its worst row: what a kernel of this precision may be off by
  };
  const exact_output& exact() const;

 private:
  mutable std::unique_ptr<exact_output> exact_;
};

/// How good an answer is.
struct accuracy {
  std::string wrong;               // what is wrong with it, or nothing
  double largest_ulp_error = 0;    // against the exact value, in units of the last place of the dtype
  double correctly_rounded = 0;    // share of the elements
};

/// Answers of a kernel: within the proved error bound of `stable`. Certified answers: the correctly rounded number of the
/// dtype, every one of them.
accuracy accuracy_of(const problem& p, const attest::any_tensor& output, bool certified);

/// Makes the first element of a right answer wrong, by as little as accuracy_of() must see: a certified one's last bit, a
/// kernel's by three times what it may be off by.
void spoil(const problem& p, const attest::any_tensor& output, bool certified);

}  // namespace bench
