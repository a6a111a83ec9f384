/*
 * epoch.pml — the epoch protocol (docs/epochs.md) for three ranks, to be searched whole by spin: nobody waits for ever, and
 * no rank takes in a block of another epoch or of a round that was thrown away. A message is a block; the plan is a
 * ring, in which the block of rank b goes from b to b+1 to b+2. With -DESTIMATES the round waits for what all ranks have
 * said in this epoch, and has control messages that may leave before the call (bdr, bslb); without, it is prepared
 * from the last call's size, and nobody is asked (relay).
 *
 * One process a rank: whoever holds the communicator's lock drives, so application and thread take turns, and what is
 * open is only whose turn it is. What the program does is drawn beforehand, the same for all ranks: in every epoch a
 * call of one of two sizes, another algorithm, or the end.
 */
#define P      3
#ifndef EPOCHS
#define EPOCHS 3
#endif
#ifndef ROOM
#define ROOM 1 /* messages that wait at the receiver: a send beyond them waits for it */
#endif

/* Epochs that have tags of their own. The library has four, because blocks of nothing hold nobody up (docs/epochs.md). */
#define TAG_EPOCHS 2

#define END     0 /* sizes are 1 and 2 */
#define NEW_ALG 3

byte program[EPOCHS + 1];
byte at_barrier[EPOCHS + 1];

chan block[P] = [ROOM] of { byte, byte, byte, byte }; /* slot, whose, size, epoch it was sent in */
chan control[P] = [ROOM] of { byte, byte };           /* slot, epoch */

byte said[EPOCHS * P];      /* how many bytes a rank expects; 0: none */
bool certain[EPOCHS * P];   /* has it called? */
byte num_said[EPOCHS];

#define RIGHT   ((me + 1) % P)
#define HAS(b)  (got & (1 << (b)))
#define SENT(b) (sent & (1 << (b)))
/* Its own block once it has called, what it has got unless the right neighbour is its owner. */
#define MAY_SEND(b) (HAS(b) && !SENT(b) && (b) != RIGHT)

inline forget()
{
    got = 0;
    sent = 0;
}

/* One step of the round in slot `slot` for calls of `bytes`, if there is one to take. */
#define STEP_RECEIVE                                                                                                   \
    block[me]??[eval(slot), _, _, _] ->                                                                                \
    atomic                                                                                                             \
    {                                                                                                                  \
        block[me]??eval(slot), whose, size, from;                                                                      \
        assert(from == epoch && size == bytes && !HAS(whose) && whose != me);                                          \
        got = got | (1 << whose)                                                                                       \
    }
#define STEP_SEND(b)                                                                                                   \
    MAY_SEND(b) && nfull(block[RIGHT]) ->                                                                              \
    atomic                                                                                                             \
    {                                                                                                                  \
        block[RIGHT]!slot, b, bytes, epoch;                                                                            \
        sent = sent | (1 << b)                                                                                         \
    }
#define STEP_CONTROL_OUT                                                                                               \
    controls && !control_out && nfull(control[RIGHT]) ->                                                               \
    atomic                                                                                                             \
    {                                                                                                                  \
        control[RIGHT]!slot, epoch;                                                                                    \
        control_out = true                                                                                             \
    }
#define STEP_CONTROL_IN                                                                                                \
    controls && !control_in && control[me]??[eval(slot), _] ->                                                         \
    atomic                                                                                                             \
    {                                                                                                                  \
        control[me]??eval(slot), from;                                                                                 \
        assert(from == epoch);                                                                                         \
        control_in = true                                                                                              \
    }

inline contribute(size_said, fact)
{
    atomic {
        if
        :: !told ->
            told = true;
            said[epoch * P + me] = size_said;
            certain[epoch * P + me] = fact;
            num_said[epoch]++
        :: else
        fi
    }
}

