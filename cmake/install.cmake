# install.cmake — what `cmake --install` puts where, so that other programs find the library by find_package(pat CONFIG)
# or pkg-config. Must never write an absolute path of the build machine into what it installs: the tree may be moved.

# In-tree users (add_subdirectory, FetchContent) get the same name as users of the installed package.
add_library(pat::pat ALIAS pat_shared)
set_target_properties(pat_shared PROPERTIES EXPORT_NAME pat)

# The static library carries the objects; only what it links against is left to its users.
set_target_properties(pat_static PROPERTIES INTERFACE_LINK_LIBRARIES
  "MPI::MPI_C;$<LINK_ONLY:PkgConfig::HWLOC>;$<LINK_ONLY:PkgConfig::JANSSON>;$<LINK_ONLY:Threads::Threads>;m")

# In C++ the header mpi.h of some MPI libraries drags in the bindings that MPI removed in 2012, and with them a library
# that C programs do not link.
foreach(target pat_shared pat_static)
  target_compile_definitions(${target} INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:OMPI_SKIP_MPICXX> $<$<COMPILE_LANGUAGE:CXX>:MPICH_SKIP_MPICXX>)
endforeach()

if(NOT PAT_INSTALL)
  return()
endif()

# With PAT_FLAVOUR=openmpi: libpat-openmpi.so, pat-openmpi.pc, cmake/pat-openmpi, pat-bench.openmpi, and what only our own
# programs open in pat/openmpi, below the libraries and the auxiliary programs. What is the same in all builds keeps its name.
set(PAT_PRIVATE_DIR pat)
set(PAT_DROPIN_DIR ${CMAKE_INSTALL_LIBDIR})
if(PAT_FLAVOUR)
  set(PAT_DASH_FLAVOUR -${PAT_FLAVOUR})
  set(PAT_DOT_FLAVOUR .${PAT_FLAVOUR})
  set(PAT_PRIVATE_DIR pat/${PAT_FLAVOUR})
  set(PAT_DROPIN_DIR ${CMAKE_INSTALL_LIBDIR}/pat/${PAT_FLAVOUR})
endif()

# Installed programs find the library beside them wherever the tree is moved to.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  message(FATAL_ERROR "CMAKE_INSTALL_LIBDIR and CMAKE_INSTALL_INCLUDEDIR must be relative to the prefix")
endif()
file(RELATIVE_PATH PAT_BIN_TO_LIB "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_LIBDIR}")
file(RELATIVE_PATH PAT_BIN_TO_DROPIN "/${CMAKE_INSTALL_BINDIR}" "/${PAT_DROPIN_DIR}")
set(CMAKE_INSTALL_RPATH "$ORIGIN/${PAT_BIN_TO_LIB}")

install(TARGETS pat_shared EXPORT pat-targets)
install(TARGETS pat_static EXPORT pat-static-targets)
install(FILES include/pat.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

get_filename_component(PAT_MPICC_NAME "${MPI_C_COMPILER}" NAME)
set(PAT_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/pat${PAT_DASH_FLAVOUR})
install(EXPORT pat-targets NAMESPACE pat:: DESTINATION ${PAT_CMAKE_DIR})
install(EXPORT pat-static-targets NAMESPACE pat:: DESTINATION ${PAT_CMAKE_DIR})
configure_package_config_file(cmake/pat-config.cmake.in pat-config.cmake INSTALL_DESTINATION ${PAT_CMAKE_DIR})
# Before 1.0 a new minor version may change the interface.
write_basic_package_version_file(pat-config-version.cmake COMPATIBILITY SameMinorVersion)
if(PAT_FLAVOUR) # find_package(pat) takes, of all builds that are installed, the one for the project's MPI library
  configure_file(cmake/pat-config-flavour.cmake.in pat-config-flavour.cmake @ONLY)
  file(READ ${CMAKE_CURRENT_BINARY_DIR}/pat-config-flavour.cmake flavour_check)
  file(APPEND ${CMAKE_CURRENT_BINARY_DIR}/pat-config-version.cmake "${flavour_check}")
endif()
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/pat-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/pat-config-version.cmake
  DESTINATION ${PAT_CMAKE_DIR})

