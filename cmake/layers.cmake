# Compile options shared by everything, and the three ways to make a target of a folder of src/apart:
#   apart_layer(NAME DEPENDS layers... PUBLIC libraries... LINKS libraries... [COLD])   a static library
#   apart_program(NAME [OPTIONAL] OUTPUT name DEPENDS layers... LINKS libraries...)     an executable
#   apart_module(NAME OUTPUT name DEPENDS layers...)                                    a module of Python
# DEPENDS are the layers a folder may include, and through them all they may include. PUBLIC libraries appear in the
# layer's headers, LINKS only in its sources. COLD: what runs once, not in every step, and is compiled for size of the
# wait, not for speed; so are programs. OPTIONAL programs are installed as a component of their own, NAME.
# tests/contracts/layering_test.cpp reads these calls and rejects every #include that they do not allow.
# Sources are compiled several at a time (unity build), because most of a compilation is spent on the headers that they
# share: apart_batches(target size) makes the batches, small ones where one waits for them after every edit. Names in
# unnamed namespaces must therefore be unique in a folder.

# The instruction set: AVX2 where the building machine has it.
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
  # Position independent everywhere (a shared library may be made of the layers, and one precompiled header fits all
  # targets), but without the right to replace our functions at load time, which would forbid inlining them.
  -fPIC -fno-semantic-interposition
  # GCC looks for memory to reuse only past a gigabyte: a twentieth of the compile time, for 150 MB more.
  $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=500000>
  # GCC 12 reports false overflows inside Eigen and fmt templates and false overlaps inside std::string.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread;-Wno-restrict>)
if(APART_SANITIZE)
  string(REGEX REPLACE "^address$" "address,undefined" sanitizers "${APART_SANITIZE}")
  target_compile_options(apart_options INTERFACE -fsanitize=${sanitizers} -fno-sanitize-recover=undefined
                                                 -fno-omit-frame-pointer)
  target_compile_definitions(apart_options INTERFACE _GLIBCXX_ASSERTIONS)
  target_link_options(apart_options INTERFACE -fsanitize=${sanitizers})
endif()

# How COLD layers and programs are compiled: with a short build in mind. Clang takes up to a fifth less time if it inlines
# only what becomes smaller by it.
set(APART_QUICK_OPTIONS -O1 "$<$<CXX_COMPILER_ID:Clang>:SHELL:-mllvm -inline-threshold=0>")

# Precompiled headers: what nearly every file includes, and nothing that a layer wraps. One brings its optimisation
# along, so cold layers have their own; layers that work with whole scenes find their description in theirs.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/precompiled.cpp CONTENT "// Carries the precompiled header.\n")
function(apart_precompiled name)
  add_library(${name} OBJECT ${CMAKE_BINARY_DIR}/precompiled.cpp)
  target_link_libraries(${name} PRIVATE Eigen3::Eigen fmt::fmt nlohmann_json::nlohmann_json apart_options)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_compile_definitions(${name} PRIVATE ${APART_PUBLIC_DEFINITIONS})
  target_precompile_headers(${name} PRIVATE
    <Eigen/Core> <Eigen/Geometry> <fmt/format.h> <algorithm> <array> <cmath> <filesystem> <functional> <memory>
    <optional> <span> <stdexcept> <string> <string_view> <vector> ${ARGN})
endfunction()
apart_precompiled(apart_precompiled)
apart_precompiled(apart_precompiled_cold <nlohmann/json.hpp>)
apart_precompiled(apart_precompiled_scene <nlohmann/json.hpp> <apart/scene/scene_description.hpp>)
target_compile_options(apart_precompiled_cold PRIVATE ${APART_QUICK_OPTIONS})
target_compile_options(apart_precompiled_scene PRIVATE ${APART_QUICK_OPTIONS})

# Files that already have a UNITY_GROUP keep it.
function(apart_batches target size)
  get_target_property(sources ${target} SOURCES)
  set(count 0)
  foreach(source IN LISTS sources)
    get_source_file_property(group ${source} UNITY_GROUP)
    if(NOT group)
      math(EXPR batch "${count} / ${size}")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP batch${batch})
      math(EXPR count "${count} + 1")
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# Of a template that several objects instantiate the linker keeps the first copy that it finds. apart_fast_first(TARGET
# layers...) links those of the given layers and below that are compiled for speed before the objects of the target, so that
# the solver never runs the copy of a COLD layer, a program or a test.
function(apart_fast_first target)
  set(pending ${ARGN})
  set(seen "")
  set(archives "")
  while(pending)
    list(POP_FRONT pending layer)
    if(layer IN_LIST seen OR NOT layer MATCHES "^apart_" OR NOT TARGET ${layer})
      continue()
    endif()
    list(APPEND seen ${layer})
    get_target_property(is_fast ${layer} APART_FAST)
    if(is_fast)
      list(APPEND archives $<TARGET_FILE:${layer}>)
    endif()
    get_target_property(below ${layer} INTERFACE_LINK_LIBRARIES)
    list(APPEND pending ${below})
  endwhile()
  list(JOIN archives "," archives)
  if(archives)
    target_link_options(${target} BEFORE PRIVATE "LINKER:--whole-archive,${archives},--no-whole-archive")
  endif()
