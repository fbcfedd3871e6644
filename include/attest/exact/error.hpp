#pragma once

#include <stdexcept>

// What can go wrong in exact arithmetic. None of these functions is constexpr, and that is the point: during
// constant evaluation the call is itself the compile error, and the compiler quotes the function's name
// ("call to non-'constexpr' function 'void attest::error::zero_denominator()'"). At run time it throws.
namespace attest::error {

[[noreturn]] inline void zero_denominator() { throw std::domain_error("the denominator is zero"); }
[[noreturn]] inline void integer_overflow() {
  throw std::overflow_error("the value does not fit the integer type; use a wider one");
}
[[noreturn]] inline void shape_mismatch() { throw std::domain_error("the shapes do not fit"); }
[[noreturn]] inline void index_out_of_range() { throw std::out_of_range("the index is outside the array"); }
[[noreturn]] inline void not_finite() { throw std::domain_error("NaN and infinity are not exact numbers"); }
[[noreturn]] inline void not_a_number() { throw std::domain_error("the text is not a decimal number"); }
[[noreturn]] inline void quotient_is_not_dyadic() {
  throw std::domain_error("the quotient is no multiple of a power of two; use rationals");
}
[[noreturn]] inline void empty_row() {
  throw std::domain_error("a row sees no key: the softmax of an empty row is not defined");
}
[[noreturn]] inline void different_roots() {
  throw std::domain_error("the square roots belong to different fields and cannot be combined");
}
[[noreturn]] inline void precision_exhausted() {
  throw std::overflow_error("the working precision does not fit the storage; use a wider one");
}
[[noreturn]] inline void interval_contains_zero() {
  throw std::domain_error("division by an interval that contains zero");
}
[[noreturn]] inline void logarithm_of_non_positive() {
  throw std::domain_error("the logarithm needs a positive argument");
}

}  // namespace attest::error
