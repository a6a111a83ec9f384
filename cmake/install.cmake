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

# Installed programs find the library beside them wherever the tree is moved to.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  message(FATAL_ERROR "CMAKE_INSTALL_LIBDIR and CMAKE_INSTALL_INCLUDEDIR must be relative to the prefix")
endif()
file(RELATIVE_PATH PAT_BIN_TO_LIB "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_LIBDIR}")
set(CMAKE_INSTALL_RPATH "$ORIGIN/${PAT_BIN_TO_LIB}")

install(TARGETS pat_shared EXPORT pat-targets)
install(TARGETS pat_static EXPORT pat-static-targets)
install(FILES include/pat.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

get_filename_component(PAT_MPICC_NAME "${MPI_C_COMPILER}" NAME)
set(PAT_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/pat)
install(EXPORT pat-targets NAMESPACE pat:: DESTINATION ${PAT_CMAKE_DIR})
install(EXPORT pat-static-targets NAMESPACE pat:: DESTINATION ${PAT_CMAKE_DIR})
configure_package_config_file(cmake/pat-config.cmake.in pat-config.cmake INSTALL_DESTINATION ${PAT_CMAKE_DIR})
# Before 1.0 a new minor version may change the interface.
write_basic_package_version_file(pat-config-version.cmake COMPATIBILITY SameMinorVersion)
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
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/pat.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The drop-in and what preloads it.
install(TARGETS pat-mpi-dropin LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
configure_file(src/dropin/pat-run installed/pat-run @ONLY) # the version
install(PROGRAMS ${CMAKE_CURRENT_BINARY_DIR}/installed/pat-run DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES docs/man/pat-run.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

install(FILES docs/man/pat.7 DESTINATION ${CMAKE_INSTALL_MANDIR}/man7)
install(DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/man/man3 DESTINATION ${CMAKE_INSTALL_MANDIR})
install(FILES README.md CONTRIBUTING.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN man EXCLUDE)
install(FILES bench/examples/two_requests.c bench/examples/jacobi.c DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)

# The tools are defined later, in bench/: asked for at the end of the configuration. The emulated cluster is a script
# with its parts beside it; pat-lab is a link to it.
function(pat_install_tools)
  if(TARGET pat-bench)
    install(TARGETS ${PAT_TOOLS})
    install(FILES ${PAT_TOOL_PAGES} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  endif()
  if(TARGET lab-stream)
    set(lab_dir ${CMAKE_INSTALL_LIBEXECDIR}/pat)
    install(TARGETS lab-stream DESTINATION ${lab_dir})
    configure_file(bench/lab installed/lab @ONLY)
    install(PROGRAMS ${CMAKE_CURRENT_BINARY_DIR}/installed/lab DESTINATION ${lab_dir})
    file(GLOB parts bench/lab_*.sh)
    install(PROGRAMS ${parts} DESTINATION ${lab_dir})
    file(RELATIVE_PATH to_lab "/${CMAKE_INSTALL_BINDIR}" "/${lab_dir}/lab")
    file(CREATE_LINK "${to_lab}" ${CMAKE_CURRENT_BINARY_DIR}/pat-lab SYMBOLIC)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/pat-lab DESTINATION ${CMAKE_INSTALL_BINDIR})
    install(FILES docs/man/pat-lab.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  endif()
endfunction()
cmake_language(DEFER CALL pat_install_tools)
