/*
 * pending.pml — non-blocking calls by plan (src/run/nbc.c, src/run/ahead.c) round a ring of ranks, to be searched whole by spin: more calls under way than there are tags
 * for, and the program waits for one of them now and then. The round of the next all-gather may be made before the call, by a guess that is right or wrong, and passes on what comes in. No message is taken
 * for one of another call, every call ends on every rank, and nothing is left behind.
 *
 * A call's block goes round: a rank sends its own when the call begins, and passes on what comes in. It posts its next receive when the one before
 * is over. MPI keeps order: among the messages with one tag between two ranks, and among the receives that wait for them.
 */
#ifndef P
#define P 3
#endif
#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef KINDS
#define KINDS 2 /* 3: some are of another collective */
#endif
#define CALLS 3

/* Of all-gathers that were guessed there are rounds by number, which may be made before the call; the others', and those of other collectives, are made in it. */
#define GUESSED 0
#define WRONG 1
#define OTHER 2
#define IS_NUMBERED(n) (kind[n] != OTHER)
#define MADE_IN_CALL (CALLS + 1)
#define ROUNDS (MADE_IN_CALL + CALLS)
#define ROUND(n) (kind[n] == GUESSED -> number[n] : MADE_IN_CALL + (n))

/* The tags of a round. */
#define EARLY_TAG(number) (SLOTS + (number) % SLOTS)
#define TAG(round) ((round) < MADE_IN_CALL -> EARLY_TAG(round) : CALL_TAG((round) - MADE_IN_CALL))
#define CALL_TAG(n) ((n) % SLOTS)
#define TAGS (2 * SLOTS)

#define ROOM (CALLS * (P - 1))
#define PLACE(rank, tag) ((rank) * TAGS + (tag))
#define AT(rank, round) ((rank) * ROUNDS + (round))
#define OVER P /* more than a round has messages */

byte kind[CALLS]; /* the same on all ranks, as what follows */
byte number[CALLS + 1]; /* all-gathers before */
chan wire[P * TAGS] = [ROOM] of { byte }; /* to this rank: whose message it is */
chan posted[P * TAGS] = [CALLS + 1] of { byte }; /* by this rank: whose receive it is */
byte started[P];
byte begun[P]; /* a bit for each call */
byte got[P * ROUNDS]; /* messages of a round that have come in, and one more as soon as it is there */
bool left[P];

#define HAS_BEGUN(n) (begun[me] >> (n) & 1)
#define IS_OVER(n) (HAS_BEGUN(n) && got[AT(me, ROUND(n))] == OVER)

/* Its tags are free: the all-gathers with those of rounds that are made before the call are over, and, where it has not such, the earlier calls with its slot. And the all-gather before has begun. */
#define OLD_IS_OVER(m, n) ((m) >= (n) || !IS_NUMBERED(m) || number[m] + SLOTS > number[n] || IS_OVER(m))
#define NUMBER_IS_FREE(n) (!IS_NUMBERED(n) || (OLD_IS_OVER(0, n) && OLD_IS_OVER(1, n)))
#define SAME_IS_OVER(m, n) ((m) >= (n) || (m) % SLOTS != (n) % SLOTS || IS_OVER(m))
#define SLOT_IS_FREE(n) (kind[n] == GUESSED || (SAME_IS_OVER(0, n) && SAME_IS_OVER(1, n)))
#define TAGS_ARE_FREE(n) (NUMBER_IS_FREE(n) && SLOT_IS_FREE(n))
#define IN_ORDER(n) (!IS_NUMBERED(n) || (((n) < 1 || !IS_NUMBERED(0) || HAS_BEGUN(0)) && ((n) < 2 || !IS_NUMBERED(1) || HAS_BEGUN(1))))

