/*
 * algorithm_list.h — for the tests: names of algorithms, taken from the table, so that a new one is tested where the others
 * are. A test that is about one algorithm names it.
 */
#ifndef PAT_TESTS_ALGORITHM_LIST_H
#define PAT_TESTS_ALGORITHM_LIST_H

#include "algorithms.h"

typedef struct alg_list {
    int num;
    const char *names[PAT_MAX_ALGS];
} alg_list;

/* Those of a collective that a program can choose and that are of this sort, in the order of the table. */
static inline alg_list algs_of(enum pat_op op, bool (*is_one)(const pat_algorithm *))
{
    alg_list list = {.num = 0};
    for (int i = 0; i < pat_algorithm_count(); i++) {
        const pat_algorithm *alg = pat_algorithm_at(i);
        if (alg->op == op && is_one(alg))
            list.names[list.num++] = alg->name;
    }
    return list;
}

static inline bool alg_is_any(const pat_algorithm *alg)
{
    return alg != NULL;
}

/* Not one that takes another. */
static inline bool alg_is_one(const pat_algorithm *alg)
{
    return !alg->chooses;
}

/* Not the MPI library's own either. */
static inline bool alg_has_plans(const pat_algorithm *alg)
{
    return alg->build != NULL;
}

static inline bool alg_is_aware(const pat_algorithm *alg)
{
    return alg->build && alg->arrival_aware;
}

/* Every arrival-aware algorithm, and the first of the regular ones, which are all alike in what they do before a call: nothing. */
static inline bool alg_differs_early(const pat_algorithm *alg)
{
    for (int i = 0; i < pat_algorithm_count(); i++) {
        const pat_algorithm *first = pat_algorithm_at(i);
        if (first->op == alg->op && alg_has_plans(first) && !first->arrival_aware)
            return alg == first || alg_is_aware(alg);
    }
    return alg_is_aware(alg);
}

/* These, and the MPI library's own. */
static inline bool alg_differs(const pat_algorithm *alg)
{
    return alg == pat_algorithm_native(alg->op) || alg_differs_early(alg);
}

#endif
