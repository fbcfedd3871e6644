#pragma once

namespace attest {

/// The direction in which a number is rounded to a format.
///
/// to_odd: a number that is not representable becomes its representable neighbour of odd significand (S.
/// Boldo, G. Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to
/// odd", IEEE Trans. Computers 57, 2008); it never overflows and never underflows to zero.
enum class rounding { nearest_even, toward_zero, up, down, to_odd };

}  // namespace attest
