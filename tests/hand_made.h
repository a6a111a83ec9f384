/*
 * hand_made.h — for the checker's tests: plans of up to four ranks that are made node by node, and what the checker must say of
 * them.
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

static inline void finish(fixture *f)
{
    for (int r = 0; r < f->num_ranks; r++)
        assert_int_equal(pat_plan_finish(&f->plans[r]), 0);
}

static inline void expect_of(fixture *f, const pat_collective *collective, const char *reason)
{
    char why[256];
    int error = pat_check(f->plans, f->num_ranks, collective, why, sizeof(why));
    if (reason) {
        assert_int_equal(error, EINVAL);
        if (!strstr(why, reason))
            fail_msg("expected '%s', got '%s'", reason, why);
    } else if (error) {
        fail_msg("refused: %s", why);
    }
    plan_set_free(f->plans, f->num_ranks);
}

/* Finish the plans and check them: refused with a reason that contains `reason`, or accepted when that is
 * NULL. */
static inline void expect(fixture *f, const char *reason)
{
    finish(f);
    expect_of(f, pat_collective_of(PAT_OP_ALLGATHER), reason);
}

/* Two ranks that exchange their blocks: right. */
static inline void exchange(fixture *f)
{
    begin(f, 2);
    for (int r = 0; r < 2; r++) {
        arrive(f, r);
        send_block(f, r, 1 - r, r, f->copy[r]);
        recv_block(f, r, 1 - r, 1 - r, -1);
    }
}
#endif
