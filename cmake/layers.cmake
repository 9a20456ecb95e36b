# Compile options shared by everything, and apart_layer(): one folder of src/apart is one target.

# The instruction set: AVX2 where the building machine has it. Eigen's alignment is fixed below, so that a program
# compiled with other flags can link to the library.
include(CheckCXXSourceRuns)
check_cxx_source_runs("int main() { return __builtin_cpu_supports(\"avx2\") && __builtin_cpu_supports(\"fma\") ? 0 : 1; }"
                      APART_HOST_HAS_AVX2)
if(APART_HOST_HAS_AVX2)
  set(APART_MARCH "x86-64-v3" CACHE STRING "Instruction set (-march=)")
else()
  set(APART_MARCH "x86-64" CACHE STRING "Instruction set (-march=)")
endif()

add_library(apart_options INTERFACE)
target_compile_options(apart_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Werror -march=${APART_MARCH}
  # No value-changing contraction or reassociation: the same scene must give the same bits.
  -ffp-contract=off
  -fno-math-errno
  # GCC 12 reports false overflows inside Eigen and fmt templates.
  -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
if(APART_SANITIZE)
  target_compile_options(apart_options INTERFACE -fsanitize=address,undefined -fno-omit-frame-pointer)
  target_link_options(apart_options INTERFACE -fsanitize=address,undefined)
endif()

# apart_layer(NAME DEPENDS layers... LINKS libraries...): a static library of every .cpp in src/apart/NAME.
# DEPENDS are the layers it may include (tests/contracts checks includes against the order in docs/architecture.md).
function(apart_layer name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;PUBLIC;LINKS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  add_library(apart_${name} STATIC ${sources})
  add_library(Apart::${name} ALIAS apart_${name})
  set_target_properties(apart_${name} PROPERTIES EXPORT_NAME ${name} LINKER_LANGUAGE CXX)
  target_include_directories(apart_${name} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/src>
                                                  $<INSTALL_INTERFACE:include>)
  list(TRANSFORM ARG_DEPENDS PREPEND apart_)
  target_link_libraries(apart_${name} PUBLIC ${ARG_DEPENDS} ${ARG_PUBLIC} PRIVATE ${ARG_LINKS}
                                      $<BUILD_INTERFACE:apart_options>)
  if(name STREQUAL "core")
    target_precompile_headers(apart_core PRIVATE <Eigen/Core> <Eigen/Geometry> <array> <cmath> <optional> <span>
                              <string> <vector> <fmt/format.h>)
  else()
    target_precompile_headers(apart_${name} REUSE_FROM apart_core)
  endif()
endfunction()
