/*
 * calibrate_rule.c — see calibrate_rule.h. The fixed rules of Open MPI 3.1's coll/tuned, that Nuriyev 2021 is held against; later versions
 * take other algorithms, which are only to be had from them.
 */
#include "calibrate_rule.h"

#include <stddef.h>

static const char *of_bcast(int ranks, int64_t bytes)
{
    const double m = (double)bytes;
    if (bytes < 2048)
        return "bcast_binomial";
    if (bytes < 370728)
        return "bcast_split";
    return ranks >= 1.6134e-6 * m + 2.1102 && ranks < 13 ? "bcast_split" : "bcast_chain";
}

static const char *of_gather(int ranks, int64_t bytes)
{
    if (bytes > 6000)
        return "gather_sync";
    return ranks > 60 || (ranks > 10 && bytes < 1024) ? "gather_binomial" : "gather_linear";
}

const pat_algorithm *calibrate_rule(enum pat_op op, int ranks, int64_t bytes)
{
    if (op == PAT_OP_BCAST)
        return pat_algorithm_find(of_bcast(ranks, bytes));
    return op == PAT_OP_GATHER ? pat_algorithm_find(of_gather(ranks, bytes)) : NULL;
}
