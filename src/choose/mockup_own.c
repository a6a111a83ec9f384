/*
 * mockup_own.c — see mockup_own.h.
 */
#include "mockup_own.h"

#include <stdio.h>
#include <string.h>

#include "collective.h"

/* One reduce-scatter of PAT's stands for two calls of MPI's. */
enum pat_op pat_mockup_op(const char *mpi)
{
    int op = 0;
    if (strcmp(mpi, "MPI_Reduce_scatter_block") == 0)
        return PAT_OP_REDUCE_SCATTER;
    while (op < PAT_NUM_OPS && strcmp(pat_collective_of((enum pat_op)op)->mpi, mpi) != 0)
        op++;
    return (enum pat_op)op;
}

static const char prefix[] = "pat_";

static bool may_be_named(const pat_algorithm *alg, enum pat_op op)
{
    return alg->op == op && alg->build && !alg->arrival_aware;
}

const pat_algorithm *pat_mockup_own(const char *mpi, const char *name)
{
    const size_t length = strlen(prefix);
    const pat_algorithm *alg = strncmp(name, prefix, length) == 0 ? pat_algorithm_find(name + length) : NULL;
    return alg && may_be_named(alg, pat_mockup_op(mpi)) ? alg : NULL;
}

const char *pat_mockup_own_names(const char *mpi, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < pat_algorithm_count() && used < size; i++) {
        const pat_algorithm *alg = pat_algorithm_at(i);
        if (may_be_named(alg, pat_mockup_op(mpi)))
            used += (size_t)snprintf(text + used, size - used, ", %s%s", prefix, alg->name);
    }
    return text;
}
