#include <attest/kernel/float_environment.hpp>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace attest::kernel {

namespace {

void do_not_flush_subnormals() {
#if defined(__SSE__)
  constexpr unsigned flush_to_zero = 0x8000;
  constexpr unsigned denormals_are_zero = 0x0040;
  _mm_setcsr(_mm_getcsr() & ~(flush_to_zero | denormals_are_zero));
#elif defined(__aarch64__)
  constexpr unsigned long flush_to_zero = 1ul << 24;
  unsigned long control = 0;
  __asm__ volatile("mrs %0, fpcr" : "=r"(control));
  __asm__ volatile("msr fpcr, %0" : : "r"(control & ~flush_to_zero));
#endif
}

}  // namespace

float_environment::float_environment() {
  std::feholdexcept(&caller_);
  std::fesetround(FE_TONEAREST);
  do_not_flush_subnormals();
}

float_environment::~float_environment() { std::fesetenv(&caller_); }

}  // namespace attest::kernel