/* The same on all ranks, because it follows from what all have said. */
inline find_expected()
{
    d_step {
        expected = 0;
        i = 0;
        do
        :: i < P && certain[epoch * P + i] -> expected = said[epoch * P + i]; break
        :: i < P && !certain[epoch * P + i] -> i++
        :: else -> break
        od;
        if
        :: i == P && said[epoch * P] == said[epoch * P + 1] && said[epoch * P] == said[epoch * P + 2] ->
            expected = said[epoch * P]
        :: else
        fi;
        i = 0
    }
}

proctype Rank(byte me)
{
    byte epoch, last, bytes, slot, got, sent, whose, size, from, expected, i;
    bool prepared, called, told, controls, control_in, control_out;

next_epoch:
    atomic {
        prepared = false;
        called = false;
        told = false;
        controls = false;
        control_in = false;
        control_out = false;
        expected = last;
        slot = 2 * (epoch % TAG_EPOCHS);
        bytes = last;
        forget()
    }
    /* The program computes; the thread may work, or not. */
    do
#ifdef ESTIMATES
    :: !told && program[epoch] != END && program[epoch] != NEW_ALG -> contribute(last, false) /* an Edge */
    :: told && !prepared && num_said[epoch] == P ->
        find_expected();
        if
        :: expected != 0 -> bytes = expected; prepared = true; controls = true
        :: else -> break
        fi
#else
    :: !prepared && last != 0 -> prepared = true
#endif
    :: prepared -> /* a step of the early part */
        if
        :: STEP_RECEIVE
        :: STEP_SEND((me + 1) % P)
        :: STEP_SEND((me + 2) % P)
        :: STEP_CONTROL_OUT
        :: STEP_CONTROL_IN
        :: true
        fi
    :: break /* it calls */
    od;

    if
    :: program[epoch] == END || program[epoch] == NEW_ALG ->
        /* Agreed between calls; what was prepared is forgotten, which must be nothing that anybody has sent to. */
        atomic { at_barrier[epoch]++; assert(got == 0 && sent == 0) };
        at_barrier[epoch] == P;
        if
        :: program[epoch] == END -> goto done
        :: else -> epoch++; goto next_epoch
        fi
    :: else
    fi;

#ifdef ESTIMATES
    contribute(program[epoch], true);
    num_said[epoch] == P;
    find_expected();
    if
    :: expected != 0 && expected != program[epoch] -> /* voided: every control message out and in, then the other slot */
        controls = true;
        do
        :: control_out && control_in -> break
        :: STEP_CONTROL_OUT
        :: STEP_CONTROL_IN
        od;
        assert(got == 0 && sent == 0);
        slot = 2 * (epoch % TAG_EPOCHS) + 1;
        control_in = false;
        control_out = false
    :: else
    fi;
    controls = true;
#else
    if
    :: last != 0 && last != program[epoch] -> /* its receives are cancelled */
        assert(got == 0 && sent == 0);
        slot = 2 * (epoch % TAG_EPOCHS) + 1
    :: else
    fi;
#endif
    atomic {
        bytes = program[epoch];
        called = true;
        got = got | (1 << me)
    };
    do
    :: got == 7 && SENT(me) && SENT((me + 2) % P) && (!controls || (control_in && control_out)) -> break
    :: STEP_RECEIVE
    :: STEP_SEND(me)
    :: STEP_SEND((me + 2) % P)
    :: STEP_CONTROL_OUT
    :: STEP_CONTROL_IN
    od;
    last = bytes;
    epoch++;
    goto next_epoch;

done:
    assert(!block[me]??[_, _, _, _] && empty(block[me]) && empty(control[me]))
}

init
{
    byte e;
    do
    :: e < EPOCHS ->
        if
        :: program[e] = 1
        :: program[e] = 2
        :: program[e] = NEW_ALG
        :: break
        fi;
        e++
    :: e == EPOCHS -> break
    od;
    atomic {
        run Rank(0);
        run Rank(1);
        run Rank(2)
    }
}
