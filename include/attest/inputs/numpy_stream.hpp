#pragma once

#include <attest/inputs/numpy_random.hpp>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

// NumPy's seeded stream at run time, in two readings: the one that is the same everywhere (numpy_random.hpp),
// and the one that NumPy computes with the logarithm of the C library. The two differ in a few values of ten
// thousand, by an ulp or two.
namespace attest {

/// Whose logarithm the polar method uses.
enum class randn_logarithm { correctly_rounded, c_library };

/// std::log of this C library is not the one of the recorded streams; what() names the library and a value
/// that differs.
class different_c_library : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// np.random.seed(seed); np.random.randn(count).
///
/// With randn_logarithm::c_library the values are those of NumPy on this machine, computed in doubles with
/// std::log; they are given only if std::log passes verify_logarithm(), else different_c_library is thrown. A
/// seed outside of 0 to 2^32 - 1 is error::seed_out_of_range().
std::vector<double> numpy_stream(long long seed, std::size_t count, randn_logarithm logarithm);

/// Computes the first 2000 values of seeds 42, 0 and 1 in doubles with this logarithm, and compares every bit
/// of them with what NumPy 1.24 gave over glibc 2.36 on x86-64; throws different_c_library if one differs.
/// `name` is whose logarithm it is.
void verify_logarithm(double (*logarithm)(double), const std::string& name);

/// The C library of this program and its version: "glibc 2.36".
std::string c_library_name();

}  // namespace attest
