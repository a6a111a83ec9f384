/*
 * epoch.pml — the epoch protocol (docs/epochs.md) for three ranks, to be searched whole by spin: nobody waits for ever, and
 * no rank takes in a message of another epoch, of another collective or of a round that was thrown away. The rules have the names
 * that they have in src/rules/guess.c, the states of a round those of src/rules/transition.c.
 *
 * Each collective has a lane with epochs and slots of its own; with -DLANES=2 there are two. One exchange tells what all ranks expect, and in
 * which lane. In a lane whose bit is set in ESTIMATES (1: lane 0, 2: lane 1) calls go by these estimates, and a round has control
 * messages that may leave before the call (bdr). If its bit is set in CHANGES too, calls go by estimates in every second epoch only, and rounds
 * have no control messages (allreduce_converge). In another lane a round is prepared as the last calls there let expect, and nobody is asked (relay).
 * A message is a block; the plan is a ring, in which the block of rank b goes from b to b+1 to b+2.
 *
 * One process a rank: whoever holds the communicator's lock drives, so application and thread take turns, and what is
 * open is only whose turn it is. The program is the same for all ranks, and drawn when the first of them comes to a step: a
 * call of one of two sizes in one of the lanes, another algorithm for a lane, or the end; with -DPLAIN a call of one size, or the end. Size 2
 * stands for blocks that differ: a rank that does not expect it by the last calls cannot make a plan for it from what the estimates say.
 */
#define P 3
#ifndef LANES
#define LANES 1
#endif
#ifndef ESTIMATES
#define ESTIMATES 0
#endif
#ifndef CHANGES
#define CHANGES 0
#endif
#ifndef STEPS
#define STEPS 3
#endif
#ifndef ROOM
#define ROOM 1 /* messages that wait at the receiver: a send beyond them waits for it */
#endif

/* Epochs that have tags of their own. The library has four, because blocks of nothing hold nobody up (docs/epochs.md). */
#define TAG_EPOCHS 2
#define LANE_SLOTS (2 * TAG_EPOCHS)

/* ---- What the program does ---- */

#define CALL(lane, size) (2 * (lane) + (size)) /* and what an estimate says */
#define LANE_OF(call)    (((call)-1) / 2)
#define SIZE_OF(call)    (((call)-1) % 2 + 1)
#define NO_CALL          0
#define NEW_ALG(lane)    (CALL(LANES, 1) + (lane))
#define END              NEW_ALG(LANES)
#define IS_CALL(what)    ((what) < NEW_ALG(0))

byte program[STEPS + 1]; /* 0: not drawn yet */

inline draw()
{
    if
    :: program[step] == 0 && step < STEPS ->
        if
        :: program[step] = CALL(0, 1)
        :: program[step] = END
#if LANES == 2
        :: program[step] = CALL(1, 1)
#endif
#ifndef PLAIN
        :: program[step] = CALL(0, 2)
        :: program[step] = NEW_ALG(0)
#if LANES == 2
        :: program[step] = CALL(1, 2)
        :: program[step] = NEW_ALG(1)
#endif
#endif
        fi
    :: program[step] == 0 && step == STEPS -> program[step] = END
    :: else
    fi
}

/*
 * What a call lets expect of the next one in its lane: the same size; or with ANY_GUESS one or the other, drawn when the first rank ends it, since
 * all that counts is that all ranks expect the same.
 */
#ifdef ANY_GUESS
byte learnt[STEPS + 1];
#define LEARN(step)                                                                                          \
    if                                                                                                       \
    :: learnt[step] == 0 -> learnt[step] = 1                                                                 \
    :: learnt[step] == 0 -> learnt[step] = 2                                                                 \
    :: else                                                                                                  \
    fi
#define LEARNT(step) learnt[step]
#else
#define LEARN(step)  skip
#define LEARNT(step) SIZE_OF(program[step])
#endif

/*
 * With LEAVES it follows from the estimates that calls of some sizes are left to somebody else: they have no round. Drawn before all, for every
 * second exchange.
 */
#ifdef LEAVES
byte leaves[2]; /* a bit for each size */
#define LEFT(size) ((leaves[exchange] & (size)) != 0)
#else
#define LEFT(size) 0
#endif
#define LEAVE(lane, size) (BY_ESTIMATES(lane) && LEFT(size))

/* Between calls ranks agree whether any of them has given an estimate. */
byte num_there[STEPS + 1];
bool any_said[STEPS + 1];

/* ---- The exchange ---- */

/* Two can be under way: a rank that has heard all may begin the next. */
byte estimate[2 * P]; /* the call that a rank expects */
bool certain[2 * P];  /* it has called */
byte num_said[2];
byte num_over[2];
byte expected[2]; /* what all of them together say, once all have: a call, or NO_CALL */

