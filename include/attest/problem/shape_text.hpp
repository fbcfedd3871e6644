#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace attest {

/// How messages write a shape: "[3, 2]"; "[]" for no axes.
std::string shape_text(std::span<const std::size_t> shape);

/// The index of element `at` of an array with this shape, row by row and counted from 0: "[2, 1]". No extent
/// may be 0, and `at` lies in the array.
std::string index_text(std::span<const std::size_t> shape, std::size_t at);

}  // namespace attest
