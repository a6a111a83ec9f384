/*
 * goal.h — what a collective is, as data: who contributes, and what every rank must end with. Ranks are counted from the
 * root where there is one. Must never know how the goal is reached.
 */
#ifndef PAT_GOAL_H
#define PAT_GOAL_H

#include "algorithms.h"

typedef struct pat_goal {
    bool all_give; /* every rank contributes a block; else rank 0 alone */
    bool all_get;  /* every rank ends with the result; else rank 0 alone */
    bool
        reduces; /* the contributions are reduced to one block; else each keeps a block of its own in the result */
} pat_goal;

const pat_goal *pat_goal_of(enum pat_op op);
extern const pat_goal pat_goal_reduce, pat_goal_allreduce; /* no algorithm of the table does these yet */

/* How many blocks the result has. */
static inline int pat_goal_blocks(const pat_goal *goal, int num_ranks)
{
    return goal->all_give && !goal->reduces ? num_ranks : 1;
}

static inline int64_t pat_goal_result_bytes(const pat_goal *goal, const pat_plan *plan)
{
    return pat_plan_block_start(plan, pat_goal_blocks(goal, plan->num_ranks));
}

/* The block of the result that is as long as the rank's contribution, and holds it where nothing is reduced. */
static inline int pat_goal_own_block(const pat_goal *goal, int rank)
{
    return goal->reduces ? 0 : rank;
}

static inline bool pat_goal_gives(const pat_goal *goal, int rank)
{
    return goal->all_give || rank == 0;
}

/* How many bytes the plan's rank contributes. */
static inline int64_t pat_goal_own_bytes(const pat_goal *goal, const pat_plan *plan)
{
    const int own = pat_goal_own_block(goal, plan->rank);
    return pat_goal_gives(goal, plan->rank)
               ? pat_plan_block_start(plan, own + 1) - pat_plan_block_start(plan, own)
               : 0;
}

static inline bool pat_goal_gets(const pat_goal *goal, int rank)
{
    return goal->all_get || rank == 0;
}

#endif
