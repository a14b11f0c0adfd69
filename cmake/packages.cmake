# SPDX-License-Identifier: Apache-2.0
# Debian packages of what was built: `cpack --config build/CPackConfig.cmake`.
#   saltus           the program, completion, manual page, models          component program
#   libsaltus-dev    static library or link to the shared one, headers     component dev
#   libsaltus0.1     the shared library, with -DSALTUS_SHARED=ON           component library
#   python3-saltus   the Python module                                     component python
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME saltus)
set(CPACK_PACKAGE_CONTACT "The Saltus authors <saltus@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS OFF)
set(CPACK_COMPONENTS_ALL program dev)

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME saltus)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "python3 (>= 3.11)")   # for the checker of certificates
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION "${PROJECT_DESCRIPTION}
 Bodies that touch, stick, slip, collide and lift off: motions, sensitivities,
 energy of impacts, attractivity of rest, regulation, periodic orbits.")

set(CPACK_DEBIAN_DEV_PACKAGE_NAME libsaltus-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
  "libeigen3-dev (>= 3.4), libfmt-dev, libtomlplusplus-dev, nlohmann-json3-dev")
if(SALTUS_HDF5)
  string(APPEND CPACK_DEBIAN_DEV_PACKAGE_DEPENDS ", libhdf5-dev")
endif()
set(CPACK_DEBIAN_DEV_DESCRIPTION "${PROJECT_DESCRIPTION} - library for C++
 Headers, library and CMake package.")

if(SALTUS_SHARED)
  list(APPEND CPACK_COMPONENTS_ALL library)
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libsaltus${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "${PROJECT_DESCRIPTION} - shared library")
  # dpkg-shlibdeps finds the library in the build folder and knows no package of it: the dependency is written out.
  set(library_dependency "${CPACK_DEBIAN_LIBRARY_PACKAGE_NAME} (= ${PROJECT_VERSION})")
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/src)
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS "${library_dependency}")
  string(APPEND CPACK_DEBIAN_DEV_PACKAGE_DEPENDS ", ${library_dependency}")
endif()

if(SALTUS_PYTHON)
  list(APPEND CPACK_COMPONENTS_ALL python)
  # The compiled part is for one version of Python.
  math(EXPR next_python "${Python_VERSION_MINOR} + 1")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-saltus)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
    "python3 (>= 3.${Python_VERSION_MINOR}), python3 (<< 3.${next_python}), python3-numpy, saltus (= ${PROJECT_VERSION})")
  if(SALTUS_SHARED)
    string(APPEND CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS ", ${library_dependency}")
  endif()
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-matplotlib, python3-pandas, python3-xarray")
  set(CPACK_DEBIAN_PYTHON_DESCRIPTION "${PROJECT_DESCRIPTION} - Python module")
endif()
foreach(component ${CPACK_COMPONENTS_ALL})
  string(TOUPPER ${component} upper)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE RENAME copyright COMPONENT ${component}
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
endforeach()
include(CPack)
