/*
 * imbalance_run.h — what the measurements of pat-imbalance have in common.
 */
#ifndef IMBALANCE_RUN_H
#define IMBALANCE_RUN_H

#include "bench_clock.h"
#include "imbalance.h"
#include "pat.h"

/* Times of calls are on the clock of all ranks: where they are on one machine its own, else the one that the library keeps true. */
typedef struct imbalance_run {
    const imbalance_options *o;
    int rank, size;
    int same_machine;
    PAT_Counters before; /* what the library had run when it began */
    bench_buffers buffers;
    double message_ns; /* T of the bytes */
    bench_progress progress;
} imbalance_run;

void imbalance_begin(imbalance_run *run, const imbalance_options *o, double total_ms);
void imbalance_end(imbalance_run *run);

/* Buffers for so many bytes, and T. */
void imbalance_take_bytes(imbalance_run *run, int64_t bytes);

/* Of a block, as it really is: a whole number of words, one at least. */
static inline int64_t imbalance_bytes(const imbalance_run *run)
{
    return (int64_t)run->buffers.items * 4;
}

/* Rank 0 prints which algorithms have not run any call: the library has left these to the MPI library. */
void imbalance_tell_left(const imbalance_run *run);

/* From now on the library takes that algorithm. */
void imbalance_use(const char *alg);

/* ns[0]: when the call was made, ns[1]: when it was done. */
void imbalance_time(imbalance_run *run, const char *alg, double ns[2]);

typedef struct imbalance_times {
    double elapsed_ms; /* in the call, the mean over ranks */
    double past_ms;    /* from the last arrival to the last exit */
    double wif;        /* first to last arrival, in T */
} imbalance_times;

/* All ranks meet, wait for as long as each is late, and call; with new data, of which every byte is checked. */
imbalance_times imbalance_call(imbalance_run *run, const char *alg, double late_ns);

/* Of one algorithm, in each pattern or call. */
typedef struct imbalance_cell {
    double *elapsed, *past, *wif;
} imbalance_cell;

void imbalance_make_cells(const imbalance_options *o, imbalance_cell cells[], int num);
void imbalance_free_cells(const imbalance_options *o, imbalance_cell cells[]);

/* '<' and '>': x is less or more than by the first algorithm, beyond the interval of the difference. */
char imbalance_against(const double *x, const double *first, int num);

/* Where none was named. */
void imbalance_default_algs(imbalance_options *o);

#endif
