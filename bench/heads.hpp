#pragma once

#include <attest/reference/attention.hpp>

#include <cstddef>
#include <string>
#include <vector>

// What is timed: heads of small integers, so that every method starts from the same exact numbers.
namespace bench {

/// One head of self-attention with scale 1/√d_k, and the certified answer to it.
struct head {
  std::string name;
  std::size_t tokens;       // T
  std::size_t channels;     // C
  std::size_t key_width;    // d_k
  std::size_t value_width;  // d_v
  std::vector<int> x;       // [T, C]
  std::vector<int> wq;      // [C, d_k]
  std::vector<int> wk;      // [C, d_k]
  std::vector<int> wv;      // [C, d_v]

  // By plain integer loops, which cannot overflow here: what the exact arithmetic must give, and what the kernels read.
  std::vector<int> q;     // [T, d_k]
  std::vector<int> k;     // [T, d_k]
  std::vector<int> v;     // [T, d_v]
  std::vector<int> dots;  // [T, T]

  // The correctly rounded binary64s.
  std::vector<double> weights;  // [T, T]
  std::vector<double> output;   // [T, d_v]

  /// How many numbers a whole answer has: weights and outputs.
  std::size_t numbers() const { return tokens * tokens + tokens * value_width; }
};

/// Example 15.1 of the chapter, T = 3, C = d_k = d_v = 2. Its answer is the one proved in
/// proofs/chapter15/15_6_binary64.cpp.
head chapter();

/// T = 16, C = d_k = d_v = 8, integers from a fixed generator. Its answer is that of attest::attention, which the
/// methods' checks hold against cpp_bin_float, an independent road to the same bits.
head sixteen_tokens();

/// The head as a problem of the reference library.
attest::problem problem_of(const head& h);

}  // namespace bench
