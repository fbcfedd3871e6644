# Instruments everything that is built from here on for coverage-guided fuzzing, where the compiler is a clang++ with
# libFuzzer. Other compilers fuzz with the driver of tests/fuzz, which sees no coverage.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_FLAGS "-fsanitize=fuzzer")
check_cxx_source_compiles("
  #include <cstddef>
  #include <cstdint>
  extern \"C\" int LLVMFuzzerTestOneInput(const std::uint8_t*, std::size_t) { return 0; }
  " ATTEST_HAVE_LIBFUZZER)
unset(CMAKE_REQUIRED_FLAGS)
if(ATTEST_HAVE_LIBFUZZER)
  add_compile_options(-fsanitize=fuzzer-no-link)
  message(STATUS "attest: fuzzing with libFuzzer")
else()
  message(STATUS "attest: ${CMAKE_CXX_COMPILER} has no libFuzzer: fuzzing without coverage (clang++ would have it)")
endif()
