#pragma once

namespace attest::tools {

/// While it lives, SIGINT and SIGTERM set a flag instead of ending the process; a second one ends it as ever.
class interrupt_watch {
 public:
  interrupt_watch();
  ~interrupt_watch();
  interrupt_watch(const interrupt_watch&) = delete;
  interrupt_watch& operator=(const interrupt_watch&) = delete;

  static bool requested();
  /// From now on signals do nothing: for the last thing that a process does.
  static void ignore_further();
  /// The exit status of a process that was interrupted, as shells give it: 128 and the signal's number.
  static int status();
};

}  // namespace attest::tools
