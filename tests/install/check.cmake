# cmake -DBUILD=DIR -DSOURCE=DIR -DWORK=DIR -P check.cmake
# Installs the build into an empty prefix, looks for what must be there, and builds and runs a foreign project against it.

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed (${status}): ${ARGV}\n${output}")
  endif()
endfunction()

set(prefix ${WORK}/prefix)
file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})

foreach(file bin/sonde libexec/sonde/sonde-layout-worker share/applications/sonde.desktop share/mime/packages/sonde.xml
    share/icons/hicolor/scalable/apps/sonde.svg share/sonde/samples/chelsea.png include/sonde/core/base/error.h)
  if(NOT EXISTS ${prefix}/${file})
    message(FATAL_ERROR "not installed: ${file}")
  endif()
endforeach()

run(${CMAKE_COMMAND} -S ${SOURCE}/tests/install -B ${WORK}/user -DCMAKE_PREFIX_PATH=${prefix})
run(${CMAKE_COMMAND} --build ${WORK}/user)
run(${WORK}/user/sonde-user)
run(${prefix}/bin/sonde models)
