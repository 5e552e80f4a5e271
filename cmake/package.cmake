# What a program needs to find the installed library: leat.pc for pkg-config, and leatConfig.cmake
# with the target leat::leat for find_package(leat). Only the shared library is installed, and its
# own dependencies stay hidden: neither file names another package.
include(CMakePackageConfigHelpers)

set(folder "${CMAKE_INSTALL_LIBDIR}/cmake/leat")
install(TARGETS leat_shared EXPORT leat LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT leat FILE leatConfig.cmake NAMESPACE leat:: DESTINATION ${folder})
# As the soname: before 1.0 a program built with 0.1 needs 0.1.
write_basic_package_version_file("${CMAKE_BINARY_DIR}/leatConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/leatConfigVersion.cmake" DESTINATION ${folder})

set(prefix "${CMAKE_INSTALL_PREFIX}")
file(RELATIVE_PATH LEAT_PC_PREFIX "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${prefix}")
file(RELATIVE_PATH LEAT_PC_LIBDIR "${prefix}" "${CMAKE_INSTALL_FULL_LIBDIR}")
file(RELATIVE_PATH LEAT_PC_INCLUDEDIR "${prefix}" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
string(REGEX REPLACE "/$" "" LEAT_PC_PREFIX "${LEAT_PC_PREFIX}")
configure_file(cmake/leat.pc.in "${CMAKE_BINARY_DIR}/leat.pc" @ONLY)
install(FILES "${CMAKE_BINARY_DIR}/leat.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
