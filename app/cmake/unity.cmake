# Unity builds: the sources of a folder are compiled together, some at a time, so that what they include is read once for
# several of them. A build from nothing takes about half the time; a changed file takes its neighbours along, therefore
# the dev preset does without. Names in unnamed namespaces have to differ within a folder, but for files that are left out
# by SKIP_UNITY_BUILD_INCLUSION.

option(SONDE_UNITY "Compile the sources of a folder together, some at a time" OFF)

# Groups the sources of `target`, those of a folder together up to 240 KB, those of small neighbouring folders up to 120 KB.
# What a batch includes is then read once for a dozen files; two cores are busy to the end all the same.
function(sonde_unity target)
  if(NOT SONDE_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "^/.*\\.cpp$")
  list(TRANSFORM sources REPLACE "/([^/]+)$" "|\\1")
  list(SORT sources)  # those of a folder one after the other, not divided by its subfolders
  list(TRANSFORM sources REPLACE "[|]" "/")
  set(folder "")
  set(number 0)
  set(bytes 0)
  foreach(source IN LISTS sources)
    get_source_file_property(alone ${source} SKIP_UNITY_BUILD_INCLUSION)
    if(alone)
      continue()
    endif()
    get_filename_component(own ${source} DIRECTORY)
    file(SIZE ${source} size)
    math(EXPR bytes "${bytes} + ${size}")
    set(most 240000)
    if(NOT own STREQUAL folder)
      set(most 120000)
    endif()
    if(folder STREQUAL "" OR bytes GREATER most)
      math(EXPR number "${number} + 1")
      set(bytes ${size})
      file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${own})
      string(REPLACE "/" "_" name "${name}")
    endif()
    set(folder ${own})
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP "${name}_${number}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # GCC takes what a unity file includes for headers, and warns of types in their unnamed namespaces.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # With its usual settings it spends a fifteenth of the time of a large batch on collecting its own garbage.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage --param=ggc-min-heapsize=524288)
  endif()
endfunction()
