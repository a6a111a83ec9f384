/*
 * sample.h — a measured call: when it is over, ranks tell each other when they began and ended it, whoever has run it. What
 * they say is in the background on its way until the next call on the communicator asks for it, which is before the choice of
 * who runs that one: so all ranks choose by the same.
 *
 * The caller of all these holds the communicator's lock. All return MPI error codes.
 */
#ifndef PAT_SAMPLE_H
#define PAT_SAMPLE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "plan.h"
#include "profile.h"

/* What a rank says of a call. */
typedef struct pat_said {
    pat_carried carried; /* arrival and call site, as blocks carry them */
    int64_t exit_ns;     /* when it returned, on the ranks' common clock */
} pat_said;

typedef struct pat_sample {
    bool under_way;
    MPI_Request request;
    enum pat_runner ran;
    int64_t bytes;
    pat_said mine, *all; /* all: one per rank, made with the communicator's state */
} pat_sample;

struct pat_comm;

/* The call is over. */
int pat_sample_post(struct pat_comm *c, enum pat_runner ran, int64_t bytes);

/* See whether all have said it, and learn from it then. The second is for those who hold pat_rt.driving already. */
int pat_sample_look(struct pat_comm *c, bool *moved);
int pat_sample_look_driving(struct pat_comm *c, bool *moved);

/* Wait until all have. Only ranks that are still in the measured call are waited for. */
int pat_sample_wait(struct pat_comm *c);

#endif
