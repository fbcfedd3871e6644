# The installed package: find_package(attest) gives attest::attest, attest::reference, attest::program,
# attest::c and attest_add_proof(); with COMPONENTS c attest::c alone.
include(CMakePackageConfigHelpers)
set(attest_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/attest)

install(TARGETS attest EXPORT attest_targets FILE_SET HEADERS)
if(TARGET attest_reference)
  install(TARGETS attest_reference EXPORT attest_targets)
endif()
if(TARGET attest_program)
  install(TARGETS attest_program EXPORT attest_targets)  # attest::program
endif()
if(TARGET attest_c)
  # By itself, so that a project in C needs neither Boost nor a C++ compiler to find it.
  install(TARGETS attest_c EXPORT attest_c_targets FILE_SET HEADERS)  # attest::c
  install(EXPORT attest_c_targets FILE attest_c_targets.cmake NAMESPACE attest:: DESTINATION ${attest_package_dir})
  cmake_path(IS_ABSOLUTE CMAKE_INSTALL_LIBDIR absolute)
  if(absolute)
    set(attest_prefix_from_pc ${CMAKE_INSTALL_PREFIX})
  else()
    file(RELATIVE_PATH attest_prefix_from_pc /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
    string(REGEX REPLACE "/$" "" attest_prefix_from_pc "\${pcfiledir}/${attest_prefix_from_pc}")
  endif()
  configure_file(${PROJECT_SOURCE_DIR}/cmake/attest.pc.in ${PROJECT_BINARY_DIR}/attest.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/attest.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  install(FILES ${PROJECT_SOURCE_DIR}/src/c/attest_ctypes.py DESTINATION ${CMAKE_INSTALL_DATADIR}/attest)
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
