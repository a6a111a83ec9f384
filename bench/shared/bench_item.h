/*
 * bench_item.h — how pat-bench speaks of a collective: what its blocks consist of, and its algorithms by short names.
 */
#ifndef BENCH_ITEM_H
#define BENCH_ITEM_H

#include <string.h>

#include "collective.h"

/* All-gathers are of floats, as in the paper; what is reduced are doubles. */
typedef struct bench_item {
    const char *name;
    int bytes;
} bench_item;

static inline const bench_item *bench_item_of(enum pat_op op)
{
    static const bench_item gathered = {"float", 4}, reduced = {"double", 8};
    return pat_collective_of(op)->reduces ? &reduced : &gathered;
}

/* How many letters of the name only say which collective it is for, as "allreduce_" does. */
static inline size_t bench_prefix_length(const pat_algorithm *alg)
{
    const char *collective = pat_collective_of(alg->op)->name;
    const size_t length = strlen(collective);
    return strncmp(alg->name, collective, length) == 0 && alg->name[length] == '_' ? length + 1 : 0;
}

/* The name without them. */
static inline const char *bench_short_name(const char *name)
{
    const pat_algorithm *alg = pat_algorithm_find(name);
    return alg ? alg->name + bench_prefix_length(alg) : name;
}

/* The algorithm of that name, whole or short; NULL: there is none to choose. */
static inline const pat_algorithm *bench_algorithm_find(enum pat_op op, const char *name)
{
    for (int i = 0; i < pat_algorithm_count(); i++) {
        const pat_algorithm *alg = pat_algorithm_at(i);
        if (alg->op == op &&
            (strcmp(alg->name, name) == 0 || strcmp(alg->name + bench_prefix_length(alg), name) == 0))
            return alg;
    }
    return NULL;
}

#endif
