/*
 * transition.h — the states of a round and of a call, and which state follows from which event. Must never call MPI, read a clock or
 * keep anything: a state and an event come in; the next state comes out, and what is to be done. docs/epochs.md says why it is so.
 */
#ifndef PAT_TRANSITION_H
#define PAT_TRANSITION_H

/* ---- A round ------------------------------------------------------------------------------------------ */

enum pat_round_state {
    PAT_ROUND_EMPTY,   /* there is none; whatever a round had has been freed */
    PAT_ROUND_EARLY,   /* made before the rank has called: what does not wait for that may run */
    PAT_ROUND_RUNNING, /* the rank has called */
    PAT_ROUND_VOIDING, /* it is being thrown away: no rank calls it */
    PAT_ROUND_OVER,    /* the result is there, and the plan's memory still is */
    PAT_ROUND_NEVER,   /* no round comes here: what would lead here is an error in the library */
};

enum pat_round_event {
    PAT_ROUND_MAKE,   /* its plan and its execution have been made */
    PAT_ROUND_ARRIVE, /* the rank calls */
    PAT_ROUND_DONE,   /* no node of its plan is left to be run now */
    PAT_ROUND_VOID,   /* no rank will call it */
    PAT_ROUND_END,    /* nobody needs it any more */
};

enum { PAT_ROUND_EVENTS = PAT_ROUND_END + 1 };

/* PAT_ROUND_NEVER: the event may not happen in this state. */
enum pat_round_state pat_transition_round(enum pat_round_state state, enum pat_round_event event);

/* ---- A call ------------------------------------------------------------------------------------------- */

/*
 * How far a communicator's call by plan is, in whichever lane. (A program's phase, before a call, is something else.)
 */
enum pat_phase {
    PAT_IDLE,            /* there is none */
    PAT_AWAIT_ESTIMATES, /* this rank has called, and not all ranks have said when they will */
    PAT_RUNNING,         /* its round runs */
};

enum { PAT_PHASES = PAT_RUNNING + 1 };

enum pat_call_event {
    PAT_CALL,              /* this rank calls, by a plan that needs no estimates */
    PAT_CALL_BY_ESTIMATES, /* by one that does */
    PAT_ALL_SAID,          /* all ranks have given this epoch's estimates */
    PAT_ALL_OVER,          /* the call's round is over, and the round that was voided for it is empty */
    PAT_SETTLE,            /* the epoch of the estimates ends without a call */
};

enum { PAT_CALL_EVENTS = PAT_SETTLE + 1 };

enum pat_act {
    PAT_DO_NOTHING,
    PAT_DO_SAY_CALL, /* give the estimate that this rank has called, if it has not given one in this epoch */
    PAT_DO_SAY_NO_CALL, /* likewise, that it expects no call */
    PAT_DO_START,       /* use or void what was prepared, and run the call's round */
    PAT_DO_FINISH,      /* hand over the result; the epoch is over */
    PAT_DO_NEVER,       /* the event may not happen in this state */
};

/* What is to be done, and the state when it has been: one that fails leaves the state as it was. */
typedef struct pat_step {
    enum pat_act act;
    enum pat_phase phase;
} pat_step;

pat_step pat_transition_call(enum pat_phase phase, enum pat_call_event event);

#endif
