/*
 * collectives.c — the public collectives, PAT_Allgather and so on, one for each TAKE of faces.h; include/pat.h says what they do. How they
 * are run is decided in calls.c.
 */
#include "calls.h"
#include "pat.h"

#define TAKE(name, lower, upper, op, kind, parameters, arguments, bytes)                                     \
    int PAT_##name parameters                                                                                \
    {                                                                                                        \
        const pat_args args = {LIST arguments};                                                              \
        return pat_calls_run(&pat_face_##lower, &args, (pat_any *)PMPI_##name, __builtin_return_address(0),  \
                             NULL);                                                                          \
    }
#define ARGUMENT(x) .x = x
#include "faces_c.h"
#include "faces.h"
