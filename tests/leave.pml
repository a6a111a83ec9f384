/*
 * leave.pml — a communicator that its members free when they like (src/run/leave.c), to be searched whole by spin: nobody waits for ever for what another one
 * says of its next call, none goes while another one has not freed it, and when the library has ended nothing is said that nobody hears.
 *
 * In each epoch a member says one thing: what it guesses, after a PAT_Edge; that no call comes, while all communicators settle; or that it has
 * freed the communicator. Settling goes on until an epoch in which nobody has guessed, leaving until one in which all have left. Whoever has left
 * says so in the background, but not while this member settles. What is said reaches all at once here; how it does is another matter (pat/tell.c). What is
 * thrown away when an epoch ends, and errors, are left out.
 */
#define P 3
#ifndef SETTLES
#define SETTLES 2 /* the last one when the library ends */
#endif
#define EPOCHS (2 * SETTLES + P + 2)

#define GUESS 1
#define NO_CALL 2
#define LEFT 3

byte said[EPOCHS * P]; /* 0: nothing yet */
byte num_there[SETTLES];
bool any_said[SETTLES];
bool freed[P];

#define SAID(who) said[epoch * P + (who)]
#define ALL_SAY(least) (SAID(0) >= (least) && SAID(1) >= (least) && SAID(2) >= (least))
#define WORD (freed[me] -> LEFT : NO_CALL)

inline say(what)
{
    assert(epoch < EPOCHS);
    SAID(me) = what;
    posted = true
}

/* All have said something in this epoch. */
inline look(done)
{
    done = ALL_SAY(NO_CALL);
    gone = gone || ALL_SAY(LEFT);
    assert(!gone || (freed[0] && freed[1] && freed[2]));
    epoch++;
    posted = false;
    if
    :: !done -> say(WORD)
    :: else
    fi
}

/* The background thread, while the program is elsewhere. */
#define THREAD \
    :: atomic { !freed[me] && !posted && !edged -> edged = true; say(GUESS) } \
    :: atomic { freed[me] && !gone && !posted -> say(LEFT) } \
    :: atomic { freed[me] && !gone && posted && ALL_SAY(GUESS) -> look(done) }

active [P] proctype member()
{
    byte me = _pid, epoch, step;
    bool posted, edged, gone, done;
    do
    :: step < SETTLES ->
        edged = false;
        do
        THREAD
        :: atomic { !freed[me] -> freed[me] = true; if :: !posted -> say(LEFT) :: else fi }
        :: atomic { num_there[step]++; any_said[step] = any_said[step] || posted; break }
        od;
        num_there[step] == P;
        if
        :: any_said[step] && !gone ->
            atomic { if :: !posted -> say(WORD) :: else fi; done = false };
            do
            :: atomic { !done && ALL_SAY(GUESS) -> look(done) }
            :: done -> break
            od
        :: else
        fi;
        step++
    :: else -> break
    od;
    assert(!posted)
}
