# attest_find_boost(): the target Boost::headers, 1.81 or newer, or one message that says what to install. Older ones
# cannot do the arithmetic in the compiler: the shifts of cpp_int are not constexpr and == on rationals recurses.
macro(attest_find_boost)
  find_package(Boost 1.81 QUIET GLOBAL)  # a project that adds attest as a subdirectory sees the target, too
  if(NOT Boost_FOUND)
    if(Boost_CONSIDERED_VERSIONS)
      set(attest_boost_found "found only ${Boost_CONSIDERED_VERSIONS}")
    elseif(Boost_VERSION_STRING)
      set(attest_boost_found "found only ${Boost_VERSION_STRING} in ${Boost_INCLUDE_DIRS}")
    else()
      set(attest_boost_found "found none")
    endif()
    message(FATAL_ERROR "attest needs the Boost headers, 1.81 or newer; ${attest_boost_found}. "
                        "Debian 12: apt install libboost1.81-dev. Debian 13, Ubuntu 24.04: apt install libboost-dev.")
  endif()
endmacro()
