/*
 * collective.c — the table of collectives, out of algorithms/list.h: see collective.h.
 */
#include "collective.h"

#include <string.h>

#define ROW(op, lower, LIST, in_text, call, names_alg, alg, ...)                                             \
    [PAT_OP_##op] = {.name = #lower,                                                                         \
                     .title = in_text,                                                                       \
                     .mpi = call,                                                                            \
                     .setting = names_alg,                                                                   \
                     .default_alg = alg,                                                                     \
                     __VA_ARGS__},

const pat_collective pat_collectives[PAT_NUM_OPS] = {PAT_COLLECTIVES(ROW)};

enum pat_op pat_collective_find(const char *name)
{
    int op = 0;
    while (op < PAT_NUM_OPS && strcmp(pat_collectives[op].name, name) != 0)
        op++;
    return (enum pat_op)op;
}
