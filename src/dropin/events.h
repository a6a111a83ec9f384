/*
 * events.h — every collective call of this rank while a report is wanted: from where, on which communicator, when it began and how long it
 * took, in memory and bounded. Calls are told apart by communicator and by their turn on it, which is the same on all its members, so that
 * they can be held against each other afterwards (lateness.h). Nothing is sent meanwhile. The memory may be a file (log_format.h), which is there whatever becomes of the process.
 *
 * A communicator is known by its members and by how many of the same members there were before it. A duplicate of one that has been used, or of MPI_COMM_WORLD, is known by
 * what it was made from, so that it does not matter which of several is used first. A persistent request of a collective counts as a communicator of its own, known by how many the
 * program has made before on the same one: ranks may start several in different orders, but make them in the same order. Where a program breaks that rule (it uses two communicators of
 * the same members for the first time in another order on another rank), calls do not fit together, which lateness.h notices where they are not of the same function, or where
 * a rank had left before another one came.
 */
#ifndef PAT_EVENTS_H
#define PAT_EVENTS_H

#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "log_format.h"

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
    int num_dups, num_requests; /* that were made from it; requests: persistent ones */
    bool is_request;            /* it stands for one */
} pat_event_comm;

enum { PAT_EVENTS_IN_BLOCK = 8192 }; /* 5 times 64 KiB, the largest pages there are */

typedef struct pat_events {
    pthread_mutex_t lock;
    int keyval;
    MPI_Comm all; /* among whose ranks members are numbered */
    pat_event_group *groups;
    pat_event_comm **comms;
    int num_comms, room_comms;
    pat_log_record **blocks;
    int64_t num,
        most; /* records; as many as there may be beside communicators. Once there was no room there is none any more: no turn may be missing in between */
    int64_t num_lost;       /* calls, for want of room */
    int64_t num_waits;      /* records of kind PAT_LOG_WAIT */
    int file;               /* negative: they are in memory alone */
    pat_log_header *header; /* of the file; NULL: there is none */
} pat_events;

/* Begin: at most so many bytes of events are kept. Returns an MPI error code. */
int pat_events_begin(pat_events *events, MPI_Comm all, int64_t most_bytes);

/*
 * From here on what is kept is in a file too, calls-<rank>.pat in that directory. To be called at once after pat_events_begin. Returns 0, or an error number of errno.
 */
int pat_events_to_file(pat_events *events, const char *dir, int rank, int ranks, int64_t begin_ns,
                       int64_t run);

/* Then, so that duplicates of MPI_COMM_WORLD are told apart by when they were made. */
void pat_events_know_world(pat_events *events);

/* In the place of a communicator's number: there is nobody to hold its calls against; and there was no room. */
enum { PAT_EVENTS_NOT_KEPT = -1, PAT_EVENTS_NO_ROOM = -2 };

/* Which call of which communicator. comm: its number on this rank; negative: the call is not kept. */
typedef struct pat_event_turn {
    int comm;
    int64_t turn;
} pat_event_turn;

#define PAT_EVENTS_NO_TURN ((pat_event_turn){.comm = PAT_EVENTS_NOT_KEPT})

/* A call is over, which was run by `plan`; NULL: by none. Any thread. What is not kept for want of memory is counted. call->kind: PAT_LOG_CALL or PAT_LOG_FAILED. */
pat_event_turn pat_events_add(pat_events *events, MPI_Comm comm, const pat_log_call *call,
                              const pat_log_plan *plan);

/* A persistent request of a collective on that communicator has been made. Returns the number of what stands for it here, or one of the two negative ones. Any thread. */
int pat_events_new_request(pat_events *events, MPI_Comm comm);

/* The same as pat_events_add of a start of a persistent request, by that number. */
pat_event_turn pat_events_add_start(pat_events *events, int request, const pat_log_call *call);

/* A request that stands for a call. */
typedef struct pat_awaited {
    MPI_Request request;
    pat_event_turn turn; /* of none, where the call is not kept */
    int64_t number;      /* which of all that were begun (begun.h) */
    int at;              /* which of the requests that a call waits for */
    bool stays;          /* it is persistent: still there when the call is over */
} pat_awaited;

/* A call is over that has waited for so many non-blocking ones that are kept. Any thread. Of *wait its time and site count. */
void pat_events_add_wait(pat_events *events, const pat_log_wait *wait, const pat_awaited awaited[], int num);

/* Of a file: the program has told how far it is. Any thread. */
void pat_events_add_milestone(pat_events *events, int64_t start_ns, double percent);

/* Of a file: how long messages of so many bytes take. */
void pat_events_add_one_way(pat_events *events, int64_t bytes, int64_t ns);

/* Of a file: what the calls at a site come to that are no events. */
void pat_events_add_sum(pat_events *events, const pat_log_sum *sum);

/* Of a file: what a site is, and at which line of the source. Any thread; nothing is done without a file. */
void pat_events_name(pat_events *events, int site, const char *name, const char *call, int64_t offset);
void pat_events_line(pat_events *events, int site, const char *line);

/* Nothing is added any more: free them, and end the file. clock_error_ns: as in its header. Returns 0, or an error number of errno where the disk had no room for all. */
int pat_events_end(pat_events *events, int64_t end_ns, int64_t clock_error_ns);

static inline const pat_log_record *pat_events_at(const pat_events *events, int64_t i)
{
    return &events->blocks[i / PAT_EVENTS_IN_BLOCK][i % PAT_EVENTS_IN_BLOCK];
}

#endif
