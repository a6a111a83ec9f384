/*
 * converge.h — the three ways of allreduce_converge. All join contributions along the same tree, so it makes no difference to the
 * bits which one runs, nor who joins: the halves of [0, P), their halves, and so on, operands in the order of ranks.
 */
#ifndef PAT_CONVERGE_H
#define PAT_CONVERGE_H

#include "plan.h"

/* The ranks from `from` to before `to` are joined as those before `middle` and those from there on. */
static inline int pat_converge_middle(int from, int to)
{
    return from + (to - from) / 2;
}

/* Who joins what: rank r the bytes from at[r] to before at[r + 1] of the vector, in so many pieces. */
typedef struct pat_shares {
    int64_t *at; /* num_ranks + 1 */
    int *pieces; /* num_ranks */
} pat_shares;

/* Every rank gets the whole of all sums: log2(P) of them, one after the other. (converge_whole.c) */
void pat_converge_whole(pat_plan *plan, const pat_job *job, int rank);

/* Every rank joins its share, and gives the sum to all others. (converge_shares.c) */
void pat_converge_by_shares(pat_plan *plan, const pat_job *job, int rank, const pat_shares *shares);

/* One rank, the last, joins the last two sums, and a chain takes the total to the others. (converge_chain.c) */
void pat_converge_chain(pat_plan *plan, const pat_job *job, int rank);

/* Pieces in which a vector goes down the chain. */
int pat_converge_chain_pieces(const pat_job *job);

#endif
