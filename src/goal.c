/*
 * goal.c — the table of goals: see goal.h. A new collective is a row.
 */
#include "goal.h"

static const pat_goal goals[PAT_NUM_OPS] = {
    [PAT_OP_ALLGATHER] = {.all_give = true, .all_get = true},
    [PAT_OP_GATHER] = {.all_give = true},
    [PAT_OP_BCAST] = {.all_get = true},
};

const pat_goal pat_goal_reduce = {.all_give = true, .reduces = true};
const pat_goal pat_goal_allreduce = {.all_give = true, .all_get = true, .reduces = true};

const pat_goal *pat_goal_of(enum pat_op op)
{
    return &goals[op];
}
