/*
 * taulop_run.h — threads that copy through buffers they share, as ranks of one node do: the measurements of pat-taulop.
 */
#ifndef TAULOP_RUN_H
#define TAULOP_RUN_H

#include <stdint.h>

#include "taulop.h"

/* How transfers are set up that run at once. */
enum taulop_setup {
    TAULOP_RING, /* every thread sends to the next one */
    TAULOP_PING, /* every other thread sends to the one after it; an even number */
    TAULOP_BCAST /* all copy out of one buffer */
};

/* The threads, each bound to a core of its own as far as there are any, NUMA node by NUMA node; their buffers lie there. */
typedef struct taulop_team taulop_team;

/* NULL when memory or threads cannot be had. cold_bytes: a thread's own buffer, more than the caches hold. */
taulop_team *taulop_start(int threads, int64_t cold_bytes, int64_t most_bytes);
void taulop_stop(taulop_team *team);

/* Microseconds of one copy of so many bytes while `tau` run at once: the mean over `messages` of them. */
double taulop_transfer_us(taulop_team *team, enum taulop_setup setup, int tau, int64_t bytes, int messages);

/* Microseconds of one operation among the first `ranks` threads, to the last one's end: the mean over so many. */
double taulop_operation_us(taulop_team *team, enum pat_node_op op, int ranks, int64_t bytes, int repeats);

#endif
