/*
 * select.c — see select.h. Moving data while ranks compute pays as soon as a block takes long against the time that
 * a thread needs to wake up and pass a piece on; below that the MPI library has the shorter way. On emulated clusters
 * of 4 to 16 nodes blocks of 1.4 ms and more were never slower with relay when all ranks came at once, blocks of 0.7
 * ms and less were, by up to a quarter (bench/arrival-grid).
 */
#include "select.h"

enum { SMALL_BYTES = 4096, WORTH_NS = 1000000 };

bool pat_select_is_small(int num_ranks, int64_t block_bytes)
{
    return block_bytes < SMALL_BYTES / (num_ranks > 1 ? num_ranks - 1 : 1);
}

static bool pays(const pat_comm *c, int64_t block_bytes)
{
    int64_t block_ns = pat_link_busy_ns(&c->link, block_bytes);
    if (pat_select_is_small(c->size, block_bytes))
        return false;
    return c->background && block_ns >= 4 * c->link.alpha_ns && block_ns >= WORTH_NS;
}

const pat_algorithm *pat_select(const pat_comm *c, const pat_algorithm *alg, int64_t block_bytes)
{
    if (!alg->chooses)
        return alg;
    return pat_algorithm_find(c && pays(c, block_bytes) ? "relay" : "native");
}
