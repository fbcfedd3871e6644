#pragma once

#include <cstddef>

namespace attest::tools {

/// A line on standard error that counts rows, shown once the work has taken a second and only on a terminal; it is wiped
/// when the work is done.
class progress_line {
 public:
  progress_line();
  ~progress_line();
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;

  void update(std::size_t rows_done, std::size_t rows);

 private:
  bool on_terminal_;
  bool shown_ = false;
  double started_;
  double last_shown_;
};

}  // namespace attest::tools
