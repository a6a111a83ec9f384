/*
 * gate_fortran.c — the names that programs in Fortran call: see gate.h. Those of mpif.h and `use mpi` as compilers spell them,
 * and those of `use mpi_f08`, where a name ends in f08ts if buffers come with descriptors. All arguments are addresses.
 */
#include "gate.h"

#define SPELLED(called_as, way, name, before, parameters, arguments)                                         \
    PAT_GATE(called_as, way, PAT_CALL_##name, before, (LIST parameters), (LIST arguments),                   \
             (pat_gate_any *, const void *, LIST parameters), (next, site, LIST arguments))
#define SPELLINGS(name, lower, upper, before, parameters, arguments)                                         \
    SPELLED(mpi_##lower##_, PAT_WAY_FORTRAN, name, before, parameters, arguments)                            \
    SPELLED(mpi_##lower, PAT_WAY_FORTRAN, name, before, parameters, arguments)                               \
    SPELLED(mpi_##lower##__, PAT_WAY_FORTRAN, name, before, parameters, arguments)                           \
    SPELLED(MPI_##upper, PAT_WAY_FORTRAN, name, before, parameters, arguments)                               \
    SPELLED(mpi_##lower##_f08_, PAT_WAY_FORTRAN, name, before, parameters, arguments)
#define CALL(name, lower, upper, parameters, arguments)                                                      \
    SPELLINGS(name, lower, upper, , (LIST parameters, word ierror), (LIST arguments, ierror))                \
    SPELLED(mpi_##lower##_f08ts_, PAT_WAY_DESCRIBED, name, , (LIST parameters, word ierror),                 \
            (LIST arguments, ierror))

#define PASS(name, lower, upper, parameters, arguments, bytes) CALL(name, lower, upper, parameters, arguments)
#include "gate_words.h"
#include "faces.h"
#define MESSAGE(name, lower, upper, parameters, arguments, bytes)                                            \
    CALL(name, lower, upper, parameters, arguments)
#include "gate_words.h"
#include "faces_messages.h"

#if PAT_MPI_HAS_PERSISTENT
#define MAKES(called_as, way, name, parameters, arguments)                                                   \
    SPELLED(called_as, way, name##_init, , (LIST parameters, word info, word request, word ierror),          \
            (LIST arguments, info, request, ierror))
#define PASS_KEPT(name, lower, upper, parameters, arguments, bytes)                                          \
    MAKES(PAT_KEPT_LOWER(lower##_init_), PAT_WAY_FORTRAN, name, parameters, arguments)                       \
    MAKES(PAT_KEPT_LOWER(lower##_init), PAT_WAY_FORTRAN, name, parameters, arguments)                        \
    MAKES(PAT_KEPT_LOWER(lower##_init__), PAT_WAY_FORTRAN, name, parameters, arguments)                      \
    MAKES(PAT_KEPT_UPPER(upper##_INIT), PAT_WAY_FORTRAN, name, parameters, arguments)                        \
    MAKES(PAT_KEPT_LOWER(lower##_init_f08_), PAT_WAY_FORTRAN, name, parameters, arguments)                   \
    MAKES(PAT_KEPT_LOWER(lower##_init_f08ts_), PAT_WAY_DESCRIBED, name, parameters, arguments)
#include "gate_words.h"
#include "faces.h"
#endif

SPELLINGS(Init, init, INIT, pat_gate_open(site), (word ierror), (ierror))
SPELLINGS(Init_thread, init_thread, INIT_THREAD, pat_gate_open(site),
          (word required, word provided, word ierror), (required, provided, ierror))
SPELLINGS(Finalize, finalize, FINALIZE, , (word ierror), (ierror))
SPELLINGS(Pcontrol, pcontrol, PCONTROL, , (word level), (level))
