# SPDX-License-Identifier: Apache-2.0
# The page of reports: built from web/ where Node is there, then embedded; without it reports have static plots.
find_program(SALTUS_NODE node)
find_program(SALTUS_NPM npm)
mark_as_advanced(SALTUS_NODE SALTUS_NPM)
if(SALTUS_NODE AND SALTUS_NPM)
  set(node_found ON)
else()
  set(node_found OFF)
endif()
option(SALTUS_WEB "Build the interactive page of reports (needs node, npm and its packages)" ${node_found})
message(STATUS "Saltus: interactive reports ${SALTUS_WEB}")

set(saltus_generated ${PROJECT_BINARY_DIR}/generated)
set(saltus_page ${saltus_generated}/page.html)
if(EXISTS ${PROJECT_BINARY_DIR}/web/failed)   # another try after every configuration
  file(REMOVE ${saltus_page} ${PROJECT_BINARY_DIR}/web/failed)
endif()
if(SALTUS_WEB)
  file(GLOB web_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/src/*)
  list(APPEND web_sources ${PROJECT_SOURCE_DIR}/web/index.html ${PROJECT_SOURCE_DIR}/web/package.json
    ${PROJECT_SOURCE_DIR}/web/package-lock.json ${PROJECT_SOURCE_DIR}/web/vite.config.ts
    ${PROJECT_SOURCE_DIR}/web/tsconfig.json ${PROJECT_SOURCE_DIR}/web/.npmrc)
  add_custom_command(OUTPUT ${saltus_page}
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR}/web -DWORK=${PROJECT_BINARY_DIR}/web -DPAGE=${saltus_page}
      -DNPM=${SALTUS_NPM} -P ${PROJECT_SOURCE_DIR}/cmake/build-page.cmake
    DEPENDS ${web_sources} ${PROJECT_SOURCE_DIR}/cmake/build-page.cmake
    COMMENT "Building the page of reports" VERBATIM)
else()
  file(CONFIGURE OUTPUT ${saltus_page} CONTENT "")
endif()

# Adds files to a target as bytes, found by their names: saltus_embed(target function files...).
function(saltus_embed target function)
  set(source ${saltus_generated}/${function}.cpp)
  add_custom_command(OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${source} -DFUNCTION=${function} "-DFILES=${ARGN}"
      -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${ARGN} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    COMMENT "Embedding ${function}" VERBATIM)
  set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(${target} PRIVATE ${source})
endfunction()
