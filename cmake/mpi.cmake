# mpi.cmake — what has to be known of the MPI library that was found: its family, the name by which programs load it, and
# whether it has the calls of MPI 4. Must never run a program: a cluster's login node may not be able to.
include(CheckSymbolExists)
include(CMakePushCheckState)
cmake_push_check_state(RESET)
set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_C)
check_symbol_exists(OMPI_MAJOR_VERSION mpi.h PAT_MPI_IS_OPEN)
check_symbol_exists(MPI_Allgather_c mpi.h PAT_MPI_HAS_LARGE)
# Persistent collectives: 1, as MPI 4 names them; 2, as Open MPI 4 does.
check_symbol_exists(MPI_Allgather_init mpi.h PAT_MPI_HAS_INIT)
check_symbol_exists(MPIX_Allgather_init "mpi.h;mpi-ext.h" PAT_MPI_HAS_X_INIT)
set(PAT_MPI_HAS_PERSISTENT 0)
if(PAT_MPI_HAS_INIT)
  set(PAT_MPI_HAS_PERSISTENT 1)
elseif(PAT_MPI_HAS_X_INIT)
  set(PAT_MPI_HAS_PERSISTENT 2)
endif()
cmake_pop_check_state()

# The preloaded file compares this with the program's. Compiler wrappers may link more than CMake knows of, so a program is
# asked that was linked.
if(NOT DEFINED PAT_MPI_LIBRARY)
  set(PAT_MPI_LIBRARY "")
  file(WRITE ${CMAKE_BINARY_DIR}/CMakeFiles/pat_mpi.c "#include <mpi.h>\nint main(void) { return MPI_Init(0, 0); }\n")
  try_compile(pat_mpi_links ${CMAKE_BINARY_DIR} ${CMAKE_BINARY_DIR}/CMakeFiles/pat_mpi.c
    LINK_LIBRARIES MPI::MPI_C COPY_FILE ${CMAKE_BINARY_DIR}/CMakeFiles/pat_mpi)
  if(pat_mpi_links AND CMAKE_READELF)
    execute_process(COMMAND ${CMAKE_READELF} -d ${CMAKE_BINARY_DIR}/CMakeFiles/pat_mpi OUTPUT_VARIABLE needed ERROR_QUIET)
    if(needed MATCHES "NEEDED[^\n]*\\[(libmpi[^]\n]*)\\]")
      set(PAT_MPI_LIBRARY "${CMAKE_MATCH_1}")
    endif()
  endif()
  set(PAT_MPI_LIBRARY "${PAT_MPI_LIBRARY}" CACHE STRING "name (SONAME) of the MPI library that the drop-in is for")
  if(PAT_MPI_LIBRARY STREQUAL "")
    message(WARNING "The name of the MPI library was not found; without -DPAT_MPI_LIBRARY=NAME the drop-in steps aside from every program.")
  endif()
endif()
message(STATUS "MPI library of the drop-in: ${PAT_MPI_LIBRARY}")

# Its launcher, for tests: named like its compiler (mpicc.mpich, mpirun.mpich), or as CMake has found it.
if(NOT DEFINED PAT_MPIRUN)
  string(REGEX REPLACE "mpi[a-z]*cc([^/]*)$" "mpirun\\1" PAT_MPIRUN "${MPI_C_COMPILER}")
  find_program(PAT_MPIRUN_FOUND NAMES "${PAT_MPIRUN}" NO_CACHE)
  if(NOT PAT_MPIRUN_FOUND OR PAT_MPIRUN STREQUAL MPI_C_COMPILER)
    set(PAT_MPIRUN_FOUND ${MPIEXEC_EXECUTABLE})
  endif()
  set(PAT_MPIRUN ${PAT_MPIRUN_FOUND} CACHE FILEPATH "mpirun of the MPI library, for tests")
endif()

# The constants of MPICH are small numbers made addresses, MPI_STATUSES_IGNORE is 1: gcc takes them for mistakes unless told
# that something may lie there.
include(CheckCCompilerFlag)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND NOT PAT_MPI_IS_OPEN)
  check_c_compiler_flag(--param=min-pagesize=0 PAT_HAS_MIN_PAGESIZE)
  if(PAT_HAS_MIN_PAGESIZE)
    add_compile_options($<$<COMPILE_LANGUAGE:C>:--param=min-pagesize=0>)
  endif()
endif()
