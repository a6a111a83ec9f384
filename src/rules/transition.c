/*
 * transition.c — see transition.h. One table for rounds and one for calls: a row for each state, a column for each event, which stand
 * below each other as clang-format would not have them.
 */
#include "transition.h"

/* clang-format off */

enum { EMPTY = PAT_ROUND_EMPTY, EARLY = PAT_ROUND_EARLY, RUNNING = PAT_ROUND_RUNNING, VOIDING = PAT_ROUND_VOIDING,
       OVER = PAT_ROUND_OVER, NEVER = PAT_ROUND_NEVER };

static const unsigned char rounds[PAT_ROUND_NEVER][PAT_ROUND_EVENTS] = {
    /*            make   arrive   done   void     end */
    [EMPTY]   = { EARLY, NEVER,   NEVER, NEVER,   NEVER },
    [EARLY]   = { NEVER, RUNNING, EARLY, VOIDING, NEVER }, /* void before it ends: then nothing can come in any more */
    [RUNNING] = { NEVER, NEVER,   OVER,  NEVER,   NEVER }, /* what has been called is not void */
    [VOIDING] = { NEVER, NEVER,   EMPTY, NEVER,   EMPTY }, /* it may end at once where it has no control messages */
    [OVER]    = { NEVER, NEVER,   NEVER, NEVER,   EMPTY },
};

static const pat_step calls[PAT_PHASES][PAT_CALL_EVENTS] = {
    [PAT_IDLE] = {
        [PAT_CALL]              = { PAT_DO_START,       PAT_RUNNING },
        [PAT_CALL_BY_ESTIMATES] = { PAT_DO_SAY_CALL,    PAT_AWAIT_ESTIMATES },
        [PAT_ALL_SAID]          = { PAT_DO_NOTHING,     PAT_IDLE }, /* a round can be prepared: guess.h */
        [PAT_ALL_OVER]          = { PAT_DO_NEVER,       PAT_IDLE },
        [PAT_SETTLE]            = { PAT_DO_SAY_NO_CALL, PAT_IDLE },
    },
    [PAT_AWAIT_ESTIMATES] = {
        [PAT_CALL]              = { PAT_DO_NEVER,       PAT_AWAIT_ESTIMATES },
        [PAT_CALL_BY_ESTIMATES] = { PAT_DO_NEVER,       PAT_AWAIT_ESTIMATES },
        [PAT_ALL_SAID]          = { PAT_DO_START,       PAT_RUNNING },
        [PAT_ALL_OVER]          = { PAT_DO_NEVER,       PAT_AWAIT_ESTIMATES },
        [PAT_SETTLE]            = { PAT_DO_NEVER,       PAT_AWAIT_ESTIMATES },
    },
    [PAT_RUNNING] = {
        [PAT_CALL]              = { PAT_DO_NEVER,       PAT_RUNNING },
        [PAT_CALL_BY_ESTIMATES] = { PAT_DO_NEVER,       PAT_RUNNING },
        [PAT_ALL_SAID]          = { PAT_DO_NOTHING,     PAT_RUNNING }, /* it is about a later call */
        [PAT_ALL_OVER]          = { PAT_DO_FINISH,      PAT_IDLE },
        [PAT_SETTLE]            = { PAT_DO_NEVER,       PAT_RUNNING },
    },
};

/* clang-format on */

enum pat_round_state pat_transition_round(enum pat_round_state state, enum pat_round_event event)
{
    return state < PAT_ROUND_NEVER ? (enum pat_round_state)rounds[state][event] : PAT_ROUND_NEVER;
}

pat_step pat_transition_call(enum pat_phase phase, enum pat_call_event event)
{
    return calls[phase][event];
}
