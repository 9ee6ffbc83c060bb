# The hot loops are built once per instruction set, each in a namespace of its own (SONDE_ISA), and chosen at run time.
# They see no inline functions of others: the linker keeps one copy of such a function, and it could be the one built
# for a newer processor than the one that runs.

file(GLOB SONDE_ISA_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/ops/kernels/isa/*.cpp)

# In products and weighted sums a multiplication and an addition may be fused. (As a property of the file, because it has
# to come behind the -ffp-contract=off that everything else is built with.)
set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/ops/kernels/isa/depthwise.cpp ${CMAKE_CURRENT_SOURCE_DIR}/ops/kernels/isa/gemm.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/ops/kernels/isa/rows.cpp ${CMAKE_CURRENT_SOURCE_DIR}/ops/kernels/isa/winograd.cpp
  PROPERTIES COMPILE_OPTIONS -ffp-contract=fast)

# Renames Eigen for itself alone.
set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/ops/kernels/isa/eigen_product.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

function(sonde_add_isa name)
  add_library(sonde-isa-${name} OBJECT ${SONDE_ISA_SOURCES})
  target_link_libraries(sonde-isa-${name} PRIVATE sonde-flags Eigen3::Eigen)
  # Always optimised: a debug build that takes a minute a picture helps nobody.
  set(options -O3 -fno-trapping-math -fno-sanitize=all ${ARGN})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC bug 105593: its own AVX-512 intrinsics read vectors that they leave undefined on purpose.
    list(APPEND options -Wno-maybe-uninitialized)
  endif()
  target_compile_options(sonde-isa-${name} PRIVATE ${options})
  # For the benchmark of Eigen on the same instruction sets.
  set_property(GLOBAL APPEND PROPERTY SONDE_ISAS ${name})
  set_property(GLOBAL PROPERTY SONDE_ISA_OPTIONS_${name} "${options}")
  target_compile_definitions(sonde-isa-${name} PRIVATE SONDE_ISA=${name} SONDE_ISA_EIGEN=Eigen_${name})
  target_sources(sonde-core PRIVATE $<TARGET_OBJECTS:sonde-isa-${name}>)
endfunction()

sonde_add_isa(baseline)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  sonde_add_isa(avx2 -mavx2 -mfma -mf16c)
  sonde_add_isa(avx512 -march=x86-64-v4 -mprefer-vector-width=512)
  target_compile_definitions(sonde-core-engine PRIVATE SONDE_X86_KERNELS=1)
endif()
