/*
 * ahead.c — see ahead.h.
 */
#include "ahead.h"

#include "comm_local.h"
#include "early.h"
#include "ensure.h"
#include "error.h"
#include "explain.h"
#include "outlook.h"
#include "pace.h"
#include "runtime.h"

enum { LAG = PAT_PENDING_SLOTS, CALLS = 2 * LAG };

/* Of all collectives only all-gathers have an algorithm that moves data before the call and asks nobody when. */
static pat_lane *lane_of(pat_comm *c)
{
    return &c->lanes[PAT_OP_ALLGATHER];
}

/* ---- Who runs a call ------------------------------------------------------------------------------------ */

/* Where a block takes long against what passing it on costs, the one that passes blocks on is not found slower. */
static int first_of(const pat_link *link, int64_t bytes)
{
    return pat_outlook_verdict_by_link(pat_link_busy_ns(link, bytes), link->alpha_ns,
                                       pat_pace_passes_on_ns()) == PAT_RELAY_ALWAYS
               ? PAT_EARLY
               : PAT_REGULAR;
}

static pat_rival *find(pat_ahead *a, int64_t bytes)
{
    for (int i = 0; i < PAT_AHEAD_RIVALS; i++)
        if (a->rivals[i].bytes == bytes)
            return &a->rivals[i];
    return NULL;
}

/* A call that takes less than it costs to pass blocks on, one after the other, is not worth a try. */
static int64_t least_ns(const pat_comm *c, const pat_link *link)
{
    return c->layout.blocks_in * (link->alpha_ns + pat_pace_passes_on_ns());
}

static int who_runs(pat_comm *c, const pat_algorithm *rival, const pat_link *link, int64_t bytes)
{
    if (!rival)
        return PAT_EARLY;
    const pat_rival *r = find(&c->ahead, bytes);
    return r ? pat_rival_next(r, least_ns(c, link)) : first_of(link, bytes);
}

/* The one that has not been called for longest gives way to a new one. */
static pat_rival *find_or_begin(pat_ahead *a, int64_t number, int64_t bytes, int who)
{
    pat_rival *r = find(a, bytes);
    int oldest = 0;
    for (int i = 1; i < PAT_AHEAD_RIVALS; i++)
        oldest = a->used[i] < a->used[oldest] ? i : oldest;
    if (!r) {
        r = &a->rivals[oldest];
        *r = pat_rival_begin(bytes, who);
    }
    a->used[r - a->rivals] = number;
    return r;
}

/* It is to be told what the call takes: in its own blocks, and in those of the one that begins when it is over. */
static void note_run(pat_ahead *a, pat_ahead_call *call, int64_t number)
{
    pat_rival *r = find_or_begin(a, number, call->bytes, call->who);
    if (pat_rival_asks(r, call->who))
        a->asks_until = number + LAG + 1;
    call->is_try = pat_rival_ran(r, call->who);
}

/* Call n is over on this rank, and so is known what the one before it took that has its tags. */
static void learn_from(pat_comm *c, int64_t n)
{
    pat_ahead *a = &c->ahead;
    const pat_ahead_call *now = &a->calls[n % CALLS], *before = &a->calls[(n + CALLS - LAG) % CALLS];
    pat_rival *r =
        n >= LAG && now->known && before->known && now->before_us > 0 ? find(a, before->bytes) : NULL;
    if (!r)
        return;
    const pat_rival_told told = {before->who, before->is_try,
                                 before->came_ns + 1000 * now->before_us - before->last_ns, before->apart_ns};
    if (pat_rival_learn(r, &told) && pat_rt.config.explain && c->rank == 0 && a->rival)
        pat_explain_rival(r, (const pat_algorithm *[]){a->alg, a->rival}, c->size);
}

/* What is told of calls that are over on all members that begin call `number`, or may. */
static void learn(pat_comm *c, int64_t number)
{
    pat_ahead *a = &c->ahead;
    for (; a->learnt <= number - LAG; a->learnt++)
        learn_from(c, a->learnt);
}

/* ---- A call that is started ----------------------------------------------------------------------------- */

int pat_ahead_drop(pat_comm *c)
{
    pthread_rwlock_rdlock(&pat_rt.driving);
    int rc = pat_early_forget(c, lane_of(c));
    pthread_rwlock_unlock(&pat_rt.driving);
    return rc;
}

