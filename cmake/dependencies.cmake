# dependencies.cmake — looks for everything that PAT is built from. What is missing is named all at once, each with its
# Debian package and, where there is one, the switch that does without it. Must never ask for what the chosen parts do not
# need.
set(THREADS_PREFER_PTHREAD_FLAG ON)
set(pat_missing "")

# pat_need(FOUND WHAT PACKAGE [SWITCH]): one of the dependencies, after it was looked for.
function(pat_need found what package)
  if(NOT ${found})
    set(line "\n  ${what}: Debian package ${package}")
    if(ARGC GREATER 3)
      string(APPEND line "; ${ARGV3} does without it")
    endif()
    set(pat_missing "${pat_missing}${line}" PARENT_SCOPE)
  endif()
endfunction()

find_package(Threads)
pat_need(Threads_FOUND "POSIX threads" libc6-dev)
find_package(MPI COMPONENTS C)
pat_need(MPI_C_FOUND "MPI for C" "libopenmpi-dev (Open MPI) or libmpich-dev (MPICH)")
find_package(PkgConfig)
pat_need(PKG_CONFIG_FOUND "pkg-config, by which libraries are found" pkg-config)

# pat_library(PREFIX MODULE PACKAGE [SWITCH]): one that is found by pkg-config, as PkgConfig::<PREFIX>.
macro(pat_library prefix module package)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(${prefix} QUIET IMPORTED_TARGET ${module})
    pat_need(${prefix}_FOUND "the library ${module}" ${package} ${ARGN})
  endif()
endmacro()
pat_library(HWLOC hwloc libhwloc-dev)
pat_library(JANSSON jansson libjansson-dev)
if(PAT_BENCH)
  pat_library(GSL gsl libgsl-dev -DPAT_BENCH=OFF)
endif()
if(PAT_TESTS)
  pat_library(CMOCKA cmocka libcmocka-dev -DPAT_TESTS=OFF)
endif()

if(pat_missing)
  message(FATAL_ERROR "PAT cannot be built here. There is no${pat_missing}\n"
    "On Debian, bench/install-packages installs all of them.")
endif()
