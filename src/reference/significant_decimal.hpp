#pragma once

#include <attest/enclosure/interval.hpp>
#include <attest/reference/exact_values.hpp>

#include <functional>
#include <string>

namespace attest {

/// The rational number to `digits` significant digits, ties to even; "0" for zero.
std::string significant_decimal(const exact_scalar& x, unsigned digits);

/// An irrational number, as something that can be enclosed and compared.
struct enclosed_number {
  std::function<interval<growing>(unsigned bits)> enclose;
  std::function<int(const unbounded_rational& y)> side_of;  // the sign of x - y
};

/// The number to `digits` significant digits. Closer to zero than 2^-2^40 or so: "<1e-330985980541", a power of ten that is
/// above it, or ">-1e-330985980541".
std::string significant_decimal(const enclosed_number& x, unsigned digits);

}  // namespace attest
