#pragma once

#include <attest/problem/tensor.hpp>

#include <cstddef>

namespace attest {

/// The elements first .. first + count of a row as doubles: what any_tensor gives one by one, faster.
void read_row(const any_tensor& array, std::size_t b, std::size_t h, std::size_t t, std::size_t first,
              std::size_t count, double* out);

/// The rows first .. first + count of a head, one after the other.
void read_rows(const any_tensor& array, std::size_t b, std::size_t h, std::size_t first, std::size_t count,
               double* out);

}  // namespace attest
