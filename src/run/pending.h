/*
 * pending.h — a non-blocking call that is under way: what it is, its round, and the MPI_Request by which the program waits for it, which is a
 * generalized request of MPI. It runs by plan, or the MPI library runs it and the background thread moves it on: then there is the MPI library's own request in place of a round. Or one that is made again and again, by a persistent request: that is a receive of nothing, which this rank sends to itself
 * (keep.h). Must never decide when anything is done: nbc.c does.
 */
#ifndef PAT_PENDING_H
#define PAT_PENDING_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "call.h"
#include "link.h"
#include "round.h"

/* What is added up over non-blocking calls of one place that have ended without an error, by whichever thread ends them. */
typedef struct pat_hiding {
    atomic_int_fast64_t calls;
    atomic_int_fast64_t under_way_ns; /* from the start to when the result was there */
    atomic_int_fast64_t in_mpi_ns;    /* the part of that in which the program waited in MPI */
} pat_hiding;

/*
 * So many non-blocking calls of a communicator may be under way at once, each with tags of its own; what is started beyond that begins when the one that
 * has its tags is over on this rank. Two calls with the same tags cannot be mistaken for each other: on every rank one is over before the next one
 * begins, and MPI keeps the order of messages between two ranks.
 */
enum { PAT_PENDING_SLOTS = 4 };

/* As many more for rounds that may be made before the call (ahead.h): what a rank has made for a wrong guess must not take in a message of the call that comes in its place. */
enum { PAT_ALL_SLOTS = 2 * PAT_PENDING_SLOTS };

typedef struct pat_pending {
    pat_call call;
    const pat_algorithm *alg;
    pat_link link; /* what messages take, for its plan */
    int slot;
    const pat_algorithm *rival; /* that may run it in place of `alg`; NULL: none */
    const pat_algorithm *runs;  /* the one of them that does, once it has begun */
    int64_t number;             /* among the calls that ahead.h has to do with; negative: it is none */
    bool as_guessed;            /* it is the one that was guessed; the same on all members */
    bool carries;               /* its blocks are to carry what pat_carried has; the same on all members */
    bool was_ahead;             /* its round was made before the call */
    pat_round round;            /* EMPTY: it has not begun */
    pat_carried mine;
    pat_pack pack;
    MPI_Request request;
    MPI_Request mpis
        [2]; /* of a call that the MPI library runs: its own request; and room for one more (pat_wire_test_known) */
    bool
        by_mpi; /* it is such a call, and of all above it has only `request`, and what is negative or empty. That of a kept one is persistent */
    bool is_kept;  /* it is that of a persistent request: a receive on the library's communicator, */
    int self, tag; /* from this rank, whose number there is this, with this tag */
    atomic_int
        code; /* with which it has ended: an MPI error code. Set before the request is complete, and read after that */
    pat_hiding *hiding; /* where it is added; NULL: nowhere */
    int64_t
        started_ns; /* with `hiding`: when it was started, by the local clock, and what pat_rt.in_mpi_ns was then */
    int64_t in_mpi_ns;
    bool ended; /* the request is complete, as far as this library is concerned, or was never started */
    bool keeps_send, keeps_recv; /* a type of `call` is the library's */
    int *lists;                  /* counts and displacements of `call`, which the program may let go of */
    atomic_int refs;             /* the communicator's list, and the request */
    struct pat_pending *next;
} pat_pending;

/* Make one, with its request, on a communicator of so many ranks. It takes over what the call has kept. Returns an MPI error code; *out is then NULL. */
int pat_pending_make(pat_call *call, const pat_algorithm *alg, int num_ranks, pat_pending **out);

/* The same for a persistent request, which the caller makes: all but `request`, `self` and `tag`. There is one reference, that of the request; each start is to take one for the communicator's list. */
int pat_pending_make_kept(pat_call *call, const pat_algorithm *alg, int num_ranks, pat_pending **out);

/*
 * The same for a call that the MPI library has started, with its own request, which is the pending's from now on. Returns NULL where there is no memory, or MPI has no request: then it stays the caller's.
 */
pat_pending *pat_pending_make_by_mpi(MPI_Request mpis);

/* The same for a persistent one, as pat_pending_make_kept has it. It is freed with the pending; the caller starts it. */
pat_pending *pat_pending_make_kept_by_mpi(MPI_Request mpis);

/* Of such a call: is it over? Then *code is the MPI error code with which it has ended. asks_mpi: see pat_wire_test (wire.h). */
bool pat_pending_test_by_mpi(pat_pending *p, bool asks_mpi, int *code);

/* It is under way from now on: pat_rt.num_pending and num_moved count it until it ends, or is given up. */
void pat_pending_begin(pat_pending *p);

/* It has ended with `code`: whoever waits for its request goes on. Its round is empty, or is kept after an error. Nothing is done where it had ended before. */
void pat_pending_end(pat_pending *p, int code);

/* Its communicator goes: if it has not ended by now it never does. */
void pat_pending_give_up(pat_pending *p);

/* Free what it has, but not itself: MPI has no message of it any more. Not from a function that MPI calls for its request. */
void pat_pending_release(pat_pending *p);

/* The list does not need it any more, or the persistent request. */
void pat_pending_unref(pat_pending *p);

#endif
