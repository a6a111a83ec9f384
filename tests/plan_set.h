/*
 * plan_set.h — for the unit tests: jobs with random arrival patterns, and the plans of all ranks for them.
 * The same seed gives the same jobs everywhere.
 */
#ifndef PAT_TESTS_PLAN_SET_H
#define PAT_TESTS_PLAN_SET_H

#include <stdio.h>
#include <stdlib.h>
#include "algorithms.h"

/* Under a sanitizer everything takes many times as long: tests that try at random try less. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SLOW_BUILD
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SLOW_BUILD
#endif
#endif

enum { MAX_RANKS = 64 };

static inline uint64_t random_bits(uint64_t *state)
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* 0 <= result < limit */
static inline int64_t random_below(uint64_t *state, int64_t limit)
{
    return (int64_t)(random_bits(state) % (uint64_t)limit);
}

static inline void random_arrivals(uint64_t *state, int number, int num_ranks, int64_t tau_ns,
                                   int64_t *arrival_ns)
{
    int64_t omega = random_below(state, 4 * num_ranks * tau_ns + 1); /* imbalance factor 0 to 4P */
    int64_t base = random_below(state, INT64_C(1) << 50) - (INT64_C(1) << 49);
    int late = (int)random_below(state, num_ranks);
    for (int r = 0; r < num_ranks; r++) {
        int64_t a = 0;
        switch (number % 9) {
        case 0: /* uniform */
        case 1:
            a = random_below(state, omega + 1);
            break;
        case 2: /* balanced */
            a = random_below(state, tau_ns);
            break;
        case 3: /* one late */
            a = r == late ? omega : 0;
            break;
        case 4: /* ascending */
            a = omega / num_ranks * r;
            break;
        case 5: /* descending */
            a = omega / num_ranks * (num_ranks - r);
            break;
        case 6: /* few different values */
            a = random_below(state, 3) * (omega / 2);
            break;
        case 7: /* all equal */
            break;
        case 8: /* far beyond any block's time */
            a = random_below(state, INT64_C(1) << 60);
            break;
        }
        arrival_ns[r] = base + a;
    }
}

/* A job for `num_ranks` ranks; `number` chooses the kind of pattern and the block's size. */
static inline pat_job random_job(uint64_t *state, int number, int num_ranks, int64_t *arrival_ns)
{
    /* Around the short part of gather_bsls (64), a segment (4 to 64 KiB), one block a segment and several. */
    static const int64_t sizes[] = {1, 64, 65, 1000, 4096, 30000, 65536, 100000, 1 << 20};
    static const int64_t betas[] = {8000, 80000, 800};
    pat_job job = {.num_ranks = num_ranks, .arrival_ns = arrival_ns};
    job.block_bytes = sizes[(number + number / 9) % 9]; /* 9 numbers: every kind, every size; 81: all pairs */
    job.beta_ps = betas[random_below(state, 3)];
    job.alpha_ns = 1000 + random_below(state, 100000);
    job.piece_ns = job.alpha_ns / 4;
    job.packet_bytes = number % 2 ? 1448 : 0;
    job.together = number / 9 % 2;
    job.segment_bytes = number % 5 ? job.block_bytes / (number % 5 * 2) + number % 2 : 0;
    job.element_bytes = job.block_bytes % 8 == 0 ? 8 : 1;
    job.tau_ns = number % 9 == 8 ? 1 : job.alpha_ns + job.block_bytes * job.beta_ps / 1000;
    random_arrivals(state, number, num_ranks, job.tau_ns, arrival_ns);
    return job;
}

/* Ranks in some order of a ring, in every other job: `order` takes num_ranks. */
static inline void random_order(uint64_t *state, int number, pat_job *job, int *order)
{
    for (int r = 0; r < job->num_ranks; r++)
        order[r] = r;
    for (int r = job->num_ranks - 1; r > 0; r--) {
        const int other = (int)random_below(state, r + 1), kept = order[r];
        order[r] = order[other];
        order[other] = kept;
    }
    job->order = number % 2 ? order : NULL;
}

/* Several ranks a node, in two of three jobs: as many on each but the last, or any number on any. `node_of` takes num_ranks. */
static inline void random_nodes(uint64_t *state, int number, pat_job *job, int *node_of)
{
    const int each = 1 + (int)random_below(state, job->num_ranks);
    const int nodes = 1 + (int)random_below(state, job->num_ranks);
    for (int i = 0; i < job->num_ranks; i++)
        node_of[i] = number % 3 == 1 ? i / each : 7 * (int)random_below(state, nodes);
    job->node_of = number % 3 ? node_of : NULL;
}

/* Blocks of different lengths for the job, the longest at most its own: `starts` takes num_ranks + 1. */
static inline void random_starts(uint64_t *state, int number, pat_job *job, int64_t *starts)
{
    int filled = (int)random_below(state, job->num_ranks);
    starts[0] = 0;
    for (int r = 0; r < job->num_ranks; r++) {
        int64_t length = random_below(state, job->block_bytes + 1);
        switch (number % 5) {
        case 0: /* any */
            break;
        case 1: /* some have nothing */
            length = random_below(state, 2) ? length : 0;
            break;
        case 2: /* one has everything */
            length = r == filled ? job->block_bytes : 0;
            break;
        case 3: /* a remainder */
            length = r < filled ? job->block_bytes : job->block_bytes - 1;
            break;
        case 4: /* nobody has as much as the plan is made for, all have some */
            length = length / 2 > 0 ? length / 2 : 1;
            break;
        }
        starts[r + 1] = starts[r] + length;
    }
    job->starts = starts;
}

static inline void plan_set_build(const pat_algorithm *alg, const pat_job *job, pat_plan *plans)
{
    for (int r = 0; r < job->num_ranks; r++) {
        int error = pat_algorithm_plan(alg, job, r, &plans[r]);
        if (error) {
            fprintf(stderr, "%s: no plan for rank %d of %d: error %d\n", alg->name, r, job->num_ranks, error);
            abort();
        }
    }
}

static inline void plan_set_free(pat_plan *plans, int num_ranks)
{
    for (int r = 0; r < num_ranks; r++)
        pat_plan_free(&plans[r]);
}

#endif
