/*
 * bells.pml — the protocol of bells (pat/bells.c) for the threads of one process that sleep and some that ring, to be searched whole by spin: whoever
 * sleeps while something is there that it has not looked at is woken. A lost wake-up is a process that waits for ever; the library's sleeps have a
 * time limit, which is left out here.
 *
 * Every access is a step of its own, in the order of the program, as sequentially consistent atomics have it.
 */
#ifndef RINGERS
#define RINGERS 2
#endif
#ifndef RINGS
#define RINGS 2
#endif
#ifndef SLEEPERS
#define SLEEPERS 1
#endif

byte there; /* what has been put where sleepers look */
byte rung, asleep;
bool pending;
byte event; /* what is to be read from the eventfd */

inline wake()
{
    atomic { was = pending; pending = true }
    if
    :: !was -> event++
    :: else
    fi
}

active [RINGERS] proctype ringer()
{
    byte done;
    bool was;
    do
    :: done < RINGS ->
        there++;
        rung++;
        if
        :: asleep > 0 -> wake()
        :: else
        fi;
        done++
    :: else -> break
    od
}

active [SLEEPERS] proctype sleeper()
{
    byte seen;
    bool readable, last, was;
    do
    :: true ->
        seen = rung;
        if
        :: there == RINGERS * RINGS -> break
        :: else
        fi;
        asleep++;
        readable = false;
        if
        :: rung == seen ->
            event > 0; /* sleeps */
            readable = true
        :: else
        fi;
        atomic { last = asleep == 1; asleep-- }
        if
        :: last && (readable || pending) ->
            event = 0;
            pending = false;
            if
            :: asleep > 0 -> wake()
            :: else
            fi
        :: else
        fi
    od
}
