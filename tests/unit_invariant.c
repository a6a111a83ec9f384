/*
 * unit_invariant.c — a communicator's state that is as docs/epochs.md has it is found to be so, and each thing that can be wrong with
 * it is told by its name. States are made by hand, and MPI is not started.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "invariant.h"
#include "runtime.h"

/* A communicator of one rank, so that a round has no messages. */
static void make(pat_comm *c)
{
    *c = (pat_comm){.size = 1, .usable = true};
    for (int op = 0; op < PAT_NUM_OPS; op++) {
        c->lanes[op].op = (enum pat_op)op;
        c->lanes[op].current = &c->lanes[op].rounds[0];
        c->lanes[op].prepared = &c->lanes[op].rounds[1];
    }
}

static void make_round(pat_comm *c, pat_round *round, pat_tags tags)
{
    const pat_members members = pat_comm_members(c);
    const pat_job job = {.num_ranks = 1, .block_bytes = 8, .tau_ns = 1};
    assert_int_equal(pat_round_make(round, &members, pat_algorithm_find("ring"), &job, 0, tags), MPI_SUCCESS);
}

static void drop(pat_comm *c)
{
    for (int op = 0; op < PAT_NUM_OPS; op++)
        for (int i = 0; i < 2; i++)
            pat_exec_free(c->lanes[op].rounds[i].exec);
    pat_plan_cache_free(&c->plans);
}

/* The lane of all-gathers, with a round before the call in `prepared`. */
static pat_lane *with_early(pat_comm *c)
{
    make(c);
    make_round(c, c->lanes[0].prepared, (pat_tags){0, 10});
    assert_null(pat_invariant_broken(c));
    return &c->lanes[0];
}

/* The same, and a call under way. */
static pat_lane *with_call(pat_comm *c, char *home)
{
    static const char own[8] = "1234567";
    pat_lane *lane = with_early(c);
    make_round(c, lane->current, (pat_tags){10, 10});
    assert_int_equal(pat_round_arrive(lane->current, home, own, NULL), MPI_SUCCESS);
    c->lane = lane;
    c->phase = PAT_RUNNING;
    assert_null(pat_invariant_broken(c));
    return lane;
}

static void broken(pat_comm *c, const char *text)
{
    const char *why = pat_invariant_broken(c);
    assert_non_null(why);
    assert_non_null(strstr(why, text));
}

static void a_good_life_breaks_nothing(void **state)
{
    (void)state;
    pat_comm c;
    char home[8];
    bool moved;
    pat_lane *lane = with_call(&c, home);
    assert_int_equal(pat_round_look(lane->current, &moved), MPI_SUCCESS);
    assert_true(pat_round_is(lane->current, PAT_ROUND_OVER));
    assert_null(pat_invariant_broken(&c));
    assert_string_equal(home, "1234567");
    pat_round_end(lane->current);
    c.phase = PAT_IDLE;
    assert_null(pat_invariant_broken(&c));
    assert_int_equal(pat_round_void(lane->prepared), MPI_SUCCESS);
    c.voiding = lane;
    assert_null(pat_invariant_broken(&c));
    assert_int_equal(pat_round_look(lane->prepared, &moved), MPI_SUCCESS);
    assert_true(pat_round_is(lane->prepared, PAT_ROUND_EMPTY));
    c.voiding = NULL;
    assert_null(pat_invariant_broken(&c));
    drop(&c);
}

static void rounds_are_what_they_say(void **state)
{
    (void)state;
    pat_comm c;
    char home[8];
    pat_lane *lane = with_early(&c);
    lane->prepared->state = PAT_ROUND_EMPTY;
    broken(&c, "unless it is empty");
    lane->prepared->state = PAT_ROUND_RUNNING;
    broken(&c, "has not brought its buffers");
    lane->prepared->state = PAT_ROUND_OVER;
    broken(&c, "no node left");
    drop(&c);
    lane = with_call(&c, home);
    lane->current->state = PAT_ROUND_EARLY;
    broken(&c, "I1");
    drop(&c);
    lane = with_call(&c, home);
    pat_round *round = lane->current;
    lane->current = lane->prepared;
    lane->prepared = round;
    broken(&c, "what is prepared has not been called");
    drop(&c);
}

static void rounds_have_their_own_tags(void **state)
{
    (void)state;
    pat_comm c;
    char home[8];
    pat_lane *lane = with_call(&c, home);
    assert_int_equal(pat_round_void(lane->prepared), MPI_SUCCESS);
    pat_round_end(lane->prepared);
    make_round(&c, lane->prepared, (pat_tags){19, 10});
    broken(&c, "I4");
    drop(&c);
}

static void memory_is_counted(void **state)
{
    (void)state;
    pat_comm c;
    pat_lane *lane = with_early(&c);
    lane->reserved = -1;
    broken(&c, "I6");
    drop(&c);
    make(&c);
    c.hold = (pat_hold){.request = &c, .started = true, .open = &c.call};
    broken(&c, "I6");
    drop(&c);
    lane = with_early(&c);
    lane->landed_in_holder = true;
    broken(&c, "the program's again");
    drop(&c);
}

static void a_call_has_its_round(void **state)
{
    (void)state;
    pat_comm c;
    char home[8];
    bool moved;
    pat_lane *lane = with_call(&c, home);
    c.phase = PAT_IDLE;
    broken(&c, "nobody has called");
    c.phase = PAT_RUNNING;
    c.lane = &c.lanes[1];
    broken(&c, "nobody has called");
    c.lane = lane;
    assert_int_equal(pat_round_look(lane->current, &moved), MPI_SUCCESS);
    pat_round_end(lane->current);
    broken(&c, "without a round");
    c.lane = NULL;
    broken(&c, "in no lane");
    drop(&c);
}

static void what_is_thrown_away_is_waited_for(void **state)
{
    (void)state;
    pat_comm c;
    pat_lane *lane = with_early(&c);
    c.voiding = lane;
    broken(&c, "nothing is being thrown away");
    c.voiding = NULL;
    assert_int_equal(pat_round_void(lane->prepared), MPI_SUCCESS);
    broken(&c, "nobody waits for");
    drop(&c);
}

/* After an error everything stays as it was. */
static void an_error_excuses_all(void **state)
{
    (void)state;
    pat_comm c;
    pat_lane *lane = with_early(&c);
    lane->reserved = -1;
    c.failure.code = MPI_ERR_OTHER;
    assert_null(pat_invariant_broken(&c));
    drop(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_life_breaks_nothing), cmocka_unit_test(rounds_are_what_they_say),
        cmocka_unit_test(rounds_have_their_own_tags), cmocka_unit_test(memory_is_counted),
        cmocka_unit_test(a_call_has_its_round),       cmocka_unit_test(what_is_thrown_away_is_waited_for),
        cmocka_unit_test(an_error_excuses_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
