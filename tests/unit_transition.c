/*
 * unit_transition.c — which state of a round or of a call follows from which event, for every pair of them, as docs/epochs.md has it;
 * and what must be true of every life that these tables allow, however long.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "transition.h"

enum { ROUND_STATES = PAT_ROUND_NEVER };

/* ---- A round ------------------------------------------------------------------------------------------ */

/* Every pair that is not here never happens. */
static const struct {
    enum pat_round_state state;
    enum pat_round_event event;
    enum pat_round_state next;
} of_rounds[] = {
    {PAT_ROUND_EMPTY, PAT_ROUND_MAKE, PAT_ROUND_EARLY},
    {PAT_ROUND_EARLY, PAT_ROUND_ARRIVE, PAT_ROUND_RUNNING},
    {PAT_ROUND_EARLY, PAT_ROUND_DONE, PAT_ROUND_EARLY}, /* all of it that does not wait for the call */
    {PAT_ROUND_EARLY, PAT_ROUND_VOID, PAT_ROUND_VOIDING},
    {PAT_ROUND_RUNNING, PAT_ROUND_DONE, PAT_ROUND_OVER},
    {PAT_ROUND_VOIDING, PAT_ROUND_DONE, PAT_ROUND_EMPTY},
    {PAT_ROUND_VOIDING, PAT_ROUND_END, PAT_ROUND_EMPTY},
    {PAT_ROUND_OVER, PAT_ROUND_END, PAT_ROUND_EMPTY},
};

static void every_state_and_event_of_a_round(void **state)
{
    (void)state;
    size_t legal = 0;
    for (int s = 0; s <= ROUND_STATES; s++)
        for (int e = 0; e < PAT_ROUND_EVENTS; e++) {
            enum pat_round_state expected = PAT_ROUND_NEVER;
            for (size_t i = 0; i < sizeof(of_rounds) / sizeof(*of_rounds); i++)
                if ((int)of_rounds[i].state == s && (int)of_rounds[i].event == e)
                    expected = of_rounds[i].next;
            assert_int_equal(pat_transition_round((enum pat_round_state)s, (enum pat_round_event)e),
                             expected);
            legal += expected != PAT_ROUND_NEVER;
        }
    assert_int_equal(legal, sizeof(of_rounds) / sizeof(*of_rounds));
}

/* What has happened to the round that is there now. */
typedef struct life {
    enum pat_round_state state;
    bool arrived, voided, done; /* done: after it arrived or was voided */
} life;

/* All lives of so many events more. */
static void live(life before, int events)
{
    for (int e = 0; e < PAT_ROUND_EVENTS && events > 0; e++) {
        life l = before;
        l.state = pat_transition_round(before.state, (enum pat_round_event)e);
        if (l.state == PAT_ROUND_NEVER)
            continue;
        l.arrived = l.arrived || e == PAT_ROUND_ARRIVE;
        l.voided = l.voided || e == PAT_ROUND_VOID;
        l.done = l.done || (e == PAT_ROUND_DONE && (l.arrived || l.voided));
        assert_false(l.arrived && l.voided); /* nothing is void that has been called */
        assert_false(l.arrived && l.state == PAT_ROUND_EARLY);
        if (l.state == PAT_ROUND_EMPTY) {
            assert_true(l.voided ||
                        (l.arrived && l.done)); /* what has been called stays until its result is there */
            l = (life){PAT_ROUND_EMPTY, false, false, false};
        }
        live(l, events - 1);
    }
}

static void what_is_called_is_not_void_and_comes_to_its_end(void **state)
{
    (void)state;
    live((life){PAT_ROUND_EMPTY, false, false, false}, 12);
}

/* ---- A call ------------------------------------------------------------------------------------------- */

/* In every pair that is not here nothing may be done. */
static const struct {
    enum pat_phase phase;
    enum pat_call_event event;
    pat_step step;
} of_calls[] = {
    {PAT_IDLE, PAT_CALL, {PAT_DO_START, PAT_RUNNING}},
    {PAT_IDLE, PAT_CALL_BY_ESTIMATES, {PAT_DO_SAY_CALL, PAT_AWAIT_ESTIMATES}},
    {PAT_IDLE, PAT_ALL_SAID, {PAT_DO_NOTHING, PAT_IDLE}},
    {PAT_IDLE, PAT_SETTLE, {PAT_DO_SAY_NO_CALL, PAT_IDLE}},
    {PAT_AWAIT_ESTIMATES, PAT_ALL_SAID, {PAT_DO_START, PAT_RUNNING}},
    {PAT_RUNNING, PAT_ALL_SAID, {PAT_DO_NOTHING, PAT_RUNNING}},
    {PAT_RUNNING, PAT_ALL_OVER, {PAT_DO_FINISH, PAT_IDLE}},
};

static void every_state_and_event_of_a_call(void **state)
{
    (void)state;
    for (int p = 0; p < PAT_PHASES; p++)
        for (int e = 0; e < PAT_CALL_EVENTS; e++) {
            pat_step expected = {PAT_DO_NEVER, (enum pat_phase)p};
            for (size_t i = 0; i < sizeof(of_calls) / sizeof(*of_calls); i++)
                if ((int)of_calls[i].phase == p && (int)of_calls[i].event == e)
                    expected = of_calls[i].step;
            const pat_step step = pat_transition_call((enum pat_phase)p, (enum pat_call_event)e);
            assert_int_equal(step.act, expected.act);
            assert_int_equal(step.phase, expected.phase);
        }
}

/* All sequences of so many events more; open: calls that have begun, but whose result has not been handed over. */
static void go_on(enum pat_phase phase, int open, bool started, int events)
{
    assert_true(open == (phase == PAT_IDLE ? 0 : 1));
    assert_true(started == (phase == PAT_RUNNING));
    for (int e = 0; e < PAT_CALL_EVENTS && events > 0; e++) {
        const pat_step step = pat_transition_call(phase, (enum pat_call_event)e);
        if (step.act == PAT_DO_NEVER)
            continue;
        const bool begins = e == PAT_CALL || e == PAT_CALL_BY_ESTIMATES;
        assert_false(begins && open > 0); /* one call at a time */
        assert_false(step.act == PAT_DO_START && started);
        assert_false(step.act == PAT_DO_FINISH && !started);
        assert_false(step.act == PAT_DO_SAY_NO_CALL && open > 0); /* who has called says nothing else */
        go_on(step.phase, open + begins - (step.act == PAT_DO_FINISH),
              (started || step.act == PAT_DO_START) && step.act != PAT_DO_FINISH, events - 1);
    }
}

static void a_call_starts_once_and_ends_once(void **state)
{
    (void)state;
    go_on(PAT_IDLE, 0, false, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_state_and_event_of_a_round),
        cmocka_unit_test(what_is_called_is_not_void_and_comes_to_its_end),
        cmocka_unit_test(every_state_and_event_of_a_call),
        cmocka_unit_test(a_call_starts_once_and_ends_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
