/*
 * stacks.h — places that are more than a line: what called the function that calls MPI, and what called that, as deep as PAT_STACK says, so that calls by way of a library are
 * not all at the library's one place.
 */
#ifndef PAT_STACKS_H
#define PAT_STACKS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { PAT_STACK_MOST = 16 };

typedef struct pat_stacks {
    pthread_mutex_t lock;
    int depth; /* how many lines are a place; 1: the stack is never looked at */
    int (*look)(void **addresses, int most);
    void *known,
        *places; /* all that calls have come by, as trees (tsearch): by their addresses, and by what stands for them */
} pat_stacks;

/* The stack is looked at by libunwind where it is installed, else by the C library, which takes longer. */
void pat_stacks_begin(pat_stacks *stacks, int depth);

/* What stands for the stack above the call that returns to `site`, which must be one of the calls that this thread is in; `site` itself where nothing is known above it, or without memory. Any thread. */
const void *pat_stacks_site(pat_stacks *stacks, const void *site);

/* The addresses that it stands for, innermost first, at most PAT_STACK_MOST; 0: it stands for no stack. They stay until pat_stacks_end. */
int pat_stacks_addresses(pat_stacks *stacks, const void *site, void *const **addresses);

void pat_stacks_end(pat_stacks *stacks);

#endif
