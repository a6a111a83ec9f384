/*
 * waits.c — see waits.h.
 */
#include "waits.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum pat_waits pat_waits_of(const char *call)
{
    static const struct {
        const char *call;
        enum pat_waits waits;
    } known[] = {{"MPI_Allgather", PAT_WAITS_FOR_ALL},
                 {"MPI_Allgatherv", PAT_WAITS_FOR_ALL},
                 {"MPI_Allreduce", PAT_WAITS_FOR_ALL},
                 {"MPI_Alltoall", PAT_WAITS_FOR_ALL},
                 {"MPI_Alltoallv", PAT_WAITS_FOR_ALL},
                 {"MPI_Alltoallw", PAT_WAITS_FOR_ALL},
                 {"MPI_Barrier", PAT_WAITS_FOR_ALL},
                 {"MPI_Reduce_scatter", PAT_WAITS_FOR_ALL},
                 {"MPI_Reduce_scatter_block", PAT_WAITS_FOR_ALL},
                 {"MPI_Bcast", PAT_WAITS_FOR_ROOT},
                 {"MPI_Scatter", PAT_WAITS_FOR_ROOT},
                 {"MPI_Scatterv", PAT_WAITS_FOR_ROOT},
                 {"MPI_Gather", PAT_WAITS_AT_ROOT},
                 {"MPI_Gatherv", PAT_WAITS_AT_ROOT},
                 {"MPI_Reduce", PAT_WAITS_AT_ROOT}};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        const size_t length = strlen(known[i].call);
        if (strncmp(call, known[i].call, length) == 0 &&
            (call[length] == '\0' || strcmp(call + length, "_c") == 0))
            return known[i].waits;
    }
    return PAT_WAITS_NOT_KNOWN;
}

/* How long the name is without its end; 0 where it does not end so. */
static size_t length_before(const char *call, const char *end)
{
    const size_t length = strlen(call), more = strlen(end);
    return length > more && strcmp(call + length - more, end) == 0 ? length - more : 0;
}

static const char PERSISTENT[] = "_init";

bool pat_waits_begins(const char *call)
{
    return strncmp(call, "MPI_I", 5) == 0 || length_before(call, PERSISTENT) > 0;
}

enum pat_waits pat_waits_of_end(const char *call)
{
    char blocking[40];
    if (!pat_waits_begins(call))
        return PAT_WAITS_NOT_KNOWN;
    const size_t length = length_before(call, PERSISTENT);
    if (length > 0)
        snprintf(blocking, sizeof(blocking), "%.*s", (int)length, call);
    else
        snprintf(blocking, sizeof(blocking), "MPI_%c%s", toupper((unsigned char)call[5]),
                 call[5] ? call + 6 : "");
    return pat_waits_of(blocking);
}

bool pat_waits_moves_nothing(const char *call)
{
    return strcmp(call, "MPI_Barrier") == 0 || strcmp(call, "MPI_Ibarrier") == 0 ||
           strcmp(call, "MPI_Barrier_init") == 0;
}

/* By so much clocks may differ. */
static const int64_t CLOCKS_NS = 1000000;

int64_t pat_waits_ns(enum pat_waits waits, const pat_came *came, int64_t time_ns, int *late)
{
    int64_t needed_ns = came->own_ns;
    *late = -1;
    if (waits == PAT_WAITS_NOT_KNOWN || (waits != PAT_WAITS_FOR_ALL && came->root < 0))
        return -1;
    if (waits == PAT_WAITS_FOR_ALL && came->first_end_ns < came->last_ns - CLOCKS_NS)
        return -1;
    if (waits == PAT_WAITS_FOR_ROOT) {
        needed_ns = came->root_ns;
        *late = came->root;
    } else if (waits == PAT_WAITS_FOR_ALL || came->root == came->own) {
        needed_ns = came->last_ns;
        *late = came->last;
    }
    const int64_t wait_ns = needed_ns - came->own_ns;
    if (wait_ns <= 0) {
        *late = -1;
        return 0;
    }
    return wait_ns < time_ns ? wait_ns : time_ns;
}
