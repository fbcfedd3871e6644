# Compiles the program of docs/c.md with all warnings, runs it and its Python, and looks at what they print.
cmake_policy(VERSION 3.25)
file(REMOVE_RECURSE ${SCRATCH})
file(MAKE_DIRECTORY ${SCRATCH})
file(READ ${PAGE} text)
function(extract language file)
  string(FIND "${text}" "<!-- snippet: ${file} -->" begin)
  string(SUBSTRING "${text}" ${begin} -1 text)
  string(FIND "${text}" "```${language}\n" begin)
  string(LENGTH "```${language}\n" length)
  math(EXPR begin "${begin} + ${length}")
  string(SUBSTRING "${text}" ${begin} -1 rest)
  string(FIND "${rest}" "```" end)
  string(SUBSTRING "${rest}" 0 ${end} code)
  file(WRITE ${SCRATCH}/${file} "${code}")
endfunction()

cmake_path(GET LIBRARY PARENT_PATH folder)
separate_arguments(FLAGS UNIX_COMMAND "${FLAGS}")
extract(c causal.c)
execute_process(COMMAND ${CC} ${FLAGS} -std=c99 -Wall -Wextra -pedantic -Werror -I${INCLUDE} causal.c -o program -L${folder}
                        -lattest -Wl,-rpath,${folder}
                WORKING_DIRECTORY ${SCRATCH} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ./program WORKING_DIRECTORY ${SCRATCH} OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
# Query 0 sees value 1, query 1 weighs 1 and 3 equally, query 2 gives (e + 3 e^2 + 5)/(e + e^2 + 1) = 2.690604...
if(NOT output MATCHES "^1, and 0 more\n2, and 0 more\n2\\.690604[0-9]*, and -?[0-9.]+e-1[67] more\n$")
  message(FATAL_ERROR "the program of ${PAGE} prints\n${output}")
endif()

if(PYTHON)
  extract(python example.py)
  set(ENV{PYTHONPATH} ${PYTHON_FOLDER})
  set(ENV{LD_LIBRARY_PATH} ${folder})
  execute_process(COMMAND ${PYTHON} -B example.py WORKING_DIRECTORY ${SCRATCH} OUTPUT_VARIABLE output
                  COMMAND_ERROR_IS_FATAL ANY)
  if(NOT output MATCHES "^\\[1\\.0, 2\\.0, 2\\.690604[0-9]*\\] 2\n$")
    message(FATAL_ERROR "the Python of ${PAGE} prints\n${output}")
  endif()

  # With NumPy, where this Python has it. A test is a function: pytest would call it.
  execute_process(COMMAND ${PYTHON} -c "import numpy" RESULT_VARIABLE without_numpy OUTPUT_QUIET ERROR_QUIET)
  if(NOT without_numpy)
    extract(python test_kernel.py)
    execute_process(COMMAND ${PYTHON} -B -c "import test_kernel as t; t.test_kernel(); t.test_that_it_can_fail()"
                    WORKING_DIRECTORY ${SCRATCH} COMMAND_ERROR_IS_FATAL ANY)
  endif()
endif()