hidden byte i;

#define ALL_SAID           (said && num_said[exchange] == P)
#define ANNOUNCED(lane)    (expected[exchange] != NO_CALL && LANE_OF(expected[exchange]) == (lane))
#define BY_ESTIMATES(lane) ((ESTIMATES >> (lane)&1) && !((CHANGES >> (lane)&1) && epoch[lane] % 2 == 1))

/* One estimate per rank and epoch. The last one makes the same known to all. */
inline contribute(call, fact)
{
    said = true;
    estimate[exchange * P + me] = call;
    certain[exchange * P + me] = fact;
    num_said[exchange]++;
    if
    :: num_said[exchange] == P ->
        i = 0;
        expected[exchange] = estimate[exchange * P];
        do
        :: i < P && certain[exchange * P + i] -> expected[exchange] = estimate[exchange * P + i]; break
        :: i < P && !certain[exchange * P + i] ->
            if
            :: estimate[exchange * P + i] != expected[exchange] -> expected[exchange] = NO_CALL
            :: else
            fi;
            i++
        :: else -> break
        od;
        i = 0;
        do
        :: i < P -> estimate[exchange * P + i] = 0; certain[exchange * P + i] = false; i++
        :: else -> break
        od
    :: else
    fi
}

inline reset_exchange()
{
    said = false;
    num_over[exchange]++;
    if
    :: num_over[exchange] == P -> num_over[exchange] = 0; num_said[exchange] = 0; expected[exchange] = NO_CALL
    :: else
    fi;
    exchange = 1 - exchange
}

/* ---- Rounds ---- */

#define EMPTY   0
#define EARLY   1
#define RUNNING 2 /* and over, when nothing is left to be done */
#define VOIDING 3

typedef Round {
    byte state;
    byte slot;
    byte id; /* which call of which epoch it is for: its messages must say the same */
    byte got, sent; /* blocks: a bit each */
    bool control_in, control_out
};

chan block[P] = [ROOM] of { byte, byte, byte }; /* slot, id of the round, whose */
chan control[P] = [ROOM] of { byte, byte };     /* slot, id of the round */

hidden byte whose, from;

#define RIGHT              ((me + 1) % P)
#define ALL                7
#define ID(lane, size)     ((epoch[lane] * LANES + (lane)) * 2 + (size)-1)
#define HAS_CONTROLS(r)    ((ESTIMATES & ~CHANGES) >> (r.id / 2 % LANES) & 1)
#define CONTROLS_DONE(r)   (!HAS_CONTROLS(r) || (r.control_in && r.control_out))
#define NOTHING_MOVED(r)    (r.got == 0 && r.sent == 0)
#define GUESS_SLOT(lane, as_prepared) (LANE_SLOTS * (lane) + 2 * (epoch[lane] % TAG_EPOCHS) + 1 - (as_prepared))
#define END_EPOCH(lane)                                                                                      \
    epoch[lane]++;                                                                                           \
    used[lane] = 0

/* No slot is used twice in an epoch. */
#define MAKE(r, lane, size, as_prepared)                                                                     \
    assert(r.state == EMPTY && !(used[lane] & 1 << (as_prepared)));                                          \
    used[lane] = used[lane] | 1 << (as_prepared);                                                            \
    r.state = EARLY;                                                                                         \
    r.slot = GUESS_SLOT(lane, as_prepared);                                                                  \
    r.id = ID(lane, size)

#define END_ROUND(r)                                                                                         \
    r.state = EMPTY;                                                                                         \
    r.slot = 0;                                                                                              \
    r.id = 0;                                                                                                \
    r.got = 0;                                                                                               \
    r.sent = 0;                                                                                              \
    r.control_in = false;                                                                                    \
    r.control_out = false

/* What a look at a round may find to do: its own block may leave once it has called, others' when they are here. */
#define SEND(r, b)                                                                                           \
    atomic                                                                                                   \
    {                                                                                                        \
        (r.got & (1 << (b))) && !(r.sent & (1 << (b))) && nfull(block[RIGHT]) ->                             \
        block[RIGHT]!r.slot, r.id, b;                                                                        \
        r.sent = r.sent | (1 << (b))                                                                         \
    }
#define IS_MEANT(r) (r.state == EARLY || r.state == RUNNING)
#define LOOK_AT_BLOCKS(r)                                                                                    \
    :: SEND(r, me)                                                                                           \
    :: SEND(r, (me + 2) % P)                                                                                 \
    :: atomic                                                                                                \
    {                                                                                                        \
        IS_MEANT(r) && block[me]??[eval(r.slot), _, _] ->                       \
        block[me]??eval(r.slot), from, whose;                                                                \
        assert(from == r.id && whose != me && !(r.got & (1 << whose)));                                      \
        r.got = r.got | (1 << whose)                                                                         \
    }