# pkg-config users get MPI's flags where the MPI library that was found has a .pc file, which its headers tell; elsewhere
# they compile with mpicc, which knows them. Another MPI library's file would give programs two of them.
set(PAT_PC_REQUIRES "")
file(REAL_PATH "${MPI_C_HEADER_DIR}" mpi_headers)
foreach(module IN ITEMS ompi-c mpich mvapich2 mvapich impi)
  pkg_get_variable(module_headers ${module} includedir)
  pkg_check_modules(PAT_MPI_PC QUIET ${module})
  foreach(dir IN LISTS module_headers PAT_MPI_PC_INCLUDE_DIRS)
    file(REAL_PATH "${dir}" dir)
    if(PAT_MPI_PC_FOUND AND dir STREQUAL mpi_headers)
      set(PAT_PC_REQUIRES ${module})
    endif()
  endforeach()
  unset(PAT_MPI_PC_FOUND CACHE)
endforeach()
file(RELATIVE_PATH PAT_PC_TO_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(cmake/pat.pc.in pat.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/pat.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig RENAME pat${PAT_DASH_FLAVOUR}.pc)

# The drop-in and what preloads it.
install(TARGETS pat-mpi-dropin LIBRARY DESTINATION ${PAT_DROPIN_DIR})
if(PAT_FLAVOUR) # the preloaded file opens the library that lies beside it
  get_target_property(abi pat_shared SOVERSION)
  set(library libpat${PAT_DASH_FLAVOUR}.so.${abi})
  file(RELATIVE_PATH to_library "/${PAT_DROPIN_DIR}" "/${CMAKE_INSTALL_LIBDIR}/${library}")
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/installed)
  file(CREATE_LINK "${to_library}" ${CMAKE_CURRENT_BINARY_DIR}/installed/${library} SYMBOLIC)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/installed/${library} DESTINATION ${PAT_DROPIN_DIR})
endif()
configure_file(src/dropin/pat-run installed/pat-run @ONLY) # the version, and where the drop-in is
install(PROGRAMS ${CMAKE_CURRENT_BINARY_DIR}/installed/pat-run DESTINATION ${CMAKE_INSTALL_BINDIR} RENAME pat-run${PAT_DOT_FLAVOUR})
install(FILES docs/man/pat-run.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

install(FILES docs/man/pat.7 DESTINATION ${CMAKE_INSTALL_MANDIR}/man7)
install(DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/man/man3 DESTINATION ${CMAKE_INSTALL_MANDIR})
install(FILES README.md CHANGELOG.md CITATION.cff CONTRIBUTING.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN man EXCLUDE)
install(FILES bench/examples/two_requests.c bench/examples/jacobi.c bench/examples/threads.c DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)

# The tools are defined later, in bench/: asked for at the end of the configuration. The emulated cluster is a script
# with its parts in cluster/ beside it; pat-lab is a link to it.
function(pat_install_tools)
  if(TARGET pat-bench)
    if(PAT_FLAVOUR) # the name of the file alone: what a tool calls itself, and its page, are the same in all builds
      foreach(tool IN LISTS PAT_TOOLS)
        install(PROGRAMS $<TARGET_FILE:${tool}> DESTINATION ${CMAKE_INSTALL_BINDIR} RENAME ${tool}${PAT_DOT_FLAVOUR})
      endforeach()
    else()
      install(TARGETS ${PAT_TOOLS})
    endif()
    install(FILES ${PAT_TOOL_PAGES} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  endif()
  if(TARGET lab-stream)
    set(lab_dir ${CMAKE_INSTALL_LIBEXECDIR}/${PAT_PRIVATE_DIR})
    install(TARGETS lab-stream lab-yield DESTINATION ${lab_dir})
    configure_file(bench/lab installed/lab @ONLY)
    install(PROGRAMS ${CMAKE_CURRENT_BINARY_DIR}/installed/lab DESTINATION ${lab_dir})
    file(GLOB parts bench/cluster/lab_*.sh)
    install(PROGRAMS ${parts} DESTINATION ${lab_dir}/cluster)
    file(RELATIVE_PATH to_lab "/${CMAKE_INSTALL_BINDIR}" "/${lab_dir}/lab")
    file(CREATE_LINK "${to_lab}" ${CMAKE_CURRENT_BINARY_DIR}/pat-lab SYMBOLIC)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/pat-lab DESTINATION ${CMAKE_INSTALL_BINDIR} RENAME pat-lab${PAT_DOT_FLAVOUR})
    install(FILES docs/man/pat-lab.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  endif()
endfunction()
cmake_language(DEFER CALL pat_install_tools)
