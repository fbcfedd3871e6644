# Usage: cmake -DSOURCE_DIR=<folder with include/attest and src> [-DEXPECT=<list>] -P include_direction.cmake
#
# A folder includes only folders earlier in this list; kernel, and the headers of problem that it includes, none of the
# constexpr half. Stops where the includes that break this are not exactly those of EXPECT.
cmake_policy(VERSION 3.25)
set(order exact symbolic enclosure rounding proof problem kernel reference check inputs io prove trace c)
set(constexpr_half exact symbolic enclosure rounding proof)

set(wrong "")
file(GLOB_RECURSE files RELATIVE "${SOURCE_DIR}" "${SOURCE_DIR}/include/attest/*.hpp" "${SOURCE_DIR}/src/*.[ch]pp")
if(NOT files)
  message(FATAL_ERROR "${SOURCE_DIR} has neither include/attest/*.hpp nor src/*.cpp")
endif()
foreach(file IN LISTS files)
  # include/attest/exact.hpp is of exact, like include/attest/exact/*.hpp.
  string(REGEX REPLACE "^(include/attest|src)/([a-z_]+).*$" "\\2" folder "${file}")
  list(FIND order "${folder}" place)
  if(place EQUAL -1)
    list(APPEND wrong "${file} is in a folder without a place in the order")
    continue()
  endif()
  file(STRINGS "${SOURCE_DIR}/${file}" lines REGEX "^#include [<\"][a-z_]+")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^#include [<\"](attest/)?([a-z_]+).*$" "\\2" included "${line}")
    list(FIND order "${included}" position)
    if(position GREATER place OR (included IN_LIST constexpr_half AND "${folder} ${file}" MATCHES "^(kernel |problem .*hpp$)"))
      list(APPEND wrong "${file} includes ${included}")
    endif()
  endforeach()
endforeach()

if(NOT "${wrong}" STREQUAL "${EXPECT}")
  list(JOIN wrong "\n" found)
  list(JOIN EXPECT "\n" expected)
  message(FATAL_ERROR "found:\n${found}\nexpected:\n${expected}")
endif()
