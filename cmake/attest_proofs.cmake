# Proofs in a CMake project: attest_add_proof(), and attest_add_refutation() for the tests that their claims can fail.
# Both need the target attest::attest.
include_guard(GLOBAL)

set(ATTEST_PROOFS_DIR "${CMAKE_CURRENT_LIST_DIR}" CACHE INTERNAL "where attest_refute.cmake and attest_twins.cmake are")
if(EXISTS "${CMAKE_CURRENT_LIST_DIR}/canaries.cpp")
  set(attest_canaries "${CMAKE_CURRENT_LIST_DIR}/canaries.cpp")
else()
  cmake_path(SET attest_canaries NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../proofs/refuted/canaries.cpp")
endif()
set(ATTEST_CANARIES "${attest_canaries}" CACHE INTERNAL "the false claims that a compiler must reject")

# Flags under which a compiler passes false claims, or computes other values at run time than in the compiler.
set(ATTEST_REFUSED_FLAGS
    -fpermissive -w -Wno-narrowing -Wno-error=narrowing -Wno-c\\+\\+11-narrowing -Wno-error=c\\+\\+11-narrowing
    -Wno-everything -Wno-invalid-constexpr -Wno-error=invalid-constexpr
    -Ofast -ffast-math -funsafe-math-optimizations -ffinite-math-only -fassociative-math -freciprocal-math
    -fno-signed-zeros -ffp-model=fast -ffp-model=aggressive -fcx-fortran-rules
    CACHE INTERNAL "")

# attest_refuse_flags(): stops the configuration if the flags that apply here contain one of those.
function(attest_refuse_flags)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  get_property(options DIRECTORY PROPERTY COMPILE_OPTIONS)
  set(flags " ${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}} ${options} ")
  string(REGEX REPLACE "[;\t]" " " flags "${flags}")
  foreach(refused IN LISTS ATTEST_REFUSED_FLAGS)
    if(flags MATCHES " (${refused}) ")
      message(FATAL_ERROR "attest: proofs cannot be trusted under ${CMAKE_MATCH_1}; take it out of the C++ flags "
                          "(or leave the proofs out: -DATTEST_BUILD_PROOFS=OFF)")
    endif()
  endforeach()
endfunction()

# attest_proof_flags(out): the flags with which claims are compiled outside of a target, as a list.
function(attest_proof_flags out)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  separate_arguments(flags NATIVE_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}")
  get_property(options DIRECTORY PROPERTY COMPILE_OPTIONS)
  list(APPEND flags ${options} -std=c++20)
  if(EXISTS "${ATTEST_PROOFS_DIR}/../include/attest")
    list(APPEND flags "-I${ATTEST_PROOFS_DIR}/../include")
  else()
    get_target_property(directories attest::attest INTERFACE_INCLUDE_DIRECTORIES)
    string(REGEX REPLACE "\\$<BUILD_INTERFACE:([^>]*)>" "\\1" directories "${directories}")  # as file sets write it
    list(TRANSFORM directories PREPEND "-I")
    list(APPEND flags ${directories})
  endif()
  get_target_property(directories Boost::headers INTERFACE_INCLUDE_DIRECTORIES)
  foreach(directory IN LISTS directories)
    if(NOT directory IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
      list(APPEND flags -isystem "${directory}")
    endif()
  endforeach()
  set(${out} "${flags}" PARENT_SCOPE)
endfunction()

# attest_check_canaries(): false claims of each kind that a proof can make, tried on this compiler with these flags; the
# configuration stops at one that it accepts. The result is remembered for as long as compiler, flags and file stay.
function(attest_check_canaries)
  attest_proof_flags(flags)
  file(SHA256 "${ATTEST_CANARIES}" hash)
  set(key "${CMAKE_CXX_COMPILER} ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} ${flags} ${hash}")
  string(SHA256 key "${key}")
  if(ATTEST_CANARIES_CHECKED STREQUAL key)
    return()
  endif()
  include("${ATTEST_PROOFS_DIR}/attest_refute.cmake")
  attest_refute("${CMAKE_CXX_COMPILER}" "${flags}" "${ATTEST_CANARIES}" problems results)
  set(compiler "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} (${CMAKE_CXX_COMPILER})")
  list(JOIN problems "\n  " text)
  if(problems MATCHES "the true claims do not compile")
    message(FATAL_ERROR "attest: this compiler cannot compile true claims, so it proves nothing: ${compiler}\n  ${text}")
  elseif(problems)
    message(FATAL_ERROR "attest: this compiler cannot be trusted with proofs: ${compiler}\n  ${text}")
  endif()
  list(LENGTH results count)
  message(STATUS "attest: ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} rejects all ${count} canaries")
  set(ATTEST_CANARIES_CHECKED "${key}" CACHE INTERNAL "")
endfunction()

set(ATTEST_PROGRAM "" CACHE FILEPATH "the command attest, to be run on this machine while proofs are built (default: the one of this build or package)")

# attest_add_proof(<name> [<source>...] [CASE <file.json>... [CLAIMS <word>] [DECIMAL] [PROOF <proof.cpp>...]])
#
# The sources are compiled with ALL, so a claim that is false fails the build.
#
# A CASE is a file of inputs and printed numbers (docs/prove-your-own.md). While the target is built, `attest prove` checks
# it, which names a wrong number in one line, and writes it as a C++ proof; then the compiler checks that. CLAIMS and
# DECIMAL are the options of attest prove. Where the command cannot be run (a cross-compiling build without an emulator or an
# ATTEST_PROGRAM of this machine, a package without it), PROOF names the proof of each CASE, in the same order, written
# before with the same options: that file is compiled, and the build stops where it is not the proof of the case as it is.
function(attest_add_proof name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "DECIMAL" "CLAIMS" "CASE;PROOF")
  attest_refuse_flags()
  attest_check_canaries()
  set(sources ${arg_UNPARSED_ARGUMENTS})
  if(arg_CASE)
    attest_case_proofs(proofs)
    list(APPEND sources ${proofs})
  elseif(arg_PROOF OR arg_CLAIMS OR arg_DECIMAL OR "CASE" IN_LIST arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "attest_add_proof(${name}): it names no CASE")
  endif()
  add_library(${name} OBJECT ${sources})
  target_link_libraries(${name} PRIVATE attest::attest)
endfunction()

# attest_case_proofs(out): the proofs of the cases of attest_add_proof(), whose arguments it sees, and their build steps.
function(attest_case_proofs out)
  set(options "")
  if(arg_CLAIMS AND NOT arg_CLAIMS MATCHES "^(exactly|decimal|binary64)$")
    message(FATAL_ERROR "attest_add_proof(${name}): CLAIMS ${arg_CLAIMS}: expected exactly, decimal or binary64")
  endif()
  if(arg_CLAIMS)
    list(APPEND options --claims ${arg_CLAIMS})
  endif()
  if(arg_DECIMAL)
    list(APPEND options --decimal)
  endif()
  list(JOIN options " " option_text)
  if(options)
    string(PREPEND option_text " ")
  endif()

  set(program "")
  if(ATTEST_PROGRAM)
    set(program "${ATTEST_PROGRAM}")
  elseif(NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR)
    foreach(target IN ITEMS attest::program attest_program)
      if(TARGET ${target} AND NOT program)
        set(program ${target})
      endif()
    endforeach()
  endif()
  list(LENGTH arg_CASE case_count)
  list(LENGTH arg_PROOF proof_count)
  if(arg_PROOF AND NOT case_count EQUAL proof_count)
    message(FATAL_ERROR "attest_add_proof(${name}): ${proof_count} PROOF for ${case_count} CASE: name one for each, in their order")
  elseif(NOT arg_PROOF AND NOT program)
    list(GET arg_CASE 0 first)
    cmake_path(GET first STEM stem)
    message(FATAL_ERROR
            "attest_add_proof(${name}): there is no command attest that this build can run. Set ATTEST_PROGRAM to one, or "
            "ATTEST_BUILD_PROGRAM=ON where attest is added as a subdirectory; or write the proof elsewhere and name it:\n"
            "  attest prove ${first}${option_text} -o ${stem}.cpp\n  attest_add_proof(${name} CASE ${first} PROOF ${stem}.cpp)")
  endif()

  set(proofs "")
  set(all_checked "")
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${name}.proofs")
  file(MAKE_DIRECTORY "${folder}")
  foreach(case IN LISTS arg_CASE)
    cmake_path(ABSOLUTE_PATH case BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE OUTPUT_VARIABLE case_file)
    cmake_path(GET case STEM LAST_ONLY stem)
    set(checked "${folder}/${stem}.cpp")
    set(number 2)
    while(checked IN_LIST all_checked)  # of the same name in another folder
      set(checked "${folder}/${stem}_${number}.cpp")
      math(EXPR number "${number} + 1")
    endwhile()
    list(APPEND all_checked "${checked}")
    if(program)
      add_custom_command(OUTPUT "${checked}"
                         COMMAND ${program} prove "${case}" ${options} -o "${checked}"
                         WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
                         DEPENDS "${case_file}" ${program}
                         COMMENT "Checking the numbers of ${case}" VERBATIM)
    endif()
    if(NOT arg_PROOF)
      list(APPEND proofs "${checked}")
      continue()
    endif()

    list(POP_FRONT arg_PROOF proof)
    cmake_path(ABSOLUTE_PATH proof BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE OUTPUT_VARIABLE proof_file)
    if(NOT EXISTS "${proof_file}")
      message(FATAL_ERROR "attest_add_proof(${name}): ${proof} does not exist; write it with:\n"
                          "  attest prove ${case}${option_text} -o ${proof}")
    endif()
    set(stamp "${checked}.current")
    set(depends "${case_file}" "${proof_file}")
    if(program)
      list(APPEND depends "${checked}")  # what is wrong with a number comes before what is old
    endif()
    add_custom_command(OUTPUT "${stamp}"
                       COMMAND "${CMAKE_COMMAND}" "-DCASE=${case_file}" "-DOPTIONS=${option_text}" "-DPROOF=${proof_file}"
                               "-DNAME=${proof}" "-DSTAMP=${stamp}" -P "${ATTEST_PROOFS_DIR}/attest_stale.cmake"
                       DEPENDS ${depends}
                       COMMENT "Comparing ${proof} with ${case}" VERBATIM)
    set_property(SOURCE "${proof_file}" APPEND PROPERTY OBJECT_DEPENDS "${stamp}")
    set_source_files_properties("${stamp}" PROPERTIES GENERATED ON HEADER_FILE_ONLY ON)
    list(APPEND proofs "${proof_file}" "${stamp}")
  endforeach()
  set(${out} "${proofs}" PARENT_SCOPE)
endfunction()

# attest_add_refutation(<name> <source> [PROOF <proof>]): a test that the compiler accepts <source> as it stands and
# rejects it at every statement with a TWIN when these take their false values. With PROOF, a second test
# <name>.complete: every static_assert of <proof> has its twin in <source>.
function(attest_add_refutation name source)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "PROOF" "")
  cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
  attest_proof_flags(flags)
  if(NOT arg_PROOF OR EXISTS "${source}")
    add_test(NAME ${name}
             COMMAND "${CMAKE_COMMAND}" "-DCXX=${CMAKE_CXX_COMPILER}" "-DFLAGS=${flags}" "-DSOURCE=${source}"
                     -P "${ATTEST_PROOFS_DIR}/attest_refute.cmake")
  endif()
  if(arg_PROOF)
    cmake_path(ABSOLUTE_PATH arg_PROOF BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    add_test(NAME ${name}.complete
             COMMAND "${CMAKE_COMMAND}" "-DCXX=${CMAKE_CXX_COMPILER}" "-DFLAGS=${flags}" "-DREFUTED=${source}"
                     "-DPROOF=${arg_PROOF}" -P "${ATTEST_PROOFS_DIR}/attest_twins.cmake")
  endif()
endfunction()
