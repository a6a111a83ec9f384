/*
 * bench_must.h — calls of which one that fails ends the job: nothing can be measured then.
 */
#ifndef BENCH_MUST_H
#define BENCH_MUST_H

#include <stddef.h>

/*
 * Ends the job with a text unless rc, what PAT or MPI have returned, is MPI_SUCCESS. One rank alone may have got it, and the
 * others wait for that rank: no clean end is left.
 */
void bench_must(int rc, const char *what);

#define MUST(call) bench_must((call), #call)

/* Zeroed memory, or the end of the job. */
void *bench_must_alloc(size_t count, size_t size);

#endif
