# Unity builds: the sources of a folder are compiled together, some at a time, so that what they include is read once for
# several of them. A build from nothing takes about half the time; a changed file takes its neighbours along, therefore
# the dev preset does without. Names in unnamed namespaces have to differ within a folder, but for files that are left out
# by SKIP_UNITY_BUILD_INCLUSION.

option(SONDE_UNITY "Compile the sources of a folder together, some at a time" OFF)

# Groups the sources of `target` by folder, up to 60 KB each: more is no faster, and the last one is waited for.
function(sonde_unity target)
  if(NOT SONDE_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "^/.*\\.cpp$")
  list(SORT sources)
  set(folder "")
  set(number 0)
  set(bytes 0)
  foreach(source IN LISTS sources)
    get_filename_component(own ${source} DIRECTORY)
    file(SIZE ${source} size)
    math(EXPR together "${bytes} + ${size}")
    if(NOT own STREQUAL folder OR together GREATER 60000)
      math(EXPR number "${number} + 1")
      set(folder ${own})
      set(together ${size})
    endif()
    set(bytes ${together})
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${own})
    string(REPLACE "/" "_" name "${name}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP "${name}_${number}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # GCC takes what a unity file includes for headers, and warns of types in their unnamed namespaces.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()
