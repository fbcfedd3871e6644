// A target with every fault that the driver must find: the test of the driver fuzzes it.
#include "entry.hpp"

#include <csignal>
#include <cstdlib>

fuzz::outcome fuzz::entry(std::string_view bytes) {
  if (bytes == "crash") std::abort();
  if (bytes == "segment") std::raise(SIGSEGV);
  if (bytes == "exit") std::_Exit(3);  // as a sanitizer does
  if (bytes == "throw") throw broken_promise("thrown");
  if (bytes == "throw int") throw 1;
  if (bytes == "hang")
    for (volatile bool on = true; on;) {
    }
  return outcome::accepted;
}