#if ESTIMATES
#define LOOK_AT_CONTROLS(r, when)                                                                            \
    :: atomic                                                                                                \
    {                                                                                                        \
        when && HAS_CONTROLS(r) && !r.control_out && nfull(control[RIGHT]) ->                                \
        control[RIGHT]!r.slot, r.id;                                                                         \
        r.control_out = true                                                                                 \
    }                                                                                                        \
    :: atomic                                                                                                \
    {                                                                                                        \
        when && HAS_CONTROLS(r) && !r.control_in && control[me]??[eval(r.slot), _] ->                        \
        control[me]??eval(r.slot), from;                                                                     \
        assert(from == r.id);                                                                                \
        r.control_in = true                                                                                  \
    }
#else
#define LOOK_AT_CONTROLS(r, when)
#endif
#define LOOK(r)         LOOK_AT_BLOCKS(r) LOOK_AT_CONTROLS(r, IS_MEANT(r))
#define LOOK_AT_VOID(r) LOOK_AT_CONTROLS(r, r.state == VOIDING)

/* ---- The rules ---- */

/* The size that the next call in a lane is taken to have; 0: nobody knows. (In an index spin takes no conditional expression.) */
#define GUESS_NEXT(lane)                                                                                     \
    (!BY_ESTIMATES(lane) * last[lane] +                                                                      \
     (BY_ESTIMATES(lane) && ANNOUNCED(lane) && (SIZE_OF(expected[exchange]) == 1 || last[lane] == 2)) *      \
         !LEFT(SIZE_OF(expected[exchange])) * SIZE_OF(expected[exchange]))

#define GUESS_PREPARES(lane) (GUESS_NEXT(lane) != 0 && prepared[lane].state == EMPTY)

/* Is the epoch of the announced lane over with a call in `lane`, or in none: LANES? */
#define GUESS_ENDS_ANNOUNCED(lane) \
    (((lane) == LANES || BY_ESTIMATES(lane)) && expected[exchange] != NO_CALL && !ANNOUNCED(lane))

/* Throw a lane's prepared round away; where others may have sent its control messages there must be one. */
inline guess_void(which)
{
    if
    :: prepared[which].state == EMPTY && BY_ESTIMATES(which) && GUESS_NEXT(which) != 0 ->
        MAKE(prepared[which], which, GUESS_NEXT(which), 1)
    :: else
    fi;
    if
    :: prepared[which].state == EARLY ->
        assert(NOTHING_MOVED(prepared[which]));
        prepared[which].state = VOIDING;
        voiding = 1 + which
    :: else
    fi
}

/* A call in a lane of such a size comes: which round runs is left in `current`, and what nobody will call is thrown away. */
inline guess_call(size)
{
    if
    :: GUESS_NEXT(lane) != 0 && GUESS_NEXT(lane) != size ->
        guess_void(lane);
        if
        :: LEAVE(lane, size)
        :: else -> MAKE(current, lane, size, 0)
        fi
    :: else ->
        if
        :: GUESS_ENDS_ANNOUNCED(lane) -> guess_void(LANE_OF(expected[exchange]))
        :: else
        fi;
        if
        :: LEAVE(lane, size) -> assert(prepared[lane].state == EMPTY)
        :: !LEAVE(lane, size) && prepared[lane].state == EARLY ->
            current.state = EARLY;
            current.slot = prepared[lane].slot;
            current.id = prepared[lane].id;
            current.got = prepared[lane].got;
            current.sent = prepared[lane].sent;
            current.control_in = prepared[lane].control_in;
            current.control_out = prepared[lane].control_out;
            END_ROUND(prepared[lane])
        :: else -> MAKE(current, lane, size, 1)
        fi
    fi;
    assert(LEAVE(lane, size) || (current.state == EARLY && current.id == ID(lane, size)))
}

/* A call in a lane is over, or none has come: LANES. */
inline next_epoch(which)
{
    if
    :: GUESS_ENDS_ANNOUNCED(which) -> END_EPOCH(LANE_OF(expected[exchange]))
    :: else
    fi;
    if
    :: which == LANES || BY_ESTIMATES(which) -> reset_exchange()
    :: else
    fi;
    if
    :: which < LANES -> END_EPOCH(which)
    :: else
    fi
}

/* ---- A rank ---- */

#define PREPARE(lane)                                                                                        \
    :: d_step                                                                                                \
    {                                                                                                        \
        GUESS_PREPARES(lane) ->                                                                              \
        MAKE(prepared[lane], lane, GUESS_NEXT(lane), 1)                                                      \
    }
