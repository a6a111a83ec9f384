/*
 * round.c — see round.h.
 */
#include "round.h"

#include "clock.h"
#include "ensure.h"
#include "error.h"
#include "runtime.h"

static void drop(pat_round *round)
{
    pat_exec_free(round->exec);
    round->exec = NULL;
    if (round->plans)
        pat_plan_cache_release(round->plans, &round->plan);
    round->plan = NULL;
}

static void happens(pat_round *round, enum pat_round_event event)
{
    round->state = pat_transition_round(round->state, event);
    PAT_ENSURE(round->state != PAT_ROUND_NEVER);
    if (round->state == PAT_ROUND_EMPTY)
        drop(round);
}

static int made(pat_round *round, const pat_members *members, const char *what, int error)
{
    if (!error)
        pat_exec_wake(round->exec, &members->mates);
    if (!error)
        pat_exec_reach(round->exec, members->contacts, members->rank);
    if (!error && pat_rt.trace)
        error = pat_exec_trace(round->exec);
    if (!error) {
        happens(round, PAT_ROUND_MAKE);
        round->moved_ns = pat_clock_local_ns();
        round->poll_ns = 0;
        return MPI_SUCCESS;
    }
    drop(round);
    return pat_error(MPI_ERR_NO_MEM, "the plan of %s for %d ranks cannot be made: %s", what, members->size,
                     pat_exec_reason(error));
}

int pat_round_make(pat_round *round, const pat_members *members, const pat_algorithm *alg, const pat_job *job,
                   int plan_rank, pat_tags tags)
{
    round->plans = members->plans;
    int error = pat_plan_cache_get(members->plans, alg, job, plan_rank, &round->plan);
    if (!error)
        error = pat_exec_create(&round->exec, round->plan, members->comm, tags);
    return made(round, members, alg->name, error);
}

int pat_round_make_of(pat_round *round, const pat_members *members, const pat_plan *plan, const char *what,
                      pat_tags tags)
{
    round->plans = NULL;
    round->plan = plan;
    return made(round, members, what, pat_exec_create(&round->exec, plan, members->comm, tags));
}

int pat_round_arrive(pat_round *round, char *home, const char *own, const pat_carried *mine)
{
    happens(round, PAT_ROUND_ARRIVE);
    return pat_exec_arrive(round->exec, home, own, mine);
}

static int look(pat_round *round, int (*progress)(pat_exec *exec, bool *moved), bool *moved)
{
    if (!round->exec || round->state == PAT_ROUND_OVER)
        return MPI_SUCCESS;
    int rc = progress(round->exec, moved);
    if (rc == MPI_SUCCESS && pat_exec_done(round->exec))
        happens(round, PAT_ROUND_DONE);
    return rc;
}

int pat_round_look(pat_round *round, bool *moved)
{
    return look(round, pat_exec_progress, moved);
}

int pat_round_look_known(pat_round *round, bool *moved)
{
    return look(round, pat_exec_progress_known, moved);
}

int pat_round_void(pat_round *round)
{
    happens(round, PAT_ROUND_VOID);
    return pat_exec_void(round->exec);
}

void pat_round_end(pat_round *round)
{
    happens(round, PAT_ROUND_END);
}
