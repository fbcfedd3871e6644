#include "entry.hpp"

#include <cstdint>

fuzz::outcome fuzz::entry(std::string_view bytes) { return ATTEST_FUZZ_TARGET(bytes); }

// What libFuzzer calls. An exception that gets here ends the process, and libFuzzer keeps the input.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::entry({reinterpret_cast<const char*>(data), size});
  return 0;
}
