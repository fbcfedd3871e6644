# A configuration with proofs must stop at each flag under which compilers pass false claims, and at no other.
cmake_policy(VERSION 3.25)
function(configure out_status out_output)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/configure -B ${BINARY_DIR}/configure_flags
                          -G ${GENERATOR} -DCMAKE_MAKE_PROGRAM=${MAKE_PROGRAM} ${ARGN}
                  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  set(${out_status} ${status} PARENT_SCOPE)
  set(${out_output} "${output}" PARENT_SCOPE)
endfunction()

foreach(flag IN ITEMS -fpermissive -w -Wno-narrowing -Wno-error=narrowing -Wno-c++11-narrowing -Wno-everything
                      -ffast-math -Ofast -funsafe-math-optimizations -ffinite-math-only -fassociative-math
                      -freciprocal-math -fno-signed-zeros -ffp-model=fast)
  configure(status output --fresh "-DCMAKE_CXX_FLAGS=-O2 ${flag} -g")
  string(REGEX REPLACE "[ \n]+" " " words "${output}")
  string(FIND "${words}" "cannot be trusted under ${flag};" position)
  if(status EQUAL 0 OR position EQUAL -1)
    message(FATAL_ERROR "${flag} was not refused:\n${output}")
  endif()
endforeach()
configure(status output --fresh -DCMAKE_BUILD_TYPE=Fast -DCMAKE_CXX_FLAGS_FAST=-Ofast)
if(status EQUAL 0)
  message(FATAL_ERROR "a flag of the build type was not refused:\n${output}")
endif()
configure(status output --fresh -DOPTIONS=-fpermissive)
if(status EQUAL 0)
  message(FATAL_ERROR "a compile option of the directory was not refused:\n${output}")
endif()
configure(status output --fresh "-DCMAKE_CXX_FLAGS=-O3 -Wall -Wno-error -fno-fast-math -march=native -Wno-narrowing-x -DX=-w")
if(NOT status EQUAL 0)
  message(FATAL_ERROR "harmless flags were refused:\n${output}")
endif()
