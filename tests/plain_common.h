/*
 * plain_common.h — what the random programs share that know nothing of this library: numbers that are the same on all ranks or this rank's own, and an end where
 * MPI reports an error.
 */
#ifndef PAT_TESTS_PLAIN_COMMON_H
#define PAT_TESTS_PLAIN_COMMON_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct group {
    MPI_Comm comm;
    int rank, size;
} group;

static inline group group_of(MPI_Comm comm)
{
    group g = {.comm = comm};
    MPI_Comm_rank(comm, &g.rank);
    MPI_Comm_size(comm, &g.size);
    return g;
}

static inline uint32_t next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

static inline void must(int rc, const char *what)
{
    if (rc != MPI_SUCCESS) {
        fprintf(stderr, "%s returned %d\n", what, rc);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static inline void sometimes_sleep(uint64_t *own)
{
    const uint32_t dice = next(own) % 40;
    if (dice < 4)
        nanosleep(&(struct timespec){.tv_nsec = (long)dice * 700000}, NULL);
}

enum { BEHIND = 4, SPOILT = -77777 }; /* so many elements behind a result must stay as they are */

/* Room for so many elements, and for those behind them, all spoilt; to be freed. */
static inline int *numbers(int count)
{
    int *n = malloc(((size_t)count + BEHIND) * sizeof(*n));
    if (!n)
        MPI_Abort(MPI_COMM_WORLD, 3);
    for (int i = 0; i < count + BEHIND; i++)
        n[i] = SPOILT;
    return n;
}

/* Element i of what a rank gives in the call with this key. */
static inline uint32_t drawn_of(uint32_t key, int rank, int i)
{
    const uint32_t h = key * 2654435761u ^ (uint32_t)rank * 40503u ^ (uint32_t)i * 2246822519u;
    return h >> 13 ^ h >> 3;
}

#endif
