/*
 * log.h — the calls of all ranks of a program, as they have been read from their files (log_read.h) and held against each other (log_match.h).
 */
#ifndef PAT_LOG_H
#define PAT_LOG_H

#include <stdbool.h>
#include <stdint.h>

/* A place in the program that calls one MPI function; the same on all ranks. */
typedef struct pat_log_site {
    char *name, *call, *line; /* line "": not known */
} pat_log_site;

/* A communicator; the same on all members. */
typedef struct pat_log_members {
    uint64_t id;
    int size;
    int *rank;         /* of each member, among all ranks; negative: its file is not there */
    int64_t num_calls; /* of which all members have told */
} pat_log_members;

/*
 * A call of a rank, and what the others' say of it: of a collective, or one that waits for others which do not block (is_wait). Of the latter `comm` and `turn` are those
 * of what it has waited for, or of the first of them.
 */
typedef struct pat_log_event {
    int64_t start_ns, time_ns, bytes; /* start_ns: since the first call of all */
    int site, comm;                   /* numbers in pat_log */
    bool has_failed, is_wait;
    int root;
    int64_t turn;        /* its number on the communicator */
    int64_t wait_ns;     /* for late ranks; negative: not known */
    int late;            /* for which, among all ranks; negative: for nobody */
    int alg;             /* by which a plan ran it, a number in pat_log; negative: by none */
    int64_t early_bytes; /* of a call by plan: what was here before */
    int64_t after_ns,
        apart_ns; /* how long after the first rank this one and the last one came; negative: not known */
} pat_log_event;

/* A call that does not block, and the one that has waited for it. */
typedef struct pat_log_awaited {
    int comm;
    int64_t turn, event;
} pat_log_awaited;

/* What the calls at a place come to that are no events, since they are about messages between two ranks. */
typedef struct pat_log_messages {
    int site;
    int64_t calls, time_ns, bytes;
} pat_log_messages;

/* A rank has told how far it is: 0 when it begins with what it computes, 100 when that is done. */
typedef struct pat_log_told {
    int64_t start_ns; /* as of an event */
    double percent;
} pat_log_told;

typedef struct pat_log_link {
    int64_t bytes, ns;
} pat_log_link;

typedef struct pat_log_rank {
    char host[64];
    bool is_there, is_ended; /* its file is; it came to MPI_Finalize */
    int64_t begin_ns, end_ns, num_lost, clock_error_ns;
    pat_log_event *events;
    int64_t num_events;
    pat_log_awaited *awaited;
    int64_t num_awaited;
    pat_log_messages *messages;
    int64_t num_messages;
    pat_log_told *told;
    int64_t num_told;
    int64_t *wait_of; /* of each in by_comm: which event has waited for it; negative: none */
    int64_t *by_comm,
        *first; /* numbers of events that are collectives, communicator by communicator: those of number c are by_comm[first[c]] to before by_comm[first[c + 1]] */
} pat_log_rank;

typedef struct pat_log {
    int num_ranks;
    pat_log_rank *ranks;
    pat_log_site *sites;
    int num_sites;
    pat_log_members *comms;
    int num_comms;
    char **algs;
    int num_algs;
    pat_log_link *link; /* how long messages take, in ascending order of bytes; none: not known */
    int num_link;
    char mpi[64], pat[16], *command;
    char *warnings; /* a line for each thing that is wrong; "": nothing is */
} pat_log;

/* What a place is called: its line in the source, or else its function. */
static inline const char *pat_log_name(const pat_log_site *site)
{
    return site->line[0] ? site->line : site->name;
}

/* The event of a communicator's member (not of one whose file is missing) in a turn that it has made. */
static inline pat_log_event *pat_log_event_of(const pat_log *log, int comm, int member, int64_t turn)
{
    const pat_log_rank *rank = &log->ranks[log->comms[comm].rank[member]];
    return &rank->events[rank->by_comm[rank->first[comm] + turn]];
}

#endif
