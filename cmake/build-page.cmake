# SPDX-License-Identifier: Apache-2.0
# Installs the packages of web/ into the build folder and builds the page there. Where that cannot be done (no network,
# a Node too old), the page is an empty file, and the build goes on.
file(MAKE_DIRECTORY ${WORK})
foreach(name src index.html package.json package-lock.json vite.config.ts tsconfig.json .npmrc)
  file(COPY ${SOURCE}/${name} DESTINATION ${WORK})
endforeach()

function(give_up why output)
  file(WRITE ${PAGE} "")
  file(WRITE ${WORK}/failed "${output}")
  message("Saltus: no interactive reports, as ${why}; they will have static plots. Details: ${WORK}/failed")
endfunction()

file(SHA256 ${SOURCE}/package-lock.json wanted)
set(installed "")
if(EXISTS ${WORK}/node_modules/.installed)
  file(READ ${WORK}/node_modules/.installed installed)
endif()
if(NOT installed STREQUAL wanted)
  # The versions and checksums are those of package-lock.json, and no package runs scripts of its own. `npm ci` would
  # refuse this lock file: it lacks optional packages that rollup has for other platforms.
  execute_process(COMMAND ${NPM} install --ignore-scripts --no-audit --no-fund --no-save --prefer-offline --loglevel=error
    WORKING_DIRECTORY ${WORK} TIMEOUT 180 RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    give_up("npm could not install its packages" "${output}")
    return()
  endif()
  file(WRITE ${WORK}/node_modules/.installed ${wanted})
endif()
execute_process(COMMAND ${NPM} run --silent build
  WORKING_DIRECTORY ${WORK} TIMEOUT 180 RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT result EQUAL 0)
  give_up("the page could not be built" "${output}")
  return()
endif()
configure_file(${WORK}/dist/index.html ${PAGE} COPYONLY)
file(TOUCH ${PAGE})
