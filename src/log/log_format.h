/*
 * log_format.h — the file of a rank's calls that PAT_TRACE makes under the drop-in: a header, then records of one size, in the order in which
 * they were made. The program's memory is the file (it is mapped), so that what a rank has written is there whatever becomes of it. docs/trace.md describes it
 * for others. Numbers are as the machine has them.
 */
#ifndef PAT_LOG_FORMAT_H
#define PAT_LOG_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#define PAT_LOG_MAGIC "PATCALLS"

enum {
    PAT_LOG_VERSION = 2,          /* 1 had no PAT_LOG_WAIT and none of what follows it */
    PAT_LOG_MOST_RANKS = 1 << 20, /* more are nonsense */
    PAT_LOG_BYTE_ORDER = 0x01020304,
    PAT_LOG_HEADER_BYTES = 65536, /* it and a block of records are whole pages, of whatever size */
    PAT_LOG_TEXT_BYTES = 36       /* of a text in a record */
};

/* What a record is. A file that was not ended goes on with zeros. */
enum pat_log_kind {
    PAT_LOG_END,  /* there are no more */
    PAT_LOG_CALL, /* a call that has succeeded: call */
    PAT_LOG_SITE, /* site `define.number` is the name and the MPI function in the next records: `define.length` characters, two texts with a '\0' each */
    PAT_LOG_COMM, /* communicator `comm.number` */
    PAT_LOG_LINE, /* site `define.number` is at the line of the source in the next records */
    PAT_LOG_TEXT, /* part of a text */
    PAT_LOG_FAILED, /* a call that has failed, which took its turn all the same: call */
    PAT_LOG_WAIT,   /* a call that waited for a non-blocking one: wait */
    PAT_LOG_SUM, /* what the calls at a site come to that are no events, since they are about messages: sum */
    PAT_LOG_PLAN,      /* the call in the record before was run by a plan: plan */
    PAT_LOG_MILESTONE, /* the program has told how far it is: milestone */
    PAT_LOG_ONE_WAY,   /* how long a message takes: one_way */
    PAT_LOG_KINDS
};

typedef struct pat_log_call {
    int64_t start_ns; /* on the clock of all ranks */
    int64_t time_ns;
    int64_t bytes; /* of this rank's buffer */
    int32_t site, comm;
    int32_t root; /* in the communicator; negative: there is none, or it is not known */
    int32_t kind;
} pat_log_call;

/* The requests of one call may stand for several collectives: then each has a record, and all but the first say that they follow. */
typedef struct pat_log_wait {
    int64_t start_ns, time_ns; /* as of a call */
    int64_t turn;              /* the number of the call that it waited for, on its communicator */
    int32_t site, comm;
    int32_t follows; /* 1: it is the same call as in the last record that is a wait and does not follow */
    int32_t kind;
} pat_log_wait;

typedef struct pat_log_sum {
    int64_t calls, time_ns, bytes;
    int32_t site;
    int32_t unused[2], kind;
} pat_log_sum;

typedef struct pat_log_plan {
    int64_t early_bytes; /* what was here before this rank called */
    char alg[28];        /* the algorithm, ended by '\0' */
    int32_t kind;
} pat_log_plan;

typedef struct pat_log_milestone {
    int64_t start_ns;
    int64_t
        thousandths; /* of a per cent of the work that are done: 0 at PAT_ProcessingStart, 100000 at PAT_ProcessingEnd, between them at PAT_Edge */
    int32_t unused[5], kind;
} pat_log_milestone;

/* In ascending order of bytes: see one_way.h. */
typedef struct pat_log_one_way {
    int64_t bytes, ns;
    int32_t unused[5], kind;
} pat_log_one_way;

typedef struct pat_log_define {
    int64_t offset; /* of a site in its file */
    int32_t number, length;
    int32_t unused[5], kind;
} pat_log_define;

typedef struct pat_log_comm {
    uint64_t id, group; /* the same on all members; the same for all communicators of the same members */
    int32_t number, size, rank;
    int32_t unused[2], kind;
} pat_log_comm;

typedef struct pat_log_text {
    char text[PAT_LOG_TEXT_BYTES];
    int32_t kind;
} pat_log_text;

typedef union pat_log_record {
    pat_log_call call;
    pat_log_wait wait;
    pat_log_sum sum;
    pat_log_plan plan;
    pat_log_milestone milestone;
    pat_log_one_way one_way;
    pat_log_define define;
    pat_log_comm comm;
    pat_log_text text;
} pat_log_record;

_Static_assert(sizeof(pat_log_record) == 40,
               "all kinds of records have one size, and their kind is in the same place");

static inline int32_t pat_log_kind(const pat_log_record *r)
{
    return r->text.kind;
}

static inline bool pat_log_is_call(const pat_log_record *r)
{
    return pat_log_kind(r) == PAT_LOG_CALL || pat_log_kind(r) == PAT_LOG_FAILED;
}

typedef struct pat_log_header {
    char magic[8];
    int32_t byte_order, version, record_bytes;
    int32_t rank, ranks;
    int32_t no_room;  /* an error number of errno: why there was no room on the disk for more; 0: there was */
    int64_t begin_ns; /* when counting began, on the clock of all ranks */
    int64_t end_ns;   /* when MPI_Finalize was called; 0: it never was */
    int64_t
        num_records; /* 0: not known, and records go on up to the first of kind PAT_LOG_END, or the end of the file */
    int64_t num_lost;       /* calls that are not there, for want of room */
    int64_t clock_error_ns; /* at the end: the clock of all ranks is right to within that on this rank */
    int64_t run;            /* the same on all ranks, and greater in a later run */
    char host[64], mpi[64], pat[16];
    char command[1024]; /* each word ended by '\0', and the last one by two */
} pat_log_header;

#endif
