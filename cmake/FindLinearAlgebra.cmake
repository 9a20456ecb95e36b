# Defines the imported target LinearAlgebra::LinearAlgebra: BLAS and LAPACK, and the orders of elimination of AMD
# (SuiteSparse) and METIS. None of them has a CMake package in Debian; METIS comes with SuiteSparse, as a library without
# its header.
find_path(AMD_INCLUDE_DIR amd.h PATH_SUFFIXES suitesparse)
find_library(AMD_LIBRARY amd)
find_library(METIS_LIBRARY NAMES metis libmetis.so.5)
find_library(LAPACK_LIBRARY lapack)
find_library(BLAS_LIBRARY blas)
find_library(OPENBLAS_LIBRARY openblas)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LinearAlgebra DEFAULT_MSG AMD_LIBRARY AMD_INCLUDE_DIR METIS_LIBRARY LAPACK_LIBRARY
                                  BLAS_LIBRARY)
if(LinearAlgebra_FOUND AND NOT TARGET LinearAlgebra::LinearAlgebra)
  add_library(LinearAlgebra::LinearAlgebra INTERFACE IMPORTED)
  set_target_properties(LinearAlgebra::LinearAlgebra PROPERTIES
    INTERFACE_LINK_LIBRARIES "${AMD_LIBRARY};${METIS_LIBRARY};${LAPACK_LIBRARY};${BLAS_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES ${AMD_INCLUDE_DIR})
  # Of all symbols that are looked up when a program starts, half are OpenBLAS's own. As the first library it is the first
  # place where they are looked for: a fifth of the time that the start takes.
  if(OPENBLAS_LIBRARY)
    set_target_properties(LinearAlgebra::LinearAlgebra PROPERTIES
      INTERFACE_LINK_OPTIONS "LINKER:--push-state,--no-as-needed;${OPENBLAS_LIBRARY};LINKER:--pop-state")
  endif()
endif()
mark_as_advanced(AMD_INCLUDE_DIR AMD_LIBRARY METIS_LIBRARY LAPACK_LIBRARY BLAS_LIBRARY OPENBLAS_LIBRARY)