endfunction()

function(apart_layer name)
  cmake_parse_arguments(ARG "COLD" "" "DEPENDS;PUBLIC;LINKS" ${ARGN})
  list(TRANSFORM ARG_DEPENDS PREPEND apart_)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  if(sources)
    set(scope PUBLIC)
    add_library(apart_${name} STATIC ${sources})
    target_link_libraries(apart_${name} PRIVATE ${ARG_LINKS} $<BUILD_INTERFACE:apart_options>)
    if(ARG_COLD)
      target_compile_options(apart_${name} PRIVATE ${APART_QUICK_OPTIONS})
      if(name STREQUAL "scene" OR "apart_scene" IN_LIST ARG_DEPENDS)
        target_precompile_headers(apart_${name} REUSE_FROM apart_precompiled_scene)
      else()
        target_precompile_headers(apart_${name} REUSE_FROM apart_precompiled_cold)
      endif()
      apart_batches(apart_${name} 10)
    else()
      set_target_properties(apart_${name} PROPERTIES APART_FAST ON)
      target_precompile_headers(apart_${name} REUSE_FROM apart_precompiled)
      apart_batches(apart_${name} 5)
    endif()
  else() # headers only
    set(scope INTERFACE)
    add_library(apart_${name} INTERFACE)
  endif()
  add_library(Apart::${name} ALIAS apart_${name})
  set_target_properties(apart_${name} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(apart_${name} ${scope} cxx_std_20)
  target_compile_definitions(apart_${name} ${scope} ${APART_PUBLIC_DEFINITIONS})
  target_include_directories(apart_${name} ${scope} $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/src>
                                                    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(apart_${name} ${scope} ${ARG_DEPENDS} ${ARG_PUBLIC})
  set_property(GLOBAL APPEND PROPERTY APART_LAYERS ${name})
endfunction()

function(apart_program name)
  cmake_parse_arguments(ARG "OPTIONAL" "OUTPUT" "DEPENDS;LINKS" ${ARGN})
  list(TRANSFORM ARG_DEPENDS PREPEND apart_)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  if(NOT sources)
    message(STATUS "${name} has no sources: no program is built")
    return()
  endif()
  add_executable(apart_${name} ${sources})
  # What a program includes of another one is not linked, but compiled once more.
  get_property(programs GLOBAL PROPERTY APART_PROGRAMS)
  list(REMOVE_ITEM ARG_DEPENDS ${programs})
  set_property(GLOBAL APPEND PROPERTY APART_PROGRAMS apart_${name})
  set_target_properties(apart_${name} PROPERTIES OUTPUT_NAME ${ARG_OUTPUT})
  target_link_libraries(apart_${name} PRIVATE ${ARG_DEPENDS} ${ARG_LINKS} apart_options)
  target_compile_options(apart_${name} PRIVATE ${APART_QUICK_OPTIONS})
  target_precompile_headers(apart_${name} REUSE_FROM apart_precompiled_scene)
  apart_batches(apart_${name} 10)
  apart_fast_first(apart_${name} ${ARG_DEPENDS})
  if(ARG_OPTIONAL)
    install(TARGETS apart_${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${name} EXCLUDE_FROM_ALL)
  else()
    install(TARGETS apart_${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
  endif()
endfunction()

# In ${CMAKE_BINARY_DIR}/python/apart, where cmake/python.cmake puts the rest of the package.
function(apart_module name)
  cmake_parse_arguments(ARG "" "OUTPUT" "DEPENDS" ${ARGN})
  list(TRANSFORM ARG_DEPENDS PREPEND apart_)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  Python_add_library(apart_${name} MODULE WITH_SOABI ${sources})
  set_target_properties(apart_${name} PROPERTIES OUTPUT_NAME ${ARG_OUTPUT}
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/python/apart)
  # Only the module's entry is visible, so that other modules may bring libraries of other versions.
  target_link_options(apart_${name} PRIVATE -Wl,--exclude-libs,ALL)
  target_link_libraries(apart_${name} PRIVATE pybind11::headers ${ARG_DEPENDS} apart_options)
  target_compile_options(apart_${name} PRIVATE ${APART_QUICK_OPTIONS})
  target_precompile_headers(apart_${name} REUSE_FROM apart_precompiled_scene)
  apart_batches(apart_${name} 4)
  apart_fast_first(apart_${name} ${ARG_DEPENDS})
endfunction()
