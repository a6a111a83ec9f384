/*
 * bells.h — ranks of one node wake each other. No socket announces a message in shared memory, so whoever sleeps would have to look for it by the
 * clock. Each process has a bell: whoever has put something where that process will look rings it, and whoever sleeps there is woken at once.
 *
 * Most of what ranks of a node send each other they receive in their calls, and a thread that sleeps beside a program that computes has nothing to do with it: so
 * a bell says what it is rung for, and a sleeper what it is woken by.
 *
 * Ringing where nobody sleeps is an addition in shared memory; where somebody does, a write to an eventfd. The memory has no name and
 * the eventfds are handed over at the start, so that nothing is left behind, whatever becomes of the processes.
 *
 * Nothing relies on bells: there may be none, and every sleep has a time limit. tests/bells.pml is the protocol, which spin searches for a lost
 * wake-up.
 */
#ifndef PAT_BELLS_H
#define PAT_BELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pat_bells pat_bells;

/*
 * The bells of a node with so many ranks, of which this process is number `mine`. memory: of a file with pat_bells_bytes, at first 0, that all of them
 * have mapped; fds: an eventfd of each, which are the bells' from now on. NULL: the kernel has no room; they are still the caller's. Ranks
 * get all this by pat_bells_meet (bells_meet.h).
 */
pat_bells *pat_bells_create(int count, int mine, int memory, const int *fds);
size_t pat_bells_bytes(int count);
void pat_bells_free(pat_bells *bells);

/* Who of some communicator's ranks is on this node, how they are woken, and how their memory is reached. */
typedef struct pat_mates {
    pat_bells *bells;              /* NULL: nobody is woken */
    const struct pat_reach *reach; /* see reach.h; NULL: it is not reached. Never without bells */
    int *mate_of;                  /* of each rank: its number on this node; -1: it is on another one */
} pat_mates;

/* What a bell is rung for. */
enum pat_bell {
    PAT_BELL_DATA, /* a message of a round, or that one was taken in */
    PAT_BELL_WORD, /* anything else: all that sleep are woken */
};

/* Something is there for rank `mate` of the node. Any thread. */
void pat_bells_ring(pat_bells *bells, int mate, enum pat_bell what);

/* The same by the communicator's rank, if it is on this node. */
static inline void pat_mates_ring(const pat_mates *mates, int rank, enum pat_bell what)
{
    if (mates->bells && mates->mate_of[rank] >= 0)
        pat_bells_ring(mates->bells, mates->mate_of[rank], what);
}

/* How often this process's bell was rung, for whatever it was. To be asked before the look that a sleep follows. pat_bells_times: how often for one of them. */
uint64_t pat_bells_rung(const pat_bells *bells);
uint32_t pat_bells_times(uint64_t rung, enum pat_bell what);

/*
 * This thread is about to sleep until pat_bells_fd is readable; rung: what pat_bells_rung has said before its last look; heeds: data is to wake it, too (it may be woken
 * by that in any case, if another sleeper heeds it). Returns false where the bell was rung since, for what it heeds, and it is not to sleep. Every sleeper that was told
 * true says when it is awake again, the same `heeds`, and whether pat_bells_fd was readable; then it looks. Any number of threads of a process may sleep: it
 * stays readable until all that sleep are awake.
 */
bool pat_bells_sleep(pat_bells *bells, uint64_t rung, bool heeds);
void pat_bells_awake(pat_bells *bells, bool heeds, bool readable);

/*
 * A rank of this node could not copy what process `mate` has offered it (reach.h), nor tell it which message that was: that one learns it so, and is woken.
 * Has this process been told so? It stays.
 */
void pat_bells_fail(pat_bells *bells, int mate);
bool pat_bells_failed(const pat_bells *bells);

/* What is readable when this process's bell is rung while somebody sleeps. */
int pat_bells_fd(const pat_bells *bells);

#endif
