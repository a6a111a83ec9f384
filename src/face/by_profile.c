/*
 * by_profile.c — see by_profile.h. Only what is the same on all ranks decides whether it runs.
 */
#include "by_profile.h"

#include "bring.h"
#include "calls.h"
#include "describe.h"
#include "error.h"
#include "fail.h"
#include "rooted.h"
#include "runtime.h"

/* What the program has started on the communicator does not count: some ranks may have waited for it before this call, and others not yet. */
static enum pat_why judge(const pat_comm *c, const pat_call *call, const pat_algorithm *alg)
{
    if (!c)
        return PAT_WHY_NOT_KNOWN;
    return !pat_collective_of(alg->op)->rooted || pat_bring_fits(c, alg->op, call) ? PAT_WHY_ASKED
                                                                                   : PAT_WHY_CANNOT;
}

static int run(const pat_call *call, const pat_algorithm *alg, enum pat_why *why)
{
    pat_comm *c = NULL;
    if (pat_comm_waits(call->comm)) {
        *why = PAT_WHY_FIRST;
        return MPI_SUCCESS;
    }
    int rc = pat_comm_get(call->comm, false, false, &c);
    if (rc == MPI_SUCCESS)
        *why = judge(c, call, alg);
    if (rc == MPI_SUCCESS && *why == PAT_WHY_ASKED) {
        pat_runtime_count_instead(pat_algorithm_native(alg->op), alg);
        rc = pat_rooted_run(c, call, alg);
    }
    return rc;
}

int pat_by_profile_run(const pat_face *face, const pat_args *args, const pat_algorithm *alg,
                       enum pat_why *why)
{
    pat_call call;
    bool ours;
    if (pat_calls_keep_order(face, args)) {
        *why = PAT_WHY_ORDER;
        return MPI_SUCCESS;
    }
    pat_error_begin();
    pat_describe(face, args, &call, &ours); /* arguments of these kinds need no memory */
    if (!ours || call.block_bytes == 0 || call.block_bytes > PAT_MAX_BLOCK) {
        *why = PAT_WHY_CANNOT;
        return MPI_SUCCESS;
    }
    *why = PAT_WHY_ASKED;
    const int rc = run(&call, alg, why);
    return rc == MPI_SUCCESS ? rc : pat_fail(args->comm, rc);
}

enum pat_why pat_by_profile_why_never(int ranks)
{
    return ranks < 2                                            ? PAT_WHY_ONE_RANK
           : pat_comm_slot_tags() < pat_comm_tags_needed(ranks) ? PAT_WHY_TAGS
                                                                : PAT_WHY_ASKED;
}
