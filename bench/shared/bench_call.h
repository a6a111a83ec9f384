/*
 * bench_call.h — a call of any collective with data of which every byte is checked: what measurements of collectives have in common.
 */
#ifndef BENCH_CALL_H
#define BENCH_CALL_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "algorithms.h"

/* A call: of a collective, with one length for all blocks or with lists; or a barrier, of which there is no result. */
typedef struct bench_form {
    const char *name;
    enum pat_op op;
    bool lists, is_barrier;
} bench_form;

/* NULL: there is none of that name. bench_form_names says which there are; number i is NULL after the last. */
const bench_form *bench_form_find(const char *name);
const bench_form *bench_form_number(int i);
extern const char bench_form_names[];

typedef struct bench_buffers {
    uint32_t *out, *in;
    int *counts, *places;   /* of each rank's block, for calls that take lists */
    int items, ranks, rank; /* items: 4 bytes each, of a rank's block or of the whole message */
    MPI_Comm comm;          /* MPI_COMM_WORLD, or what the caller sets: one like it */
    uint32_t calls;         /* makes the data of each new */
    bool floats; /* they are floating-point numbers, small and whole, so that sums are exact in any order */
    bool as_program; /* calls by PAT are MPI_ ones, which the drop-in takes, and those by MPI go past it */
} bench_buffers;

/* For all ranks of MPI_COMM_WORLD; without memory the job ends. */
void bench_buffers_make(bench_buffers *b, int bytes);
void bench_buffers_free(bench_buffers *b);

/* New data for the next call. */
void bench_call_fill(bench_buffers *b, const bench_form *f);

/* By the library, as PAT_UseAlg has set it, or by MPI. An error ends the job. */
MPI_Request bench_call_start(const bench_buffers *b, const bench_form *f, bool by_pat);
void bench_call_run(const bench_buffers *b, const bench_form *f, bool by_pat);

/* A wrong byte ends the job. */
void bench_call_check(const bench_buffers *b, const bench_form *f);

#endif
