/*
 * guide_arrival.c — see guide_arrival.h. Must never give two recorded ways of coming late one name.
 */
#include "guide_arrival.h"

#include <stdio.h>
#include <string.h>

enum { MOST_CALLS = 10000, MOST_ARRIVALS = 1 << 20 }; /* 4 MiB on each rank */

bool guide_arrival_make(guide_arrival *a, const guide_options *o, int ranks, char *why, size_t why_size)
{
    *a = (guide_arrival){.o = o};
    if (!o->trace)
        return true;
    const int fit = MOST_ARRIVALS / ranks;
    const bench_recorded_wish wish = {.dir = o->trace,
                                      .place = o->place,
                                      .ranks = ranks,
                                      .most = fit < 1            ? 1
                                              : fit < MOST_CALLS ? fit
                                                                 : MOST_CALLS};
    char wrong[2048];
    if (bench_recorded_read(&a->recorded, &wish, wrong, sizeof(wrong)))
        return true;
    snprintf(why, why_size, "--arrival 'trace:%s': %s", o->trace, wrong);
    return false;
}

void guide_arrival_share(guide_arrival *a, MPI_Comm comm)
{
    if (a->o->trace)
        bench_recorded_share(&a->recorded, comm);
}

void guide_arrival_free(guide_arrival *a)
{
    bench_recorded_free(&a->recorded);
}

static uint32_t digest_of(const bench_recorded *r)
{
    uint64_t digest = bench_mix((uint64_t)r->ranks ^ (uint64_t)r->has_root << 32);
    for (int call = 0; call < r->num; call++)
        for (int rank = 0; rank < r->ranks; rank++)
            digest = bench_mix(digest ^ (uint64_t)bench_recorded_late_ns(r, call, rank));
    return (uint32_t)digest;
}

void guide_arrival_name(const guide_arrival *a, char to[GUIDE_NAME])
{
    const guide_options *o = a->o;
    const bench_recorded *r = &a->recorded;
    enum { REST = sizeof("trace:+12345678") };
    if (!guide_is_late(o)) {
        snprintf(to, GUIDE_NAME, "none");
    } else if (!o->trace) {
        snprintf(to, GUIDE_NAME, "%s:%g", bench_pattern_name(o->pattern), o->factor);
    } else {
        const size_t length = strlen(r->name), most = GUIDE_NAME - REST;
        snprintf(to, GUIDE_NAME, "trace:%s+%08x", r->name + (length > most ? length - most : 0),
                 (unsigned)digest_of(r));
        for (char *c = to; *c; c++) /* it becomes a part of JSON and of lines */
            if (*c <= ' ' || *c > '~')
                *c = '_';
    }
}

int64_t guide_arrival_late_ns(const guide_arrival *a, int sample, int rank, int size, int root,
                              double balanced_ms)
{
    const guide_options *o = a->o;
    const bench_recorded *r = &a->recorded;
    if (!o->trace)
        return bench_delay_ns(o->pattern, o->seed, sample, rank, size,
                              (int64_t)(1e6 * o->factor * balanced_ms));
    return (int64_t)bench_recorded_late_ns(r, sample % r->num,
                                           r->has_root ? (rank - root + size) % size : rank);
}
