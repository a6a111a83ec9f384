/*
 * hand_made.h — for the checker's tests: plans of up to four ranks that are made node by node, and what the checker must say of
 * these and of others.
 */
#ifndef PAT_TESTS_HAND_MADE_H
#define PAT_TESTS_HAND_MADE_H

#include <errno.h>
#include <string.h>

#include "check.h"
#include "plan_set.h"

enum { BLOCK = 100 };

typedef struct fixture {
    pat_plan plans[4];
    int num_ranks;
    int copy[4]; /* the COPY of every rank, once made */
} fixture;

static inline void begin(fixture *f, int num_ranks)
{
    f->num_ranks = num_ranks;
    for (int r = 0; r < num_ranks; r++)
        pat_plan_init(&f->plans[r], num_ranks, r, BLOCK);
}

static inline void arrive(fixture *f, int r)
{
    int a = pat_plan_arrive(&f->plans[r]);
    f->copy[r] = pat_plan_copy(&f->plans[r], pat_own(0), pat_result(r * BLOCK), BLOCK);
    pat_plan_after(&f->plans[r], f->copy[r], a);
}

static inline int send_block(fixture *f, int r, int peer, int block, int after)
{
    int node = pat_plan_send(&f->plans[r], peer, block * BLOCK, BLOCK);
    pat_plan_after(&f->plans[r], node, after);
    return node;
}

static inline int recv_block(fixture *f, int r, int peer, int block, int after)
{
    int node = pat_plan_recv(&f->plans[r], peer, block * BLOCK, BLOCK);
    pat_plan_after(&f->plans[r], node, after);
    return node;
}

/* All ranks begin, and each has its own block in the result: what else there is to do is added then. */
static inline void begin_arrived(fixture *f, int num_ranks)
{
    begin(f, num_ranks);
    for (int r = 0; r < num_ranks; r++)
        arrive(f, r);
}

static inline void finish_plans(pat_plan *plans, int num_ranks)
{
    for (int r = 0; r < num_ranks; r++)
        assert_int_equal(pat_plan_finish(&plans[r]), 0);
}

static inline void finish(fixture *f)
{
    finish_plans(f->plans, f->num_ranks);
}

/* Check finished plans, and free them: refused with a reason that contains `reason`, or accepted when that is NULL. */
static inline void expect_plans(pat_plan *plans, int num_ranks, const pat_collective *collective,
                                const char *reason)
{
    char why[256];
    const int error = pat_check(plans, num_ranks, collective, why, sizeof(why));
    plan_set_free(plans, num_ranks);
    if (!reason && error)
        fail_msg("%d ranks refused: %s", num_ranks, why);
    if (reason && (error != EINVAL || !strstr(why, reason)))
        fail_msg("expected '%s', got '%s'", reason, error ? why : "nothing to refuse");
}

static inline void expect_of(fixture *f, const pat_collective *collective, const char *reason)
{
    expect_plans(f->plans, f->num_ranks, collective, reason);
}

/* The same of an all-gather whose plans are not finished yet. */
static inline void expect(fixture *f, const char *reason)
{
    finish(f);
    expect_of(f, pat_collective_of(PAT_OP_ALLGATHER), reason);
}

/* Two ranks that exchange their blocks: right. */
static inline void exchange(fixture *f)
{
    begin_arrived(f, 2);
    for (int r = 0; r < 2; r++) {
        send_block(f, r, 1 - r, r, f->copy[r]);
        recv_block(f, r, 1 - r, 1 - r, -1);
    }
}

/* Two ranks, of which rank 1 gets rank 0's block: the way back is left to the test. */
static inline void one_way(fixture *f)
{
    begin_arrived(f, 2);
    send_block(f, 0, 1, 0, f->copy[0]);
    recv_block(f, 1, 0, 0, -1);
}

#endif
