/*
 * taulop_look.h — how a member waits for a word in shared memory.
 */
#ifndef TAULOP_LOOK_H
#define TAULOP_LOOK_H

#include <sched.h>
#include <stdatomic.h>

/* Lets others run after so many looks, again and again: there may be more members than cores. */
static inline void taulop_look_for(atomic_int *word, int value, int looks)
{
    for (int i = 1; atomic_load_explicit(word, memory_order_acquire) != value; i++)
        if (i % looks == 0)
            sched_yield();
}

#endif
