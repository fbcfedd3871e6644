#include "interrupt.hpp"

#include <atomic>
#include <csignal>

namespace attest::tools {

namespace {

std::atomic<int> caught = 0;
static_assert(std::atomic<int>::is_always_lock_free);
void (*before_int)(int) = SIG_DFL;
void (*before_term)(int) = SIG_DFL;

extern "C" void note_interrupt(int number) {
  caught = number;
  std::signal(number, SIG_DFL);
}

}  // namespace

interrupt_watch::interrupt_watch() {
  caught = 0;
  before_int = std::signal(SIGINT, note_interrupt);
  if (before_int == SIG_IGN) std::signal(SIGINT, SIG_IGN);  // a job in the background stays one
  before_term = std::signal(SIGTERM, note_interrupt);
}

interrupt_watch::~interrupt_watch() {
  std::signal(SIGINT, before_int);
  std::signal(SIGTERM, before_term);
}

void interrupt_watch::ignore_further() {
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, SIG_IGN);
}

bool interrupt_watch::requested() { return caught != 0; }
int interrupt_watch::status() { return 128 + caught; }

}  // namespace attest::tools
