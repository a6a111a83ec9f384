/*
 * taulop_way.h — a way by which members send each other messages and do collectives together: slots in memory that they share
 * (taulop_slots.h), or an MPI library (taulop_mpi.h).
 */
#ifndef TAULOP_WAY_H
#define TAULOP_WAY_H

#include "taulop.h"
#include "taulop_member.h"

/* How copies are set up that run at once. */
enum taulop_setup {
    TAULOP_RING, /* every member sends to the next one; one copy at once is a message of one segment that goes to and fro */
    TAULOP_PING, /* every other member sends to the one after it; an even number */
    TAULOP_BCAST /* the first one writes, and all others read what it has written */
};

typedef struct taulop_way {
    int copies;              /* of each segment */
    int64_t segment_bytes;   /* 0: messages are not segmented */
    enum taulop_setup setup; /* by which L is measured */
    unsigned ops;            /* which operations can be asked for: bit 1 << op */
    void (*send)(taulop_member *m, int to, const char *data, int64_t bytes);
    void (*receive)(taulop_member *m, int from, char *data, int64_t bytes);
    void (*exchange)(taulop_member *m, int to, const char *out, int from, char *in, int64_t bytes);
    /* One collective of all members, with memory of theirs that has not been touched for long. */
    void (*collective)(taulop_member *m, enum pat_node_op op, int64_t bytes);
    void (*overhead)(taulop_member *m, pat_transfers *t); /* measures o(m); NULL: there is none */
} taulop_way;

#endif
