/*
 * savings.h — what the model says that a program's calls would have taken by another algorithm: of some calls on all ranks it is collected when each rank came, and their plans are walked from there (replay.h).
 */
#ifndef PAT_SAVINGS_H
#define PAT_SAVINGS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "one_way.h"
#include "replay.h"
#include "sites.h"

enum { PAT_SAVINGS_SAMPLES = 32 }; /* at most, of a collective */

typedef struct pat_savings_sample {
    int site, root;
    int64_t bytes;
    double took_ns; /* the mean over ranks */
    int64_t *arrival_ns;
} pat_savings_sample;

typedef struct pat_savings {
    int ranks;                                                    /* 0: nothing is collected */
    pat_savings_sample samples[PAT_NUM_OPS][PAT_SAVINGS_SAMPLES]; /* on rank 0 */
    int num[PAT_NUM_OPS], num_asked[PAT_NUM_OPS];                 /* num_asked: of these, on all ranks */
    int64_t *own_and_all;                                         /* room for what is gathered */
} pat_savings;

/* Collective over all ranks: is it worth it? Only where each rank has a node of its own, since the model knows no other network, and not with very many. */
int pat_savings_begin(pat_savings *savings, MPI_Comm all, int nodes);

/*
 * Is call number `turn` of so many, of a communicator of all ranks, one of those that are looked at? op: which collective (pat_replay_op). The same on all ranks.
 */
bool pat_savings_wants(const pat_savings *savings, enum pat_op op, uint64_t comm, int64_t turn,
                       int64_t calls);

/* Collective over all ranks: one of those, which on this rank was made at that site, when, and how long it took. Returns an MPI error code. */
int pat_savings_add(pat_savings *savings, MPI_Comm all, enum pat_op op, const pat_savings_sample *call,
                    int64_t start_ns, int64_t time_ns);

/* On rank 0: to its sites by what the calls would have taken least, where that is known. link: what messages take. */
void pat_savings_find(const pat_savings *savings, pat_sites *sites, const pat_one_way *link);

void pat_savings_end(pat_savings *savings);

#endif
