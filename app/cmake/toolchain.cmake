# Compiler and linker settings shared by every target: warnings, sanitizers, ccache, a fast linker where there is one.

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

find_program(SONDE_CCACHE ccache)
if(SONDE_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${SONDE_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${SONDE_CCACHE})
endif()

find_program(SONDE_MOLD mold)
if(SONDE_MOLD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_link_options(-fuse-ld=mold)
endif()

add_library(sonde-flags INTERFACE)
target_compile_options(sonde-flags INTERFACE -Wall -Wextra -Wno-missing-field-initializers -fno-math-errno -ffp-contract=off)
if(SONDE_WERROR)
  target_compile_options(sonde-flags INTERFACE -Werror)
endif()
target_include_directories(sonde-flags INTERFACE ${PROJECT_SOURCE_DIR})

if(SONDE_SANITIZE)
  add_compile_options(-fsanitize=${SONDE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=${SONDE_SANITIZE})
endif()

# What programs allocate with; tests keep the system's allocator, which can be asked what lives. A graph is millions of small
# strings and vectors, made on one thread and freed on another: to open one of 100,000 nodes takes 40 % less time than
# with glibc's malloc. Sanitizers bring an allocator of their own.
add_library(sonde-allocator INTERFACE)
if(NOT SONDE_SANITIZE)
  find_package(mimalloc 2.0 REQUIRED)
  target_link_libraries(sonde-allocator INTERFACE mimalloc)
  target_sources(sonde-allocator INTERFACE ${PROJECT_SOURCE_DIR}/app/allocator/operator_new.cpp)
endif()

# GCC 12 takes moved-from contents of std::variant and std::function for uninitialised when it inlines much (GCC bug
# 105562 and its like): with sanitizers, and in release builds.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND (SONDE_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Release"))
  add_compile_options(-Wno-maybe-uninitialized)
endif()

if(SONDE_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "SONDE_FUZZ needs clang: configure with --preset fuzz (Debian: clang-14 libclang-rt-14-dev)")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# For sources whose speed hardly matters: a quarter less time to compile than -O2, whose inlining stays. Code calls many small
# functions in each of its steps.
set(SONDE_SHORT_BUILD_OPTIONS "")
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(SONDE_SHORT_BUILD_OPTIONS -O1)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(APPEND SONDE_SHORT_BUILD_OPTIONS -fstrict-aliasing -finline-small-functions -findirect-inlining -fpartial-inlining
      -fdevirtualize -foptimize-sibling-calls)
  endif()
endif()
