# The page of `apart view`, made from page/ with npm in ${CMAKE_BINARY_DIR}/page and turned into a source file of the
# program, so that nothing is fetched when it runs. Sets APART_PAGE_SOURCE.
set(APART_PAGE_SOURCE ${CMAKE_BINARY_DIR}/page_files.cpp)
set(APART_PAGE_DIRECTORY ${CMAKE_BINARY_DIR}/page)
set(APART_PAGE_DIRECTORY ${APART_PAGE_DIRECTORY} PARENT_SCOPE) # for the tests of the page
set(page_sources "")
set(embed ${CMAKE_COMMAND} -D OUTPUT=${APART_PAGE_SOURCE} -P ${CMAKE_SOURCE_DIR}/cmake/embed_page.cmake)

if(APART_VIEWER)
  find_program(NPM_PROGRAM npm)
  find_program(NODE_PROGRAM node)
  mark_as_advanced(NPM_PROGRAM NODE_PROGRAM)
  if(NOT NPM_PROGRAM OR NOT NODE_PROGRAM)
    message(FATAL_ERROR
      "npm was not found, which builds the page of 'apart view'. Install the packages nodejs and npm "
      "(scripts/install-dependencies does), or configure with -DAPART_VIEWER=OFF to do without the page.")
  endif()
  # The packages of package-lock.json; again only when it changes.
  set(lock_files package.json package-lock.json .npmrc)
  list(TRANSFORM lock_files PREPEND ${CMAKE_SOURCE_DIR}/page/ OUTPUT_VARIABLE lock_sources)
  add_custom_command(OUTPUT ${APART_PAGE_DIRECTORY}/packages.stamp
    COMMAND ${CMAKE_COMMAND} -E make_directory ${APART_PAGE_DIRECTORY}
    COMMAND ${CMAKE_COMMAND} -E copy ${lock_sources} ${APART_PAGE_DIRECTORY}
    COMMAND ${NPM_PROGRAM} ci --no-audit --no-fund --loglevel=error --prefix ${APART_PAGE_DIRECTORY}
    COMMAND ${CMAKE_COMMAND} -E touch ${APART_PAGE_DIRECTORY}/packages.stamp
    DEPENDS ${lock_sources} COMMENT "Fetching the packages of the page" VERBATIM)
  # Built beside the packages, so that the source tree stays clean. The compiler checks types; Vite only drops them.
  file(GLOB page_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/page/*.ts ${CMAKE_SOURCE_DIR}/page/*.json
                                           ${CMAKE_SOURCE_DIR}/page/*.html ${CMAKE_SOURCE_DIR}/page/src/*)
  set(page_files index.html page.js page.css)
  list(TRANSFORM page_files PREPEND ${APART_PAGE_DIRECTORY}/dist/)
  add_custom_command(OUTPUT ${page_files}
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${APART_PAGE_DIRECTORY}/src
    COMMAND ${CMAKE_COMMAND} -E copy_directory ${CMAKE_SOURCE_DIR}/page/src ${APART_PAGE_DIRECTORY}/src
    COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_SOURCE_DIR}/page/index.html ${CMAKE_SOURCE_DIR}/page/vite.config.ts
            ${CMAKE_SOURCE_DIR}/page/tsconfig.json ${APART_PAGE_DIRECTORY}
    COMMAND ${NODE_PROGRAM} node_modules/typescript/bin/tsc --noEmit
    COMMAND ${NODE_PROGRAM} node_modules/vite/bin/vite.js build --logLevel warn
    DEPENDS ${page_sources} ${APART_PAGE_DIRECTORY}/packages.stamp
    WORKING_DIRECTORY ${APART_PAGE_DIRECTORY} COMMENT "Building the page" VERBATIM)
  list(JOIN page_files "|" joined)
  list(INSERT embed 1 -D "FILES=${joined}")
endif()
add_custom_command(OUTPUT ${APART_PAGE_SOURCE} COMMAND ${embed}
  DEPENDS ${page_files} ${CMAKE_SOURCE_DIR}/cmake/embed_page.cmake VERBATIM)
