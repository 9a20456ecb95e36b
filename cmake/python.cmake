# The package apart in ${CMAKE_BINARY_DIR}/python: the module _apart (src/apart/python), the files of python/apart, and type
# stubs made from the catalog. `make python` builds it, `make install-python` installs it for the interpreter that it was
# built for.
if(NOT APART_HAS_PYTHON)
  add_custom_target(python COMMAND ${CMAKE_COMMAND} -E echo
    "The Python module cannot be built: install pybind11-dev, python3-dev and python3-numpy, then cmake build"
    COMMAND ${CMAKE_COMMAND} -E false)
  return()
endif()
set(package ${CMAKE_BINARY_DIR}/python/apart)
file(GLOB package_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/python/apart/*)
set(package_files "")
foreach(source IN LISTS package_sources)
  cmake_path(GET source FILENAME name)
  if(name MATCHES "^__pycache__")
    continue()
  endif()
  add_custom_command(OUTPUT ${package}/${name} COMMAND ${CMAKE_COMMAND} -E copy ${source} ${package}/${name}
                     DEPENDS ${source} VERBATIM)
  list(APPEND package_files ${package}/${name})
endforeach()
add_custom_command(OUTPUT ${package}/stubs.stamp
  COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${CMAKE_BINARY_DIR}/python PYTHONDONTWRITEBYTECODE=1
          ${Python_EXECUTABLE} -m apart._stubs ${package}
  COMMAND ${CMAKE_COMMAND} -E touch ${package}/stubs.stamp
  DEPENDS apart_python ${package_files} COMMENT "Writing type stubs" VERBATIM)
add_custom_target(python ALL DEPENDS apart_python ${package_files} ${package}/stubs.stamp)

# What a wheel is made of (pyproject.toml).
install(DIRECTORY ${package}/ DESTINATION ${Python_SITEARCH}/apart COMPONENT python EXCLUDE_FROM_ALL
        PATTERN __pycache__ EXCLUDE PATTERN stubs.stamp EXCLUDE)
