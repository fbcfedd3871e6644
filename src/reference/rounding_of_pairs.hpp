#pragma once

#include <cstddef>

// From pairs of doubles with an error bound to binary64, with a test whether the rounding is certain.
namespace attest::rounding_of_pairs {

/// For every i < count with x any real number in [high + low - error, high + low + error]: rounded[i] is x rounded to
/// binary64, to nearest even, where undecided[i] is 0. Where it is 1, rounded[i] is some double or NaN. high and low need not
/// be normalised. Vectorised, no alignment asked for; rounded may be high. Returns how many are undecided.
/// The caller's environment as in double_double_tier.hpp.
///
/// Never decided: what is not finite, error included; magnitudes of 2^1022 and above; magnitudes below 2^-960, but for
/// high + low = 0 with error = 0, which gives +0. A tie is never decided; a representable value is where error is 0, or where it
/// lies in high with an error so small that no tie is near.
///
/// Proof. h + l = high + low exactly (TwoSum), e' = error (1 + 2^-50) + 2^-51 |l| + 2^-1020. The sums l + e' and l - e' are rounded by
/// at most 2^-53 (|l| + e') + 2^-1075, and e' itself, whose terms are rounded and added twice, is off by at most 3 · 2^-53 e' + 2^-1074:
/// together less than what e' exceeds error by. So u = fl(l + e') >= l + error, and d = fl(l - e') <= l - error. Rounding is
/// monotonic: fl(h + d) <= x rounded <= fl(h + u), and where the two are the same number, that is x rounded. This holds at
/// powers of two, for either sign and for subnormal numbers alike; the limits on magnitudes are there for e' (2^-1020 is small
/// against half a last place of 2^-960) and so that nothing overflows. A tie has fl(h + d) != fl(h + u), because d < l < u.
std::size_t to_binary64(std::size_t count, const double* high, const double* low, const double* error, double* rounded,
                        unsigned char* undecided);

}  // namespace attest::rounding_of_pairs
