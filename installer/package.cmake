# Install and package rules: `cmake --install build/release --prefix DIR`, `cpack --config build/release/CPackConfig.cmake`.
# Gives the binaries, the desktop entry with its MIME types, the samples and demos, sonde_capture.py, and for developers libsonde-core with its
# headers and `find_package(Sonde)`, which defines Sonde::core.

include(CMakePackageConfigHelpers)

set(SONDE_DATA_DIR ${CMAKE_INSTALL_DATADIR}/sonde)
set(SONDE_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Sonde)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/resources/samples DESTINATION ${SONDE_DATA_DIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/resources/demos DESTINATION ${SONDE_DATA_DIR} PATTERN "*.py" EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/resources/examples DESTINATION ${SONDE_DATA_DIR})
install(FILES ${PROJECT_SOURCE_DIR}/resources/capture/sonde_capture.py DESTINATION ${SONDE_DATA_DIR}/capture)
install(FILES ${PROJECT_SOURCE_DIR}/resources/desktop/sonde.desktop
  DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
install(FILES ${PROJECT_SOURCE_DIR}/resources/desktop/sonde.xml
  DESTINATION ${CMAKE_INSTALL_DATADIR}/mime/packages)
install(FILES ${PROJECT_SOURCE_DIR}/resources/desktop/sonde.svg
  DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/LICENSE
  DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/sonde)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/resources/reference DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/sonde)

# The library: static, its public headers rooted at include/sonde as they are at the repository.
install(TARGETS sonde-core EXPORT SondeTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
include(core/public_headers.cmake)
foreach(header IN LISTS SONDE_PUBLIC_HEADERS)
  get_filename_component(folder core/${header} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/core/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sonde/${folder})
endforeach()
set_target_properties(sonde-core PROPERTIES EXPORT_NAME core)
install(EXPORT SondeTargets NAMESPACE Sonde:: DESTINATION ${SONDE_CMAKE_DIR})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/SondeConfig.cmake.in ${PROJECT_BINARY_DIR}/SondeConfig.cmake
  INSTALL_DESTINATION ${SONDE_CMAKE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/SondeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/SondeConfig.cmake ${PROJECT_BINARY_DIR}/SondeConfigVersion.cmake
  DESTINATION ${SONDE_CMAKE_DIR})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME sonde)
set(CPACK_PACKAGE_VENDOR "The Sonde developers")
set(CPACK_PACKAGE_CONTACT "The Sonde developers <sonde@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION
  "Opens a model file, draws it as a graph under its own module hierarchy, runs it\n on real input and shows the live tensors at each node.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "fonts-dejavu-core, qt6-qpa-plugins")
find_program(SONDE_SHLIBDEPS dpkg-shlibdeps)  # package dpkg-dev; without it the libraries must be named by hand
if(SONDE_SHLIBDEPS)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()
include(CPack)
