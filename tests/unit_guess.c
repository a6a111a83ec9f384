/*
 * unit_guess.c — what the next call is taken to be, and what becomes of a round that was made for it: every combination of facts, written as
 * tables; and all that can happen in two lanes in some epochs, to a rank that prepares whatever it may and to one that prepares nothing: both
 * must do the same to the others, and no slot is used twice in an epoch.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "guess.h"

enum {
    NUM_BASES = PAT_BASIS_ESTIMATES + 1,
    NUM_ANNOUNCED = PAT_ANNOUNCED_OTHER + 1,
    NUM_MATCHES = PAT_MATCH_WRONG + 1
};

/* Short names for the tables. */
enum { NO = PAT_BASIS_NONE, LAST = PAT_BASIS_LAST, EST = PAT_BASIS_ESTIMATES };
enum { SILENT = PAT_ANNOUNCED_NONE, THIS = PAT_ANNOUNCED_THIS, OTHER = PAT_ANNOUNCED_OTHER };
enum { UNKNOWN = PAT_MATCH_NONE, RIGHT = PAT_MATCH_RIGHT, WRONG = PAT_MATCH_WRONG };

/* ---- Tables ------------------------------------------------------------------------------------------- */

static void what_comes_next(void **state)
{
    (void)state;
    /* Last of all: what is said is [what the order lets expect or not][a hash or not]. */
    static const int expected[NUM_BASES][NUM_ANNOUNCED][2][2] = {
        [LAST] = {{{PAT_GUESS_BY_ORDER, PAT_GUESS_BY_ORDER}, {PAT_GUESS_BY_ORDER, PAT_GUESS_BY_ORDER}},
                  {{PAT_GUESS_BY_ORDER, PAT_GUESS_BY_ORDER}, {PAT_GUESS_BY_ORDER, PAT_GUESS_BY_ORDER}},
                  {{PAT_GUESS_BY_ORDER, PAT_GUESS_BY_ORDER}, {PAT_GUESS_BY_ORDER, PAT_GUESS_BY_ORDER}}},
        [EST] = {[THIS] = {{PAT_GUESS_SAID, PAT_GUESS_NONE}, {PAT_GUESS_BY_ORDER, PAT_GUESS_BY_ORDER}}},
    };
    for (int basis = 0; basis < NUM_BASES; basis++)
        for (int said = 0; said < NUM_ANNOUNCED; said++)
            for (int last = 0; last < 2; last++)
                for (int hashed = 0; hashed < 2; hashed++) {
                    const pat_guess_facts facts = {(enum pat_basis)basis, (enum pat_announced)said, last,
                                                   hashed};
                    assert_int_equal(pat_guess_next(&facts), expected[basis][said][last][hashed]);
                }
}

static void when_a_round_is_prepared(void **state)
{
    (void)state;
    for (int basis = 0; basis < NUM_BASES; basis++)
        for (int bits = 0; bits < 32; bits++) {
            const pat_guess_lane lane = {.basis = (enum pat_basis)basis,
                                         .guessed = bits & 1,
                                         .by_request = bits & 2,
                                         .open = bits & 4,
                                         .prepared = bits & 8,
                                         .overdue = bits & 16};
            bool expected = false;
            switch (bits) {
            case 1:  /* guessed, by a call, no request open, not there */
            case 5:  /* a request open */
            case 7:  /* by a request, which is open again */
            case 17: /* as the first three, and PAT_Open is overdue */
            case 21:
            case 23:
            case 19: /* by a request that is closed, for long enough */
                expected = true;
                break;
            case 3: /* by a request, which is closed: what needs no estimates waits for its buffer */
                expected = basis == EST;
            }
            assert_int_equal(pat_guess_prepares(&lane), expected);
        }
}

static void what_a_call_makes_of_it(void **state)
{
    (void)state;
    /* [basis][said][match]: is the round as a prepared one; what is void. */
    static const pat_guess_outcome own = {false, PAT_VOIDS_OWN}, theirs = {true, PAT_VOIDS_ANNOUNCED},
                                   good = {true, PAT_VOIDS_NOTHING};
    const pat_guess_outcome expected[NUM_BASES][NUM_ANNOUNCED][NUM_MATCHES] = {
        [NO] = {[SILENT] = {good, good, own}, [THIS] = {good, good, own}, [OTHER] = {good, good, own}},
        [LAST] = {[SILENT] = {good, good, own}, [THIS] = {good, good, own}, [OTHER] = {good, good, own}},
        /* In a lane that is not announced nothing is guessed. */
        [EST] = {[SILENT] = {good, good, own}, [THIS] = {good, good, own}, [OTHER] = {theirs, theirs, own}},
    };
    for (int basis = 0; basis < NUM_BASES; basis++)
        for (int said = 0; said < NUM_ANNOUNCED; said++) {
            for (int match = 0; match < NUM_MATCHES; match++) {
                const pat_guess_outcome got =
                    pat_guess_call((enum pat_basis)basis, (enum pat_announced)said, (enum pat_match)match);
                assert_int_equal(got.as_prepared, expected[basis][said][match].as_prepared);
                assert_int_equal(got.voids, expected[basis][said][match].voids);
            }
            assert_int_equal(pat_guess_ends_announced((enum pat_basis)basis, (enum pat_announced)said),
                             basis == EST && said == OTHER);
        }
}

