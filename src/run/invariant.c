/*
 * invariant.c — see invariant.h.
 */
#include "invariant.h"

#include "runtime.h"

/* A round by itself. */
static const char *round_broken(const pat_round *round)
{
    const bool there = round->state != PAT_ROUND_EMPTY;
    if (there != (round->exec != NULL) || there != (round->plan != NULL))
        return "a round has an execution and a plan unless it is empty";
    if (!there)
        return NULL;
    if (pat_round_is(round, PAT_ROUND_OVER) && !pat_exec_done(round->exec))
        return "a round that is over has no node left";
    if (pat_round_is(round, PAT_ROUND_EARLY) && pat_exec_arrived(round->exec))
        return "I1: a round is early, but the rank's own bytes may leave it";
    if (pat_round_is(round, PAT_ROUND_RUNNING) && !pat_exec_arrived(round->exec))
        return "a round runs, but the rank has not brought its buffers";
    return NULL;
}

/* I1: before the rank has called, nothing goes out but what waits for nothing of its own. */
static const char *early_broken(const pat_lane *lane)
{
    const pat_round *round = lane->prepared;
    if (pat_round_is(round, PAT_ROUND_RUNNING) || pat_round_is(round, PAT_ROUND_OVER))
        return "what is prepared has not been called";
    if (!pat_round_is(round, PAT_ROUND_EARLY))
        return NULL;
    if (!pat_exec_only_early(round->exec))
        return "I1: a node that waits for the call has begun before it";
    if (!lane->landed_in_holder && pat_exec_landed(round->exec) > lane->reserved)
        return "I6: more early data has landed than was reserved of PAT_MEM";
    return NULL;
}

static const char *lane_broken(const pat_comm *c, const pat_lane *lane)
{
    const bool called = c->lane == lane && c->phase == PAT_RUNNING;
    const char *why = round_broken(lane->current);
    if (!why)
        why = round_broken(lane->prepared);
    if (!why)
        why = early_broken(lane);
    if (why)
        return why;
    if (lane->current == lane->prepared)
        return "the call's round and the prepared one are two";
    if (lane->reserved < 0)
        return "I6: less than nothing is reserved of PAT_MEM";
    if (!pat_collective_of(lane->op)->moves_early && !pat_round_is(lane->prepared, PAT_ROUND_EMPTY))
        return "nothing is prepared for what moves in the call alone";
    if (!called && !pat_round_is(lane->current, PAT_ROUND_EMPTY))
        return "a round is under way that nobody has called";
    if (lane->current->exec && lane->prepared->exec &&
        pat_exec_share_tags(lane->current->exec, lane->prepared->exec))
        return "I4: two rounds of a collective have tags in common";
    return NULL;
}

static const char *pending_broken(const pat_pending *p)
{
    if (p->ended)
        return "a non-blocking call has ended and is still under way";
    for (const pat_pending *later = p->next; p->round.exec && later; later = later->next)
        if (later->round.exec && pat_exec_share_tags(p->round.exec, later->round.exec))
            return "two non-blocking calls have tags in common";
    return round_broken(&p->round);
}

/* Non-blocking calls: what is made before one of them. */
static const char *ahead_broken(const pat_comm *c)
{
    const pat_lane *lane = &c->lanes[PAT_OP_ALLGATHER];
    const char *why = round_broken(lane->prepared);
    for (const pat_pending *p = c->pending; p && lane->prepared->exec && !why; p = p->next) {
        if (p->round.exec && pat_exec_share_tags(p->round.exec, lane->prepared->exec))
            why = "a non-blocking call and a round made before the call have tags in common";
        if (p->number >= 0 && pat_round_is(&p->round, PAT_ROUND_EMPTY))
            why = "a call waits, and the round that was made for it is still there for another one";
    }
    return why ? why : early_broken(lane);
}

const char *pat_invariant_broken(const pat_comm *c)
{
    const char *why = NULL;
    if (pat_comm_is_dead(c) || c->failure.code != MPI_SUCCESS)
        return NULL; /* after an error things stay as they were */
    for (const pat_pending *p = c->pending; p && !why; p = p->next)
        why = pending_broken(p);
    if (!why && pat_comm_is_local(c))
        why = ahead_broken(c);
    if (why || !c->usable)
        return why;
    for (int op = 0; op < PAT_NUM_OPS && !why; op++)
        why = lane_broken(c, &c->lanes[op]);
    for (int op = 0; op < PAT_NUM_OPS && !why && c->alone.exec; op++)
        if (c->lanes[op].current->exec && pat_exec_share_tags(c->lanes[op].current->exec, c->alone.exec))
            why = "a round of the call alone and that of a lane have tags in common";
    if (!why)
        why = round_broken(&c->alone);
    if (why)
        return why;
    if (!c->rooted && !pat_round_is(&c->alone, PAT_ROUND_EMPTY))
        return "a round of the call alone is under way, and no call";
    if (c->phase != PAT_IDLE && !c->lane)
        return "a call is under way in no lane";
    if (c->phase == PAT_RUNNING && !c->left && pat_round_is(c->lane->current, PAT_ROUND_EMPTY))
        return "a call runs without a round";
    if (c->voiding && !pat_round_is(c->voiding->prepared, PAT_ROUND_VOIDING))
        return "nothing is being thrown away where it should be";
    for (int op = 0; op < PAT_NUM_OPS; op++)
        if (pat_round_is(c->lanes[op].prepared, PAT_ROUND_VOIDING) && c->voiding != &c->lanes[op])
            return "a round is being thrown away that nobody waits for";
    if (c->hold.started && (!c->hold.request || c->hold.open))
        return "I6: the buffer of a started request may not be filled by another round";
    for (int op = 0; op < PAT_NUM_OPS; op++)
        if (c->lanes[op].landed_in_holder && pat_round_is(c->lanes[op].prepared, PAT_ROUND_EARLY) &&
            !c->hold.open)
            return "I6: early data comes in in a buffer that is the program's again";
    return NULL;
}
