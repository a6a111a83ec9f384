/*
 * taulop_member.h — members of a team that share memory, threads or ranks alike: how they meet, and the clock by which their work is
 * timed. Every member runs the same program; whatever is said here to be called by all is called by each in the same order.
 */
#ifndef TAULOP_MEMBER_H
#define TAULOP_MEMBER_H

#include <stddef.h>
#include <stdint.h>

/* What all members see: memory of taulop_shared_bytes(), all zero at first and aligned to a line. */
typedef struct taulop_shared taulop_shared;

typedef struct taulop_member {
    int number, num;
    taulop_shared *shared;
    int64_t segment_bytes; /* of the slots in shared memory */
    int looks;             /* for a slot, before others are let run */
    char *cold;            /* own memory, more than the caches hold */
    int64_t cold_bytes;
    int64_t cold_at;    /* where in it the next message is taken from or put */
    const void *of_way; /* what its way keeps with it (taulop_way.h) */
} taulop_member;

enum { TAULOP_MAX_MEMBERS = 128, TAULOP_LINE = 64, TAULOP_LOOKS = 200 };

/* With so much behind it for slots (taulop_slots.h), and where these begin. */
size_t taulop_shared_bytes(size_t slots_bytes);
char *taulop_slots_memory(const taulop_member *m);

/* Binds the caller to a core of its own, if there are enough of them, and writes its memory once, so that it lies on that core's NUMA node. */
void taulop_settle(taulop_member *m);

/* Own memory of so many bytes that has not been touched for long. */
char *taulop_cold(taulop_member *m, int64_t bytes);

/* Returns when all members are here. All call. */
void taulop_meet(taulop_member *m);

/* So many microseconds from the moment at which the first of the members below `workers` begins to that at which the last one ends,
 * each by its own clock around its own work; the same number for all. All call, and work, which sees who it is. */
typedef void taulop_work(taulop_member *m, void *arg);
double taulop_timed(taulop_member *m, int workers, taulop_work *work, void *arg);

#endif
