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
  constexpr unsigned long flush_inputs_alternate_handling = 1ul << 0 | 1ul << 1;  // FEAT_AFP, Armv8.7
  unsigned long control = 0;
  __asm__ volatile("mrs %0, fpcr" : "=r"(control));
  control &= ~(flush_to_zero | flush_inputs_alternate_handling);
  __asm__ volatile("msr fpcr, %0" : : "r"(control));
#endif
}

#if defined(__x86_64__) && defined(__GNUC__)
// Saving and loading the whole x87 environment takes as long as a small call of a kernel's; looking at it
// does not.
constexpr unsigned short x87_default = 0x037f;  // rounding to nearest, 64 bits, no traps
constexpr unsigned short x87_flags = 0x3f;
constexpr unsigned sse_default = 0x1f80;  // rounding to nearest, no traps, no flags, nothing flushed

unsigned short x87_control() {
  unsigned short word;
  __asm__ volatile("fnstcw %0" : "=m"(word));
  return word;
}
bool x87_has_flags() {
  unsigned short word;
  __asm__ volatile("fnstsw %0" : "=a"(word));
  return (word & x87_flags) != 0;
}
#endif

}  // namespace

float_environment::float_environment() {
#if defined(__x86_64__) && defined(__GNUC__)
  only_sse_ = x87_control() == x87_default && !x87_has_flags();
  if (only_sse_) {
    caller_sse_ = _mm_getcsr();
    _mm_setcsr(sse_default);
    return;
  }
#endif
  std::feholdexcept(&caller_);
  std::fesetround(FE_TONEAREST);
  do_not_flush_subnormals();
}

float_environment::~float_environment() {
#if defined(__x86_64__) && defined(__GNUC__)
  if (only_sse_) {
    if (x87_has_flags()) __asm__ volatile("fnclex");  // long double was used
    if (x87_control() != x87_default) __asm__ volatile("fldcw %0" : : "m"(x87_default));
    _mm_setcsr(caller_sse_);
    return;
  }
#endif
  std::fesetenv(&caller_);
}

}  // namespace attest::kernel
