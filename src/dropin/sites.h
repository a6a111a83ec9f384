/*
 * sites.h — what has been counted for every place in the program that calls a collective. Local to the process; any
 * thread may add.
 */
#ifndef PAT_SITES_H
#define PAT_SITES_H

#include <stdint.h>

#include "calls.h"

/* What is added up over calls, and by a report over ranks. */
typedef struct pat_site_sums {
    int64_t calls, time_ns, bytes, least_bytes, most_bytes; /* bytes: of a rank's buffer, summed over calls */
    int64_t alg_calls[PAT_MAX_ALGS];                        /* run by plans */
    int64_t num_known; /* calls of which is known when the ranks came; the three below are theirs */
    int64_t waited_ns, native_ns, plan_ns; /* for the last rank; the MPI library's from there; whole calls */
} pat_site_sums;

/* One operation at one place. */
typedef struct pat_site {
    const void *address; /* to which the call returns */
    const char *call;    /* "MPI_Allgather"; a string that stays */
    pat_site_sums sums;
    int64_t *last_calls; /* how often each rank came last, counted in the communicator of the call */
    int num_last;
} pat_site;

/* Add a call. outcome NULL: passed on, nothing known of it. */
void pat_sites_add(const void *address, const char *call, int64_t bytes, int64_t time_ns,
                   const pat_outcome *outcome);

/* All of them, for one thread at the end. */
int pat_sites_count(void);
const pat_site *pat_sites_at(int i);
void pat_sites_clear(void);

/*
 * A place as a person can find it: "program(function+0x1f)", or "program+0x11f3" where no symbol is known: the same for all
 * processes wherever they are loaded, and what addr2line takes. Always ends the text in `size` bytes.
 */
void pat_sites_name(const void *address, char *text, int size);

#endif
