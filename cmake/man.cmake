# man.cmake — the manual. Section 1 of the compiled tools comes from their --help by help2man, with what docs/man/<tool>.h2m
# adds; section 3 from include/pat.h. The pages of scripts (pat-run, pat-lab) and pat(7) are written by hand, and
# tests/tool_man.sh and tests/tool_settings.sh hold them against what the programs say.
set(man_dir ${CMAKE_CURRENT_BINARY_DIR}/man)

# Section 3: made when CMake runs, since the header says which pages there are.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS include/pat.h docs/man/functions.awk)
file(REMOVE_RECURSE ${man_dir}/man3)
file(MAKE_DIRECTORY ${man_dir}/man3 ${man_dir}/man1)
execute_process(
  COMMAND awk -v out=${man_dir}/man3 -v version=${PROJECT_VERSION} -f ${CMAKE_CURRENT_SOURCE_DIR}/docs/man/functions.awk
    ${CMAKE_CURRENT_SOURCE_DIR}/include/pat.h
  RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "the manual's section 3 could not be made from include/pat.h by awk: ${failed}")
endif()

# Section 1: the tools must run to tell what they are.
set(PAT_TOOLS pat-bench pat-calibrate pat-model pat-info pat-overhead pat-imbalance pat-guidelines pat-plan-cost pat-dropin-cost pat-report pat-taulop)
set(PAT_TOOL_PAGES "")
find_program(PAT_HELP2MAN help2man DOC "makes the tools' manual pages; Debian package help2man")
if(PAT_BENCH AND PAT_HELP2MAN AND NOT CMAKE_CROSSCOMPILING AND NOT PAT_SANITIZE)
  foreach(tool IN LISTS PAT_TOOLS)
    set(page ${man_dir}/man1/${tool}.1)
    set(more ${CMAKE_CURRENT_SOURCE_DIR}/docs/man/${tool}.h2m)
    add_custom_command(OUTPUT ${page}
      COMMAND ${PAT_HELP2MAN} --no-info --section=1 "--source=PAT ${PROJECT_VERSION}"
        "--manual=Arrival-aware collectives" --include=${more} --output=${page} $<TARGET_FILE:${tool}>
      DEPENDS ${tool} ${more} VERBATIM)
    list(APPEND PAT_TOOL_PAGES ${page})
  endforeach()
  add_custom_target(pat-man ALL DEPENDS ${PAT_TOOL_PAGES})
elseif(PAT_BENCH AND NOT PAT_HELP2MAN)
  message(STATUS "No help2man (Debian package help2man): the tools are built without their manual pages")
endif()
