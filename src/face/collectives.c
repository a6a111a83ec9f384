/*
 * collectives.c — the public collectives, PAT_Allgather, PAT_Iallgather and so on, two for each TAKE of faces.h; include/pat.h says what they do. How they
 * are run is decided in calls.c and starts.c.
 */
#include "calls.h"
#include "pat.h"
#include "starts.h"

#define TAKE(name, lower, upper, op, kind, parameters, arguments, bytes)                                     \
    int PAT_##name parameters                                                                                \
    {                                                                                                        \
        const pat_args args = {LIST arguments};                                                              \
        return pat_calls_run(&pat_face_##lower, &args, (pat_any *)PMPI_##name, __builtin_return_address(0),  \
                             NULL);                                                                          \
    }
#define START(lower, upper, parameters, arguments, bytes)                                                    \
    int PAT_I##lower(LIST parameters, MPI_Request *request)                                                  \
    {                                                                                                        \
        const pat_args args = {LIST arguments};                                                              \
        return pat_starts_run(&pat_face_##lower, &args, (pat_any *)PMPI_I##lower, request, false, NULL);     \
    }
#define ARGUMENT(x) .x = x
#include "faces_c.h"
#include "faces.h"
