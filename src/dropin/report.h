/*
 * report.h — what PAT_REPORT asks for: a line for every place in the program that calls a collective, and what the library has
 * saved and cost the program as a whole.
 */
#ifndef PAT_REPORT_H
#define PAT_REPORT_H

#include <stdbool.h>
#include <stdint.h>

struct pat_dropin;

/*
 * Collective over all ranks, when the library has started: from here on calls are counted. begin_ns: the local time at which it began
 * to start. Returns 0, or on all ranks an error number of errno: rank 0 cannot write the report where it is to go, or a rank has no
 * memory. Nothing is counted then, and there is nothing to write.
 */
int pat_report_begin(int64_t begin_ns);

/*
 * Collective over all ranks: nothing is counted any more. Returns when all ranks have called, so that ending the library
 * can then be timed without the wait for the last one. The result is for pat_report_write; NULL: there is no report.
 */
struct pat_dropin *pat_report_end(void);

/*
 * Collective over all ranks, when the library has ended: rank 0 collects what they have counted and writes it. end_ns: how long ending
 * the library took. Returns MPI_SUCCESS, or on rank 0 an error code with its text by PAT_Error_string where it cannot be written. *trace_is_whole: no rank ran out of room on the disk for its calls.
 */
int pat_report_write(struct pat_dropin *report, int64_t end_ns, bool *trace_is_whole);

#endif
