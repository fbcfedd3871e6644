# attest_warnings(target): the warnings of this project's own targets (never of its users'), and no contraction of
# a*b + c into a fused operation. CMAKE_COMPILE_WARNING_AS_ERROR, which the presets set, makes them errors.
function(attest_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -ffp-contract=off)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
endfunction()
