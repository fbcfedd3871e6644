# Toolchain file: cross-compiles for 64-bit ARM with Debian's g++-aarch64-linux-gnu, or with clang where CXX or
# CMAKE_CXX_COMPILER says so, and lets tests run under an emulator. ATTEST_SYSROOT is a folder with the libraries for arm64:
# docs/platforms.md says how to get one.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
if(NOT CMAKE_CXX_COMPILER)
  set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
  if("$ENV{CXX}" MATCHES "clang")
    set(CMAKE_CXX_COMPILER "$ENV{CXX}")
  endif()
endif()
if(NOT CMAKE_C_COMPILER)
  string(REPLACE "clang++" "clang" CMAKE_C_COMPILER "${CMAKE_CXX_COMPILER}")
  string(REPLACE "g++" "gcc" CMAKE_C_COMPILER "${CMAKE_C_COMPILER}")
endif()
set(CMAKE_CXX_COMPILER_TARGET aarch64-linux-gnu)  # of interest to clang alone
set(CMAKE_C_COMPILER_TARGET aarch64-linux-gnu)

set(ATTEST_SYSROOT "" CACHE PATH "Folder with the headers and libraries for arm64")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ATTEST_SYSROOT)
set(CMAKE_SYSROOT ${ATTEST_SYSROOT})
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

if(NOT CMAKE_CROSSCOMPILING_EMULATOR)
  set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L ${ATTEST_SYSROOT})
endif()
