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

foreach(file bin/sonde libexec/sonde/sonde-layout-worker libexec/sonde/sonde-ort share/applications/sonde.desktop share/mime/packages/sonde.xml
    share/icons/hicolor/scalable/apps/sonde.svg share/sonde/samples/chelsea.png
    share/sonde/samples/digits/digits.onnx share/sonde/samples/words/words.onnx share/sonde/samples/licenses/SCOWL.txt
    share/sonde/capture/sonde_capture.py include/sonde/core/base/error.h)
  if(NOT EXISTS ${prefix}/${file})
    message(FATAL_ERROR "not installed: ${file}")
  endif()
endforeach()

# The public headers and no others.
include(${SOURCE}/core/public_headers.cmake)
file(GLOB_RECURSE installed RELATIVE ${prefix}/include/sonde/core ${prefix}/include/sonde/*)
list(SORT installed)
list(SORT SONDE_PUBLIC_HEADERS)
if(NOT installed STREQUAL SONDE_PUBLIC_HEADERS)
  message(FATAL_ERROR "installed headers:\n${installed}\nexpected:\n${SONDE_PUBLIC_HEADERS}")
endif()

run(${CMAKE_COMMAND} -S ${SOURCE}/tests/install -B ${WORK}/user -DCMAKE_PREFIX_PATH=${prefix}
  -DMODEL=${SOURCE}/resources/examples/own_model/own_model.cpp)
run(${CMAKE_COMMAND} --build ${WORK}/user)
run(${WORK}/user/sonde-user)
run(${prefix}/bin/sonde models)

# The example of a model of one's own, as installed, against the installed package; then the same linked to all of core.
set(example ${prefix}/share/sonde/examples/own_model)
run(${CMAKE_COMMAND} -S ${example} -B ${WORK}/own_model -DCMAKE_PREFIX_PATH=${prefix})
run(${CMAKE_COMMAND} --build ${WORK}/own_model)
foreach(library ${WORK}/own_model/own_model.so ${WORK}/user/linked_model.so)
  execute_process(COMMAND ${prefix}/bin/sonde trace --allow-native ${library} OUTPUT_VARIABLE listing RESULT_VARIABLE status)
  string(CONCAT expected "Node x is from module\nNode hidden is from module hidden\nNode relu is from module relu\n"
    "Node out is from module out\nNode scale_factor is from module scale\nNode mul is from module scale\n"
    "Node output is from module None\n")
  if(NOT status EQUAL 0 OR NOT listing STREQUAL expected)
    message(FATAL_ERROR "trace of ${library} (${status}):\n${listing}\nexpected:\n${expected}")
  endif()
  run(${prefix}/bin/sonde check --allow-native ${library} ${example}/reference.npz)
  run(${prefix}/bin/sonde run --allow-native ${library} --input-data ${example}/reference.npz --watch hidden --watch out)
endforeach()
