#pragma once

#include <cstddef>

namespace attest::tools {

/// A line on standard error that counts rows and estimates how long the rest takes (or, before a row is done,
/// says how long the work has taken), shown once that is a second and only on a terminal; it is wiped when
/// the work is done.
class progress_line {
 public:
  /// `rows_before`: how many rows were done earlier, and tell nothing about the time.
  explicit progress_line(std::size_t rows_before = 0);
  ~progress_line();
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;

  void update(std::size_t rows_done, std::size_t rows);
  void wipe();

 private:
  bool on_terminal_;
  bool shown_ = false;
  std::size_t rows_before_;
  double started_;
  double last_shown_;
  std::size_t rows_seen_;  // as of the last update, since `changed_`
  double changed_;
};

}  // namespace attest::tools
