/*
 * model.h — predicts when the ranks return from a collective (their exit times) by walking the plans of all ranks, and says what
 * no algorithm can beat: the bound. Knows plans and arrival times; must never call MPI or read a clock.
 */
#ifndef PAT_MODEL_H
#define PAT_MODEL_H

#include "plan.h"

/* Each rank has one send port and one receive port; a message of n bytes keeps both for n*beta and is there
 * alpha later. */
typedef struct pat_cost {
    int64_t alpha_ns;
    int64_t beta_ps;     /* picoseconds per byte */
    int64_t eager_bytes; /* longer messages wait until the receive is posted; 0: all do (not so in pat_job) */
    int64_t gamma_ps;    /* picoseconds per byte that is reduced; a rank does one REDUCE at a time */
} pat_cost;

/*
 * Walk the plans of all ranks (plans[r] is rank r's) from the arrivals arrival_ns[r]. exit_ns[r] becomes the
 * time the rank returns. spans, when not NULL, holds for every rank r an array of plans[r].num_nodes entries
 * that receive each node's start and end. Returns 0, ENOMEM, or EDEADLK when the plans cannot finish.
 */
int pat_model_walk(const pat_plan *plans, int num_ranks, const int64_t *arrival_ns, const pat_cost *cost,
                   int64_t *exit_ns, pat_span *const *spans);

/*
 * Earliest exit time of every rank that any all-gather could reach: each rank must take (P-1) blocks through
 * one link, none before its owner has arrived. Of the link alpha_ns, its one-way latency, and beta_ps count. Returns 0, or
 * ENOMEM with exit_ns untouched.
 */
int pat_model_bound(int num_ranks, int64_t block_bytes, const int64_t *arrival_ns, const pat_cost *link,
                    int64_t *exit_ns);

/*
 * The same in two steps, for a caller that asks about several links: the times in ascending order, with room for as many
 * behind them, which the caller frees (NULL: no memory); and the exit times by position in that order, into `bound`.
 */
int64_t *pat_model_sorted(const int64_t *times, int num);
void pat_model_bound_sorted(int num_ranks, int64_t block_bytes, const int64_t *sorted, const pat_cost *link,
                            int64_t *bound);

/* The same of an all-reduce, but only the last rank's exit time: what pat_model_allreduce_bound gives in *last_ns. */
int64_t pat_model_allreduce_bound_sorted(int num_ranks, int64_t bytes, const int64_t *sorted,
                                         const pat_cost *link);

/*
 * As pat_model_bound, but of any all-reduce of so many bytes: exit_ns[r] is the earliest exit time of rank r, and *last_ns
 * that of the rank that returns last. docs/allreduce.md derives it. Returns 0 or ENOMEM.
 */
int pat_model_allreduce_bound(int num_ranks, int64_t bytes, const int64_t *arrival_ns, const pat_cost *link,
                              int64_t *exit_ns, int64_t *last_ns);

#endif
