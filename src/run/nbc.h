/*
 * nbc.h — non-blocking calls of a communicator: the background thread drives their rounds to the end while the program computes. They have a state of
 * their own (comm_local.h), and nothing of them moves before the call; several may be under way at once, beside calls of all other kinds.
 */
#ifndef PAT_NBC_H
#define PAT_NBC_H

#include "comm.h"

/* How a call is to be run; the same on all members. */
typedef struct pat_nbc_way {
    const pat_algorithm *alg;   /* by this one, */
    const pat_algorithm *rival; /* or, where it takes less (ahead.h), by this one; NULL: there is none */
    pat_link link;              /* what messages take, for its plan */
} pat_nbc_way;

/*
 * Start a call on a state of comm_local.h; it takes over what the call has kept. way->alg becomes the one that runs it, if that is known yet. hiding: where to add how much of it was hidden; it outlives the library's life; NULL: nowhere. *request is complete when the result is there. Waits for no other rank. Takes the
 * communicator's lock. Returns an MPI error code; no request is made then.
 */
int pat_nbc_start(pat_comm *c, pat_call *call, pat_nbc_way *way, pat_hiding *hiding, MPI_Request *request);

/*
 * The MPI library has just started a call on this communicator, which *request is of: from now on the background thread moves it on, while the program does something else. *request becomes another one, which is complete when that one is. Where there is no
 * memory, or 16 are under way there already, nothing is changed. No other rank has to do the same. hiding: as above.
 */
void pat_nbc_move(pat_comm *c, MPI_Request *request, pat_hiding *hiding);

/* Start what a persistent request stands for (keep.h), once more; `c` is its own. The same otherwise, but that its request is there already. */
int pat_nbc_start_again(pat_comm *c, pat_pending *p, pat_hiding *hiding);

/* How a broadcast of so many bytes is cut. */
int64_t pat_nbc_segment_bytes(int64_t message);

/* The caller of all that follows holds the communicator's lock. */

/* Is one under way that is not lost to an error? One that the MPI library runs never is. */
bool pat_nbc_under_way(const pat_comm *c);

/*
 * Move on what is under way: an error stays with the communicator. Returns an MPI error code. The caller of the others holds pat_rt.driving; the last one is for where MPI
 * calls this library while it looks for messages, so it goes by what MPI knows then.
 */
int pat_nbc_look(pat_comm *c, bool *moved);
int pat_nbc_look_driving(pat_comm *c, bool *moved);
int pat_nbc_look_known(pat_comm *c, bool *moved);

/* Does the MPI library run all that is under way? */
bool pat_nbc_moves_only(const pat_comm *c);

/* Are messages going out? */
bool pat_nbc_sending(const pat_comm *c);

/* Something has failed on the communicator: so have all that are under way by plan, and whoever waits for them is told. Else nothing is done. */
void pat_nbc_fail(pat_comm *c);

#endif
