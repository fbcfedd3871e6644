#pragma once

#include <attest/io/array_file.hpp>

#include <string>

// Floats of one format as floats of another.
namespace attest::io {

/// What may happen to an element that is no number of the new format.
enum class inexact {
  refused,    // input_error
  rounded,    // to nearest, ties to even; what overflows is input_error
  saturated,  // so, but what overflows is the largest number
};

/// The array with its elements in a float format: each exactly rounded, once. NaN stays NaN, infinity
/// infinity where the format has it. Arrays that are no floats, and what `how` does not allow, are
/// input_error, which begins with `where` and names the first such element.
host_array in_format(const host_array& a, dtype type, inexact how, const std::string& where);

}  // namespace attest::io
