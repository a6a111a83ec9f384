/*
 * keep.h — persistent requests of collectives whose starts are run by plans, for programs that start and wait for them as MPI has it. MPI knows no request that a library could make and a program
 * start again, so each is one of MPI's own that this library can complete: a receive of nothing, which the rank sends to itself when the plan is over. Each has a
 * communicator's state of its own (comm_local.h), since ranks may start several in different orders.
 */
#ifndef PAT_KEEP_H
#define PAT_KEEP_H

#include "nbc.h"

/*
 * Make a request whose starts are that call by this way; what the call has kept is taken over. All members make this call, and wait for each other. able: can this rank do its part? *request is MPI_REQUEST_NULL on all
 * members where one of them cannot. Returns an MPI error code.
 */
int pat_keep_make(pat_call *call, const pat_nbc_way *way, bool able, MPI_Request *request);

/*
 * MPI has made this persistent request, whose starts the background thread is to move on, and which are counted as run by `native`: *request becomes another one, whose starts start it. Returns whether this rank can; else nothing is
 * changed. No other rank has to do the same. At most 64 requests are kept so: each is looked at for itself.
 */
bool pat_keep_move(MPI_Comm comm, const pat_algorithm *native, MPI_Request *request);

/* Are there any? */
bool pat_keep_any(void);

/*
 * MPI has started this request: start what it stands for, if it is one of these. hiding: as of pat_nbc_start. Returns an MPI error code; the request is then complete all the same, with an error.
 */
int pat_keep_start(MPI_Request request, pat_hiding *hiding);

/* MPI is about to free this request. What is under way goes on in the background, as MPI has it for messages. */
void pat_keep_free(MPI_Request request);

/* The library ends, and so do all of them, whether the program has freed them or not. Their states are gone. */
void pat_keep_end(void);

#endif
