/*
 * bells.pml — the protocol of bells (pat/bells.c) for the threads of one process that sleep and some that ring, to be searched whole by spin: whoever
 * sleeps while something is there that it heeds and has not looked at is woken. Some ring for data, some for a word; some sleepers heed both, some the
 * word alone. A lost wake-up is a process that waits for ever; the library's sleeps have a time limit, which is left out here.
 *
 * Every access is a step of its own, in the order of the program, as sequentially consistent atomics have it.
 */
#ifndef RINGERS
#define RINGERS 2
#endif
#ifndef TELLERS
#define TELLERS 0
#endif
#ifndef RINGS
#define RINGS 2
#endif
#ifndef SLEEPERS
#define SLEEPERS 1
#endif
#ifndef DEAF
#define DEAF 0
#endif

byte data, words; /* what has been put where sleepers look */
byte rung_data, rung_word, asleep, heeding;
bool pending;
byte event; /* what is to be read from the eventfd */

#define ALL_DATA (RINGERS * RINGS)
#define ALL_WORDS (TELLERS * RINGS)

inline wake()
{
    atomic { was = pending; pending = true }
    if
    :: !was -> event++
    :: else
    fi
}

proctype ringer()
{
    byte done;
    bool was;
    do
    :: done < RINGS ->
        data++;
        rung_data++;
        if
        :: heeding > 0 -> wake()
        :: else
        fi;
        done++
    :: else -> break
    od
}

proctype teller()
{
    byte done;
    bool was;
    do
    :: done < RINGS ->
        words++;
        rung_word++;
        if
        :: asleep > 0 -> wake()
        :: else
        fi;
        done++
    :: else -> break
    od
}

proctype sleeper(bool heeds)
{
    byte seen_data, seen_word;
    bool readable, last, was;
    do
    :: true ->
        atomic { seen_data = rung_data; seen_word = rung_word } /* one number */
        if
        :: words == ALL_WORDS && (!heeds || data == ALL_DATA) -> break
        :: else
        fi;
        asleep++;
        if
        :: heeds -> heeding++
        :: else
        fi;
        readable = false;
        if
        :: rung_word == seen_word && (!heeds || rung_data == seen_data) ->
            event > 0; /* sleeps */
            readable = true
        :: else
        fi;
        if
        :: heeds -> heeding--
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

init
{
    byte begun;
    atomic {
        do
        :: begun < RINGERS -> run ringer(); begun++
        :: begun >= RINGERS && begun < RINGERS + TELLERS -> run teller(); begun++
        :: begun >= RINGERS + TELLERS && begun < RINGERS + TELLERS + SLEEPERS -> run sleeper(true); begun++
        :: begun >= RINGERS + TELLERS + SLEEPERS && begun < RINGERS + TELLERS + SLEEPERS + DEAF -> run sleeper(false); begun++
        :: begun == RINGERS + TELLERS + SLEEPERS + DEAF -> break
        od
    }
}
