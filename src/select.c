/*
 * select.c — see select.h. Moving data while ranks compute pays as soon as the transfer takes long against the time
 * that a thread needs to wake up; below that the MPI library has the shorter way.
 */
#include "select.h"

enum { SMALL_BYTES = 4096, WORTH_NS = 500000 };

bool pat_select_is_small(int num_ranks, int64_t block_bytes)
{
    return block_bytes < SMALL_BYTES / (num_ranks > 1 ? num_ranks - 1 : 1);
}

static bool pays(const pat_comm *c, int64_t block_bytes)
{
    int64_t block_ns = pat_link_tau_ns(&c->link, block_bytes) - c->link.alpha_ns;
    return c->background && block_ns >= c->link.alpha_ns && block_ns >= WORTH_NS / (c->size - 1);
}

const pat_algorithm *pat_select(const pat_comm *c, const pat_algorithm *alg, int64_t block_bytes)
{
    if (!alg->chooses)
        return alg;
    return pat_algorithm_find(pays(c, block_bytes) ? "relay" : "native");
}
