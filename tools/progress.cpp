#include "progress.hpp"

#include <chrono>
#include <cstdio>

#include <unistd.h>

namespace attest::tools {

namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

progress_line::progress_line()
    : on_terminal_(::isatty(STDERR_FILENO) != 0), started_(seconds()), last_shown_(started_) {}

progress_line::~progress_line() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
}

void progress_line::update(std::size_t rows_done, std::size_t rows) {
  const double now = seconds();
  if (!on_terminal_ || now - started_ < 1 || now - last_shown_ < 0.1) return;
  std::fprintf(stderr, "\rattest: row %zu of %zu", rows_done, rows);
  shown_ = true;
  last_shown_ = now;
}

}  // namespace attest::tools
