/*
 * round.h — one round: a plan and what becomes of it, the same for every collective. Which plan it is, and when a round is made,
 * called or thrown away, others decide.
 *
 *     EMPTY --make--> EARLY --arrive--> RUNNING --all nodes done--> OVER --end--> EMPTY
 *                       |
 *                       +--void--> VOIDING --all nodes done, or end--> EMPTY
 *
 * The table of states and events is in transition.c.
 *
 * Whoever calls these holds the communicator's lock, and pat_rt.driving for reading where another thread may cancel.
 * Functions that return int return MPI error codes; after an error a round stays what it is, since messages of it may
 * still be under way.
 */
#ifndef PAT_ROUND_H
#define PAT_ROUND_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine.h"
#include "plan_cache.h"
#include "transition.h"

/*
 * Who is in a round: this rank's number, and how many there are; the library's communicator for their messages, and how they are reached there; the plans
 * kept for them; and who of them is on this node.
 */
typedef struct pat_members {
    MPI_Comm comm;
    int rank, size;
    pat_plan_cache *plans;
    pat_mates mates;
    pat_contacts contacts;
} pat_members;

typedef struct pat_round {
    enum pat_round_state state;
    const pat_plan *plan;
    pat_plan_cache *plans; /* whose plan it is; NULL: the plan is somebody else's */
    pat_exec *exec;        /* NULL while EMPTY */
    int64_t
        moved_ns; /* local time at which the background thread last saw something come in; at first when it was made */
    int64_t poll_ns; /* the thread's present interval: see pat_pace_early_look */
} pat_round;

/*
 * Make a round of `alg` for `job`, as the plan's rank `plan_rank`, with a plan of the cache. Its messages have these tags. Returns an MPI
 * error code: MPI_ERR_NO_MEM, with the reason, where it cannot be made; it is EMPTY then.
 */
int pat_round_make(pat_round *round, const pat_members *members, const pat_algorithm *alg, const pat_job *job,
                   int plan_rank, pat_tags tags);

/* The same with a plan of the caller's, which must outlive the round; `what`: its name, for an error. */
int pat_round_make_of(pat_round *round, const pat_members *members, const pat_plan *plan, const char *what,
                      pat_tags tags);

/* The rank has called: see pat_exec_arrive. */
int pat_round_arrive(pat_round *round, char *home, const char *own, const pat_carried *mine);

/* Move on what can be moved on: see pat_exec_progress and pat_exec_progress_known. */
int pat_round_look(pat_round *round, bool *moved);
int pat_round_look_known(pat_round *round, bool *moved);

/* Throw a round away that is EARLY: see pat_exec_void. It is EMPTY after some more looks, or at once. */
int pat_round_void(pat_round *round);

/* Free the execution and let go of the plan, of a round that is OVER, or that was thrown away and has no control messages. It is EMPTY then. */
void pat_round_end(pat_round *round);

static inline bool pat_round_is(const pat_round *round, enum pat_round_state state)
{
    return round->state == state;
}

/* Are messages of it going out? */
static inline bool pat_round_sending(const pat_round *round)
{
    return round->exec && pat_exec_sending(round->exec);
}

#endif
