// The kernels calculate the same whatever rounding mode and flush-to-zero the caller has, and give both back.
#include "catch.hpp"
#include "head.hpp"

#include <attest/kernel/float_environment.hpp>

#include <cfenv>
#include <cstring>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace {

#if defined(__aarch64__)
constexpr unsigned long flush_to_zero = 1ul << 24;

unsigned long control() {
  unsigned long word = 0;
  __asm__ volatile("mrs %0, fpcr" : "=r"(word));
  return word;
}
void set_control(unsigned long word) { __asm__ volatile("msr fpcr, %0" : : "r"(word)); }
#endif

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

/// Inputs on which rounding and subnormal numbers show: subnormal values, and weights of all sizes.
template <class T>
testing::call<T> sensitive_call() {
  testing::random_source source(3);
  testing::call<T> c;
  c.queries = c.keys = 6;
  c.key_width = 4;
  c.value_width = 3;
  testing::fill(c, source, -2, 1);
  for (std::size_t n = 0; n < c.v.size(); ++n)
    c.v[n] = n % 3 == 0 ? static_cast<T>(static_cast<double>(n) * 7 *
                                         static_cast<double>(std::numeric_limits<T>::denorm_min()))
                        : c.v[n];
  c.options.log_sum_exp = {attest::log_sum_exp_base::e, {}};
  return c;
}

template <class T>
void check_mode() {
  const auto c = sensitive_call<T>();
  auto plain = c;
  plain.options = {};
  const auto expected = c.stable();
  const auto expected_naive = plain.naive();
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST}) {
    std::fesetround(mode);
#if defined(__SSE__)
    _mm_setcsr(_mm_getcsr() | 0x8040);  // flush to zero, denormals are zero
    const unsigned before = _mm_getcsr();
#elif defined(__aarch64__)
    set_control(control() | flush_to_zero);
    const unsigned long before = control();
#endif
    const auto stable = c.stable();
    const auto naive = plain.naive();
#if defined(__SSE__)
    const unsigned after = _mm_getcsr();
    _mm_setcsr(0x1f80);
#elif defined(__aarch64__)
    const unsigned long after = control();
    set_control(after & ~flush_to_zero);
#endif
    const int mode_after = std::fegetround();
    std::fesetround(FE_TONEAREST);
#if defined(__SSE__)
    CHECK(before == after);
    static_cast<void>(mode_after);
#else
#if defined(__aarch64__)
    CHECK(before == after);
#endif
    CHECK(mode_after == mode);
#endif
    CHECK(same_bits(stable.output, expected.output));
    CHECK(same_bits(stable.weights, expected.weights));
    CHECK(same_bits(stable.log_sum_exp, expected.log_sum_exp));
    CHECK(same_bits(naive.output, expected_naive.output));
  }
  bool some_subnormal = false;
  for (const T x : expected.output) some_subnormal = some_subnormal || std::fpclassify(x) == FP_SUBNORMAL;
  CHECK(some_subnormal);
}

}  // namespace

TEST_CASE("the caller's rounding mode and flush-to-zero change nothing, and come back") {
  check_mode<double>();
  check_mode<float>();
}

TEST_CASE("the environment comes back after an error as well, with its flags") {
  std::fesetround(FE_UPWARD);
  std::feclearexcept(FE_ALL_EXCEPT);
  auto c = testing::one_head<double>(1, {1e200}, {1});
  c.q = {1e200};
  bool thrown = false;
  try {
    c.stable();
  } catch (const attest::attention_error&) {
    thrown = true;
  }
  const int mode = std::fegetround();
  const int flags = std::fetestexcept(FE_OVERFLOW | FE_INVALID | FE_DIVBYZERO);
  std::fesetround(FE_TONEAREST);
  CHECK(thrown);
  CHECK(mode == FE_UPWARD);
  CHECK(flags == 0);
}

TEST_CASE("an environment that differs in nothing or in one unit only comes back as it was") {
  const auto c = sensitive_call<double>();
  const auto expected = c.stable();
  std::feclearexcept(FE_ALL_EXCEPT);
  CHECK(same_bits(c.stable().output, expected.output));  // rounds and underflows
  CHECK(std::fetestexcept(FE_ALL_EXCEPT) == 0);
  std::feraiseexcept(FE_DIVBYZERO);
  CHECK(same_bits(c.stable().output, expected.output));
  CHECK(std::fetestexcept(FE_ALL_EXCEPT) == FE_DIVBYZERO);
  std::feclearexcept(FE_ALL_EXCEPT);

  volatile long double three = 3;
  {
    const attest::kernel::float_environment environment;
    three = 1 / three;  // inexact, on x86 in the other unit
    CHECK(std::fetestexcept(FE_ALL_EXCEPT) != 0);
    std::fesetround(FE_DOWNWARD);
  }
  CHECK(std::fetestexcept(FE_ALL_EXCEPT) == 0);
  CHECK(std::fegetround() == FE_TONEAREST);

#if defined(__SSE__)
  _mm_setcsr(0x1f80 | 0x8040 | 0x6000 | 0x0001);  // flushes, rounds to zero, has met an invalid operation
  const auto flushed = c.stable();
  const unsigned after = _mm_getcsr();
  _mm_setcsr(0x1f80);
  CHECK(after == (0x1f80 | 0x8040 | 0x6000 | 0x0001));
  CHECK(same_bits(flushed.output, expected.output));
#endif
#if defined(__x86_64__) && defined(__GNUC__)
  const unsigned short down = 0x077f, usual = 0x037f;
  __asm__ volatile("fldcw %0" : : "m"(down));
  std::feraiseexcept(FE_INVALID);
  static_cast<void>(c.stable());
  unsigned short control = 0;
  __asm__ volatile("fnstcw %0" : "=m"(control));
  __asm__ volatile("fldcw %0" : : "m"(usual));
  CHECK(control == down);
  CHECK(std::fetestexcept(FE_ALL_EXCEPT) == FE_INVALID);
  std::feclearexcept(FE_ALL_EXCEPT);
#endif
}
