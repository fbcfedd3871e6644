# The names that the library defines for others are the functions that the header declares, no more and no fewer.
cmake_policy(VERSION 3.25)
execute_process(COMMAND ${NM} -D --defined-only ${LIBRARY} OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL " [A-Z] [^\n]+" defined "${output}")
list(TRANSFORM defined REPLACE "^ [A-Z] ([^@ ]+).*" "\\1")
list(REMOVE_ITEM defined ATTEST_0)  # the version
list(SORT defined)

file(READ ${HEADER} text)
string(REGEX MATCHALL "\nATTEST_API [a-z_ *]+\\(" declared "${text}")
list(TRANSFORM declared REPLACE ".*[ *]([a-z_]+)\\($" "\\1")
list(SORT declared)
if(NOT defined STREQUAL declared OR declared STREQUAL "")
  message(FATAL_ERROR "the library defines\n  ${defined}\nand the header declares\n  ${declared}")
endif()
