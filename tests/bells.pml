/*
 * bells.pml — the protocol of bells (pat/bells.c) for one process that sleeps and some that ring, to be searched whole by spin: whoever sleeps while
 * something is there is woken. A lost wake-up is a process that waits for ever; the library's sleeps have a time limit, which is
 * left out here.
 *
 * Every access is a step of its own, in the order of the program, as sequentially consistent atomics have it.
 */
#ifndef RINGERS
#define RINGERS 2
#endif
#ifndef RINGS
#define RINGS 3
#endif

byte there;   /* what has been put where the sleeper looks */
byte rung, asleep;
bool pending;
byte event; /* what is to be read from the eventfd */

active [RINGERS] proctype ringer()
{
    byte done;
    bool was;
    do
    :: done < RINGS ->
        there++;
        rung++;
        if
        :: asleep > 0 ->
            atomic { was = pending; pending = true }
            if
            :: !was -> event++
            :: else
            fi
        :: else
        fi;
        done++
    :: else -> break
    od
}

active proctype sleeper()
{
    byte seen;
    do
    :: true ->
        seen = rung;
        if
        :: there == RINGERS * RINGS -> break
        :: else
        fi;
        asleep++;
        if
        :: rung == seen ->
            event > 0; /* sleeps */
            event = 0;
            pending = false
        :: else
        fi;
        asleep--
    od
}
