#include "progress.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

#include <unistd.h>

namespace attest::tools {

namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string duration(double seconds) {
  const auto whole = [](double x) {
    return std::to_string(static_cast<unsigned long long>(std::min(x, 1e15)));
  };
  if (seconds < 90) return whole(seconds + 0.5) + " s";
  if (seconds < 5400) return whole(seconds / 60 + 0.5) + " min";
  return whole(seconds / 3600 + 0.5) + " h";
}

}  // namespace

progress_line::progress_line(std::size_t rows_before)
    : on_terminal_(::isatty(STDERR_FILENO) != 0),
      rows_before_(rows_before),
      started_(seconds()),
      last_shown_(started_),
      rows_seen_(rows_before),
      changed_(started_) {}

progress_line::~progress_line() { wipe(); }

void progress_line::wipe() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
  shown_ = false;
}

void progress_line::update(std::size_t rows_done, std::size_t rows) {
  const double now = seconds();
  if (rows_done != rows_seen_) {
    rows_seen_ = rows_done;
    changed_ = now;
  }
  if (!on_terminal_ || now - started_ < 1 || now - last_shown_ < 0.1) return;
  std::fprintf(stderr, "\rattest: row %zu of %zu", rows_done, rows);
  if (rows_done > rows_before_ && rows_done < rows) {
    const double of_rows = (changed_ - started_) / static_cast<double>(rows_done - rows_before_) *
                           static_cast<double>(rows - rows_done);
    const double rest = std::max(of_rows - (now - changed_), 0.0);
    std::fprintf(stderr, ", about %s left", duration(rest).c_str());
  } else if (rows_done < rows) {
    std::fprintf(stderr, ", %s so far", duration(now - started_).c_str());
  }
  std::fputs("\x1b[K", stderr);
  shown_ = true;
  last_shown_ = now;
}

}  // namespace attest::tools
