# Installs the package, then builds and runs installed/main.c in a project in C, and with the compiler and pkg-config alone.
cmake_policy(VERSION 3.25)
if(FLAGS MATCHES "-fsanitize")
  set(FLAGS "-fsanitize=address,undefined")
else()
  set(FLAGS "")
endif()
file(REMOVE_RECURSE ${BINARY_DIR})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${ATTEST_BINARY_DIR} --prefix ${BINARY_DIR}/prefix OUTPUT_QUIET
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/installed -B ${BINARY_DIR}/build -G ${GENERATOR}
                        -DCMAKE_MAKE_PROGRAM=${MAKE_PROGRAM} -DCMAKE_C_COMPILER=${CC} -DCMAKE_PREFIX_PATH=${BINARY_DIR}/prefix
                        "-DCMAKE_C_FLAGS=${FLAGS}"
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BINARY_DIR}/build COMMAND_ERROR_IS_FATAL ANY)  # runs it, too

find_program(PKG_CONFIG pkg-config NO_CACHE)
if(NOT PKG_CONFIG)
  message(STATUS "no pkg-config here")
  return()
endif()
set(ENV{PKG_CONFIG_PATH} ${BINARY_DIR}/prefix/${LIBDIR}/pkgconfig)
execute_process(COMMAND ${PKG_CONFIG} --cflags --libs attest OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE
                COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(found UNIX_COMMAND "${found}")
separate_arguments(FLAGS UNIX_COMMAND "${FLAGS}")
execute_process(COMMAND ${CC} ${FLAGS} -std=c99 ${CMAKE_CURRENT_LIST_DIR}/installed/main.c ${found} -o ${BINARY_DIR}/alone
                COMMAND_ERROR_IS_FATAL ANY)
set(ENV{LD_LIBRARY_PATH} ${BINARY_DIR}/prefix/${LIBDIR})
execute_process(COMMAND ${BINARY_DIR}/alone COMMAND_ERROR_IS_FATAL ANY)