static bool is_as_guessed(const pat_comm *c, const pat_pending *p)
{
    const pat_ahead *a = &c->ahead;
    return a->rival == p->rival && (p->rival || a->alg == p->alg) && a->link.alpha_ns == p->link.alpha_ns &&
           a->link.beta_ps == p->link.beta_ps && a->link.piece_ns == p->link.piece_ns &&
           pat_blocks_same(c->lanes[PAT_OP_ALLGATHER].shapes.guess, pat_blocks_of(&p->call), c->size);
}

bool pat_ahead_may(const pat_algorithm *alg, const pat_algorithm *rival)
{
    return alg->op == PAT_OP_ALLGATHER && (rival || pat_algorithm_is_ahead(alg));
}

/*
 * May its round be made before the call? Not where some block is empty: nobody waits for the rank that it is from, so that one may still have a round with these tags that it has made for another
 * call.
 */
static bool is_one(const pat_comm *c, const pat_pending *p)
{
    const int64_t *starts = p->call.starts;
    bool is = pat_ahead_may(p->alg, p->rival);
    for (int r = 0; is && starts && r < c->size; r++)
        is = starts[r] < starts[r + 1];
    return is;
}

int pat_ahead_started(pat_comm *c, pat_pending *p)
{
    pat_ahead *a = &c->ahead;
    const bool is = is_one(c, p);
    /* Of a persistent request whose rounds are not made before the call there is one at a time. */
    p->slot = c->of_request && !is ? 0 : (int)(c->num_started++ % PAT_PENDING_SLOTS);
    p->number = -1;
    p->runs = p->alg;
    if (!is)
        return MPI_SUCCESS;
    p->as_guessed = is_as_guessed(c, p);
    /* One that is there is for this call: one for an earlier call has begun with it. */
    const int rc = p->as_guessed ? MPI_SUCCESS : pat_ahead_drop(c);
    if (rc != MPI_SUCCESS)
        return rc;
    p->number = a->number++;
    a->alg = p->alg;
    a->rival = p->rival;
    a->link = p->link;
    return pat_shapes_note(&lane_of(c)->shapes, pat_blocks_of(&p->call), c->size) == 0
               ? MPI_SUCCESS
               : pat_error(MPI_ERR_NO_MEM, "no memory for the lengths of %d blocks", c->size);
}

static int who_runs_it(pat_comm *c, const pat_pending *p)
{
    return who_runs(c, p->rival, &p->link, pat_blocks_mean(pat_blocks_of(&p->call)));
}

/*
 * They begin one after the other, or what is learnt from one would come too early for another; and when call number - LAG is over. One whose round may have been made has tags of its own, and waits for
 * no slot: if it did, the next call might come before it has taken over its round.
 */
bool pat_ahead_has_to_queue(pat_comm *c, const pat_pending *p, bool *by_slot)
{
    *by_slot = true;
    if (p->number < 0)
        return false;
    for (const pat_pending *other = c->pending; other != p; other = other->next)
        if (other->number >= 0 &&
            (pat_round_is(&other->round, PAT_ROUND_EMPTY) || other->number <= p->number - LAG))
            return true;
    learn(c, p->number);
    *by_slot = !p->as_guessed || who_runs_it(c, p) != PAT_EARLY;
    return false;
}

static pat_tags tags_of(const pat_comm *c, int slot)
{
    return (pat_tags){slot * c->slot_tags, c->slot_tags};
}

/* The slot of a round that may be made before the call. */
static int early_slot(int64_t number)
{
    return PAT_PENDING_SLOTS + (int)(number % PAT_PENDING_SLOTS);
}

