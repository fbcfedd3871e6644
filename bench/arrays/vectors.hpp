#pragma once

#include <cstddef>
#include <string>
#include <vector>

// What the machine can do, measured, and the exponential that the peers share with the fused kernel.
namespace bench {

/// An instruction set for which the measurements below have code, as Highway calls it.
struct instruction_set {
  std::string name;
  long long target;
};
std::vector<instruction_set> instruction_sets();
/// Whatever follows runs with this one, the fused kernel too; the machine's best without an argument.
void use(const instruction_set& one);
void use_best();
std::string best_instruction_set();

/// Fused multiply-adds on independent registers: `count` of them, in elements, rounded up. Returns how many.
template <class T>
double multiply_add(double count);

/// Reads so many elements once, as fast as it goes.
double read_all(const double* data, std::size_t count);

/// A row of scores in base two becomes 2^(score - largest), and the sum of these is returned: the exponential of the fused
/// kernel.
template <class T>
T exponentials_by_vectors(T* row, std::size_t count);
/// The same of scores in base e, with std::exp.
template <class T>
T exponentials_by_libm(T* row, std::size_t count);

}  // namespace bench
