/*
 * events.h — every collective call of this rank while a report is wanted: from where, on which communicator, when it began and how long it
 * took, in memory and bounded. Calls are told apart by communicator and by their turn on it, which is the same on all its members, so that
 * they can be held against each other afterwards (lateness.h). Nothing is sent meanwhile.
 *
 * A communicator is known by its members and by how many of the same members there were before it. A duplicate is known by what it was
 * made from, so that it does not matter which of several is used first. Where a program breaks that rule (it uses two communicators of
 * the same members, made otherwise, for the first time in another order on another rank), calls do not fit together, and lateness.h notices.
 */
#ifndef PAT_EVENTS_H
#define PAT_EVENTS_H

#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Of one or more communicators, in the order of their ranks. */
typedef struct pat_event_group {
    uint64_t id; /* the same on all members */
    int size;
    int *world;    /* their numbers among all ranks */
    int num_comms; /* that were not duplicates */
    struct pat_event_group *next;
} pat_event_group;

typedef struct pat_event_comm {
    uint64_t id; /* the same on all members */
    pat_event_group *group;
    int rank, number; /* of this rank in it; of it here */
    int64_t num_calls;
    int num_dups;
} pat_event_comm;

/* A call that has succeeded. */
typedef struct pat_event {
    int64_t start_ns; /* on the clock of all ranks */
    int64_t time_ns;
    int64_t bytes;
    int32_t site, comm; /* their numbers here */
    int32_t root;       /* negative: there is none, or it is not known */
} pat_event;

enum { PAT_EVENTS_IN_BLOCK = 4096 };

typedef struct pat_events {
    pthread_mutex_t lock;
    int keyval;
    MPI_Comm all; /* among whose ranks members are numbered */
    pat_event_group *groups;
    pat_event_comm **comms;
    int num_comms, room_comms;
    pat_event **blocks;
    int64_t num, most; /* events; as many as there may be */
    int64_t num_lost;  /* for want of memory */
} pat_events;

/* Begin: at most so many bytes of events are kept. Returns an MPI error code. */
int pat_events_begin(pat_events *events, MPI_Comm all, int64_t most_bytes);

/* A call is over. Any thread. What is not kept for want of memory is counted. */
void pat_events_add(pat_events *events, MPI_Comm comm, const pat_event *event);

/* Nothing is added any more: free them. */
void pat_events_end(pat_events *events);

static inline const pat_event *pat_events_at(const pat_events *events, int64_t i)
{
    return &events->blocks[i / PAT_EVENTS_IN_BLOCK][i % PAT_EVENTS_IN_BLOCK];
}

#endif
