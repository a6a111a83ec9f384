/*
 * engine.h — runs one rank's plan. The only place where user data is sent and received.
 *
 * An execution is a plan that is being run. Nodes that do not depend on ARRIVE may run as soon as it is made, driven by the
 * background thread; pat_exec_arrive brings the application's buffers and lets the other nodes run. Early data lies in the landing
 * place until then; the result's own place is called home. One thread at a time drives an execution: the caller locks.
 */
#ifndef PAT_ENGINE_H
#define PAT_ENGINE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "bells.h"
#include "engine_types.h"

/*
 * Make an execution of `plan`, which must outlive it, and the scratch that it asks for. Returns 0, ENOMEM, EINVAL (too many
 * messages for the tags) or ENOTSUP: the plan does something else with own bytes than to copy them to their place in
 * the result, which cannot be run because with MPI_IN_PLACE they are only there. Plans in which a rank contributes a
 * block for each rank (pat_plan_personal) may do so: their own bytes are always elsewhere.
 */
int pat_exec_create(pat_exec **exec, const pat_plan *plan, MPI_Comm comm, pat_tags tags);

/*
 * For plans that reduce, before pat_exec_arrive: the operation, and the type of which an element is one. Both must
 * outlive the execution. Nothing is reduced in the result before ARRIVE.
 */
void pat_exec_reduces(pat_exec *exec, MPI_Datatype element, MPI_Op op);

/* Why a plan or its execution could not be made, in words for a message. A static string. */
const char *pat_exec_reason(int error);

/*
 * For collectives with a root, right after pat_exec_create: the plan counts ranks from `root`, so its rank r is rank
 * (r + root) mod P of the communicator. Byte i of the space, which is the result or what the rank contributes, is at (i + shift) mod
 * bytes there, which lets blocks lie in the order of the communicator's ranks. Early data is then not allowed.
 */
void pat_exec_rotate(pat_exec *exec, int root, enum pat_space space, int64_t shift, int64_t bytes);

/* Right after pat_exec_create: ranks of this node are woken by messages to them. */
void pat_exec_wake(pat_exec *exec, const pat_mates *mates);

/* Right after pat_exec_create: how the ranks of the plan's communicator are reached, of which this one has the number `me`. Must outlive the execution. */
void pat_exec_reach(pat_exec *exec, pat_contacts contacts, int me);

/*
 * Note when each node starts (a message: is posted) and ends, from now on: times of pat_clock_local_ns. Right after
 * pat_exec_create. Returns 0 or ENOMEM. pat_exec_spans: one per node of the plan; NULL when nothing is noted.
 */
int pat_exec_trace(pat_exec *exec);
const pat_span *pat_exec_spans(const pat_exec *exec);

/*
 * Allow early data: byte i of the result may land at landing[i]; where `landing` is NULL only what goes to scratch may be received
 * early. At most `budget` bytes are received early, the rest waits for the call. Without this, nothing is received before ARRIVE.
 */
void pat_exec_land(pat_exec *exec, char *landing, int64_t budget);

/*
 * The rank has called: the result is to be at `home`, and early data moves there. `own` holds this rank's own bytes, NULL
 * when they are already in their place; `mine` is what goes along with them, where the plan carries arrivals, and may be NULL
 * elsewhere. Call pat_exec_progress afterwards. Returns an MPI error code.
 */
int pat_exec_arrive(pat_exec *exec, char *home, const char *own, const pat_carried *mine);

/*
 * Post what may be posted, complete what is complete: once, since more may come in for as long as one looks, and whoever drives may be wanted
 * elsewhere. *moved becomes true if anything has moved, and else stays as it was, here and wherever else a function takes it. Returns an MPI error code.
 */
int pat_exec_progress(pat_exec *exec, bool *moved);

/* The same, with what MPI has told so far: for whoever is called by MPI while it looks for messages itself. */
int pat_exec_progress_known(pat_exec *exec, bool *moved);

/*
 * Throw the round away: no rank will call it, so no message with data of it was or will be sent. Its receives of data are
 * cancelled. Its control messages are all exchanged all the same, so that both sides agree on what was sent:
 * drive it with pat_exec_progress until pat_exec_done. Returns an MPI error code.
 */
int pat_exec_void(pat_exec *exec);

/*
 * Take back the landing place, in two steps: pat_exec_unland cancels the receives that are posted there, without
 * waiting, and must not meet MPI calls of other threads (see pat_rt.driving). pat_exec_reland, to be called until
 * *done and with no other call in between, waits for messages that are on their way, moves early data to `landing`,
 * posts the receives again there, within `budget`, and waits for what is being passed on from the old place. Both
 * return an MPI error code; after an error the round is lost and the old place still in use.
 */
int pat_exec_unland(pat_exec *exec);
int pat_exec_reland(pat_exec *exec, char *landing, int64_t budget, bool *done);

/* Are all nodes complete? */
bool pat_exec_done(const pat_exec *exec);

/*
 * For invariant.c: has pat_exec_arrive been called? Have only early nodes begun? Have two executions tags in common?
 */
bool pat_exec_arrived(const pat_exec *exec);
bool pat_exec_only_early(const pat_exec *exec);
bool pat_exec_share_tags(const pat_exec *a, const pat_exec *b);

/* May user data still come in or go out before ARRIVE? Then it is worth polling for. */
bool pat_exec_expects_early(const pat_exec *exec);

/* Are sends in flight? */
bool pat_exec_sending(const pat_exec *exec);

/* Has the rank done all that it has to do but to receive what is awaited already? */
bool pat_exec_only_receives(const pat_exec *exec);

/*
 * Is there something to do as soon as another rank of this node has sent something, or taken it: a receive to complete, a send that needs this process to go
 * on, or one whose end something else of the plan waits for? Where an offer (wire.h) has only to be taken there is not.
 */
bool pat_exec_awaits_mates(const pat_exec *exec);

/* How many messages are in flight. Is the index-th one a receive of user data? Then *peer and *bytes are its sender and length. */
int pat_exec_num_in_flight(const pat_exec *exec);
bool pat_exec_receiving(const pat_exec *exec, int index, int *peer, int64_t *bytes);

/* Bytes received early so far, or posted for it: those that count against the budget of pat_exec_land. */
int64_t pat_exec_landed(const pat_exec *exec);

/* What has been received and copied so far. */
pat_exec_stats pat_exec_get_stats(const pat_exec *exec);

/*
 * What every rank's block has carried, by rank, once the round is done; the same on all ranks. NULL when the plan carries nothing.
 */
const pat_carried *pat_exec_carried(const pat_exec *exec);

/* May MPI still read or write its memory or buffers, because a message with data is in flight? For use after an error; exec may be NULL. */
bool pat_exec_exposed(const pat_exec *exec);

/* Free it. All its messages with data must be complete: done, or voided and done. */
void pat_exec_free(pat_exec *exec);

#endif
