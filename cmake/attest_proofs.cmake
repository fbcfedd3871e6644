# attest_add_proof(<name> <source>...): the proofs are compiled with ALL, so a claim that is false fails the build.
function(attest_add_proof name)
  add_library(${name} OBJECT ${ARGN})
  target_link_libraries(${name} PRIVATE attest::attest)
endfunction()
