# Every outside library is found here, once. Each is Debian 12's package; scripts/install-dependencies installs them.

# What the layers link: arguments of find_package, here and in the package that other projects find (ApartConfig.cmake).
set(APART_DEPENDENCIES
  "Threads"
  "Eigen3 3.4 NO_MODULE"
  "TBB"
  "fmt"
  "nlohmann_json"
  "LinearAlgebra" # cmake/FindLinearAlgebra.cmake
  "embree 3"
  "PNG"
  "ZLIB"
  "HDF5Archive" # cmake/FindHDF5Archive.cmake
  "EXPAT"
  "SQLite3"
  "Basix")
foreach(dependency IN LISTS APART_DEPENDENCIES)
  separate_arguments(dependency)
  find_package(${dependency} REQUIRED)
endforeach()

# Headers that only our own sources include.
find_package(CLI11 REQUIRED)
find_path(CGAL_INCLUDE_DIR CGAL/Exact_predicates_inexact_constructions_kernel.h REQUIRED)
find_path(HTTPLIB_INCLUDE_DIR httplib.h REQUIRED)
mark_as_advanced(CGAL_INCLUDE_DIR HTTPLIB_INCLUDE_DIR)

# The Python module, if what it needs is there: Debian's Python, unless -DPython_EXECUTABLE=... names another one, which
# needs its headers and numpy. An interpreter that comes first in PATH need not have them.
if(APART_PYTHON AND NOT APART_SANITIZE)
  if(NOT Python_EXECUTABLE AND EXISTS /usr/bin/python3)
    set(Python_EXECUTABLE /usr/bin/python3 CACHE FILEPATH "Interpreter that the module is built for")
  endif()
  find_package(Python COMPONENTS Interpreter Development.Module NumPy)
  set(PYBIND11_NOPYTHON ON) # it is found above
  find_package(pybind11)
  if(Python_FOUND AND pybind11_FOUND)
    set(APART_HAS_PYTHON ON)
  else()
    message(STATUS "The Python module is not built: install pybind11-dev, python3-dev and python3-numpy")
  endif()
endif()

# The program for several machines, if what it needs is there (scripts/install-dependencies --cluster).
if(APART_CLUSTER AND NOT APART_SANITIZE)
  find_package(PkgConfig QUIET)
  find_package(MPI COMPONENTS CXX QUIET)
  if(PkgConfig_FOUND)
    pkg_check_modules(PETSC IMPORTED_TARGET PETSc>=3.18)
    # HDF5 for MPI, of the version that everything else is compiled with.
    pkg_search_module(HDF5_MPI IMPORTED_TARGET hdf5-openmpi=${HDF5_VERSION} hdf5-mpich=${HDF5_VERSION}
                      hdf5=${HDF5_VERSION})
  endif()
  if(MPI_FOUND AND PETSC_FOUND AND HDF5_MPI_FOUND)
    set(APART_HAS_CLUSTER ON)
  else()
    message(STATUS "apart-mpi is not built: install petsc-dev, libopenmpi-dev, libhdf5-openmpi-dev and pkg-config")
  endif()
endif()

# Linked by name (gmp, mpfr, cpp-httplib); looked up here so that a missing one is noticed when configuring.
find_library(GMP_LIBRARY gmp REQUIRED)
find_library(MPFR_LIBRARY mpfr REQUIRED)
find_library(HTTPLIB_LIBRARY cpp-httplib REQUIRED)
mark_as_advanced(GMP_LIBRARY MPFR_LIBRARY HTTPLIB_LIBRARY)
