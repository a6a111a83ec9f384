/*
 * profile_program.h — a made-up program, played against a history call by call: for tests of who runs its calls.
 */
#ifndef PROFILE_PROGRAM_H
#define PROFILE_PROGRAM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "history.h"

enum { BLOCK_NS = 1000000, RANKS = 4, LEAST_NS = (RANKS - 1) * BLOCK_NS };

/* A place in a program, and what calls from there are like. */
typedef struct place {
    uint32_t site;
    int64_t bytes;
    pat_terms terms;
    int64_t spread_ns, relay_ns, mpi_ns; /* from the last arrival on */
    pat_outlook outlook;                 /* all 0: there is no calibration */
    int64_t between_ns, cost_ns; /* from one call to the next; what measuring costs, 0: it is not known */
} place;

typedef struct program {
    pat_history history;
    uint32_t last_site;
    pat_next next;   /* as it was for the last call */
    int64_t took_ns; /* by all calls */
    int64_t now_ns;
} program;

static inline place at_site(uint32_t site, enum pat_verdict verdict, bool relay_first, int64_t spread_ns,
                            int64_t relay_ns, int64_t mpi_ns)
{
    const pat_terms terms = {.verdict = verdict,
                             .block_ns = BLOCK_NS,
                             .least_ns = LEAST_NS,
                             .beyond_ns = 5 * BLOCK_NS / 2,
                             .relay_first = relay_first};
    return (place){.site = site,
                   .bytes = 65536,
                   .terms = terms,
                   .spread_ns = spread_ns,
                   .relay_ns = relay_ns,
                   .mpi_ns = mpi_ns};
}

static inline pat_next next_of(const pat_history *h, const place *at)
{
    pat_profile fresh;
    return pat_profile_next(pat_history_look(h, at->bytes, &fresh), &at->terms);
}

/* One call. Rank 2 is the last one, `spread` later than the others. */
static inline enum pat_runner call(program *p, const place *at)
{
    p->next = next_of(&p->history, at);
    const bool relay = p->next.runner == PAT_BY_RELAY;
    const int64_t arrival_ns[RANKS] = {5000, 5000, 5000 + at->spread_ns, 5000};
    const pat_carried rank_0 = {.site = at->site, .last_site = p->last_site};
    const bool known = relay || p->next.measured;
    pat_told told = pat_told_make(known ? arrival_ns : NULL, RANKS, &rank_0, at->bytes, p->next.runner);
    told.outlook = at->outlook;
    if (relay)
        told.outlook.ran_us = at->outlook.relay_us;
    p->now_ns += at->between_ns;
    if (p->next.measured) {
        told.past_ns = relay ? at->relay_ns : at->mpi_ns;
        told.came_ns = 1 + p->now_ns;
        told.cost_ns = at->cost_ns;
    }
    p->took_ns += relay ? at->relay_ns : at->mpi_ns;
    pat_history_note(&p->history, &at->terms, &told);
    p->last_site = at->site;
    return p->next.runner;
}

static inline int relay_calls(program *p, const place *at, int calls)
{
    int num = 0;
    for (int i = 0; i < calls; i++)
        num += call(p, at) == PAT_BY_RELAY;
    return num;
}

/* The first call that relay runs, counted from 1; 0: none of so many. */
static inline int first_by_relay(program *p, const place *at, int most)
{
    for (int i = 1; i <= most; i++)
        if (call(p, at) == PAT_BY_RELAY)
            return i;
    return 0;
}

#endif
