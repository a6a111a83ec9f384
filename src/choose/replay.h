/*
 * replay.h — what a call would have taken by another algorithm: its plans, the same as the library runs, walked from the arrivals that were recorded. Knows one link and nothing of processors, so that it says about
 * how much, and of programs that have a node for each rank only. Must never call MPI or read a clock.
 */
#ifndef PAT_REPLAY_H
#define PAT_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "algorithms.h"

/* Above so many ranks, plans take more memory than the figure is worth. */
enum { PAT_REPLAY_RANKS = 64 };

/* The collective of a function of MPI whose blocks are all equally long, "MPI_Allgather"; PAT_NUM_OPS: there is none. */
enum pat_op pat_replay_op(const char *call);

/*
 * Can it have run there just by its name in a setting? Not if it goes by what ranks say in advance, which a program that knows nothing of this library does not.
 */
bool pat_replay_can(const pat_algorithm *alg);

/* One call. All times in nanoseconds. */
typedef struct pat_replay {
    enum pat_op op;
    int num_ranks, root;       /* root: not looked at where there is none */
    int64_t bytes;             /* of a block; of a reduction, of the vector */
    int64_t alpha_ns, beta_ps; /* of a message: latency, and per byte */
    const int64_t *arrival_ns;
} pat_replay;

/* Its link, by what a message takes at least, and one of call->bytes. */
void pat_replay_link(pat_replay *call, double latency_ns, double message_ns);

/* Which part of what calls took another algorithm would clearly spare; 0: none. */
double pat_replay_spared(double took_ns, double best_ns);

/*
 * From the call to its return, the mean over ranks. Plans that go by arrivals get these very ones. NaN: it cannot run such a call, the link is none, or there is no memory.
 */
double pat_replay_ns(const pat_replay *call, const pat_algorithm *alg);

#endif
