# attest_warnings(target): the warnings of this project's own targets (never of its users'), and no contraction of
# a*b + c into a fused operation. CMAKE_COMPILE_WARNING_AS_ERROR, which the presets set, makes them errors, but for g++'s
# guesses from the flow of optimised code, which differ between its versions and are often wrong about templates.
function(attest_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -ffp-contract=off)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    foreach(guess IN ITEMS array-bounds dangling-pointer maybe-uninitialized restrict stringop-overflow stringop-overread)
      target_compile_options(${target} PRIVATE -Wno-error=${guess})
    endforeach()
  endif()
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
endfunction()
