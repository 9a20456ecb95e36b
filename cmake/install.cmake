# Installs the layers with their headers, and the CMake package by which another project finds them:
#   find_package(Apart) … target_link_libraries(its_program Apart::apart)      or a single layer, e.g. Apart::geometry
include(CMakePackageConfigHelpers)
set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/Apart)

get_property(layers GLOBAL PROPERTY APART_LAYERS)
list(TRANSFORM layers PREPEND apart_ OUTPUT_VARIABLE layer_targets)
install(TARGETS apart_library ${layer_targets} EXPORT ApartTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(layer IN LISTS layers)
  install(DIRECTORY src/apart/${layer} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/apart FILES_MATCHING PATTERN *.hpp)
endforeach()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(EXPORT ApartTargets NAMESPACE Apart:: DESTINATION ${package_directory})
set(find_dependencies "")
foreach(dependency IN LISTS APART_DEPENDENCIES)
  string(APPEND find_dependencies "find_dependency(${dependency})\n")
endforeach()
configure_package_config_file(cmake/ApartConfig.cmake.in ${CMAKE_BINARY_DIR}/ApartConfig.cmake
                              INSTALL_DESTINATION ${package_directory})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/ApartConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/ApartConfig.cmake ${CMAKE_BINARY_DIR}/ApartConfigVersion.cmake
              cmake/FindLinearAlgebra.cmake cmake/FindHDF5Archive.cmake
        DESTINATION ${package_directory})
