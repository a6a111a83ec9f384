/*
 * parts.h — what the files of this directory share: the parts that several algorithms are put together from. Nobody outside
 * algorithms/ reads it.
 *
 * Build functions are called with at least two ranks and one byte per block: for less, pat_algorithm_plan makes
 * the plan itself.
 */
#ifndef PAT_PARTS_H
#define PAT_PARTS_H

#include "algorithms.h"

#define PAT_NOTHING(name, op, kind, summary)
#define PAT_DECLARE(name, op, kind, summary)                                                                 \
    void pat_##name##_build(pat_plan *plan, const pat_job *job, int rank);                                   \
    void pat_##name##_formula(pat_formula *formula, const pat_job *job);
#define PAT_DECLARE_ALL(op, lower, LIST, ...) LIST(PAT_NOTHING, PAT_DECLARE, PAT_OP_##op)
PAT_COLLECTIVES(PAT_DECLARE_ALL)
#undef PAT_DECLARE_ALL
#undef PAT_DECLARE
#undef PAT_NOTHING

static inline int64_t pat_part_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* How long the first message is when the bytes of a block from `at` to `end` leave: ranks that have different ends cut at the same places. */
static inline int64_t pat_part_message(int64_t at, int64_t end)
{
    return pat_part_least(end - at, PAT_MAX_MESSAGE - at % PAT_MAX_MESSAGE);
}

/* Whom a rank meets in a step of a tournament of P steps, in which each meets each other one once; itself: nobody. */
static inline int pat_part_opponent(int step, int rank, int num_ranks)
{
    return (step + num_ranks - rank) % num_ranks;
}

/* The square root, rounded down; 0 for a negative number. */
static inline int64_t pat_part_root(int64_t square)
{
    int64_t root = 0;
    for (int64_t bit = (int64_t)1 << 30; bit; bit >>= 1)
        if ((root + bit) * (root + bit) <= square)
            root += bit;
    return root;
}

/* The binary logarithm of what is at least 1, rounded down; and of what is at least 2, rounded up. */
static inline int pat_part_log_down(int n)
{
    int halved = 0;
    for (; n > 1; n /= 2)
        halved++;
    return halved;
}

static inline int pat_part_log_up(int n)
{
    return pat_part_log_down(n - 1) + 1;
}

/* How many segments the job's block has. */
static inline int64_t pat_part_segments(const pat_job *job)
{
    return job->segment_bytes > 0 ? (job->block_bytes - 1) / job->segment_bytes + 1 : 1;
}

/*
 * The longest message worth sending where there may be shorter ones: one that MPI sends without asking. One that is asked for waits for the
 * answer, which waits in turn behind what goes the same way, since two ranks share a connection. Where the limit is not known it is
 * below all that are (UCX over TCP sends 16 KiB so, and 32 no more), unless messages cost so much on this link that a part of its time
 * would be lost by that: on fast links, where nobody waits for long.
 */
enum { PAT_UNASKED_BYTES = 8192, PAT_UNASKED_PART = 8 };

static inline int64_t pat_part_unasked(const pat_job *job)
{
    const int64_t busy_ns = job->tau_ns - job->alpha_ns;
    if (job->eager_bytes > 0)
        return job->eager_bytes;
    if (job->block_bytes <= PAT_UNASKED_BYTES) /* it has no longer messages */
        return PAT_UNASKED_BYTES;
    const int64_t messages = (job->block_bytes - 1) / PAT_UNASKED_BYTES + 1;
    return busy_ns / messages / PAT_UNASKED_PART >= job->piece_ns ? PAT_UNASKED_BYTES : INT64_MAX;
}

/* How many messages a block takes at least if none is longer than that. */
static inline int64_t pat_part_unasked_messages(const pat_job *job)
{
    return (job->block_bytes - 1) / pat_part_unasked(job) + 1;
}

/* To a formula: so many messages, one after the other, each of them one of `at_once` to several ranks; `bytes`: of all. */
static inline void pat_part_add(pat_formula *formula, int at_once, int64_t messages, int64_t bytes)
{
    formula->messages[at_once] += messages;
    formula->bytes[at_once] += bytes;
}

/* Of these, so many follow another one on its way, as segments do. */
static inline void pat_part_follow(pat_formula *formula, int at_once, int64_t pieces)
{
    formula->pieces[at_once] += pieces;
}

/*
 * Add ARRIVE and, right after it, the COPY of what the rank contributes to its place in the result; both join the open step.
 * (table.c)
 */
void pat_part_arrive(pat_plan *plan, const pat_job *job, int rank);

/*
 * Broadcast of the whole result from rank 0. It begins with a step of its own, so it waits for all that the
 * plan's last step holds; that step must hold, or come after, COPY and, at rank 0, every receive of the gather. (bcast.c)
 */
void pat_part_bcast(pat_plan *plan, const pat_job *job, int rank);
void pat_part_bcast_formula(pat_formula *formula, const pat_job *job); /* in segments of job->segment_bytes */

/*
 * All ranks from the first expected arrival to the last; of equal ones the lower rank comes first, so that
 * every rank has the same order. The caller frees it; NULL, and the plan's error set, when memory is short.
 * (gather_bsls.c)
 */
int *pat_part_by_arrival(pat_plan *plan, const pat_job *job);

#endif
