/*
 * converge.h — the three ways of allreduce_converge. All join contributions along the same tree, so it makes no difference to the
 * bits which one runs, nor who joins: the halves of [0, P), their halves, and so on, operands in the order of ranks.
 */
#ifndef PAT_CONVERGE_H
#define PAT_CONVERGE_H

#include "parts.h"

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

/* ---- What the ways share ---- */

/* What the whole vector takes on a link, and what a piece costs beside that. */
static inline int64_t pat_converge_vector_ns(const pat_job *job)
{
    return job->tau_ns > job->alpha_ns ? job->tau_ns - job->alpha_ns : 0;
}

static inline int64_t pat_converge_piece_ns(const pat_job *job)
{
    return job->piece_ns > 0 ? job->piece_ns : 1;
}

/* What a rank's plan may grow to. */
enum { PAT_CONVERGE_MOST_PIECES = 1024 };

/*
 * How long pieces are to be where each one delays the end by `waits` times what it takes on the link: so long that to
 * cut the vector costs as much as it saves, at least least_bytes, and so that they fill packets of the network. No
 * element is cut.
 * (converge_reckon.c)
 */
int64_t pat_converge_piece_bytes(const pat_job *job, int64_t waits, int64_t least_bytes);

/* Times are reckoned in units, of which what the vector takes on the link has so many. */
enum { PAT_CONVERGE_UNITS = 1 << 14 };

/* How long before the last rank another one is expected, up to P vectors' times; in UNITS. (converge_reckon.c) */
int64_t pat_converge_ahead(const pat_job *job, int rank, int last);

/* How much of a rank's contribution it still has to send when the last one calls; in UNITS. */
static inline int64_t pat_converge_left(const pat_job *job, int rank, int last)
{
    const int64_t ahead = pat_converge_ahead(job, rank, last);
    return ahead < PAT_CONVERGE_UNITS ? PAT_CONVERGE_UNITS - ahead : 0;
}

/* So many UNITS of a time. */
static inline int64_t pat_converge_in_units(int64_t ns, int64_t units)
{
    return ns / PAT_CONVERGE_UNITS * units + ns % PAT_CONVERGE_UNITS * units / PAT_CONVERGE_UNITS;
}

/* What the chain takes after the last call. (converge_reckon.c) */
int64_t pat_converge_chain_ns(const pat_job *job);

/* Of the ranks from `from` to before `to`, the one that is expected to call last; of equal ones the lowest. */
static inline int pat_converge_last(const pat_job *job, int from, int to)
{
    int last = from;
    for (int r = from; r < to && job->arrival_ns; r++)
        if (job->arrival_ns[r] > job->arrival_ns[last])
            last = r;
    return last;
}

/* ARRIVE, and the rank's contribution in its result after the node that is returned. */
static inline int pat_converge_begin(pat_plan *plan, const pat_job *job)
{
    const int arrive = pat_plan_arrive(plan);
    const int copy = pat_plan_copy(plan, pat_own(0), pat_result(0), job->block_bytes);
    pat_plan_after(plan, copy, arrive);
    return copy;
}

#endif
