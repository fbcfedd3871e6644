# The installed package: find_package(attest) gives attest::attest, attest::reference, attest::program and attest_add_proof().
include(CMakePackageConfigHelpers)
set(attest_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/attest)

install(TARGETS attest EXPORT attest_targets FILE_SET HEADERS)
if(TARGET attest_reference)
  install(TARGETS attest_reference EXPORT attest_targets)
endif()
if(TARGET attest_program)
  install(TARGETS attest_program EXPORT attest_targets)  # attest::program
endif()
install(EXPORT attest_targets FILE attest_targets.cmake NAMESPACE attest:: DESTINATION ${attest_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/attestConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/attestConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/attestConfig.cmake
              ${PROJECT_SOURCE_DIR}/cmake/attest_boost.cmake
              ${PROJECT_SOURCE_DIR}/cmake/attest_libzip.cmake
              ${PROJECT_SOURCE_DIR}/cmake/attest_proofs.cmake
              ${PROJECT_SOURCE_DIR}/cmake/attest_refute.cmake
              ${PROJECT_SOURCE_DIR}/cmake/attest_stale.cmake
              ${PROJECT_SOURCE_DIR}/cmake/attest_twins.cmake
              ${PROJECT_SOURCE_DIR}/proofs/refuted/canaries.cpp
        DESTINATION ${attest_package_dir})