pat_tags pat_ahead_begin(pat_comm *c, pat_pending *p, bool *made)
{
    pat_ahead *a = &c->ahead;
    pat_round *round = lane_of(c)->prepared;
    *made = false;
    if (p->number < 0)
        return tags_of(c, p->slot);
    learn(c, p->number);
    pat_ahead_call *call = &a->calls[p->number % CALLS];
    const pat_ahead_call *before = &a->calls[(p->number + CALLS - LAG) % CALLS];
    *call = (pat_ahead_call){.bytes = pat_blocks_mean(pat_blocks_of(&p->call)), .who = who_runs_it(c, p)};
    p->mine.took_us = p->number >= LAG ? before->own_took_us : 0;
    if (p->rival)
        note_run(a, call, p->number);
    p->carries = p->rival && p->number < a->asks_until;
    p->runs = p->rival && call->who == PAT_EARLY ? p->rival : p->alg;
    if (!p->as_guessed || call->who != PAT_EARLY) {
        PAT_ENSURE(!round->exec); /* or it would be taken for the next call's */
        return tags_of(c, p->slot);
    }
    *made = round->exec != NULL;
    if (*made) {
        p->round = *round;
        *round = (pat_round){.state = PAT_ROUND_EMPTY};
        p->was_ahead = true;
    }
    return tags_of(c, early_slot(p->number));
}

static void tell(const pat_comm *c, pat_ahead_call *call, const pat_carried *carried)
{
    int64_t first = carried[0].arrival_ns, took_us = 0;
    bool all = true;
    call->known = true;
    call->last_ns = first;
    /* Sums of times since the first rank's: they are short enough. */
    for (int r = 0; r < c->size; r++) {
        const int64_t came_ns = carried[r].arrival_ns;
        first = came_ns < first ? came_ns : first;
        call->last_ns = came_ns > call->last_ns ? came_ns : call->last_ns;
        call->came_ns += came_ns - carried[0].arrival_ns;
        took_us += carried[r].took_us;
        all = all && carried[r].took_us > 0;
    }
    call->came_ns = carried[0].arrival_ns + call->came_ns / c->size;
    call->apart_ns = call->last_ns - first;
    call->before_us = all ? took_us / c->size : 0;
}

void pat_ahead_ended(pat_comm *c, pat_pending *p)
{
    if (p->was_ahead)
        pat_early_release(lane_of(c));
    p->was_ahead = false;
    if (p->number < 0)
        return;
    pat_ahead_call *call = &c->ahead.calls[p->number % CALLS];
    const pat_carried *carried = pat_exec_carried(p->round.exec);
    const int64_t took_us = (pat_timekeeper_now_ns(&pat_rt.time) - p->mine.arrival_ns) / 1000;
    call->own_took_us = took_us < 1 ? 1 : took_us < UINT32_MAX ? (uint32_t)took_us : UINT32_MAX;
    if (carried)
        tell(c, call, carried);
}

/* ---- Before the call ------------------------------------------------------------------------------------ */

/* A call of the lane is under way: its tags, and its memory for early data, are not free. */
static bool is_calling(const pat_comm *c)
{
    for (const pat_pending *p = c->pending; p; p = p->next)
        if (p->number >= 0)
            return true;
    return false;
}

/* From the fourth call on: a program that makes one or two is not to have its next one awaited for ever. */
bool pat_ahead_is_due(pat_comm *c)
{
    enum { FIRST_CALLS = 3 };
    pat_lane *lane = lane_of(c);
    const pat_ahead *a = &c->ahead;
    if (a->number < FIRST_CALLS || lane->prepared->exec || !c->contact.known || is_calling(c) ||
        pat_comm_is_dead(c) || atomic_load(&c->freed))
        return false;
    learn(c, a->number);
    return who_runs(c, a->rival, &a->link, pat_blocks_mean(lane->shapes.guess)) == PAT_EARLY;
}

void pat_ahead_make(pat_comm *c)
{
    pat_lane *lane = lane_of(c);
    const pat_ahead *a = &c->ahead;
    if (!pat_ahead_is_due(c))
        return;
    const pat_members members = pat_comm_members(c);
    const pat_link link = pat_comm_link_local(c, a->link);
    const pat_algorithm *alg = a->rival ? a->rival : a->alg;
    const pat_job job = pat_comm_job_local(c, lane, &link, lane->shapes.guess);
    pat_comm_explain_plan(c, lane, alg, &job);
    if (pat_round_make(lane->prepared, &members, alg, &job, c->rank, tags_of(c, early_slot(a->number))) ==
        MPI_SUCCESS)
        pat_early_land(c, lane);
    else
        pat_error_begin();
}

pat_lane *pat_ahead_lane(pat_comm *c)
{
    return pat_comm_is_local(c) && lane_of(c)->prepared->exec ? lane_of(c) : NULL;
}
