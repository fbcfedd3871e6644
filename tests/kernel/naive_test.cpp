// Where `naive` fails, exactly, and that `stable` does not.
#include "catch.hpp"
#include "head.hpp"

using testing::one_head;

namespace {

/// The largest T whose exponential does not overflow, by bisection over MPFR: ln of the largest number.
template <class T>
T largest_argument() {
  reference::real bound = log(testing::real_of(static_cast<double>(std::numeric_limits<T>::max())));
  return static_cast<T>(std::is_same_v<T, float> ? mpfr_get_flt(bound.get(), MPFR_RNDD)
                                                 : mpfr_get_d(bound.get(), MPFR_RNDD));
}

template <class T>
void check_overflow() {
  const T top = largest_argument<T>();
  const T beyond = std::nextafter(top, std::numeric_limits<T>::infinity());
  CHECK(std::abs(static_cast<double>(top) - (std::is_same_v<T, float> ? 88.723 : 709.783)) < 0.001);

  const auto last = one_head<T>(1, {top, T(0)}, {T(3), T(5)}).naive();
  CHECK(last.weights[0] == 1);
  CHECK(last.output[0] == 3);
  const auto over = one_head<T>(1, {beyond, T(0)}, {T(3), T(5)});
  CHECK(std::isnan(over.naive().weights[0]));
  CHECK(over.naive().weights[1] == 0);
  CHECK(std::isnan(over.naive().output[0]));
  CHECK(over.stable().output[0] == 3);

  // no exponential overflows, their sum does: every weight is 0
  const T half = std::is_same_v<T, float> ? T(88.6) : T(709.5);
  const auto sum = one_head<T>(1, {half, half}, {T(3), T(3)});
  CHECK(sum.naive().weights == std::vector<T>{0, 0});
  CHECK(sum.naive().output[0] == 0);
  CHECK(sum.stable().output[0] == 3);
}

template <class T>
void check_underflow() {
  const T nothing = std::is_same_v<T, float> ? T(-103.98) : T(-745.14);
  const auto none = one_head<T>(1, {nothing, nothing}, {T(3), T(5)});
  CHECK(std::isnan(none.naive().weights[0]));
  CHECK(std::isnan(none.naive().output[0]));
  CHECK(none.stable().output[0] == 4);
  CHECK(measure(none).worst() <= 1);

  // subnormal exponentials: 2^0.5 of the smallest number is the smallest number, so that a weight of 1/(1 +
  // √2) becomes 1/2
  const T least = std::is_same_v<T, float> ? T(-103.25) : T(-744.4);
  const auto subnormal = one_head<T>(1, {least, static_cast<T>(least + T(0.34))}, {T(0), T(1)});
  CHECK(subnormal.naive().output[0] == T(0.5));
  CHECK(subnormal.stable().output[0] > T(0.58));
  CHECK(measure(subnormal).worst() <= 1);
  CHECK(measure(subnormal, testing::which::naive).worst() > 1);  // outside its range, its bound does not hold
}

}  // namespace

TEST_CASE("naive overflows where the header says") {
  check_overflow<double>();
  check_overflow<float>();
}

TEST_CASE("naive underflows where the header says") {
  check_underflow<double>();
  check_underflow<float>();
}

TEST_CASE("naive reports no overflow of scores, stable names it") {
  auto c = one_head<double>(1, {1e200}, {1});
  c.q = {1e200};
  CHECK(std::isnan(c.naive().output[0]));
  CHECK_THROWS_AS(c.stable(), attest::attention_error);
}
