# What is installed beside the program: its manual page and the completions of shells, which it prints itself. And the
# Debian package of the program, by CPack: `make package`.
set(program_files ${CMAKE_BINARY_DIR}/program-files)
install(CODE "
  file(MAKE_DIRECTORY \"${program_files}\")
  function(print file)
    execute_process(COMMAND \"$<TARGET_FILE:apart_cli>\" \${ARGN} OUTPUT_FILE \"${program_files}/\${file}\"
                    COMMAND_ERROR_IS_FATAL ANY)
  endfunction()
  print(apart.1 manual)
  print(apart completion bash)
  print(_apart completion zsh)
  print(apart.fish completion fish)
  execute_process(COMMAND gzip -9nf \"${program_files}/apart.1\" COMMAND_ERROR_IS_FATAL ANY)
" COMPONENT program)
install(FILES ${program_files}/apart.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
install(FILES ${program_files}/apart DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
install(FILES ${program_files}/_apart DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT program)
install(FILES ${program_files}/apart.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)
install(FILES LICENSE RENAME copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/apart COMPONENT program)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME apart)
set(CPACK_PACKAGE_CONTACT "Apart developers")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL program)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME apart)
set(CPACK_DEBIAN_PROGRAM_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON) # the libraries it is linked to, by dpkg-shlibdeps
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "ffmpeg, tetgen") # films; meshes from closed surfaces
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_STRIP_FILES ON)
if(NOT APART_MARCH STREQUAL "x86-64")
  set(instructions "\nFor processors of the level ${APART_MARCH} and above (with AVX2).")
endif()
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "Soft and rigid solids, cloth, rods and grains in frictional contact by
Incremental Potential Contact. Of a finished run it proves that no body
passed through another.${instructions}")
include(CPack)
