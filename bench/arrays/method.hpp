#pragma once

#include "problem.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace bench {

/// One way to an answer. Without `run` it is not here, and `missing` says why.
struct method {
  std::string name;
  std::function<void()> run = {};
  /// Where run() leaves the answer, and what it has to be.
  attest::any_tensor output = {};
  bool certified = false;
  const problem* of = nullptr;
  std::string missing = {};
};

using methods = std::vector<method>;

// This project's.
void add_fused(methods& all, const problem& p, unsigned threads = 1, const std::string& name = "fused");
void add_stable(methods& all, const problem& p);
void add_naive(methods& all, const problem& p);
/// Inputs and output in the problem's dtype.
void add_certified(methods& all, const problem& p, unsigned threads = 1, const std::string& name = {});

// Kernels of others and what one would write, in binary64 or binary32, one head, no options, one thread. Scores are kept as
// a matrix of `rows` rows.
void add_loops(methods& all, const problem& p);
void add_blas(methods& all, const problem& p);
void add_eigen(methods& all, const problem& p);
void add_onednn(methods& all, const problem& p);

// Many digits: 113 bits and more. The answer is rounded to double at the end.
void add_mpfr(methods& all, const problem& p);
void add_arb(methods& all, const problem& p);
void add_float128(methods& all, const problem& p);
void add_boost_quad(methods& all, const problem& p);

/// "OpenBLAS 0.3.21", ...: what was found when this was built, and how the files of peers were compiled.
std::vector<std::string> versions_of_peers();
/// One thread for the libraries that start several on their own.
void one_thread_for_peers();

}  // namespace bench
