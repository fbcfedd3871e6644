#include <attest/check/ulp.hpp>

#include <cmath>
#include <limits>

namespace attest {

namespace {

// The exponent of ulp(x) for |x| in the binade of this finite number.
int unit_exponent(double magnitude, const format& f) {
  if (magnitude == 0) return f.min_unit();
  const int exponent = std::ilogb(magnitude);
  return (exponent < f.min_exponent ? f.min_exponent : exponent) - f.fraction_bits();
}

}  // namespace

double ulp_error(double candidate, double nearest, double offset, const format& f) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (std::isnan(candidate) || std::isnan(nearest)) return std::numeric_limits<double>::quiet_NaN();
  if (std::isinf(nearest)) return candidate == nearest ? 0 : infinity;
  if (std::isinf(candidate)) return infinity;
  const int unit = unit_exponent(std::fabs(nearest), f);
  // Scaling is exact but for candidates that become subnormal, which are no ulp's 2^-1000 then.
  const double error = std::fabs(std::ldexp(candidate, -unit) - std::ldexp(nearest, -unit) - offset);
  const bool towards_zero = nearest > 0 ? offset < 0 : offset > 0;
  const bool at_lower_end = nearest != 0 && std::fabs(nearest) == std::ldexp(1.0, unit + f.fraction_bits());
  const bool halved = towards_zero && at_lower_end && unit > f.min_unit();
  return halved ? 2 * error : error;
}

}  // namespace attest
