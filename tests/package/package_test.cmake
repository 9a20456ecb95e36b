# cmake -DPROJECT= -DBUILD_DIR= -DWORK_DIR= -DVERSION= -DBUILD_TYPE= -DSANITIZE= -P package_test.cmake
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "failed (${status}): ${command}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/prefix)

# The sanitizers' runtime must be linked if the installed libraries were compiled with them.
if(SANITIZE)
  set(flags -DCMAKE_EXE_LINKER_FLAGS=-fsanitize=address,undefined)
endif()
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/${PROJECT} -B ${WORK_DIR}/build -G Ninja
    -DCMAKE_BUILD_TYPE=${BUILD_TYPE} -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix ${flags})
file(STRINGS ${WORK_DIR}/build/CMakeCache.txt found REGEX "^Apart_DIR:")
if(NOT found MATCHES "=${WORK_DIR}/prefix/")
  message(FATAL_ERROR "another installation of Apart was found: ${found}")
endif()
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)

if(PROJECT STREQUAL "consumer")
  run(${WORK_DIR}/build/consumer ${WORK_DIR}/box.vtu)
  set(expected "Apart ${VERSION}\nbox volume 24.000 tetrahedra [1-9][0-9]+\nread back 24.000\n")
  if(NOT output MATCHES "^${expected}$")
    message(FATAL_ERROR "the consumer printed\n${output}\ninstead of\n${expected}")
  endif()
  # The installed program needs nothing of the build directory.
  run(${WORK_DIR}/prefix/bin/apart --version)
  if(NOT output MATCHES "${VERSION}")
    message(FATAL_ERROR "apart --version printed\n${output}")
  endif()
endif()
