/*
 * tell.h — every rank tells every other one a few bytes, while the program does something else. An all-gather in log2(P) messages a rank,
 * rounded up, after J. Bruck et al., Efficient algorithms for all-to-all communications in multiport message-passing systems (1997): what a rank
 * knows doubles with each step. The MPI library's own non-blocking all-gather would do, but Open MPI's sends P-1 messages, which the
 * next call feels where many ranks share a core, and it has to come in the same order as other collectives on all ranks.
 *
 * A step begins when somebody looks after the one before is over, and the others wait for it. So whoever has told something passes on
 * what others say until all is known, wherever it waits itself and whatever has failed (pat_comm_pass_on, visit.c). The
 * messages of one step of two tellings never take each other's place, because MPI keeps the order of messages between two
 * ranks with one tag.
 *
 * One thread at a time. Functions that return int return MPI error codes but for pat_tell_init.
 */
#ifndef PAT_TELL_H
#define PAT_TELL_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "bells.h"

/* Who tells, and where: the library's own communicator, and a tag that nothing else has there once the link is measured. */
typedef struct pat_tellers {
    MPI_Comm comm;
    int tag, rank, num_ranks;
    pat_mates mates; /* woken by what they are told */
} pat_tellers;

typedef struct pat_tell {
    pat_tellers who;
    size_t bytes;  /* that a rank tells */
    char *known;   /* what ranks have told, this one first, then those after it */
    int num_known; /* 0: it has told nothing yet */
    int failed;    /* the first error, which all later functions return */
    MPI_Request requests[2];
} pat_tell;

/* For `bytes` of each rank. Returns 0 or ENOMEM. */
int pat_tell_init(pat_tell *t, const pat_tellers *who, size_t bytes);

/* Not between pat_tell_begin and the end of the telling, nor after an error: MPI may still write to *t. */
void pat_tell_free(pat_tell *t);

/* This rank tells `mine`, which is copied. All ranks tell as often. */
int pat_tell_begin(pat_tell *t, const void *mine);

/* Look, and begin the next step if it is time. *moved: set where a step is over. At any time, also when nothing is told. */
int pat_tell_pass(pat_tell *t, bool *moved);

/* Has this rank nothing more to pass on? */
static inline bool pat_tell_is_over(const pat_tell *t)
{
    return t->failed || t->num_known == 0 || t->num_known == t->who.num_ranks;
}

/* The same as pat_tell_pass. *done: all is known, and copied to `all`, by rank. */
int pat_tell_test(pat_tell *t, void *all, bool *moved, bool *done);

#endif
