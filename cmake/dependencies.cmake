# Every outside library is found here, once. Each is Debian 12's package; scripts/install-dependencies installs them.
find_package(Threads REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(TBB REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(valijson REQUIRED)
find_package(CLI11 REQUIRED)
find_package(CHOLMOD REQUIRED) # cmake/FindCHOLMOD.cmake
find_package(HDF5 REQUIRED COMPONENTS C)
find_package(embree 3 REQUIRED)
find_package(PNG REQUIRED)
find_package(ZLIB REQUIRED)
find_package(EXPAT REQUIRED)
find_path(CGAL_INCLUDE_DIR CGAL/Exact_predicates_inexact_constructions_kernel.h REQUIRED)
# Linked by name (gmp, mpfr); looked up here so that a missing one is noticed when configuring.
find_library(GMP_LIBRARY gmp REQUIRED)
find_library(MPFR_LIBRARY mpfr REQUIRED)
