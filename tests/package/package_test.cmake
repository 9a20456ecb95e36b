# cmake -DBUILD_DIR= -DWORK_DIR= -DVERSION= -DBUILD_TYPE= -DSANITIZE= -P package_test.cmake
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
# Apart is found only through CMAKE_PREFIX_PATH: neither this build nor a copy installed on the machine may help.
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${WORK_DIR}/consumer -G Ninja
    -DCMAKE_BUILD_TYPE=${BUILD_TYPE} -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix
    -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF ${flags})
file(STRINGS ${WORK_DIR}/consumer/CMakeCache.txt found REGEX "^Apart_DIR:")
if(NOT found MATCHES "=${WORK_DIR}/prefix/")
  message(FATAL_ERROR "another installation of Apart was found: ${found}")
endif()
run(${CMAKE_COMMAND} --build ${WORK_DIR}/consumer)
run(${WORK_DIR}/consumer/consumer ${WORK_DIR}/box.vtu)
set(expected "Apart ${VERSION}\nbox volume 24.000 tetrahedra [1-9][0-9]+\nread back 24.000\n")
if(NOT output MATCHES "^${expected}$")
  message(FATAL_ERROR "the consumer printed\n${output}\ninstead of\n${expected}")
endif()

# The installed program is self-contained.
run(${WORK_DIR}/prefix/bin/apart --version)
if(NOT output MATCHES "${VERSION}")
  message(FATAL_ERROR "apart --version printed\n${output}")
endif()
