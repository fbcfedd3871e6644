# A configuration stops with the name of the canary that the compiler accepts, tries them once, and again when they change.
cmake_policy(VERSION 3.25)
function(configure canaries out_status out_output)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/configure -B ${BINARY_DIR}/configure_canaries
                          -G ${GENERATOR} -DCMAKE_MAKE_PROGRAM=${MAKE_PROGRAM}
                          -DCANARIES=${canaries} -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_CXX_COMPILER_ID=${CXX_ID}
                          -DCMAKE_CXX_COMPILER_VERSION=1 ${ARGN}
                  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  set(${out_status} ${status} PARENT_SCOPE)
  set(${out_output} "${output}" PARENT_SCOPE)
endfunction()

set(file ${BINARY_DIR}/canaries.cpp)
file(WRITE ${file} "#include <attest/proof/twin.hpp>\nstatic_assert(1 + TWIN(1, 2) == 2);  // canary: addition\n")
configure(${file} status output --fresh)
if(NOT status EQUAL 0 OR NOT output MATCHES "rejects all 1 canaries")
  message(FATAL_ERROR "a good canary stopped the configuration:\n${output}")
endif()
configure(${file} status output)
if(NOT status EQUAL 0 OR output MATCHES "rejects all 1 canaries")
  message(FATAL_ERROR "the canaries were tried again though nothing changed:\n${output}")
endif()
file(APPEND ${file} "static_assert(1 + TWIN(1, 2 - 1) == 2);  // canary: subtraction\n")
configure(${file} status output)
if(status EQUAL 0 OR NOT output MATCHES "canary: subtraction" OR output MATCHES "canary: addition")
  message(FATAL_ERROR "the accepted canary did not stop the configuration by its name:\n${output}")
endif()
configure(${file} status output)
if(status EQUAL 0)
  message(FATAL_ERROR "an accepted canary stopped the configuration only once:\n${output}")
endif()
