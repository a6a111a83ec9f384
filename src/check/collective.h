/*
 * collective.h — what a collective is, as data: how it is called, who contributes, and what every rank must end with.
 * Where there is a root, it is the rank that the plan names (pat_plan.root): rank 0 unless the plan was reordered. Must
 * never know how the result comes about: that is the algorithms' business.
 */
#ifndef PAT_COLLECTIVE_H
#define PAT_COLLECTIVE_H

#include "algorithms.h"

typedef struct pat_collective {
    const char *name;        /* as tools and files spell it: "allgather" */
    const char *title;       /* as sentences spell it: "all-gather" */
    const char *mpi;         /* the call of MPI: "MPI_Allgather" */
    const char *setting;     /* the setting that names its algorithm: "PAT_ALG" */
    const char *default_alg; /* the algorithm that runs it where nobody has named one */
    /*
     * The algorithm whose time by formula says up to which length pat-calibrate measures the MPI library's own. NULL: the
     * collective is not calibrated.
     */
    const char *yardstick;
    bool rooted;   /* it has a root, as MPI_Bcast does */
    bool all_give; /* every rank contributes a block; else the root alone */
    bool all_get;  /* every rank ends with the result; else the root alone */
    bool
        reduces; /* the contributions are reduced to one block; else each keeps a block of its own in the result */
    bool personal; /* a rank's contribution is a block for each rank, and each keeps those that are for it */
    bool
        moves_early; /* its data may move before the call, so that something may be under way between two calls */
} pat_collective;

/* One for each; asked in every call, short ones too. */
extern const pat_collective pat_collectives[PAT_NUM_OPS];

static inline const pat_collective *pat_collective_of(enum pat_op op)
{
    return &pat_collectives[op];
}

/* The collective of that name; PAT_NUM_OPS: there is none. */
enum pat_op pat_collective_find(const char *name);

/* How many blocks the result has. */
static inline int pat_collective_blocks(const pat_collective *collective, int num_ranks)
{
    return collective->all_give && !collective->reduces ? num_ranks : 1;
}

/* How many bytes the whole result has. */
static inline int64_t pat_collective_result_bytes(const pat_collective *collective, const pat_plan *plan)
{
    return pat_plan_block_start(plan, pat_collective_blocks(collective, plan->num_ranks));
}

/* The block of the result that belongs to a rank; where contributions are reduced it is the only one, for all ranks. */
static inline int pat_collective_own_block(const pat_collective *collective, int rank)
{
    return collective->reduces ? 0 : rank;
}

static inline bool pat_collective_gives(const pat_collective *collective, const pat_plan *plan)
{
    return collective->all_give || plan->rank == plan->root;
}

/* How many bytes the plan's rank contributes. */
static inline int64_t pat_collective_own_bytes(const pat_collective *collective, const pat_plan *plan)
{
    const int own = pat_collective_own_block(collective, plan->rank);
    if (!pat_collective_gives(collective, plan))
        return 0;
    if (collective->personal)
        return pat_plan_block_start(plan, plan->num_ranks);
    return pat_plan_block_start(plan, own + 1) - pat_plan_block_start(plan, own);
}

/* Where in another rank's contribution the part begins that goes to this rank's result. */
static inline int64_t pat_collective_share_start(const pat_collective *collective, const pat_plan *plan)
{
    return collective->personal ? pat_plan_block_start(plan, plan->rank) : 0;
}

static inline bool pat_collective_gets(const pat_collective *collective, const pat_plan *plan)
{
    return collective->all_get || plan->rank == plan->root;
}

#endif