/*
 * What the thread may do between calls; and what is done until nothing is left of what is void, when no other prepared round is driven.
 */
#if LANES == 2
#define THREAD LOOK(prepared[0]) PREPARE(0) LOOK(prepared[1]) PREPARE(1)
#define LOOK_AT_VOIDING LOOK_AT_VOID(prepared[0]) LOOK_AT_VOID(prepared[1]) VOID_DONE
#else
#define THREAD LOOK(prepared[0]) PREPARE(0)
#define LOOK_AT_VOIDING LOOK_AT_VOID(prepared[0]) VOID_DONE
#endif
#define VOID_DONE                                                                                            \
    :: d_step                                                                                                \
    {                                                                                                        \
        voiding != 0 && CONTROLS_DONE(prepared[voiding - 1]) ->                                              \
        END_ROUND(prepared[voiding - 1]);                                                                    \
        voiding = 0                                                                                          \
    }

proctype Rank(byte me)
{
    Round prepared[LANES], current;
    byte epoch[LANES], last[LANES];
    byte used[LANES];    /* slots of this epoch: a bit each */
    byte follows[LANES]; /* the lane of the call that came after one in this lane */
    byte last_lane, step, lane, exchange;
    byte voiding; /* 1 + the lane whose prepared round is being thrown away */
    bool said;

#if LANES == 2
    follows[1] = 1;
#endif

compute:
    /* The program computes; the thread may work, or not. */
    do
#if ESTIMATES
    :: d_step /* an Edge */
    {
        !said && BY_ESTIMATES(follows[last_lane]) ->
        contribute((last[follows[last_lane]] != 0) * CALL(follows[last_lane], last[follows[last_lane]]), false)
    }
#endif
    THREAD
    :: break
    od;
    atomic {
        draw();
        if
        :: IS_CALL(program[step]) -> goto call
        :: else -> num_there[step]++; any_said[step] = any_said[step] || said
        fi
    };

    /* Between calls: settle, if anybody has said something. */
    do
    THREAD
    :: atomic { num_there[step] == P -> break }
    od;
    if
    :: !any_said[step] -> goto settled
    :: d_step { any_said[step] && !said -> contribute(NO_CALL, false) }
    :: any_said[step] && said
    fi;
    do
    THREAD
    :: ALL_SAID -> break
    od;
    atomic {
        if
        :: GUESS_ENDS_ANNOUNCED(LANES) -> guess_void(LANE_OF(expected[exchange]))
        :: else
        fi
    };
    do
    LOOK_AT_VOIDING
    :: atomic { voiding == 0 -> next_epoch(LANES); break }
    od;
settled:
    /* What was prepared without estimates is forgotten: it must be nothing that anybody has sent to. */
    atomic {
        lane = 0;
        do
        :: lane < LANES ->
            if
            :: program[step] == END || program[step] == NEW_ALG(lane) ->
                assert(NOTHING_MOVED(prepared[lane]) && !(BY_ESTIMATES(lane) && prepared[lane].state != EMPTY));
                END_ROUND(prepared[lane]);
                END_EPOCH(lane)
            :: else
            fi;
            lane++
        :: else -> break
        od;
        lane = 0;
        if
        :: program[step] == END -> goto done
        :: else -> step++; goto compute
        fi
    };

call:
    atomic {
        lane = LANE_OF(program[step]);
        if
        :: BY_ESTIMATES(lane) && !said -> contribute(program[step], true)
        :: else
        fi
    };
    d_step {
        !BY_ESTIMATES(lane) || ALL_SAID ->
        guess_call(SIZE_OF(program[step]));
        if
        :: LEAVE(lane, SIZE_OF(program[step]))
        :: else ->
            current.state = RUNNING;
            current.got = current.got | (1 << me);
            current.sent = current.sent | (1 << RIGHT) /* that one is its owner's */
        fi
    };
    do
    LOOK(current)
    LOOK_AT_VOIDING
    :: atomic
    {
        voiding == 0 && (current.state == EMPTY ||
                         (current.got == ALL && current.sent == ALL && CONTROLS_DONE(current))) -> break
    }
    od;
    atomic {
        END_ROUND(current);
        LEARN(step);
        last[lane] = LEARNT(step);
        follows[last_lane] = lane;
        last_lane = lane;
        next_epoch(lane);
        lane = 0;
        step++
    };
    goto compute;

done:
    assert(empty(block[me]) && empty(control[me]))
}

init
{
    atomic {
#ifdef LEAVES
        select(i : 0 .. 3);
        leaves[0] = i;
        select(i : 0 .. 3);
        leaves[1] = i;
#endif
        run Rank(0);
        run Rank(1);
        run Rank(2)
    }
}
