/*
 * bench_recorded.h — the arrivals of a program that has left a trace (PAT_TRACE), call by call of one place, for those who have other ranks come as its ranks came.
 */
#ifndef BENCH_RECORDED_H
#define BENCH_RECORDED_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of one place the calls on one communicator, or on several of as many members. */
typedef struct bench_recorded {
    float *after_ns; /* of each call, of each of its ranks: how long after the first one it came */
    int ranks, num;  /* num: calls */
    bool has_root;   /* the rank that was the root is rank 0 here */
    double bytes, elapsed_ms, apart_ms; /* means; apart: from the first to the last arrival */
    char name[200], call[64];           /* the place as pat-report names it; what it calls: "MPI_Allgather" */
} bench_recorded;

/* Which arrivals are meant. */
typedef struct bench_recorded_wish {
    const char *dir, *place; /* place NULL: the one with most waiting */
    int ranks, most;         /* most: calls, at most */
    bool (*takes)(const char *call, int root,
                  const void *with); /* is a call of that function, with that root, of use? NULL: any is */
    const void *with;
    const char *what; /* what `takes` has been asked to look for, for messages; NULL: nothing in particular */
} bench_recorded_wish;

/* On one rank. False, with a text in `why`, where the trace has no such calls; then there is nothing to free. */
bool bench_recorded_read(bench_recorded *r, const bench_recorded_wish *wish, char *why, size_t why_size);

/* Collective: what rank 0 has read, on all ranks. */
void bench_recorded_share(bench_recorded *r, MPI_Comm comm);

void bench_recorded_free(bench_recorded *r);

static inline double bench_recorded_late_ns(const bench_recorded *r, int call, int rank)
{
    return (double)r->after_ns[(size_t)call * (size_t)r->ranks + (size_t)rank];
}

#endif
