# attest_find_libzip(): the target attest_libzip, or one message that says what to install. (The package's own CMake files
# ask for programs that Debian 12 installs apart from the library.)
macro(attest_find_libzip)
  if(NOT TARGET attest_libzip)
    find_path(LIBZIP_INCLUDE_DIR zip.h)
    find_library(LIBZIP_LIBRARY zip)
    if(NOT LIBZIP_INCLUDE_DIR OR NOT LIBZIP_LIBRARY)
      message(FATAL_ERROR "attest needs libzip, 1.7 or newer (Debian, Ubuntu: apt install libzip-dev)")
    endif()
    add_library(attest_libzip UNKNOWN IMPORTED GLOBAL)
    set_target_properties(attest_libzip PROPERTIES IMPORTED_LOCATION "${LIBZIP_LIBRARY}"
                          INTERFACE_INCLUDE_DIRECTORIES "${LIBZIP_INCLUDE_DIR}")
  endif()
endmacro()