static void how_a_round_is_thrown_away(void **state)
{
    (void)state;
    /* [guessed][prepared] */
    static const int asked[2][2] = {{PAT_VOID_NOTHING, PAT_VOID_IT}, {PAT_VOID_MADE_FIRST, PAT_VOID_IT}},
                     not_asked[2][2] = {{PAT_VOID_NOTHING, PAT_VOID_IT}, {PAT_VOID_NOTHING, PAT_VOID_IT}};
    for (int basis = 0; basis < NUM_BASES; basis++)
        for (int guessed = 0; guessed < 2; guessed++)
            for (int prepared = 0; prepared < 2; prepared++)
                assert_int_equal(pat_guess_void((enum pat_basis)basis, guessed, prepared),
                                 (basis == EST ? asked : not_asked)[guessed][prepared]);
}

/* All that may be under way at the same time is told apart. */
static void slots_come_again_after_four_epochs(void **state)
{
    (void)state;
    for (int64_t first = 0; first < 100; first++) {
        unsigned used = 0;
        for (int64_t epoch = first; epoch < first + PAT_TAG_EPOCHS; epoch++)
            for (int prepared = 0; prepared < 2; prepared++) {
                const int slot = pat_guess_slot(epoch, prepared);
                assert_in_range(slot, 0, PAT_LANE_SLOTS - 1);
                assert_false(used >> slot & 1);
                used |= 1U << slot;
            }
        assert_int_equal(pat_guess_slot(first, true), pat_guess_slot(first + PAT_TAG_EPOCHS, true));
    }
}

/* ---- Two lanes, some epochs --------------------------------------------------------------------------- */

enum { LANES = 2, EVENTS = 8, NOBODY = -1 };

/* What all ranks know alike. */
typedef struct shared {
    enum pat_basis basis[LANES];
    int64_t epoch[LANES];
    bool heard;                      /* all have given this epoch's estimates */
    int said;                        /* the lane that they announce, or NOBODY */
    bool guessed[LANES];             /* it is known what comes in the lane */
    bool used[LANES][EVENTS + 2][2]; /* [epoch][slot]: a round whose messages were sent, or may have been */
} shared;

/* What is in one rank only: in which epoch and slot its prepared rounds are. */
typedef struct rank {
    bool eager; /* it prepares whatever it may; else nothing */
    bool prepared[LANES];
    int64_t epoch[LANES];
} rank;

/* What a rank does in an event that others see: a slot of each kind, or NOBODY. */
typedef struct seen {
    int runs, voids; /* voids: with control messages */
} seen;

static enum pat_announced announced_to(const shared *s, int lane)
{
    if (!s->heard || s->said == NOBODY)
        return PAT_ANNOUNCED_NONE;
    return s->said == lane ? PAT_ANNOUNCED_THIS : PAT_ANNOUNCED_OTHER;
}

static bool guessed(const shared *s, int lane)
{
    if (s->basis[lane] == PAT_BASIS_ESTIMATES && announced_to(s, lane) != PAT_ANNOUNCED_THIS)
        return false;
    return s->basis[lane] != PAT_BASIS_NONE && s->guessed[lane];
}

static void prepare(const shared *s, rank *r)
{
    for (int lane = 0; lane < LANES; lane++) {
        const pat_guess_lane facts = {
            .basis = s->basis[lane], .guessed = guessed(s, lane), .prepared = r->prepared[lane]};
        if (!r->eager || !pat_guess_prepares(&facts))
            continue;
        r->prepared[lane] = true;
        r->epoch[lane] = s->epoch[lane];
    }
}

static int slot_of(const shared *s, int lane, bool as_prepared)
{
    return lane * PAT_LANE_SLOTS + pat_guess_slot(s->epoch[lane], as_prepared);
}

/* A rank throws a lane's round away: the slot of its control messages, or NOBODY. */
static int throw_away(const shared *s, rank *r, int lane)
{
    const enum pat_void how = pat_guess_void(s->basis[lane], guessed(s, lane), r->prepared[lane]);
    assert_false(how == PAT_VOID_NOTHING && r->prepared[lane]);
    r->prepared[lane] = false;
    return s->basis[lane] == PAT_BASIS_ESTIMATES && how != PAT_VOID_NOTHING ? slot_of(s, lane, true) : NOBODY;
}

