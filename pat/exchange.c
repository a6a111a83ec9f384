/*
 * exchange.c — see exchange.h. Each rank tells 40 bytes in an epoch (tell.h); whoever waits for the others' polls.
 */
#include "exchange.h"

#include <errno.h>
#include <stdlib.h>

int pat_exchange_init(pat_exchange *x, const pat_tellers *who)
{
    x->state = PAT_EXCHANGE_NONE;
    x->all = calloc((size_t)who->num_ranks, sizeof(*x->all));
    return x->all ? pat_tell_init(&x->tell, who, sizeof(*x->all)) : ENOMEM;
}

void pat_exchange_free(pat_exchange *x)
{
    pat_tell_free(&x->tell);
    free(x->all);
    x->all = NULL;
}

int pat_exchange_post(pat_exchange *x, pat_estimate mine, int64_t now_ns)
{
    x->mine = mine;
    x->posted_ns = now_ns;
    x->state = PAT_EXCHANGE_POSTED;
    return pat_tell_begin(&x->tell, &mine);
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

int pat_exchange_test(pat_exchange *x, bool *moved)
{
    bool done;
    if (x->state != PAT_EXCHANGE_POSTED)
        return MPI_SUCCESS;
    int rc = pat_tell_test(&x->tell, x->all, moved, &done);
    if (done) {
        x->state = PAT_EXCHANGE_DONE;
        x->expected_token = expected_token(x->all, x->tell.who.num_ranks);
    }
    return rc;
}

bool pat_exchange_no_call(const pat_exchange *x, enum pat_certain certain)
{
    bool all = x->state == PAT_EXCHANGE_DONE;
    for (int r = 0; r < x->tell.who.num_ranks && all; r++)
        all = x->all[r].token == PAT_NO_CALL && x->all[r].certain >= (int64_t)certain;
    return all;
}

void pat_exchange_reset(pat_exchange *x)
{
    x->state = PAT_EXCHANGE_NONE;
}
