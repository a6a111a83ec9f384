/*
 * exchange.c — see exchange.h. One non-blocking all-gather of 40 bytes per rank and epoch on the library's
 * own communicator; whoever waits for it polls.
 */
#include "exchange.h"

#include <errno.h>
#include <stdlib.h>

int pat_exchange_init(pat_exchange *x, int num_ranks)
{
    x->state = PAT_EXCHANGE_NONE;
    x->request = MPI_REQUEST_NULL;
    x->all = calloc((size_t)num_ranks, sizeof(*x->all));
    return x->all ? 0 : ENOMEM;
}

void pat_exchange_free(pat_exchange *x)
{
    free(x->all);
    x->all = NULL;
}

int pat_exchange_post(pat_exchange *x, MPI_Comm comm, pat_estimate mine, int64_t now_ns)
{
    const int words = sizeof(mine) / sizeof(int64_t);
    x->mine = mine;
    x->posted_ns = now_ns;
    int rc = PMPI_Iallgather(&x->mine, words, MPI_INT64_T, x->all, words, MPI_INT64_T, comm, &x->request);
    if (rc == MPI_SUCCESS)
        x->state = PAT_EXCHANGE_POSTED;
    return rc;
}

/*
 * What will be called? A rank that has called knows. Otherwise the ranks must be of one mind: a plan may be
 * prepared only if everybody would prepare the same one.
 */
static int64_t expected_token(const pat_estimate *all, int num_ranks)
{
    int64_t common = all[0].token;
    for (int r = 0; r < num_ranks; r++) {
        if (all[r].certain)
            return all[r].token;
        if (all[r].token != common)
            common = PAT_NO_CALL;
    }
    return common;
}

int pat_exchange_test(pat_exchange *x, int num_ranks)
{
    int done = 0;
    if (x->state != PAT_EXCHANGE_POSTED)
        return MPI_SUCCESS;
    int rc = PMPI_Test(&x->request, &done, MPI_STATUS_IGNORE);
    if (rc == MPI_SUCCESS && done) {
        x->state = PAT_EXCHANGE_DONE;
        x->expected_token = expected_token(x->all, num_ranks);
    }
    return rc;
}

void pat_exchange_reset(pat_exchange *x)
{
    x->state = PAT_EXCHANGE_NONE;
}