/* lane: NOBODY for a settlement. */
static seen comes(const shared *s, rank *r, int lane, enum pat_match match)
{
    const enum pat_basis basis = lane == NOBODY ? PAT_BASIS_ESTIMATES : s->basis[lane];
    const pat_guess_outcome outcome = pat_guess_call(basis, announced_to(s, lane), match);
    seen out = {.runs = NOBODY, .voids = NOBODY};
    for (int l = 0; l < LANES; l++) /* nothing is kept from an epoch that is over */
        assert_false(r->prepared[l] && r->epoch[l] != s->epoch[l]);
    if (outcome.voids == PAT_VOIDS_OWN)
        out.voids = throw_away(s, r, lane);
    if (outcome.voids == PAT_VOIDS_ANNOUNCED)
        out.voids = throw_away(s, r, s->said);
    if (lane == NOBODY)
        return out;
    out.runs = slot_of(s, lane, outcome.as_prepared);
    if (outcome.as_prepared)
        r->prepared[lane] = false; /* it is the call's now */
    assert_false(r->prepared[lane]);
    assert_int_not_equal(out.runs, out.voids);
    return out;
}

static void use(shared *s, int slot)
{
    if (slot == NOBODY)
        return;
    const int lane = slot / PAT_LANE_SLOTS;
    bool *used = &s->used[lane][s->epoch[lane]][slot % 2];
    assert_false(*used);
    *used = true;
}

static void go_on(shared s, rank eager, rank lazy, int events);

static void call(shared s, rank eager, rank lazy, int lane, enum pat_match match, int events)
{
    const enum pat_basis basis = lane == NOBODY ? PAT_BASIS_ESTIMATES : s.basis[lane];
    const seen of_eager = comes(&s, &eager, lane, match), of_lazy = comes(&s, &lazy, lane, match);
    assert_int_equal(of_eager.runs, of_lazy.runs);
    assert_int_equal(of_eager.voids, of_lazy.voids);
    use(&s, of_eager.runs);
    use(&s, of_eager.voids);
    if (lane != NOBODY)
        s.epoch[lane]++;
    if (pat_guess_ends_announced(basis, announced_to(&s, lane)))
        s.epoch[s.said]++;
    if (basis == PAT_BASIS_ESTIMATES)
        s.heard = false;
    for (int l = 0; l < LANES; l++)
        s.guessed[l] = s.guessed[l] || l == lane; /* from now on there is a last call */
    go_on(s, eager, lazy, events);
}

/* What is prepared by estimates goes with them. */
static void goes_with_what_was_said(const shared *s, const rank *r)
{
    for (int lane = 0; lane < LANES; lane++)
        assert_false(r->prepared[lane] && s->basis[lane] == PAT_BASIS_ESTIMATES &&
                     announced_to(s, lane) != PAT_ANNOUNCED_THIS);
}

static void go_on(shared s, rank eager, rank lazy, int events)
{
    goes_with_what_was_said(&s, &eager);
    goes_with_what_was_said(&s, &lazy);
    prepare(&s, &eager);
    prepare(&s, &lazy);
    if (events == 0)
        return;
    for (int lane = NOBODY; lane < LANES && !s.heard; lane++) /* all say before the call what they expect */
        if (lane == NOBODY || s.basis[lane] == PAT_BASIS_ESTIMATES) {
            shared told = s;
            told.heard = true;
            told.said = lane;
            go_on(told, eager, lazy, events - 1);
        }
    for (int lane = 0; lane < LANES; lane++) {
        shared told = s;
        if (s.basis[lane] == PAT_BASIS_ESTIMATES && !s.heard) { /* those who have called say so */
            told.heard = true;
            told.said = lane;
        }
        const bool known = guessed(&told, lane);
        for (int match = known ? PAT_MATCH_RIGHT : PAT_MATCH_NONE; match < (known ? NUM_MATCHES : 1); match++)
            if (match != PAT_MATCH_WRONG || s.heard == told.heard) /* who has called knows */
                call(told, eager, lazy, lane, (enum pat_match)match, events - 1);
    }
    if (s.heard)
        call(s, eager, lazy, NOBODY, PAT_MATCH_NONE, events - 1);
}

static void luck_makes_no_difference_to_others(void **state)
{
    (void)state;
    for (int first = 0; first < NUM_BASES; first++)
        for (int second = 0; second < NUM_BASES; second++) {
            const shared s = {.basis = {(enum pat_basis)first, (enum pat_basis)second}, .said = NOBODY};
            go_on(s, (rank){.eager = true}, (rank){.eager = false}, EVENTS);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_comes_next),
        cmocka_unit_test(when_a_round_is_prepared),
        cmocka_unit_test(what_a_call_makes_of_it),
        cmocka_unit_test(how_a_round_is_thrown_away),
        cmocka_unit_test(slots_come_again_after_four_epochs),
        cmocka_unit_test(luck_makes_no_difference_to_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