/* No all-gather is under way. */
#define IS_DONE(n) (started[me] <= (n) || !IS_NUMBERED(n) || IS_OVER(n))
#define NONE_UNDER_WAY (IS_DONE(0) && IS_DONE(1) && IS_DONE(2))
#define NEXT number[started[me]]

#define SEND(round) wire[PLACE((me + 1) % P, TAG(round))] ! round
#define POST(round) posted[PLACE(me, TAG(round))] ! round

#define MAKE(round) got[AT(me, round)] = 1; POST(round)

/* The next all-gather is guessed. */
#define AHEAD \
    atomic { \
        NONE_UNDER_WAY && !left[me] && got[AT(me, NEXT)] == 0 -> \
        MAKE(NEXT) \
    }

#define BEGIN(n) \
    atomic { \
        started[me] > n && !HAS_BEGUN(n) && TAGS_ARE_FREE(n) && IN_ORDER(n) -> \
        begun[me] = begun[me] | 1 << (n); \
        SEND(ROUND(n)); \
        if \
        :: got[AT(me, ROUND(n))] == 0 -> MAKE(ROUND(n)) \
        :: else \
        fi \
    }

#define TAKE(tag) \
    atomic { \
        nempty(wire[PLACE(me, tag)]) && nempty(posted[PLACE(me, tag)]) -> \
        wire[PLACE(me, tag)] ? message; \
        posted[PLACE(me, tag)] ? round; \
        assert(message == round); \
        got[AT(me, round)]++; \
        if \
        :: got[AT(me, round)] < P -> SEND(round); POST(round) \
        :: else \
        fi; \
        message = 0; \
        round = 0 \
    }

/* Nobody has sent anything for what is not called. */
inline drop(which)
{
    if
    :: got[AT(me, which)] > 0 ->
        assert(got[AT(me, which)] == 1);
        posted[PLACE(me, TAG(which))] ?? eval(which);
        got[AT(me, which)] = 0
    :: else
    fi
}

/* The background thread, or whoever drives the communicator in its place. */
proctype driver(byte me)
{
    byte message, round;
    do
    :: left[me] -> break
    :: BEGIN(0)
    :: BEGIN(1)
    :: BEGIN(2)
    :: AHEAD
    :: TAKE(0)
    :: TAKE(1)
#if SLOTS > 1
    :: TAKE(2)
    :: TAKE(3)
#endif
    od
}

/* Starts its calls, and waits for one of them now and then. */
proctype program(byte me)
{
    byte n;
    do
    :: atomic {
        started[me] < CALLS ->
        if
        :: kind[started[me]] == WRONG -> drop(NEXT)
        :: else
        fi;
        started[me]++;
        n = started[me] - 1;
        if
        :: kind[n] == GUESSED && got[AT(me, number[n])] > 0 -> /* its round is there: it begins at once, or the next call would throw that away */
            assert(TAGS_ARE_FREE(n) && IN_ORDER(n));
            begun[me] = begun[me] | 1 << n;
            SEND(ROUND(n))
        :: else
        fi;
        n = 0
    }
    :: started[me] > 0 -> IS_OVER(started[me] - 1)
    :: atomic {
        started[me] == CALLS && IS_OVER(0) && IS_OVER(1) && IS_OVER(2) ->
        drop(NEXT);
        left[me] = true
    };
        break
    od
}

init
{
    byte n;
    atomic {
        do
        :: n < CALLS ->
            if
            :: kind[n] = GUESSED
            :: kind[n] = WRONG
#if KINDS > 2
            :: kind[n] = OTHER
#endif
            fi;
            number[n + 1] = number[n] + IS_NUMBERED(n);
            n++
        :: else -> break
        od;
        n = 0;
        do
        :: n < P -> run driver(n); run program(n); n++
        :: else -> break
        od;
        n = 0
    }
    atomic {
        _nr_pr == 1 ->
        do
        :: n < P * TAGS -> assert(empty(wire[n]) && empty(posted[n])); n++
        :: else -> break
        od
    }
}
