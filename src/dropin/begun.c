/*
 * begun.c — see begun.h.
 */
#include "begun.h"

#include <search.h>
#include <stdlib.h>

typedef struct call {
    MPI_Request request;
    pat_event_turn turn; /* of none, if it is not kept */
    int64_t number;
    bool stays, under_way; /* what does not stay is under way */
    pat_kept kept;         /* with `stays` */
} call;

/* Handles are numbers or addresses, as the MPI library has it: both have an order here. */
static int by_request(const void *a, const void *b)
{
    const call *x = a, *y = b;
    return (x->request > y->request) - (x->request < y->request);
}

static call *find(pat_begun *p, MPI_Request request)
{
    const call wanted = {.request = request};
    call **found = tfind(&wanted, &p->calls, by_request);
    return found ? *found : NULL;
}

static void add(pat_begun *p, const call *what)
{
    call *made = malloc(sizeof(*made));
    if (!made)
        return;
    *made = *what;
    pthread_mutex_lock(&p->lock);
    made->number = p->num_begun++;
    call **kept = tsearch(made, &p->calls, by_request);
    if (kept && *kept == made) {
        atomic_fetch_add_explicit(&p->num, 1, memory_order_relaxed);
        made = NULL;
    } else if (kept) { /* it stood for a call whose end nobody has seen */
        **kept = *made;
    }
    pthread_mutex_unlock(&p->lock);
    free(made);
}

void pat_begun_add(pat_begun *p, MPI_Request request, pat_event_turn turn)
{
    add(p, &(call){.request = request, .turn = turn, .under_way = true});
}

void pat_begun_keep(pat_begun *p, MPI_Request request, const pat_kept *kept)
{
    add(p, &(call){.request = request, .turn = PAT_EVENTS_NO_TURN, .stays = true, .kept = *kept});
}

bool pat_begun_is_kept(pat_begun *p, MPI_Request request, pat_kept *kept)
{
    if (atomic_load_explicit(&p->num, memory_order_relaxed) == 0)
        return false;
    pthread_mutex_lock(&p->lock);
    const call *c = find(p, request);
    const bool is = c && c->stays;
    if (is)
        *kept = c->kept;
    pthread_mutex_unlock(&p->lock);
    return is;
}

void pat_begun_start(pat_begun *p, MPI_Request request, pat_event_turn turn)
{
    pthread_mutex_lock(&p->lock);
    call *c = find(p, request);
    if (c) {
        c->turn = turn;
        c->number = p->num_begun++;
        c->under_way = true;
    }
    pthread_mutex_unlock(&p->lock);
}

/* With the lock. To be freed. */
static call *take_out(pat_begun *p, call *c)
{
    tdelete(c, &p->calls, by_request);
    atomic_fetch_sub_explicit(&p->num, 1, memory_order_relaxed);
    return c;
}

void pat_begun_forget(pat_begun *p, MPI_Request request)
{
    if (atomic_load_explicit(&p->num, memory_order_relaxed) == 0)
        return;
    pthread_mutex_lock(&p->lock);
    call *c = find(p, request);
    if (c)
        take_out(p, c);
    pthread_mutex_unlock(&p->lock);
    free(c);
}

int pat_begun_find(pat_begun *p, const MPI_Request requests[], int num, pat_awaited room[], int most,
                   pat_awaited **found)
{
    int num_found = 0;
    *found = room;
    if (!requests || atomic_load_explicit(&p->num, memory_order_relaxed) == 0)
        return 0;
    pthread_mutex_lock(&p->lock);
    for (int i = 0; i < num; i++) {
        const call *c = requests[i] == MPI_REQUEST_NULL ? NULL : find(p, requests[i]);
        if (!c || !c->under_way)
            continue;
        if (num_found == most && *found == room) {
            pat_awaited *more = malloc((size_t)num * sizeof(*more));
            if (!more)
                break; /* of the others nothing is known */
            for (int k = 0; k < num_found; k++)
                more[k] = room[k];
            *found = more;
        }
        (*found)[num_found++] = (pat_awaited){c->request, c->turn, c->number, i, c->stays};
    }
    pthread_mutex_unlock(&p->lock);
    return num_found;
}

void pat_begun_remove(pat_begun *p, const pat_awaited *over)
{
    pthread_mutex_lock(&p->lock);
    call *c = find(p, over->request), *gone = NULL;
    if (c && c->number == over->number) {
        c->under_way = false;
        if (!c->stays)
            gone = take_out(p, c);
    }
    pthread_mutex_unlock(&p->lock);
    free(gone);
}

void pat_begun_clear(pat_begun *p)
{
    tdestroy(p->calls, free);
    p->calls = NULL;
}
