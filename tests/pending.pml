/*
 * pending.pml — non-blocking calls by plan (src/run/nbc.c) round a ring of ranks, to be searched whole by spin: more calls under way than there are tags
 * for, and the program waits for one of them now and then. No message is taken for one of another call, and every call ends on every rank.
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
#define CALLS 3

#define ROOM (CALLS * P)
#define PLACE(rank, slot) ((rank) * SLOTS + (slot))
#define AT(rank, call) ((rank) * CALLS + (call))
#define SLOT(call) ((call) % SLOTS)
#define OVER P /* more than a call has messages */

chan wire[P * SLOTS] = [ROOM] of { byte }; /* to this rank: whose message it is */
chan posted[P * SLOTS] = [ROOM] of { byte }; /* by this rank: whose receive it is */
byte started[P];
byte got[P * CALLS]; /* messages of a call that have come in, and one more for its beginning */

/* Its tags are free. */
#define MAY_BEGIN(n) ((n) < SLOTS || got[AT(me, (n) - SLOTS)] == OVER)

inline next_part(n)
{
    if
    :: got[AT(me, n)] < P ->
        wire[PLACE((me + 1) % P, SLOT(n))] ! n;
        posted[PLACE(me, SLOT(n))] ! n
    :: else
    fi
}

#define IS_OVER(n) (got[AT(me, n)] == OVER)

#define BEGIN(n) \
    atomic { \
        started[me] > n && got[AT(me, n)] == 0 && MAY_BEGIN(n) -> \
        got[AT(me, n)] = 1; \
        next_part(n) \
    }

#define TAKE(slot) \
    atomic { \
        nempty(wire[PLACE(me, slot)]) && nempty(posted[PLACE(me, slot)]) -> \
        wire[PLACE(me, slot)] ? message; \
        posted[PLACE(me, slot)] ? call; \
        assert(message == call); \
        got[AT(me, call)]++; \
        next_part(call) \
    }

/* The background thread, or whoever drives the communicator in its place. */
proctype driver(byte me)
{
    byte message, call;
    do
    :: IS_OVER(0) && IS_OVER(1) && IS_OVER(2) -> break
    :: BEGIN(0)
    :: BEGIN(1)
    :: BEGIN(2)
    :: TAKE(0)
#if SLOTS > 1
    :: TAKE(1)
#endif
    od
}

/* Starts its calls, and waits for one of them now and then. */
proctype program(byte me)
{
    byte n;
    do
    :: started[me] < CALLS -> started[me]++
    :: started[me] > 0 ->
        n = started[me] - 1;
        IS_OVER(n)
    :: started[me] == CALLS ->
        IS_OVER(0);
        break
    od
}

init
{
    byte rank;
    atomic {
        do
        :: rank < P -> run driver(rank); run program(rank); rank++
        :: else -> break
        od
    }
}
