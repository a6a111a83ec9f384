/*
 * collective.c — the table of collectives: see collective.h. A new collective is a row here, an operation in algorithms.h and
 * a list of algorithms in parts.h.
 */
#include "collective.h"

#include <string.h>

static const pat_collective collectives[PAT_NUM_OPS] = {
    [PAT_OP_ALLGATHER] = {.name = "allgather",
                          .title = "all-gather",
                          .mpi = "MPI_Allgather",
                          .setting = "PAT_ALG",
                          .default_alg = "auto",
                          .contender = "relay",
                          .yardstick = "ring",
                          .all_give = true,
                          .all_get = true,
                          .moves_early = true},
    [PAT_OP_BCAST] = {.name = "bcast",
                      .title = "broadcast",
                      .mpi = "MPI_Bcast",
                      .setting = "PAT_ALG_BCAST",
                      .default_alg = "bcast_auto",
                      .yardstick = "bcast_binomial",
                      .rooted = true,
                      .all_get = true},
    [PAT_OP_GATHER] = {.name = "gather",
                       .title = "gather",
                       .mpi = "MPI_Gather",
                       .setting = "PAT_ALG_GATHER",
                       .default_alg = "gather_auto",
                       .yardstick = "gather_linear",
                       .rooted = true,
                       .all_give = true},
    [PAT_OP_ALLREDUCE] = {.name = "allreduce",
                          .title = "all-reduce",
                          .mpi = "MPI_Allreduce",
                          .setting = "PAT_ALG_ALLREDUCE",
                          .default_alg = "allreduce_auto",
                          .all_give = true,
                          .all_get = true,
                          .reduces = true,
                          .moves_early = true},
};

const pat_collective *pat_collective_of(enum pat_op op)
{
    return &collectives[op];
}

enum pat_op pat_collective_find(const char *name)
{
    int op = 0;
    while (op < PAT_NUM_OPS && strcmp(collectives[op].name, name) != 0)
        op++;
    return (enum pat_op)op;
}
